#include "periodic.h"

#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "log.h"
#include "operations.h"
#include "subscription.h"
#include "text.h"

#define UPDATE "/ietf-yang-push:push-update"
#define EVERYTHING "/*"

struct periodic {
    struct session reader; /* as the session, but with a session of sysrepo of its own */
    struct session *session;
    sr_datastore_t datastore;
    pthread_mutex_t lock; /* of what follows; the session's thread may change it */
    struct filter filter;
    char *xpath;
};

static struct reply *no_session(void) {
    return reply_error("resource-denied", "application",
                       "establish-subscription: sysrepo has no session left; try again later");
}

struct reply *periodic_new(const struct session *session, sr_datastore_t datastore,
                           const char *xpath, struct periodic **made) {
    struct periodic *periodic = must_alloc(sizeof *periodic);
    periodic->session = (struct session *)session;
    periodic->datastore = datastore;
    memcpy(&periodic->reader, session, sizeof periodic->reader);
    pthread_mutex_init(&periodic->lock, NULL);
    periodic->reader.sr = session_sysrepo(session);
    struct reply *reply = periodic->reader.sr ? periodic_set(periodic, xpath) : no_session();
    if (reply) {
        periodic_free(periodic);
        return reply;
    }
    *made = periodic;
    return NULL;
}

void periodic_free(struct periodic *periodic) {
    if (periodic) {
        filter_free(&periodic->filter);
        free(periodic->xpath);
        sr_session_stop(periodic->reader.sr);
        pthread_mutex_destroy(&periodic->lock);
        free(periodic);
    }
}

struct reply *periodic_set(struct periodic *periodic, const char *xpath) {
    struct filter filter = {0};
    struct reply *reply = filter_of_xpath(periodic->session, xpath ? xpath : EVERYTHING, &filter);
    if (reply) {
        filter_free(&filter);
        return reply;
    }
    pthread_mutex_lock(&periodic->lock);
    filter_free(&periodic->filter);
    free(periodic->xpath);
    periodic->filter = filter;
    periodic->xpath = xpath ? must_copy(xpath) : NULL;
    pthread_mutex_unlock(&periodic->lock);
    return NULL;
}

char *periodic_xpath(struct periodic *periodic) {
    pthread_mutex_lock(&periodic->lock);
    char *xpath = periodic->xpath ? must_copy(periodic->xpath) : NULL;
    pthread_mutex_unlock(&periodic->lock);
    return xpath;
}

/* Takes the tree. */
static void push(struct periodic *periodic, uint32_t id, struct lyd_node *tree) {
    struct lyd_node *update = NULL;
    struct timespec now;
    char *number = must_format("%u", id);
    if (lyd_new_path(NULL, periodic->session->context, UPDATE "/id", number, 0, &update) ||
        lyd_new_any(update, NULL, "datastore-contents", tree, LYD_ANYDATA_DATATREE,
                    LYD_NEW_ANY_USE_VALUE, NULL)) {
        lyd_free_siblings(tree);
    } else {
        clock_gettime(CLOCK_REALTIME, &now);
        subscription_notify(periodic->session, update, &now);
    }
    lyd_free_all(update);
    free(number);
}

void periodic_report(struct periodic *periodic, uint32_t id) {
    struct lyd_node *tree = NULL;
    pthread_mutex_lock(&periodic->lock);
    struct reply *reply =
        read_datastore(&periodic->reader, periodic->datastore, &periodic->filter, &tree);
    pthread_mutex_unlock(&periodic->lock);
    if (reply) {
        log_info("session %u: %s", periodic->session->id, reply->errors->message);
        reply_free(reply);
        lyd_free_siblings(tree);
        return;
    }
    push(periodic, id, tree);
}
