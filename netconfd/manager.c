#include "manager.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void manager_notify(const char *state) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path || strlen(path) >= sizeof address.sun_path) {
        return;
    }
    strcpy(address.sun_path, path);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (*path == '@') {
        address.sun_path[0] = '\0';
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, length);
        close(fd);
    }
}

int manager_interval(void) {
    const char *microseconds = getenv("WATCHDOG_USEC");
    const char *process = getenv("WATCHDOG_PID");
    if (!microseconds || (process && strtol(process, NULL, 10) != getpid())) {
        return -1;
    }
    long half = strtol(microseconds, NULL, 10) / 1000 / 2;
    return half > 0 && half < INT_MAX ? (int)half : -1;
}
