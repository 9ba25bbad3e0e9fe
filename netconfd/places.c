#include "places.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uid_t users[PLACES];
static size_t taken;

bool places_take(uid_t user) {
    pthread_mutex_lock(&lock);
    size_t same = 0;
    for (size_t i = 0; i < taken; i++) {
        same += users[i] == user;
    }
    const bool has_room =
        user ? taken < PLACES - PLACES_OF_ROOT && same < PLACES_OF_USER : taken < PLACES;
    if (has_room) {
        users[taken++] = user;
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
