#include "turns.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "log.h"
#include "priority.h"

/* Two, so that a long read leaves room for a short one. */
#define MOST_OF_USER 2

#define LOOK_MS 500
#define STALL_SECONDS 60

/* Of a thread that waits for its turn or has it. */
struct turn {
    const char *user;
    bool wanted, granted;
    pthread_cond_t changed;
    struct turn *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct turn *first; /* who came first is first */
static _Thread_local struct turn mine = {.changed = PTHREAD_COND_INITIALIZER};

/* Under the lock, as all below. */
static void grant(const char *user) {
    unsigned granted = 0;
    for (struct turn *turn = first; turn && granted < MOST_OF_USER; turn = turn->next) {
        granted += turn->granted && !strcmp(turn->user, user);
    }
    for (struct turn *turn = first; turn && granted < MOST_OF_USER; turn = turn->next) {
        if (!turn->granted && !strcmp(turn->user, user)) {
            turn->granted = true;
            granted++;
            pthread_cond_signal(&turn->changed);
        }
    }
}

static void join(const char *user, struct turn **at) {
    mine.user = user;
    mine.wanted = true;
    mine.next = *at;
    *at = &mine;
    grant(user);
}

static struct turn **end_of_line(void) {
    struct turn **at = &first;
    while (*at) {
        at = &(*at)->next;
    }
    return at;
}

static void leave(void) {
    for (struct turn **at = &first; *at; at = &(*at)->next) {
        if (*at == &mine) {
            *at = mine.next;
            break;
        }
    }
    mine.wanted = mine.granted = false;
    grant(mine.user);
}

static bool has_more(const char *user) {
    for (const struct turn *turn = first; turn; turn = turn->next) {
        if (!turn->granted && !strcmp(turn->user, user)) {
            return true;
        }
    }
    return false;
}

/* For so long at most. */
static void wait_a_while(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += LOOK_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&mine.changed, &lock, &end);
}

/* A client that only sends no more still waits for its answer. */
static bool has_left(const struct session *session) {
    struct pollfd client = {.fd = session->wire.socket};
    return poll(&client, 1, 0) > 0;
}

/* A socket has room once most of what it holds was read (unix_writable in af_unix.c). */
static bool has_read(struct session *session) {
    struct pollfd room = {.fd = session->wire.socket, .events = POLLOUT};
    for (int waited = 0; waited < STALL_SECONDS; waited++) {
        if (poll(&room, 1, 1000) > 0) {
            return !(room.revents & (POLLHUP | POLLERR));
        }
    }
    log_info("session %u: it asks, and reads no answer; ended", session->id);
    session->end = "dropped";
    shutdown(session->wire.socket, SHUT_RDWR);
    return false;
}

bool turns_take(struct session *session) {
    if (!has_read(session)) {
        return false;
    }
    pthread_mutex_lock(&lock);
    join(session->user, end_of_line());
    bool left = false;
    while (!mine.granted && !left) {
        wait_a_while();
        left = has_left(session);
    }
    /* Its turn may have come long after it asked. */
    if (left || has_left(session)) {
        leave();
        left = true;
    }
    const bool behind = !left && has_more(session->user);
    pthread_mutex_unlock(&lock);
    priority_set(PRIORITY_READS, behind); /* who asks for more is served behind others */
    priority_measure();
    return !left;
}

static void release(void) {
    priority_set(PRIORITY_READS, false);
    pthread_mutex_lock(&lock);
    if (mine.wanted) {
        leave();
    }
    pthread_mutex_unlock(&lock);
}

void turns_give_back(void) {
    if (mine.granted) {
        priority_give_way(); /* with the turn, or the next of the user would run */
    }
    release();
}

bool turns_pause(void) {
    const bool had = mine.granted;
    release();
    return had;
}

void turns_resume(const struct session *session) {
    pthread_mutex_lock(&lock);
    join(session->user, &first);
    while (!mine.granted) {
        pthread_cond_wait(&mine.changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}
