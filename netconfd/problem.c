#include "problem.h"

#include <stdlib.h>
#include <string.h>
#include <sysrepo/error_format.h>

#include "words.h"

#define MOST_ERRORS 20 /* of one answer; a mistake in each of 10,000 entries is one mistake */

static const char *tag_of(sr_error_t code) {
    switch (code) {
    case SR_ERR_EXISTS:
        return "data-exists";
    case SR_ERR_NOT_FOUND:
        return "data-missing";
    case SR_ERR_LOCKED:
        return "in-use";
    case SR_ERR_UNAUTHORIZED:
        return "access-denied";
    case SR_ERR_INVAL_ARG:
        return "invalid-value";
    case SR_ERR_UNSUPPORTED:
        return "operation-not-supported";
    case SR_ERR_NO_MEMORY:
        return "resource-denied";
    default:
        return "operation-failed";
    }
}

/* The tag that a static string has to hold. */
static const char *known_tag(const char *tag) {
    static const char *const tags[] = {"in-use",
                                       "invalid-value",
                                       "too-big",
                                       "missing-attribute",
                                       "bad-attribute",
                                       "unknown-attribute",
                                       "missing-element",
                                       "bad-element",
                                       "unknown-element",
                                       "unknown-namespace",
                                       "access-denied",
                                       "lock-denied",
                                       "resource-denied",
                                       "rollback-failed",
                                       "data-exists",
                                       "data-missing",
                                       "operation-not-supported",
                                       "malformed-message"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (!strcmp(tags[i], tag)) {
            return tags[i];
        }
    }
    return "operation-failed";
}

static const char *known_type(const char *type) {
    return !strcmp(type, "protocol")    ? "protocol"
           : !strcmp(type, "rpc")       ? "rpc"
           : !strcmp(type, "transport") ? "transport"
                                        : "application";
}

static struct error *of_netconf(const struct failure *found) {
    struct error *error =
        words_error(known_tag(found->tag), known_type(found->type ? found->type : ""),
                    found->message ? found->message : "", found->path ? found->path : "");
    if (found->app_tag && *found->app_tag) {
        free(error->app_tag);
        error->app_tag = must_copy(found->app_tag);
    }
    if (found->bad_element) {
        free(error->bad_element);
        error->bad_element = must_copy(found->bad_element);
    }
    return error;
}

/* sysrepo writes: text (path "/x"). */
static struct error *of_message(const struct failure *found) {
    const sr_error_t code = (sr_error_t)found->code;
    const char *message = found->message ? found->message : sr_strerror(code);
    const char *type = code == SR_ERR_UNAUTHORIZED ? "protocol" : "application";
    char *text = must_copy(message), *path = NULL;
    char *mark = strstr(text, " (path \"");
    if (mark) {
        path = mark + strlen(" (path \"");
        *mark = '\0';
        char *end = strrchr(path, '"');
        if (end) {
            *end = '\0';
        }
    }
    struct error *error = words_error(tag_of(code), type, text, path ? path : "");
    /* The texts of all other constraints are known. */
    if (code == SR_ERR_VALIDATION_FAILED && path && !error->app_tag) {
        error->app_tag = must_copy("must-violation"); /* RFC 7950 section 15.2 */
    }
    free(text);
    return error;
}

/* sysrepo tells some twice. */
static void append_once(struct error **errors, struct error *error) {
    for (const struct error *other = *errors; other; other = other->next) {
        if (!strcmp(other->message, error->message) &&
            !strcmp(other->path ? other->path : "", error->path ? error->path : "")) {
            error_free(error);
            return;
        }
    }
    error_append(errors, error);
}

struct reply *problem_of_failures(const struct failure *all, size_t count) {
    struct error *errors = NULL;
    /* What only says that something failed is left out, unless it is all there is. */
    for (int framing = 0; !errors && framing < 2; framing++) {
        uint32_t told = 0;
        for (size_t i = 0; i < count && told < MOST_ERRORS; i++) {
            const struct failure *found = &all[i];
            if (!framing && found->message && words_are_framing(found->message)) {
                continue;
            }
            told++;
            append_once(&errors, found->tag ? of_netconf(found) : of_message(found));
        }
    }
    if (!errors) {
        return reply_error("operation-failed", "application",
                           "sysrepo: it failed without a reason; see its log");
    }
    return reply_of(errors);
}

/* elements and values are to be freed when it holds NETCONF's members. */
static void read_failure(const sr_error_info_err_t *found, struct failure *failure,
                         const char ***elements, const char ***values) {
    const char *message;
    uint32_t count = 0;
    *failure = (struct failure){.code = found->err_code, .message = found->message};
    if (!found->error_format || strcmp(found->error_format, "NETCONF") != 0 ||
        sr_err_get_netconf_error(found, &failure->type, &failure->tag, &failure->app_tag,
                                 &failure->path, &message, elements, values, &count)) {
        failure->tag = NULL;
        return;
    }
    failure->message = message;
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp((*elements)[i], "bad-element")) {
            failure->bad_element = (*values)[i];
        }
    }
}

struct reply *problem_of_sysrepo(sr_session_ctx_t *sr) {
    const sr_error_info_t *info = NULL;
    sr_session_get_error(sr, &info);
    const size_t count = info ? info->err_count : 0;
    struct failure *all = must_alloc((count + 1) * sizeof *all);
    const char ***lists = must_alloc((2 * count + 1) * sizeof *lists);
    memset(lists, 0, (2 * count + 1) * sizeof *lists);
    for (size_t i = 0; i < count; i++) {
        read_failure(&info->err[i], &all[i], &lists[2 * i], &lists[2 * i + 1]);
    }
    struct reply *reply = problem_of_failures(all, count);
    for (size_t i = 0; i < 2 * count; i++) {
        free(lists[i]);
    }
    free(lists);
    free(all);
    return reply;
}

struct reply *problem_of_libyang(const struct ly_ctx *context, const char *type, const char *path,
                                 const char *element) {
    struct error *errors = NULL;
    uint32_t told = 0;
    for (const struct ly_err_item *item = ly_err_first(context); item && told < MOST_ERRORS;
         item = item->next) {
        if (item->level != LY_LLERR || !item->msg || words_are_framing(item->msg)) {
            continue;
        }
        told++;
        const char *where = item->data_path ? item->data_path : path ? path : "";
        struct error *error = words_error(NULL, type, item->msg, where);
        if (item->apptag && !error->app_tag) {
            error->app_tag = must_copy(item->apptag);
        }
        if (!error->bad_element && element && strstr(error->tag, "element")) {
            error->bad_element = must_copy(element);
        }
        error_append(&errors, error);
    }
    ly_err_clean((struct ly_ctx *)context, NULL);
    if (!errors) {
        return reply_error("operation-failed", type, "request: it is not understood; correct it");
    }
    return reply_of(errors);
}
