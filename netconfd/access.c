#include "access.h"

#include <stdlib.h>
#include <string.h>
#include <sysrepo/netconf_acm.h>

#include "nacm.h"
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

bool access_covers(const char *rule, const char *node) {
    return match(rule, node) == WITHIN;
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

static bool is_about_reading(const struct lyd_node *rule) {
    const char *operations = nacm_value(rule, "access-operations");
    const char *module = nacm_value(rule, "module-name"), *path = nacm_value(rule, "path");
    if (request_child(rule, "rpc-name") || request_child(rule, "notification-name") ||
        !(strchr(operations, '*') || strstr(operations, "read"))) {
        return false;
    }
    return (!strcmp(module, "*") || !strcmp(module, MODULE)) &&
           (!*path || !strcmp(path, "/") || !strncmp(path, TOP, sizeof TOP - 1));
}

static void add_rule(const struct lyd_node *node, void *data) {
    struct access *access = data;
    if (!is_about_reading(node)) {
        return;
    }
    const char *path = request_value(node, "path");
    struct rule *rules = realloc(access->rules, (access->count + 1) * sizeof *rules);
    if (!rules) {
        abort();
    }
    access->rules = rules;
    access->rules[access->count++] = (struct rule){
        .path = path && strcmp(path, "/") != 0 ? must_copy(path) : NULL,
        .denies = strcmp(nacm_value(node, "action"), "permit") != 0,
    };
}

struct access *access_of(const struct session *session) {
    struct access *access = must_alloc(sizeof *access);
    struct nacm nacm;
    if (!strcmp(session->user, sr_nacm_get_recovery_user())) {
        access->all = true;
        return access;
    }
    if (nacm_read(&nacm)) {
        access->all = !strcmp(nacm_value(nacm.tree, "enable-nacm"), "false");
        access->denies = strcmp(nacm_value(nacm.tree, "read-default"), "permit") != 0;
        nacm_rules(&nacm, session->user, add_rule, access);
        access->of_the_rest = readable(access, "");
    } else {
        access_free(access);
        access = NULL;
    }
    nacm_free(&nacm);
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
