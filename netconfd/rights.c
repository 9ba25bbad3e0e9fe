#include "rights.h"

#include <string.h>
#include <sysrepo/netconf_acm.h>

#include "nacm.h"
#include "request.h"

#define CREATE 1u
#define UPDATE 2u
#define DELETE 4u
#define ALL (CREATE | UPDATE | DELETE)

struct found {
    bool permits;
    unsigned denied; /* everywhere, by a rule before */
};

static unsigned writes_of(const struct lyd_node *rule) {
    const char *operations = nacm_value(rule, "access-operations");
    if (request_child(rule, "rpc-name") || request_child(rule, "notification-name")) {
        return 0;
    }
    return strchr(operations, '*') ? ALL
                                   : (strstr(operations, "create") ? CREATE : 0) |
                                         (strstr(operations, "update") ? UPDATE : 0) |
                                         (strstr(operations, "delete") ? DELETE : 0);
}

static void look(const struct lyd_node *rule, void *data) {
    struct found *found = data;
    const char *path = nacm_value(rule, "path");
    const unsigned writes = writes_of(rule) & ~found->denied;
    if (!strcmp(nacm_value(rule, "action"), "permit")) {
        found->permits = found->permits || writes;
    } else if (!strcmp(nacm_value(rule, "module-name"), "*") && (!*path || !strcmp(path, "/"))) {
        found->denied |= writes;
    }
}

struct reply *rights_to_write(const struct session *session) {
    struct nacm nacm;
    struct found found = {0};
    if (!strcmp(session->user, sr_nacm_get_recovery_user())) {
        return NULL;
    }
    if (nacm_read(&nacm)) {
        nacm_rules(&nacm, session->user, look, &found);
        const bool by_default = !strcmp(nacm_value(nacm.tree, "write-default"), "permit");
        found.permits = found.permits || (by_default && found.denied != ALL) ||
                        !strcmp(nacm_value(nacm.tree, "enable-nacm"), "false");
    }
    nacm_free(&nacm);
    return found.permits ? NULL
                         : reply_error("access-denied", "protocol",
                                       "user %s: no rule permits a write; see /nacm/rule-list",
                                       session->user);
}
