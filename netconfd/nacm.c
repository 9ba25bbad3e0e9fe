#include "nacm.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "request.h"
#include "session.h"

bool nacm_read(struct nacm *nacm) {
    *nacm = (struct nacm){0};
    if (!sr_session_start(server.connection, SR_DS_RUNNING, &nacm->sr) &&
        !sr_get_data(nacm->sr, "/ietf-netconf-acm:nacm", 0, READ_TIMEOUT_MS, 0, &nacm->data) &&
        nacm->data) {
        nacm->tree = nacm->data->tree;
    }
    return nacm->tree;
}

void nacm_free(struct nacm *nacm) {
    sr_release_data(nacm->data);
    sr_session_stop(nacm->sr);
    *nacm = (struct nacm){0};
}

const char *nacm_value(const struct lyd_node *node, const char *name) {
    const char *value = request_value(node, name);
    return value ? value : "";
}

/* Names of groups, each with its NUL. */
static bool has(const struct text *names, const char *name) {
    for (size_t at = 0; at < names->length; at += strlen(names->bytes + at) + 1) {
        if (!strcmp(names->bytes + at, name)) {
            return true;
        }
    }
    return false;
}

static void add_system_groups(const char *user, struct text *names) {
    char room[16384];
    struct passwd passwd, *known = NULL;
    struct group group, *found = NULL;
    gid_t ids[4096];
    int count = sizeof ids / sizeof *ids;
    if (getpwnam_r(user, &passwd, room, sizeof room, &known) || !known) {
        return;
    }
    if (getgrouplist(user, known->pw_gid, ids, &count) < 0) {
        count = sizeof ids / sizeof *ids;
    }
    for (int i = 0; i < count; i++) {
        if (!getgrgid_r(ids[i], &group, room, sizeof room, &found) && found) {
            text_add(names, found->gr_name, strlen(found->gr_name) + 1);
        }
    }
}

static void add_groups(const struct lyd_node *groups, const char *user, struct text *names) {
    const struct lyd_node *group, *leaf;
    LY_LIST_FOR(lyd_child(groups), group) {
        LY_LIST_FOR(lyd_child(group), leaf) {
            if (!strcmp(LYD_NAME(leaf), "user-name") && !strcmp(lyd_get_value(leaf), user)) {
                const char *name = nacm_value(group, "name");
                text_add(names, name, strlen(name) + 1);
            }
        }
    }
}

static bool is_for(const struct lyd_node *list, const struct text *groups) {
    const struct lyd_node *leaf;
    LY_LIST_FOR(lyd_child(list), leaf) {
        if (!strcmp(LYD_NAME(leaf), "group") &&
            (!strcmp(lyd_get_value(leaf), "*") || has(groups, lyd_get_value(leaf)))) {
            return true;
        }
    }
    return false;
}

void nacm_rules(const struct nacm *nacm, const char *user, nacm_visit *visit, void *data) {
    const struct lyd_node *list, *rule;
    struct text names = {0};
    add_groups(request_child(nacm->tree, "groups"), user, &names);
    if (strcmp(nacm_value(nacm->tree, "enable-external-groups"), "false") != 0) {
        add_system_groups(user, &names);
    }
    LY_LIST_FOR(names.length ? lyd_child(nacm->tree) : NULL, list) {
        if (strcmp(LYD_NAME(list), "rule-list") != 0 || !is_for(list, &names)) {
            continue;
        }
        LY_LIST_FOR(lyd_child(list), rule) {
            if (!strcmp(LYD_NAME(rule), "rule")) {
                visit(rule, data);
            }
        }
    }
    text_free(&names);
}
