#include "problem.h"

#include <stdlib.h>
#include <string.h>
#include <sysrepo/error_format.h>

#include "commits.h"

#define MOST_ERRORS 64 /* that srv6mgrd is asked to translate, which reports fewer */

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

struct reply *problem_of_reported(const struct failure *all, size_t count) {
    struct error *errors = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct failure *found = &all[i];
        struct error *error = error_new(known_tag(found->tag ? found->tag : ""),
                                        known_type(found->type ? found->type : ""),
                                        must_copy(found->message ? found->message : ""));
        error->app_tag = found->app_tag && *found->app_tag ? must_copy(found->app_tag) : NULL;
        error->path = found->path && *found->path ? must_copy(found->path) : NULL;
        if (found->bad_element && *found->bad_element) {
            char **member = !strcmp(error->tag, "unknown-namespace")   ? &error->bad_namespace
                            : !strcmp(error->tag, "unknown-attribute") ? &error->bad_attribute
                                                                       : &error->bad_element;
            *member = must_copy(found->bad_element);
        }
        error_append(&errors, error);
    }
    return errors ? reply_of(errors)
                  : reply_error("operation-failed", "application",
                                "sysrepo: it failed without a reason; see its log");
}

/* Without srv6mgrd, which words errors: as sysrepo and libyang have them. */
static struct reply *unworded(const struct failure *all, size_t count) {
    struct failure reported[MOST_ERRORS];
    for (size_t i = 0; i < count && i < MOST_ERRORS; i++) {
        const sr_error_t code = (sr_error_t)all[i].code;
        reported[i] = all[i];
        reported[i].tag = all[i].tag ? all[i].tag : tag_of(code);
        reported[i].message = all[i].message ? all[i].message : sr_strerror(code);
    }
    return problem_of_reported(reported, count < MOST_ERRORS ? count : MOST_ERRORS);
}

struct reply *problem_of_failures(const struct failure *all, size_t count) {
    struct reply *reply = count ? commits_message(all, count) : NULL;
    return reply ? reply : unworded(all, count);
}

struct reply *problem_of_text(const char *message, const char *path) {
    const struct failure failure = {.code = SR_ERR_LY, .message = message, .path = path};
    return problem_of_failures(&failure, 1);
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

/* value: as of problem_of_key; NULL: as of problem_of_libyang. */
static struct reply *problem_of(const struct ly_ctx *context, const char *type, const char *path,
                                const char *element, const char *value) {
    struct failure all[MOST_ERRORS];
    size_t count = 0;
    for (const struct ly_err_item *item = ly_err_first(context); item && count < MOST_ERRORS;
         item = item->next) {
        if (item->level == LY_LLERR && item->msg) {
            all[count++] = (struct failure){
                .code = SR_ERR_LY,
                .message = item->msg,
                .type = type,
                .app_tag = item->apptag,
                .path = item->data_path && !value ? item->data_path : path,
                .bad_element = element,
                .value = value,
            };
        }
    }
    struct reply *reply =
        count ? problem_of_failures(all, count)
              : reply_error("operation-failed", type,
                            "request: it is not understood; correct it and send it again");
    ly_err_clean((struct ly_ctx *)context, NULL);
    return reply;
}

struct reply *problem_of_libyang(const struct ly_ctx *context, const char *type, const char *path,
                                 const char *element) {
    return problem_of(context, type, path, element, NULL);
}

struct reply *problem_of_key(const struct ly_ctx *context, const char *path, const char *value) {
    return problem_of(context, "application", path, NULL, value ? value : "");
}
