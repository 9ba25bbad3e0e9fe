#include "large.h"

#include <poll.h>

#define MOST 2
#define LOOK_SECONDS 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static unsigned taken;

static bool has_left(const struct session *session) {
    struct pollfd client = {.fd = session->wire.socket, .events = POLLRDHUP};
    return poll(&client, 1, 0) > 0;
}

bool large_take(struct session *session) {
    bool stays = true;
    pthread_mutex_lock(&lock);
    while (taken >= MOST && stays) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += LOOK_SECONDS;
        pthread_cond_timedwait(&given_back, &lock, &until);
        stays = !has_left(session);
    }
    taken += stays;
    session->has_large = stays;
    pthread_mutex_unlock(&lock);
    return stays;
}

void large_give_back(struct session *session) {
    if (session->has_large) {
        session->has_large = false;
        pthread_mutex_lock(&lock);
        taken--;
        pthread_cond_signal(&given_back);
        pthread_mutex_unlock(&lock);
    }
}
