/* The service manager: sd_notify(3), sd_watchdog_enabled(3). Nothing happens without one. */
#ifndef MANAGER_H
#define MANAGER_H

void manager_notify(const char *state);

/* Milliseconds after which it wants to hear that all is well; -1: it does not. */
int manager_interval(void);

#endif
