#include "address.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "text.h"

#define MARK '\0' /* begins no XML */
#define LONGEST 63

/* Mark, length, and the address, which no NUL follows. */
struct message {
    char mark;
    unsigned char length;
    char address[LONGEST + 1];
};

#define HEAD offsetof(struct message, address)

union control {
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
    struct cmsghdr align;
};

int address_send(int socket, const char *address) {
    const size_t length = strnlen(address, LONGEST);
    struct message message = {.mark = MARK, .length = (unsigned char)length};
    memcpy(message.address, address, length);
    struct iovec part = {&message, HEAD + length};
    union control control = {0};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    const struct ucred root = {.pid = getpid(), .uid = 0, .gid = getegid()};
    struct cmsghdr *credentials = CMSG_FIRSTHDR(&header);
    credentials->cmsg_level = SOL_SOCKET;
    credentials->cmsg_type = SCM_CREDENTIALS;
    credentials->cmsg_len = CMSG_LEN(sizeof root);
    memcpy(CMSG_DATA(credentials), &root, sizeof root);
    return sendmsg(socket, &header, MSG_NOSIGNAL) == (ssize_t)part.iov_len ? 0 : -1;
}

static bool is_from_root(struct msghdr *header) {
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(at), sizeof who);
            return who.uid == 0;
        }
    }
    return false;
}

/* Not a byte more than its length, which was looked at. */
static char *take(int socket, unsigned char length) {
    struct message message = {0};
    struct iovec part = {&message, HEAD + length};
    union control control = {0};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    /* What another process sent is not joined to it (unix_skb_scm_eq). */
    ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    return got == (ssize_t)part.iov_len && is_from_root(&header) && *message.address
               ? must_copy(message.address)
               : NULL;
}

char *address_receive(int socket, int seconds) {
    const int yes = 1, no = 0;
    struct pollfd there = {.fd = socket, .events = POLLIN};
    unsigned char head[HEAD];
    char *address = NULL;
    setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
    if (poll(&there, 1, seconds * 1000) > 0 && recv(socket, head, HEAD, MSG_PEEK) == HEAD &&
        head[0] == MARK && head[1] <= LONGEST) {
        address = take(socket, head[1]);
    }
    setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &no, sizeof no);
    return address;
}
