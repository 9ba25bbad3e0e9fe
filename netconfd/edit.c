/* edit-config, copy-config, delete-config, validate, discard-changes (RFC 6241), edit-data. */
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "error_path.h"
#include "judge.h"
#include "operations.h"
#include "problem.h"
#include "request.h"
#include "running.h"
#include "secrets.h"

static struct reply *of(struct session *session, int failed) {
    return failed ? problem_of_sysrepo(session->sr) : reply_ok();
}

static struct reply *ok_unless(struct reply *rejection) {
    return rejection ? rejection : reply_ok();
}

static struct reply *edit_here(struct session *session, sr_datastore_t datastore,
                               const struct lyd_node *edit, const char *by_default, bool tests,
                               bool test_only) {
    struct reply *reply = NULL;
    int failed = sr_edit_batch(session->sr, edit, by_default);
    if (!failed && tests) {
        failed = sr_validate(session->sr, NULL, READ_TIMEOUT_MS);
        reply = failed ? NULL : judge_datastore(datastore, edit, by_default);
    }
    if (!failed && !reply && !test_only) {
        failed = sr_apply_changes(session->sr, COMMIT_TIMEOUT_MS);
    }
    if (!reply) {
        reply = failed ? error_path_problem(session->sr, edit, by_default) : reply_ok();
    }
    sr_discard_changes(session->sr);
    return reply;
}

/* All or nothing, whatever error-option says: stop-on-error allows that, too. */
static struct reply *apply(struct session *session, struct lyd_node *rpc,
                           sr_datastore_t datastore) {
    struct lyd_node *edit = NULL;
    const struct lyd_node *given = request_child(rpc, "config");
    const char *by_default = request_value(rpc, "default-operation");
    const struct lyd_node *option = request_child(rpc, "test-option");
    const char *test = option ? lyd_get_value(option) : "";
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
    if ((reply = secrets_reject_edit(session, edit))) {
        lyd_free_siblings(edit);
        return reply;
    }
    sr_session_switch_ds(session->sr, datastore);
    const bool test_only = !strcmp(test, "test-only");
    /* That of running comes with the commit; the candidate may be invalid unless asked for. */
    const bool tests = test_only || (datastore != SR_DS_RUNNING && !strcmp(test, "test-then-set") &&
                                     !(option->flags & LYD_DEFAULT));
    by_default = by_default ? by_default : "merge";
    const bool begins = datastore == SR_DS_CANDIDATE && !test_only && candidate_begin(session);
    if (datastore == SR_DS_RUNNING && !test_only) {
        reply = ok_unless(running_edit(session, edit, by_default));
        error_path_set(reply, session->sr, edit, by_default);
    } else {
        reply = edit_here(session, datastore, edit, by_default, tests, test_only);
    }
    if (begins && reply->kind == REPLY_ERRORS) {
        candidate_end();
    }
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

/* Takes config. */
static struct reply *copy_to_running(struct session *session, sr_datastore_t source,
                                     struct lyd_node *config, bool is_datastore) {
    char *base = is_datastore && source == SR_DS_CANDIDATE ? candidate_base() : must_copy("");
    struct reply *reply =
        is_datastore
            ? running_copy(session, source == SR_DS_CANDIDATE ? "candidate" : "startup", base, "")
            : running_replace(session, config);
    free(base);
    lyd_free_siblings(config);
    return ok_unless(reply);
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
    if (!given && source == target) {
        return reply_error("invalid-value", "protocol",
                           "copy-config: source and target are the same; name two datastores");
    }
    config = NULL;
    reply = given ? request_config(session, given, &config) : NULL;
    reply = reply ? reply : secrets_reject_edit(session, config);
    if (reply) {
        lyd_free_siblings(config);
        return reply;
    }
    if (target == SR_DS_RUNNING) {
        return copy_to_running(session, source, given ? config : NULL, !given);
    }
    const bool begins = target == SR_DS_CANDIDATE && candidate_begin(session);
    sr_session_switch_ds(session->sr, target);
    reply = of(session, given ? sr_replace_config(session->sr, NULL, config, COMMIT_TIMEOUT_MS)
                              : sr_copy_config(session->sr, NULL, source, COMMIT_TIMEOUT_MS));
    const bool is_equal = !given && source == SR_DS_RUNNING && reply->kind == REPLY_OK;
    if (target == SR_DS_CANDIDATE && (is_equal || (begins && reply->kind == REPLY_ERRORS))) {
        candidate_end();
    }
    return reply;
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
        return sr_validate(session->sr, NULL, READ_TIMEOUT_MS)
                   ? problem_of_sysrepo(session->sr)
                   : ok_unless(judge_datastore(source, NULL, NULL));
    }
    if ((reply = request_config(session, given, &config))) {
        return reply;
    }
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    LY_ERR failed = lyd_validate_all(&config, session->context,
                                     LYD_VALIDATE_NO_STATE | LYD_VALIDATE_MULTI_ERROR, NULL);
    reply = failed ? problem_of_libyang(session->context, "application", NULL, NULL)
                   : judge_tree(config);
    lyd_free_siblings(config);
    return ok_unless(reply);
}

struct reply *discard_changes(struct session *session, struct lyd_node *rpc) {
    (void)rpc;
    sr_session_switch_ds(session->sr, SR_DS_CANDIDATE);
    struct reply *reply =
        of(session, sr_copy_config(session->sr, NULL, SR_DS_RUNNING, COMMIT_TIMEOUT_MS));
    if (reply->kind == REPLY_OK) {
        candidate_end();
    }
    return reply;
}
