/* The daemon's log: lines on stderr, which the service manager keeps. */
#ifndef LOG_H
#define LOG_H

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Have libyang, sysrepo and libnetconf2 write there, too. */
void log_start(void);

#endif
