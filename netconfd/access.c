#include "access.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sysrepo/netconf_acm.h>
#include <unistd.h>

#include "request.h"

#define KEY "[prefix='"

const char *const sid_leaves[SID_LEAVES] = {
    [SID_INSTALL_STATUS] = "install-status",
    [SID_REASON] = "reason",
    [SID_SINCE] = "since",
    [SID_LAST_REPAIR] = "last-repair",
    [SID_REPAIRS] = "repairs",
    [SID_IN_PKTS] = "in-pkts",
    [SID_IN_OCTETS] = "in-octets",
    [SID_IN_ERRORS] = "in-errors",
    [SID_DISCONTINUITY_TIME] = "discontinuity-time",
};

struct rule {
    char *path; /* NULL: every node of the module */
    bool denies;
};

struct access {
    bool all;             /* no rule matters */
    bool denies;          /* where no rule says anything */
    uint32_t of_the_rest; /* what of SIDs that no rule names */
    size_t count;
    struct rule *rules; /* those about reading state of SIDs, in order */
};

enum match { NOT, ABOVE, WITHIN };

static const char *value_of(const struct lyd_node *node, const char *name) {
    const char *value = request_value(node, name);
    return value ? value : "";
}

/* Whether node lies at or below the rule's path, or above it. Without its key a list in a rule is
 * that of all entries. */
static enum match match(const char *rule, const char *node) {
    while (*rule && *node) {
        if (*rule == *node) {
            rule++;
            node++;
        } else if (*rule == '/' && *node == '[') {
            node += strcspn(node, "]") + 1; /* the key is a prefix, which has no bracket */
        } else {
            return NOT;
        }
    }
    if (*rule) {
        return *rule == '/' || *rule == '[' ? ABOVE : NOT;
    }
    return !*node || *node == '/' || *node == '[' ? WITHIN : NOT;
}

enum verdict { DENIED, DENIED_HERE, PERMITTED };

/* Of one node: denied with all that lies below, or without what another rule permits there. */
static enum verdict judge(const struct access *access, const char *path) {
    bool denies = access->denies, permits_below = false;
    for (size_t i = 0; i < access->count; i++) {
        const struct rule *rule = &access->rules[i];
        enum match found = rule->path ? match(rule->path, path) : WITHIN;
        if (found == WITHIN) {
            denies = rule->denies;
            break;
        }
        permits_below = permits_below || (found == ABOVE && !rule->denies);
    }
    return !denies ? PERMITTED : permits_below ? DENIED_HERE : DENIED;
}

static uint32_t readable(const struct access *access, const char *prefix) {
    char *sid = must_format(SIDS "/sid" KEY "%s']", prefix);
    char *state = must_format("%s/state", sid), *counters = must_format("%s/counters", state);
    const char *const above[] = {TOP, SIDS, sid, state};
    uint32_t found = 0;
    bool may = true;
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        may = may && judge(access, above[i]) != DENIED;
    }
    const bool may_count = may && judge(access, counters) != DENIED;
    for (unsigned leaf = 0; leaf < SID_LEAVES; leaf++) {
        const bool counts = leaf >= SID_IN_PKTS;
        char *path = must_format("%s/%s", counts ? counters : state, sid_leaves[leaf]);
        if ((counts ? may_count : may) && judge(access, path) == PERMITTED) {
            found |= 1u << leaf;
        }
        free(path);
    }
    free(sid);
    free(state);
    free(counters);
    return found;
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
    gid_t ids[256];
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
                const char *name = value_of(group, "name");
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

static bool is_about_reading(const struct lyd_node *rule) {
    const char *operations = value_of(rule, "access-operations");
    const char *module = value_of(rule, "module-name"), *path = value_of(rule, "path");
    if (request_child(rule, "rpc-name") || request_child(rule, "notification-name") ||
        !(strchr(operations, '*') || strstr(operations, "read"))) {
        return false;
    }
    return (!strcmp(module, "*") || !strcmp(module, MODULE)) &&
           (!*path || !strcmp(path, "/") || !strncmp(path, TOP, sizeof TOP - 1));
}

static void add_rule(struct access *access, const struct lyd_node *node) {
    const char *path = request_value(node, "path");
    struct rule *rules = realloc(access->rules, (access->count + 1) * sizeof *rules);
    if (!rules) {
        abort();
    }
    access->rules = rules;
    access->rules[access->count++] = (struct rule){
        .path = path && strcmp(path, "/") != 0 ? must_copy(path) : NULL,
        .denies = strcmp(value_of(node, "action"), "permit") != 0,
    };
}

static void take(struct access *access, const struct lyd_node *nacm, const char *user) {
    const struct lyd_node *list, *rule, *groups = request_child(nacm, "groups");
    struct text names = {0};
    access->all = !strcmp(value_of(nacm, "enable-nacm"), "false");
    access->denies = strcmp(value_of(nacm, "read-default"), "permit") != 0;
    add_groups(groups, user, &names);
    if (strcmp(value_of(nacm, "enable-external-groups"), "false") != 0) {
        add_system_groups(user, &names);
    }
    LY_LIST_FOR(names.length ? lyd_child(nacm) : NULL, list) {
        if (strcmp(LYD_NAME(list), "rule-list") != 0 || !is_for(list, &names)) {
            continue;
        }
        LY_LIST_FOR(lyd_child(list), rule) {
            if (!strcmp(LYD_NAME(rule), "rule") && is_about_reading(rule)) {
                add_rule(access, rule);
            }
        }
    }
    text_free(&names);
    access->of_the_rest = readable(access, "");
}

struct access *access_of(const struct session *session) {
    sr_session_ctx_t *sr = NULL;
    sr_data_t *data = NULL;
    struct access *access = must_alloc(sizeof *access);
    if (!strcmp(session->user, sr_nacm_get_recovery_user())) {
        access->all = true;
        return access;
    }
    if (!sr_session_start(server.connection, SR_DS_RUNNING, &sr) &&
        !sr_get_data(sr, "/ietf-netconf-acm:nacm", 0, READ_TIMEOUT_MS, 0, &data) && data &&
        data->tree) {
        take(access, data->tree, session->user);
    } else {
        access_free(access);
        access = NULL;
    }
    sr_release_data(data);
    sr_session_stop(sr);
    return access;
}

void access_free(struct access *access) {
    if (!access) {
        return;
    }
    for (size_t i = 0; i < access->count; i++) {
        free(access->rules[i].path);
    }
    free(access->rules);
    free(access);
}

uint32_t access_to_sid(const struct access *access, const char *prefix) {
    if (access->all) {
        return (1u << SID_LEAVES) - 1;
    }
    for (size_t i = 0; i < access->count; i++) {
        const char *key = access->rules[i].path ? strstr(access->rules[i].path, KEY) : NULL;
        const size_t length = strlen(prefix);
        if (key && !strncmp(key + sizeof KEY - 1, prefix, length) &&
            key[sizeof KEY - 1 + length] == '\'') {
            return readable(access, prefix);
        }
    }
    return access->of_the_rest;
}
