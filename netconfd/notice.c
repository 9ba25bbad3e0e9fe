/* Events of the server itself, RFC 6470. */
#include <stdio.h>

#include "log.h"
#include "monitoring.h"

static void notify(const struct session *session, const char *name, bool ended) {
    char number[16];
    struct lyd_node *event = NULL;
    snprintf(number, sizeof number, "%u", session->id);
    if (lyd_new_path(NULL, session->context, name, NULL, 0, &event)) {
        return;
    }
    lyd_new_path(event, NULL, "username", session->user, 0, NULL);
    lyd_new_path(event, NULL, "session-id", number, 0, NULL);
    if (session->address) {
        lyd_new_path(event, NULL, "source-host", session->address, 0, NULL);
    }
    if (ended) {
        const char *reason = session->end;
        if (session->killed_by) {
            snprintf(number, sizeof number, "%u", session->killed_by);
            lyd_new_path(event, NULL, "killed-by", number, 0, NULL);
        }
        lyd_new_path(event, NULL, "termination-reason", reason ? reason : "dropped", 0, NULL);
    }
    pthread_mutex_lock(&server.own_lock);
    int failed = sr_notif_send_tree(server.own, event, 0, 0);
    pthread_mutex_unlock(&server.own_lock);
    if (failed) {
        log_error("session %u: %s can't be reported: %s", session->id, name, sr_strerror(failed));
    }
    lyd_free_all(event);
}

void notice_session_start(const struct session *session) {
    notify(session, "/ietf-netconf-notifications:netconf-session-start", false);
}

void notice_session_end(const struct session *session) {
    notify(session, "/ietf-netconf-notifications:netconf-session-end", true);
}
