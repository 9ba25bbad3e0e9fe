#include "candidate.h"

#include <pthread.h>
#include <stdlib.h>

#include "running.h"
#include "text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *base;

/* Of no configuration that srv6mgrd knows. */
#define UNKNOWN "0"

void candidate_find(void) {
    sr_session_switch_ds(server.own, SR_DS_CANDIDATE);
    const int failed = sr_lock(server.own, NULL, 0);
    if (failed == SR_ERR_UNSUPPORTED) { /* it has changes */
        base = must_copy(UNKNOWN);
    } else if (!failed) {
        sr_unlock(server.own, NULL);
    }
    sr_session_switch_ds(server.own, SR_DS_RUNNING);
}

bool candidate_begin(struct session *session) {
    pthread_mutex_lock(&lock);
    const bool is_first = !base;
    pthread_mutex_unlock(&lock);
    if (!is_first) {
        return false;
    }
    char *revision = running_revision(session);
    pthread_mutex_lock(&lock);
    const bool was_first = !base;
    if (was_first) {
        base = revision;
        revision = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(revision);
    return was_first;
}

void candidate_end(void) {
    pthread_mutex_lock(&lock);
    free(base);
    base = NULL;
    pthread_mutex_unlock(&lock);
}

char *candidate_base(void) {
    pthread_mutex_lock(&lock);
    char *copy = must_copy(base ? base : "");
    pthread_mutex_unlock(&lock);
    return copy;
}
