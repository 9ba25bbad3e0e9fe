/* A growing string; what does not fit into memory ends the process, as it can't go on. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct text {
    char *bytes; /* always ends with a NUL that length does not count */
    size_t length;
    size_t room;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_puts(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* text_add as ly_out_new_clb wants it. */
ssize_t text_write(void *text, const void *bytes, size_t length);

/* string with the characters escaped that XML gives a meaning. */
void text_put_xml(struct text *text, const char *string);

/* Take back what was added since it had that length. */
void text_cut(struct text *text, size_t length);

void text_free(struct text *text);

/* A time as text_of_time wrote it last; most times are of few seconds. {0} at first. */
struct text_moment {
    uint64_t second;
    char written[sizeof "2026-01-01T00:00:00.000000000+00:00"];
};

/* Nanoseconds since 1970 as date-and-time (RFC 6991), in *last; "" where they are too many. */
const char *text_of_time(struct text_moment *last, uint64_t at);

/* malloc(3) and strdup(3) that do not fail. */
void *must_alloc(size_t size);
char *must_copy(const char *string);

/* A formatted string of its own. */
char *must_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
