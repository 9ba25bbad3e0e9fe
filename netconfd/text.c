#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *must_alloc(size_t size) {
    void *made = calloc(1, size ? size : 1);
    if (!made) {
        fputs("srv6-netconfd: out of memory\n", stderr);
        abort();
    }
    return made;
}

char *must_copy(const char *string) {
    size_t size = strlen(string) + 1;
    return memcpy(must_alloc(size), string, size);
}

char *must_format(const char *format, ...) {
    char *made;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&made, format, arguments);
    va_end(arguments);
    return length < 0 ? must_alloc(1) : made;
}

static void grow(struct text *text, size_t more) {
    size_t need = text->length + more + 1;
    if (need <= text->room) {
        return;
    }
    size_t room = text->room * 2 > need ? text->room * 2 : need + 256;
    char *bytes = realloc(text->bytes, room);
    if (!bytes) {
        fputs("srv6-netconfd: out of memory\n", stderr);
        abort();
    }
    text->bytes = bytes;
    text->room = room;
}

void text_add(struct text *text, const char *bytes, size_t length) {
    grow(text, length);
    if (length) {
        memcpy(text->bytes + text->length, bytes, length);
    }
    text->length += length;
    text->bytes[text->length] = '\0';
}

ssize_t text_write(void *text, const void *bytes, size_t length) {
    text_add(text, bytes, length);
    return (ssize_t)length;
}

void text_puts(struct text *text, const char *string) {
    text_add(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length > 0) {
        grow(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_put_xml(struct text *text, const char *string) {
    while (*string) {
        size_t plain = strcspn(string, "&<>\"");
        text_add(text, string, plain);
        string += plain;
        switch (*string) {
        case '&':
            text_puts(text, "&amp;");
            break;
        case '<':
            text_puts(text, "&lt;");
            break;
        case '>':
            text_puts(text, "&gt;");
            break;
        case '"':
            text_puts(text, "&quot;");
            break;
        default:
            return;
        }
        string++;
    }
}

void text_cut(struct text *text, size_t length) {
    if (length < text->length) {
        text->length = length;
        text->bytes[length] = '\0';
    }
}

void text_free(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}

const char *text_of_time(struct text_moment *last, uint64_t at) {
    const uint64_t second = at / 1000000000u;
    const size_t date = sizeof "2026-01-01T00:00:00" - 1;
    if (last->second != second || !*last->written) {
        struct tm tm;
        time_t given = (time_t)second;
        last->second = second;
        if (!gmtime_r(&given, &tm) ||
            strftime(last->written, sizeof last->written, "%Y-%m-%dT%H:%M:%S", &tm) != date) {
            return memset(last->written, 0, 1);
        }
    }
    snprintf(last->written + date, sizeof last->written - date, ".%09u+00:00",
             (unsigned)(at % 1000000000u));
    return last->written;
}
