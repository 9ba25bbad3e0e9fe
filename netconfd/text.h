/* A growing string; what does not fit into memory ends the process, as it can't go on. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
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

/* malloc(3) and strdup(3) that do not fail. */
void *must_alloc(size_t size);
char *must_copy(const char *string);

/* A formatted string of its own. */
char *must_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
