#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static void line(const char *level, const char *format, va_list arguments) {
    char text[2048];
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "%s: %s\n", level, text);
}

void log_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    line("error", format, arguments);
    va_end(arguments);
}

void log_info(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    line("info", format, arguments);
    va_end(arguments);
}
