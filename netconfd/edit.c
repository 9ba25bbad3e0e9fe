/* edit-config, copy-config, delete-config, validate, discard-changes (RFC 6241), edit-data. */
#include <stdlib.h>
#include <string.h>

#include "blame.h"
#include "operations.h"
#include "problem.h"
#include "request.h"

static struct reply *of(struct session *session, int failed) {
    return failed ? problem_of_sysrepo(session->sr) : reply_ok();
}

/* All or nothing, whatever error-option says: stop-on-error allows that, too. */
static struct reply *apply(struct session *session, struct lyd_node *rpc,
                           sr_datastore_t datastore) {
    struct lyd_node *edit = NULL;
    const struct lyd_node *given = request_child(rpc, "config");
    const char *by_default = request_value(rpc, "default-operation");
    const char *option = request_value(rpc, "test-option");
    if (!given) {
        struct reply *reply =
            reply_error("missing-element", "protocol",
                        "%s: config is missing; add it (url is not supported)", LYD_NAME(rpc));
        reply->errors->bad_element = must_copy("config");
        return reply;
    }
    struct reply *reply = request_config(session, given, &edit);
    if (reply) {
        return reply;
    }
    if (!edit) {
        return reply_ok();
    }
    sr_session_switch_ds(session->sr, datastore);
    bool test_only = option && !strcmp(option, "test-only");
    by_default = by_default ? by_default : "merge";
    int failed = sr_edit_batch(session->sr, edit, by_default);
    if (!failed) {
        failed = test_only ? sr_validate(session->sr, NULL, READ_TIMEOUT_MS)
                           : sr_apply_changes(session->sr, COMMIT_TIMEOUT_MS);
    }
    reply = of(session, failed);
    sr_discard_changes(session->sr);
    blame(reply, session->sr, edit, by_default);
    lyd_free_siblings(edit);
    return reply;
}

struct reply *edit_config(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t datastore;
    struct reply *reply = request_datastore(rpc, "target", &datastore, NULL);
    return reply ? reply : apply(session, rpc, datastore);
}

struct reply *edit_data(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t datastore;
    struct reply *reply = request_nmda_datastore(rpc, "datastore", &datastore);
    if (!reply && datastore != SR_DS_RUNNING && datastore != SR_DS_CANDIDATE &&
        datastore != SR_DS_STARTUP) {
        reply = reply_error("operation-not-supported", "protocol",
                            "edit-data: the datastore is read-only; name running, candidate or "
                            "startup");
    }
    return reply ? reply : apply(session, rpc, datastore);
}

struct reply *copy_config(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t target, source;
    const struct lyd_node *given = NULL;
    struct lyd_node *config;
    struct reply *reply = request_datastore(rpc, "target", &target, NULL);
    reply = reply ? reply : request_datastore(rpc, "source", &source, &given);
    if (reply) {
        return reply;
    }
    sr_session_switch_ds(session->sr, target);
    if (given) {
        reply = request_config(session, given, &config);
        return reply ? reply
                     : of(session, sr_replace_config(session->sr, NULL, config, COMMIT_TIMEOUT_MS));
    }
    if (source == target) {
        return reply_error("invalid-value", "protocol",
                           "copy-config: source and target are the same; name two datastores");
    }
    return of(session, sr_copy_config(session->sr, NULL, source, COMMIT_TIMEOUT_MS));
}

struct reply *delete_config(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t target;
    struct reply *reply = request_datastore(rpc, "target", &target, NULL);
    if (!reply && target == SR_DS_RUNNING) {
        reply = reply_error("operation-not-supported", "protocol",
                            "delete-config: running can't be deleted; name startup");
    }
    if (reply) {
        return reply;
    }
    sr_session_switch_ds(session->sr, target);
    return of(session, sr_replace_config(session->sr, NULL, NULL, COMMIT_TIMEOUT_MS));
}

struct reply *validate(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t source;
    const struct lyd_node *given = NULL;
    struct lyd_node *config;
    struct reply *reply = request_datastore(rpc, "source", &source, &given);
    if (reply) {
        return reply;
    }
    if (!given) {
        sr_session_switch_ds(session->sr, source);
        return of(session, sr_validate(session->sr, NULL, READ_TIMEOUT_MS));
    }
    if ((reply = request_config(session, given, &config))) {
        return reply;
    }
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    LY_ERR failed = lyd_validate_all(&config, session->context,
                                     LYD_VALIDATE_NO_STATE | LYD_VALIDATE_MULTI_ERROR, NULL);
    reply = failed ? problem_of_libyang(session->context, "application", NULL, NULL) : reply_ok();
    lyd_free_siblings(config);
    return reply;
}

struct reply *discard_changes(struct session *session, struct lyd_node *rpc) {
    (void)rpc;
    sr_session_switch_ds(session->sr, SR_DS_CANDIDATE);
    return of(session, sr_copy_config(session->sr, NULL, SR_DS_RUNNING, COMMIT_TIMEOUT_MS));
}
