#include "subscription.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysrepo/subscribed_notifications.h>
#include <unistd.h>

#include "events.h"
#include "log.h"
#include "periodic.h"
#include "secrets.h"
#include "text.h"
#include "watch.h"

#define NAMESPACE "urn:ietf:params:xml:ns:netconf:notification:1.0"
#define OF_RFC5277 "urn:ietf:params:xml:ns:netmod:notification"
#define TIMEOUT_MS 10000 /* with a client that takes no notifications */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool subscription_stream_exists(const struct ly_ctx *context, const char *stream) {
    const struct lys_module *module = ly_ctx_get_module_implemented(context, stream);
    return !strcmp(stream, "NETCONF") || (module && module->compiled->notifs);
}

static unsigned count(const struct session *session) {
    unsigned found = 0;
    pthread_mutex_lock(&lock);
    for (const struct subscription *at = session->subscriptions; at; at = at->next) {
        found += !at->over;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

struct subscription *subscription_new(struct session *session, bool rfc5277) {
    if (count(session) >= MOST_SUBSCRIPTIONS) {
        return NULL;
    }
    struct subscription *subscription = must_alloc(sizeof *subscription);
    subscription->session = session;
    subscription->rfc5277 = rfc5277;
    subscription->pipe = -1;
    subscription->sr = session_sysrepo(session);
    if (!subscription->sr) {
        free(subscription);
        return NULL;
    }
    return subscription;
}

struct reply *subscription_prepare(struct subscription *subscription) {
    subscription->events = events_start("notifications");
    return subscription->events
               ? NULL
               : reply_error("resource-denied", "application",
                             "subscription: srv6-netconfd has no file descriptor or thread left; "
                             "see what takes them, then try again");
}

void subscription_free(struct subscription *subscription) {
    if (subscription->pipe >= 0) {
        close(subscription->pipe);
    }
    watch_free(subscription->watch);
    periodic_free(subscription->periodic);
    events_stop(subscription->events);
    sr_session_stop(subscription->sr);
    free(subscription);
}

static void send_event(struct session *session, const struct timespec *time, struct text *event) {
    struct text text = {0};
    char *when = NULL;
    ly_time_ts2str(time, &when);
    text_printf(&text, "<notification xmlns=\"" NAMESPACE "\"><eventTime>%s</eventTime>",
                when ? when : "");
    text_add(&text, event->bytes, event->length);
    text_puts(&text, "</notification>");
    free(when);
    struct pollfd room = {.fd = session->wire.socket, .events = POLLOUT};
    if (poll(&room, 1, TIMEOUT_MS) == 0) {
        log_error("session %u: it takes no notifications; ended", session->id);
        session->end = "dropped";
        shutdown(session->wire.socket, SHUT_RDWR);
    } else if (!wire_write(&session->wire, &text)) {
        session->counts.out_notifications++;
    }
    text_free(&text);
}

void subscription_notify(struct session *session, const struct lyd_node *event,
                         const struct timespec *time) {
    struct text text = {0};
    struct ly_out *out;
    while (lyd_parent(event)) {
        event = lyd_parent(event);
    }
    if (ly_out_new_clb(text_write, &text, &out)) {
        return;
    }
    lyd_print_tree(out, event, LYD_XML, LYD_PRINT_SHRINK);
    ly_out_free(out, NULL, 0);
    send_event(session, time, &text);
    text_free(&text);
}

/* RFC 5277 has notifications of its own for the events of a subscription in RFC 8639. */
static void hand_on(struct subscription *subscription, const struct lyd_node *event,
                    const struct timespec *time) {
    const char *name = LYD_NAME(event);
    const struct lys_module *module = lyd_owner_module(event);
    if (!subscription->rfc5277 || strcmp(module->name, "ietf-subscribed-notifications") != 0) {
        subscription_notify(subscription->session, event, time);
        return;
    }
    struct text text = {0};
    if (!strcmp(name, "replay-completed")) {
        text_puts(&text, "<replayComplete xmlns=\"" OF_RFC5277 "\"/>");
    } else if (!strcmp(name, "subscription-terminated")) {
        text_puts(&text, "<notificationComplete xmlns=\"" OF_RFC5277 "\"/>");
    } else {
        return;
    }
    send_event(subscription->session, time, &text);
    text_free(&text);
}

/* A period that begins while the one before is still read is left out. False: it ended. */
static bool drop_waiting(const struct subscription *subscription) {
    struct pollfd there = {.fd = subscription->pipe, .events = POLLIN};
    while (poll(&there, 1, 0) > 0 && there.revents & POLLIN) {
        struct timespec time;
        struct lyd_node *event = NULL;
        int status =
            srsn_read_notif(subscription->pipe, subscription->session->context, &time, &event);
        if (status) {
            return status == SR_ERR_TIME_OUT;
        }
        if (strcmp(LYD_NAME(event), "push-update") != 0) {
            subscription_notify(subscription->session, event, &time);
        }
        lyd_free_all(event);
    }
    return true;
}

static void *deliver(void *data) {
    struct subscription *subscription = data;
    const struct ly_ctx *context = subscription->session->context;
    struct pollfd there = {.fd = subscription->pipe, .events = POLLIN};
    for (;;) {
        struct timespec time;
        struct lyd_node *event = NULL;
        if (poll(&there, 1, -1) < 0) {
            continue; /* EINTR */
        }
        int status = srsn_read_notif(subscription->pipe, context, &time, &event);
        if (status == SR_ERR_TIME_OUT) {
            continue;
        }
        if (status) {
            subscription->over = true; /* it was ended, or its stop-time came */
            return NULL;
        }
        if (subscription->periodic && !strcmp(LYD_NAME(event), "push-update")) {
            lyd_free_all(event);
            periodic_report(subscription->periodic, subscription->id);
            if (drop_waiting(subscription)) {
                continue;
            }
            subscription->over = true;
            return NULL;
        }
        secrets_hide(subscription->session, &event);
        hand_on(subscription, event, &time);
        lyd_free_all(event);
    }
}

void subscriptions_start(struct session *session) {
    pthread_mutex_lock(&lock);
    for (struct subscription *at = session->subscriptions; at; at = at->next) {
        if (!at->started && !pthread_create(&at->thread, NULL, deliver, at)) {
            at->started = true;
            if (at->watch) {
                watch_start(at->watch, at->id);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

static void finish(struct subscription *subscription, const char *reason) {
    watch_free(subscription->watch);
    subscription->watch = NULL;
    srsn_terminate(subscription->id, reason); /* fails where it ended by itself */
    if (subscription->started) {
        pthread_join(subscription->thread, NULL);
    }
    subscription_free(subscription);
}

/* Take one that is over out of the list; NULL: there is none. */
static struct subscription *take_over(struct session *session) {
    struct subscription *found = NULL;
    pthread_mutex_lock(&lock);
    struct subscription **at = &session->subscriptions;
    while (*at && !(*at)->over) {
        at = &(*at)->next;
    }
    if (*at) {
        found = *at;
        *at = found->next;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void subscription_add(struct subscription *subscription) {
    struct session *session = subscription->session;
    struct subscription *over;
    while ((over = take_over(session))) {
        finish(over, NULL);
    }
    pthread_mutex_lock(&lock);
    subscription->next = session->subscriptions;
    session->subscriptions = subscription;
    pthread_mutex_unlock(&lock);
}

static struct subscription **find(struct session *session, uint32_t id) {
    struct subscription **at = &session->subscriptions;
    while (*at && (*at)->id != id) {
        at = &(*at)->next;
    }
    return at;
}

struct search {
    uint32_t id;
    struct subscription *found;
};

static void take(struct session *session, void *data) {
    struct search *search = data;
    pthread_mutex_lock(&lock);
    struct subscription **at = find(session, search->id);
    if (*at) {
        search->found = *at;
        *at = (*at)->next;
    }
    pthread_mutex_unlock(&lock);
}

bool subscription_end(struct session *session, uint32_t id, const char *reason) {
    struct search search = {.id = id};
    if (session) {
        take(session, &search);
    } else {
        sessions_visit(take, &search);
    }
    if (!search.found) {
        return false;
    }
    finish(search.found, reason);
    return true;
}

void subscriptions_end(struct session *session) {
    for (;;) {
        pthread_mutex_lock(&lock);
        struct subscription *one = session->subscriptions;
        if (one) {
            session->subscriptions = one->next;
        }
        pthread_mutex_unlock(&lock);
        if (!one) {
            return;
        }
        finish(one, NULL);
    }
}

void subscription_set(struct session *session, uint32_t id, unsigned dampening_ms) {
    pthread_mutex_lock(&lock);
    struct subscription *found = *find(session, id);
    if (found && found->watch) {
        watch_set(found->watch, dampening_ms);
    }
    pthread_mutex_unlock(&lock);
}

struct reply *subscription_refilter(struct session *session, uint32_t id, const char *xpath) {
    pthread_mutex_lock(&lock);
    struct subscription *found = *find(session, id);
    pthread_mutex_unlock(&lock);
    return found && found->periodic ? periodic_set(found->periodic, xpath) : NULL;
}

char *subscription_xpath(struct session *session, uint32_t id) {
    pthread_mutex_lock(&lock);
    struct subscription *found = *find(session, id);
    pthread_mutex_unlock(&lock);
    return found && found->periodic ? periodic_xpath(found->periodic) : NULL;
}

bool subscription_is_periodic(const struct session *session, uint32_t id) {
    pthread_mutex_lock(&lock);
    const struct subscription *found = *find((struct session *)session, id);
    const bool is_periodic = found && found->periodic;
    pthread_mutex_unlock(&lock);
    return is_periodic;
}

bool subscription_is_watched(const struct session *session, uint32_t id) {
    pthread_mutex_lock(&lock);
    const struct subscription *found = *find((struct session *)session, id);
    const bool is_watched = found && found->watch;
    pthread_mutex_unlock(&lock);
    return is_watched;
}

bool subscription_exists(const struct session *session, uint32_t id) {
    pthread_mutex_lock(&lock);
    bool found = *find((struct session *)session, id) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

bool subscription_has_rfc5277(const struct session *session) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (const struct subscription *at = session->subscriptions; at; at = at->next) {
        found = found || (at->rfc5277 && !at->over);
    }
    pthread_mutex_unlock(&lock);
    return found;
}
