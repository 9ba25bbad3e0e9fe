#include "places.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define FEW 8
#define REJECTED 16 /* who was, last */
#define RATES 16    /* users that have many */
#define EACH_MS 50
#define LONGEST_MS 5000
#define REJECTED_SECONDS 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uid_t users[PLACES];
static size_t taken;
static struct rejection {
    uid_t user;
    time_t until;
} rejected[REJECTED];
static struct rate {
    uid_t user;
    int64_t next; /* milliseconds */
} rates[RATES];

/* Under the lock, as all below. */
static size_t of(uid_t user) {
    size_t same = 0;
    for (size_t i = 0; i < taken; i++) {
        same += users[i] == user;
    }
    return same;
}

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static time_t now(void) {
    return (time_t)(now_ms() / 1000);
}

/* In the place of its last rejection, or of the one that is the oldest. */
static void note(uid_t user) {
    struct rejection *place = rejected;
    for (size_t i = 0; i < REJECTED; i++) {
        if (rejected[i].user == user) {
            place = &rejected[i];
            break;
        }
        if (rejected[i].until < place->until) {
            place = &rejected[i];
        }
    }
    *place = (struct rejection){user, now() + REJECTED_SECONDS};
}

bool places_take(uid_t user) {
    pthread_mutex_lock(&lock);
    const size_t same = of(user);
    const bool has_room =
        user ? taken < PLACES - PLACES_OF_ROOT && same < PLACES_OF_USER : taken < PLACES;
    if (has_room) {
        users[taken++] = user;
    } else {
        note(user);
    }
    pthread_mutex_unlock(&lock);
    return has_room;
}

void places_leave(uid_t user) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < taken; i++) {
        if (users[i] == user) {
            users[i] = users[--taken];
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static bool are_many(uid_t user) {
    bool many = of(user) > FEW;
    for (size_t i = 0; i < REJECTED && !many; i++) {
        many = rejected[i].user == user && rejected[i].until > now();
    }
    return user && many;
}

bool places_are_many(uid_t user) {
    pthread_mutex_lock(&lock);
    const bool many = are_many(user);
    pthread_mutex_unlock(&lock);
    return many;
}

/* Of the user, or the one that was used longest ago. */
static struct rate *rate_of(uid_t user) {
    struct rate *found = rates;
    for (size_t i = 0; i < RATES; i++) {
        if (rates[i].user == user) {
            return &rates[i];
        }
        if (rates[i].next < found->next) {
            found = &rates[i];
        }
    }
    *found = (struct rate){user, 0};
    return found;
}

int places_rate_limit(uid_t user) {
    int64_t wait = 0;
    pthread_mutex_lock(&lock);
    if (are_many(user)) {
        struct rate *rate = rate_of(user);
        const int64_t time = now_ms();
        wait = rate->next > time ? rate->next - time : 0;
        wait = wait < LONGEST_MS ? wait : LONGEST_MS;
        rate->next = time + wait + EACH_MS;
    }
    pthread_mutex_unlock(&lock);
    return (int)wait;
}
