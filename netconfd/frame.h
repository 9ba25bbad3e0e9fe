/* NETCONF messages on a socket: end-of-message and chunked framing, RFC 6242 section 4.
 *
 * Ours, since libnetconf2 3.7.1 allocates whatever size a chunk claims, and neither it nor the
 * kernel wakes a writer whose reader has gone to sleep.
 */
#ifndef FRAME_H
#define FRAME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "text.h"

enum frame_status { FRAME_MESSAGE, FRAME_CLOSED, FRAME_MALFORMED, FRAME_TOO_BIG, FRAME_STALLED };

/* Bytes of a message that are taken of everybody; libyang makes up to 50 times as much of them. */
#define WIRE_SHORT (128u << 10)
/* Bytes from which on few messages are taken at a time, each within so many seconds. */
#define WIRE_LARGE (16u << 20)
#define WIRE_LARGE_SECONDS 60

struct wire {
    int socket;   /* non-blocking */
    bool chunked; /* base:1.1 */
    size_t limit; /* bytes of the longest message taken */
    /* Whether a message may be longer than WIRE_SHORT; NULL: it may. */
    bool (*may_be_long)(void *who);
    /* Waits until there is room for a message of more than WIRE_LARGE; false: the client left.
     * NULL: there always is. */
    bool (*takes_room)(void *who);
    void *who;
    pthread_mutex_t writing;
    char buffer[65536];
    size_t begin, end; /* what of the buffer is not taken yet */
    time_t due;        /* when a large message has to be there (CLOCK_MONOTONIC); 0: none comes */
};

void wire_init(struct wire *wire, int socket, bool chunked, size_t limit);
void wire_destroy(struct wire *wire);

/* Wait for a message and put it into text, which is emptied first. */
enum frame_status wire_read(struct wire *wire, struct text *text);

/* Send a message; 0, or -1 when the peer is gone or took nothing for a minute. */
int wire_write(struct wire *wire, const struct text *text);

#endif
