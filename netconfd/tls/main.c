/* srv6-netconf-tls: NETCONF over TLS (RFC 7589) and call home (RFC 8071).
 *
 * What sshd's subsystem does for SSH: each connection has a process that becomes the user whose
 * certificate it is, and connects to the socket of srv6-netconfd. TLS is not in there, so that
 * what the network sends meets neither its powers nor its sessions.
 */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../log.h"
#include "../manager.h"
#include "../room.h"
#include "../text.h"
#include "client.h"
#include "places.h"
#include "secure.h"
#include "settings.h"

#define SETTINGS "/etc/srv6mgr/netconf-tls.conf"
#define ROOM_AGAIN_MS 1000 /* without room to accept, the next try */
#define CALL_AGAIN_FIRST 1 /* seconds, doubling while nobody answers */
#define CALL_AGAIN_LAST 60

/* A client that we call. */
struct home {
    const struct endpoint *endpoint;
    pid_t process; /* 0: none */
    time_t next;   /* when it is called again, monotonic seconds */
    int wait;
};

static struct settings settings;
static struct home homes[MOST_ENDPOINTS];
static int listeners[MOST_ENDPOINTS];
static sigset_t watched, before;

static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static int listen_at(const struct endpoint *endpoint) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    const int yes = 1;
    char *name = client_name(endpoint);
    int failed = getaddrinfo(endpoint->host, endpoint->port, &hints, &found);
    int made =
        failed ? -1 : socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made >= 0) {
        setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    }
    if (made < 0 || bind(made, found->ai_addr, found->ai_addrlen) || listen(made, 128)) {
        log_error("listen %s: %s; choose an address and a port that are free", name,
                  failed ? gai_strerror(failed) : strerror(errno));
        if (made >= 0) {
            close(made);
        }
        made = -1;
    }
    if (found) {
        freeaddrinfo(found);
    }
    free(name);
    return made;
}

/* In the new process the signals are as they were; 0 there, -1: there is none. */
static pid_t split(void) {
    pid_t process = fork();
    if (process == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        for (size_t i = 0; i < settings.listens; i++) {
            close(listeners[i]);
        }
    } else if (process < 0) {
        log_error("connection: no process for it: %s; it is rejected", strerror(errno));
    }
    return process;
}

/* False: there is no room for a connection, which then waits in the backlog. */
static bool let_in(int listener) {
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    char host[64] = "?", port[8] = "?";
    int made = accept4(listener, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);
    if (made < 0) {
        if (!lacks_room(errno)) {
            return true;
        }
        log_error("connection: %s; it waits until there is room", strerror(errno));
        return false;
    }
    getnameinfo((struct sockaddr *)&from, length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    const struct endpoint endpoint = {host, port};
    char *who = client_name(&endpoint);
    struct place *place = place_take(&from, &settings, who);
    pid_t process = place ? split() : -1;
    if (place && process == 0) {
        _exit(client_serve(&settings, made, who, place) ? 1 : 0);
    }
    if (place) {
        place_assign(place, process);
    }
    free(who);
    close(made);
    return true;
}

static void call(struct home *home) {
    home->process = split();
    if (home->process == 0) {
        int made = client_call(home->endpoint);
        char *name = client_name(home->endpoint), *who = must_format("call home %s", name);
        _exit(made < 0 || client_serve(&settings, made, who, NULL) ? 1 : 0);
    }
    if (home->process < 0) {
        home->process = 0;
        home->next = now() + CALL_AGAIN_LAST;
    }
}

/* The seconds until somebody is to be called; -1: nobody is. */
static int call_all(void) {
    int soonest = -1;
    for (size_t i = 0; i < settings.call_homes; i++) {
        if (!homes[i].process && homes[i].next <= now()) {
            call(&homes[i]);
        }
        if (!homes[i].process) {
            time_t left = homes[i].next - now();
            soonest = soonest < 0 || left < soonest ? (int)left : soonest;
        }
    }
    return soonest;
}

static void ended(pid_t process, int status) {
    place_left(process);
    for (size_t i = 0; i < settings.call_homes; i++) {
        struct home *home = &homes[i];
        if (home->process == process) {
            bool had_session = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            home->process = 0;
            home->wait = had_session ? CALL_AGAIN_FIRST : home->wait;
            home->next = now() + home->wait;
            home->wait = home->wait * 2 < CALL_AGAIN_LAST ? home->wait * 2 : CALL_AGAIN_LAST;
        }
    }
}

static void serve(int signals) {
    struct pollfd wanted[MOST_ENDPOINTS + 1] = {{.fd = signals, .events = POLLIN}};
    bool room = true;
    for (;;) {
        struct signalfd_siginfo caught;
        int seconds = call_all(), status;
        int wait =
            seconds < 0 || seconds * 1000 > PLACES_CHECK_MS ? PLACES_CHECK_MS : seconds * 1000 + 10;
        for (size_t i = 0; i < settings.listens; i++) {
            wanted[i + 1] = (struct pollfd){.fd = room ? listeners[i] : -1, .events = POLLIN};
        }
        wait = room || wait < ROOM_AGAIN_MS ? wait : ROOM_AGAIN_MS;
        room = true;
        if (poll(wanted, settings.listens + 1, wait) < 0) {
            continue;
        }
        places_check(&settings);
        if (wanted[0].revents && read(signals, &caught, sizeof caught) == sizeof caught &&
            caught.ssi_signo != SIGCHLD) {
            return;
        }
        for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
            ended(process, status);
        }
        for (size_t i = 0; i < settings.listens; i++) {
            if (wanted[i + 1].revents) {
                room = let_in(listeners[i]) && room;
            }
        }
    }
}

static void end_all(void) {
    places_end();
    for (size_t i = 0; i < settings.call_homes; i++) {
        if (homes[i].process) {
            kill(homes[i].process, SIGTERM);
        }
    }
    while (wait(NULL) > 0) {
    }
}

static int prepare(const char *path) {
    if (settings_read(path, &settings)) {
        return -1;
    }
    SSL_CTX *context =
        secure_context(&settings); /* mistakes are reported now, not to the first client */
    if (!context) {
        return -1;
    }
    SSL_CTX_free(context);
    for (size_t i = 0; i < settings.listens; i++) {
        if ((listeners[i] = listen_at(&settings.listen[i])) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < settings.call_homes; i++) {
        homes[i] = (struct home){.endpoint = &settings.call_home[i], .wait = CALL_AGAIN_FIRST};
    }
    return 0;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *path = SETTINGS;
    int option;
    while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
        if (option != 'c') {
            printf("usage: srv6-netconf-tls [--config FILE]   (default " SETTINGS ")\n");
            return option == 'h' ? 0 : 2;
        }
        path = optarg;
    }
    sigemptyset(&watched);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &before);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &watched, SFD_CLOEXEC);
    if (places_start() || prepare(path)) {
        return 1;
    }
    manager_notify("READY=1");
    serve(signals);
    manager_notify("STOPPING=1");
    end_all();
    return 0;
}
