#include "watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sysrepo/subscribed_notifications.h>
#include <time.h>

#include "filter.h"
#include "log.h"
#include "operations.h"
#include "store.h"
#include "subscription.h"
#include "text.h"

#define MODULE "srv6mgr-srv6"
#define ALARMS "ietf-alarms"
#define EVERYTHING "/" MODULE ":srv6"
#define LOOK_MS 100
#define SHARE 5 /* of the time at most one part of so many goes into reading */

struct watch {
    struct session reader; /* as the session, but with a session of sysrepo of its own */
    struct session *session;
    struct filter filter;
    bool excluded[CHANGES];
    atomic_uint dampening_ms;
    struct lyd_node *before;
    uint64_t revision;
    uint32_t id, patch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopping;
    bool started, stops;
};

/* Counters change all the time; changes of other modules go unnoticed. */
static void drop_counters(struct lyd_node **siblings) {
    struct lyd_node *node, *next;
    LY_LIST_FOR_SAFE(*siblings, next, node) {
        const bool is_state = node->schema && node->schema->flags & LYS_CONFIG_R;
        const char *module = node->schema ? node->schema->module->name : MODULE;
        if (!lyd_parent(node) && strcmp(module, MODULE) != 0 && strcmp(module, ALARMS) != 0) {
            *siblings = *siblings == node ? next : *siblings;
            lyd_free_tree(node);
        } else if (is_state &&
                   (!strcmp(LYD_NAME(node), "counters") || !strcmp(LYD_NAME(node), "statistics") ||
                    !strcmp(LYD_NAME(node), "daemons"))) {
            *siblings = *siblings == node ? next : *siblings;
            lyd_free_tree(node);
        } else if (node->schema && node->schema->nodetype & (LYS_CONTAINER | LYS_LIST)) {
            struct lyd_node *children = lyd_child_no_keys(node);
            drop_counters(&children);
        }
    }
}

static struct reply *look(struct watch *watch, struct lyd_node **tree) {
    struct reply *reply = read_operational(&watch->reader, &watch->filter, tree);
    if (reply) {
        lyd_free_siblings(*tree);
        *tree = NULL;
    } else {
        drop_counters(tree);
    }
    return reply;
}

struct reply *watch_new(const struct session *session, const struct watch_wanted *wanted,
                        struct watch **made) {
    struct watch *watch = must_alloc(sizeof *watch);
    watch->session = (struct session *)session;
    memcpy(&watch->reader, session, sizeof watch->reader);
    memcpy(watch->excluded, wanted->excluded, sizeof watch->excluded);
    watch->dampening_ms = wanted->dampening_ms;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->stopping, NULL);
    watch->reader.sr = session_sysrepo(session);
    struct reply *reply =
        watch->reader.sr
            ? filter_of_xpath(session, wanted->xpath ? wanted->xpath : EVERYTHING, &watch->filter)
            : reply_error("resource-denied", "application",
                          "establish-subscription: sysrepo has no session left; try again later");
    watch->revision = store_revision();
    reply = reply ? reply : look(watch, &watch->before);
    if (reply) {
        watch_free(watch);
        return reply;
    }
    *made = watch;
    return NULL;
}

/* Wait for so long; false: it stops. */
static bool pause_for(struct watch *watch, uint64_t milliseconds) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)(milliseconds / 1000);
    end.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&watch->lock);
    while (!watch->stops && !pthread_cond_timedwait(&watch->stopping, &watch->lock, &end)) {
    }
    const bool goes_on = !watch->stops;
    pthread_mutex_unlock(&watch->lock);
    return goes_on;
}

static void report(struct watch *watch) {
    struct lyd_node *after = NULL;
    struct timespec now;
    struct reply *reply = look(watch, &after);
    if (reply) {
        log_info("session %u: %s", watch->session->id, reply->errors->message);
        reply_free(reply);
        watch->revision = 0; /* read again */
        return;
    }
    struct lyd_node *update = changes_between(watch->session->context, watch->before, after,
                                              watch->excluded, watch->id, ++watch->patch);
    if (update) {
        clock_gettime(CLOCK_REALTIME, &now);
        subscription_notify(watch->session, update, &now);
        srsn_notif_sent(watch->id);
    }
    lyd_free_all(update);
    lyd_free_siblings(watch->before);
    watch->before = after;
}

static uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void *run(void *data) {
    struct watch *watch = data;
    uint64_t wait = LOOK_MS;
    while (pause_for(watch, wait)) {
        const uint64_t revision = store_revision(), begin = milliseconds();
        wait = LOOK_MS;
        if (revision != watch->revision) {
            watch->revision = revision;
            report(watch);
            const uint64_t spent = (milliseconds() - begin) * SHARE;
            wait = spent > wait ? spent : wait;
            wait = watch->dampening_ms > wait ? watch->dampening_ms : wait;
        }
    }
    return NULL;
}

void watch_start(struct watch *watch, uint32_t id) {
    watch->id = id;
    watch->started = !pthread_create(&watch->thread, NULL, run, watch);
}

void watch_set(struct watch *watch, unsigned dampening_ms) {
    watch->dampening_ms = dampening_ms;
}

void watch_free(struct watch *watch) {
    if (!watch) {
        return;
    }
    pthread_mutex_lock(&watch->lock);
    watch->stops = true;
    pthread_cond_broadcast(&watch->stopping);
    pthread_mutex_unlock(&watch->lock);
    if (watch->started) {
        pthread_join(watch->thread, NULL);
    }
    lyd_free_siblings(watch->before);
    filter_free(&watch->filter);
    sr_session_stop(watch->reader.sr);
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->stopping);
    free(watch);
}
