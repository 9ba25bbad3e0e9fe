#include "frame.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STALL_MS 60000
#define CHUNK_DIGITS 10 /* of 4294967295, the most that RFC 6242 allows */

static const char END_OF_MESSAGE[] = "]]>]]>";

void wire_init(struct wire *wire, int socket, bool chunked, size_t limit) {
    wire->socket = socket;
    wire->chunked = chunked;
    wire->limit = limit;
    wire->may_be_long = NULL;
    wire->takes_room = NULL;
    wire->who = NULL;
    wire->begin = wire->end = 0;
    wire->due = 0;
    pthread_mutex_init(&wire->writing, NULL);
}

void wire_destroy(struct wire *wire) {
    pthread_mutex_destroy(&wire->writing);
}

/* Wait until the socket is ready; within a message only for so long. */
static enum frame_status wait_for(int socket, short events, int timeout) {
    struct pollfd wanted = {.fd = socket, .events = events};
    for (;;) {
        int ready = poll(&wanted, 1, timeout);
        if (ready > 0) {
            return FRAME_MESSAGE;
        }
        if (ready == 0) {
            return FRAME_STALLED;
        }
        if (errno != EINTR) {
            return FRAME_CLOSED;
        }
    }
}

/* Milliseconds that may pass until more of a message comes. */
static int remaining_ms(const struct wire *wire) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const time_t left = wire->due ? wire->due - now.tv_sec : STALL_MS / 1000;
    return left < 0 ? 0 : left * 1000 < STALL_MS ? (int)(left * 1000) : STALL_MS;
}

/* More into the buffer. */
static enum frame_status receive(struct wire *wire, bool within) {
    for (;;) {
        ssize_t count = recv(wire->socket, wire->buffer, sizeof wire->buffer, 0);
        if (count > 0) {
            wire->begin = 0;
            wire->end = (size_t)count;
            return wire->due && !remaining_ms(wire) ? FRAME_STALLED : FRAME_MESSAGE;
        }
        if (count == 0) {
            return FRAME_CLOSED;
        }
        if (errno == EAGAIN) {
            enum frame_status status =
                wait_for(wire->socket, POLLIN, within ? remaining_ms(wire) : -1);
            if (status != FRAME_MESSAGE) {
                return status;
            }
        } else if (errno != EINTR) {
            return FRAME_CLOSED;
        }
    }
}

static enum frame_status next_byte(struct wire *wire, bool within, char *byte) {
    if (wire->begin == wire->end) {
        enum frame_status status = receive(wire, within);
        if (status != FRAME_MESSAGE) {
            return status;
        }
    }
    *byte = wire->buffer[wire->begin++];
    return FRAME_MESSAGE;
}

/* Whether a message that has grown from one length to another is too long. */
static bool is_too_long(const struct wire *wire, size_t before, uint64_t length) {
    return length > wire->limit || (before <= WIRE_SHORT && length > WIRE_SHORT &&
                                    wire->may_be_long && !wire->may_be_long(wire->who));
}

