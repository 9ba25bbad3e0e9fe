/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Extension headers (RFC 8200 section 4) before the one that a program looks for. */
#pragma once

#include "packet.h"

/* Of one packet before its segment list, again behind it, and of the packet inside: room for all
 * that RFC 8200 section 4.1 lists, and for an IOAM trace. */
#define MAX_EXTENSIONS 8
#define MAX_EXTENSION_BYTES 1024

#define FRAGMENT_RESERVED 0x0006
#define NO_HEADER 0

static __always_inline bool is_extension(__u32 header)
{
    return header == IPPROTO_HOPOPTS || header == IPPROTO_DSTOPTS || header == IPPROTO_FRAGMENT ||
           header == IPPROTO_AH;
}

/* A header's number, and where in the packet it begins. */
static __always_inline __u32 found(__u32 header, __u32 at)
{
    return (header & 0xff) << 16 | (at & 0xffff);
}

static __always_inline __u32 header_of(__u32 found)
{
    return found >> 16;
}

static __always_inline __u32 place_of(__u32 found)
{
    return found & 0xffff;
}

/* The first header from this one on that is no extension header, as ipv6_find_hdr does; with
 * ``routing`` routing headers are skipped as well. A fragment ends it, unless it is the whole
 * packet (RFC 6946), and so does the header where the bound is passed. NO_HEADER when the packet
 * ends before. */
static __noinline __u32 skip_extensions(struct __sk_buff *skb, __u32 at, __u32 header,
                                        __u32 routing)
{
    __u32 first = at;

#pragma clang loop unroll(disable)
    for (int i = 0; i < MAX_EXTENSIONS; i++) {
        struct {
            __u8 next, length;
            __be16 fragment;
        } extension;
        __u32 length;

        if (!is_extension(header) && !(routing && header == IPPROTO_ROUTING))
            break;
        if (bpf_skb_load_bytes(skb, at, &extension, sizeof(extension)))
            return NO_HEADER;
        length = (extension.length + 1) * 8;
        if (header == IPPROTO_FRAGMENT) {
            if (extension.fragment & ~bpf_htons(FRAGMENT_RESERVED))
                break;
            length = 8;
        } else if (header == IPPROTO_AH) {
            length = (extension.length + 2) * 4;
            if (length & 7) /* RFC 4302 section 3.3.3.2.1 */
                return NO_HEADER;
        }
        if (at + length - first > MAX_EXTENSION_BYTES)
            break;
        at += length;
        header = extension.next;
    }
    /* By way of the packet's own scratch space, so that the verifier forgets which of the many ways
     * here gave which place, and looks at what follows once. */
    skb->cb[0] = found(header, at);
    return *(volatile __u32 *)&skb->cb[0];
}

/* A place as the verifier has to know it where the kernel reads no odd ones: extension headers are
 * whole words of 8 bytes. */
static __always_inline __u32 aligned(__u32 at)
{
    barrier_var(at);
    return at & ~7U;
}

#define IP_FRAGMENT 0x3fff /* more fragments, or not the first */

static __always_inline bool has_ports(__u8 protocol)
{
    return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
           protocol == IPPROTO_DCCP || protocol == IPPROTO_UDPLITE;
}