/* Whether a message may grow from one length to another. */
static enum frame_status admit(struct wire *wire, size_t before, uint64_t length) {
    if (is_too_long(wire, before, length)) {
        return FRAME_TOO_BIG;
    }
    if (before <= WIRE_LARGE && length > WIRE_LARGE && wire->takes_room) {
        struct timespec now;
        if (!wire->takes_room(wire->who)) {
            return FRAME_CLOSED;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        wire->due = now.tv_sec + WIRE_LARGE_SECONDS;
    }
    return FRAME_MESSAGE;
}

static enum frame_status read_to_end(struct wire *wire, struct text *text) {
    const size_t tail = sizeof END_OF_MESSAGE - 1;
    for (;;) {
        char byte;
        enum frame_status status = next_byte(wire, text->length > 0, &byte);
        if (status != FRAME_MESSAGE) {
            return status;
        }
        text_add(text, &byte, 1);
        if (byte == '>' && text->length >= tail &&
            !memcmp(text->bytes + text->length - tail, END_OF_MESSAGE, tail)) {
            text->length -= tail;
            text->bytes[text->length] = '\0';
            return FRAME_MESSAGE;
        }
        if ((status = admit(wire, text->length - 1, text->length)) != FRAME_MESSAGE) {
            return status;
        }
    }
}

/* LF HASH 1*DIGIT LF, or LF HASH HASH LF for the end, of which size is 0. */
static enum frame_status read_header(struct wire *wire, bool within, uint64_t *size) {
    char byte;
    enum frame_status status = next_byte(wire, within, &byte);
    /* Some clients end the hello with a line feed of their own. */
    while (status == FRAME_MESSAGE && !within && (byte == '\r' || byte == ' ')) {
        status = next_byte(wire, within, &byte);
    }
    if (status != FRAME_MESSAGE) {
        return status;
    }
    if (byte != '\n') {
        return FRAME_MALFORMED;
    }
    if ((status = next_byte(wire, true, &byte)) != FRAME_MESSAGE) {
        return status;
    }
    while (!within && byte == '\n') {
        if ((status = next_byte(wire, true, &byte)) != FRAME_MESSAGE) {
            return status;
        }
    }
    if (byte != '#') {
        return FRAME_MALFORMED;
    }
    *size = 0;
    for (int digits = 0;; digits++) {
        if ((status = next_byte(wire, true, &byte)) != FRAME_MESSAGE) {
            return status;
        }
        if (byte == '#' && digits == 0 && within) {
            status = next_byte(wire, true, &byte);
            return status == FRAME_MESSAGE && byte != '\n' ? FRAME_MALFORMED : status;
        }
        if (byte == '\n' && digits > 0) {
            return *size > UINT32_MAX ? FRAME_MALFORMED : FRAME_MESSAGE;
        }
        if (byte < (digits ? '0' : '1') || byte > '9' || digits == CHUNK_DIGITS) {
            return FRAME_MALFORMED;
        }
        *size = *size * 10 + (uint64_t)(byte - '0');
    }
}

/* Memory is taken as data arrives, not as it is announced. */
static enum frame_status read_chunk(struct wire *wire, uint64_t size, struct text *text) {
    while (size) {
        if (wire->begin == wire->end) {
            enum frame_status status = receive(wire, true);
            if (status != FRAME_MESSAGE) {
                return status;
            }
        }
        size_t there = wire->end - wire->begin;
        size_t take = there < size ? there : (size_t)size;
        text_add(text, wire->buffer + wire->begin, take);
        wire->begin += take;
        size -= take;
    }
    return FRAME_MESSAGE;
}

enum frame_status wire_read(struct wire *wire, struct text *text) {
    text->length = 0;
    wire->due = 0;
    if (!wire->chunked) {
        return read_to_end(wire, text);
    }
    for (;;) {
        uint64_t size;
        enum frame_status status = read_header(wire, text->length > 0, &size);
        if (status != FRAME_MESSAGE || !size) {
            return status;
        }
        if ((status = admit(wire, text->length, text->length + size)) != FRAME_MESSAGE) {
            return status;
        }
        if ((status = read_chunk(wire, size, text)) != FRAME_MESSAGE) {
            return status;
        }
    }
}

static int send_all(int socket, const char *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(socket, bytes, length, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        } else if (sent == 0 || errno == EAGAIN) {
            if (wait_for(socket, POLLOUT, STALL_MS) != FRAME_MESSAGE) {
                shutdown(socket, SHUT_RDWR); /* half a message can't be taken back */
                return -1;
            }
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

int wire_write(struct wire *wire, const struct text *text) {
    char header[24];
    int failed = 0;
    pthread_mutex_lock(&wire->writing);
    if (wire->chunked) {
        int length = snprintf(header, sizeof header, "\n#%zu\n", text->length);
        failed = send_all(wire->socket, header, (size_t)length);
    }
    failed = failed || send_all(wire->socket, text->bytes, text->length);
    const char *end = wire->chunked ? "\n##\n" : END_OF_MESSAGE;
    failed = failed || send_all(wire->socket, end, strlen(end));
    pthread_mutex_unlock(&wire->writing);
    return failed ? -1 : 0;
}
