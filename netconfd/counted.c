#include "counted.h"

#include <stdlib.h>
#include <string.h>
#include <sysrepo/netconf_acm.h>
#include <time.h>

#include "request.h"
#include "store.h"

#define MODULE "srv6mgr-srv6"
#define SID "/" MODULE ":srv6/local-sids/sid"
#define SECOND 1000000000u
#define ENDS "/[ )" /* what may follow a name, if anything does */

static const char *const statuses[] = {"",       "pending",     "installed",
                                       "failed", "unsupported", "drifted"};

/* What of each SID is asked for: leaves of that name; with_state, those beside the counters too. */
struct wanted {
    const char *leaf; /* NULL: all */
    size_t leaf_length;
    bool with_state;
    bool with_counters;
    /* Most times are of few seconds: the text of the last one. */
    uint64_t second;
    char day[sizeof "2026-01-01T00:00:00"];
};

/* What follows a step of that name; NULL: it is another one. */
static const char *step(const char *at, const char *name) {
    const size_t length = strlen(name);
    if (*at++ != '/') {
        return NULL;
    }
    if (strncmp(at, MODULE ":", sizeof MODULE) == 0) {
        at += sizeof MODULE;
    }
    return strncmp(at, name, length) != 0 || !strchr(ENDS, at[length]) ? NULL : at + length;
}

/* What follows [prefix='...'], with the value in *key; at where there is none. NULL: it is
 * something else. */
static const char *predicate(const char *at, char **key) {
    if (*at != '[') {
        return at;
    }
    at += 1 + strspn(at + 1, " ");
    if (strncmp(at, MODULE ":", sizeof MODULE) == 0) {
        at += sizeof MODULE;
    }
    if (strncmp(at, "prefix", 6) != 0) {
        return NULL;
    }
    at += 6 + strspn(at + 6, " ");
    if (*at != '=') {
        return NULL;
    }
    at += 1 + strspn(at + 1, " ");
    const char quote = *at;
    const char *end = quote == '\'' || quote == '"' ? strchr(at + 1, quote) : NULL;
    if (!end) {
        return NULL;
    }
    const char *after = end + 1 + strspn(end + 1, " ");
    if (*after != ']') {
        return NULL;
    }
    *key = must_format("%.*s", (int)(end - at - 1), at + 1);
    return after + 1;
}

/* What follows /srv6/local-sids/sid with its key, which is that of the paths before. */
static const char *path_of_sid(const char *at, bool is_first, char **key) {
    char *found = NULL;
    at = step(at, "srv6");
    at = at ? step(at, "local-sids") : NULL;
    at = at ? step(at, "sid") : NULL;
    at = at ? predicate(at, &found) : NULL;
    if (is_first) {
        *key = found;
        return at;
    }
    bool same = found && *key ? !strcmp(found, *key) : found == *key;
    free(found);
    return same ? at : NULL;
}

/* What follows the state, or a part of it, that is told in *wanted. */
static const char *path_of_state(const char *at, struct wanted *wanted) {
    const char *below = step(at, "counters");
    wanted->with_counters = below || *at != '/';
    wanted->with_state = !below;
    at = below ? below : at;
    if (*at == '/') {
        at++;
        at += strncmp(at, MODULE ":", sizeof MODULE) != 0 ? 0 : sizeof MODULE;
        wanted->leaf = at;
        wanted->leaf_length = strcspn(at, ENDS);
        at += wanted->leaf_length;
    }
    return at;
}

/* Whether xpath is a plain path to state of SIDs, or of one, whose key is to be freed. A subtree
 * filter becomes a union in parentheses, with the key beside it if that was named: it is there
 * anyhow. */
static bool understood(const struct session *session, const char *xpath, struct wanted *wanted,
                       char **key) {
    const bool is_union = *xpath == '(';
    bool is_first = true, has_state = false;
    const char *at = xpath + is_union;
    do {
        at += is_first ? 0 : 3;
        at = path_of_sid(at, is_first, key);
        const char *state = at ? step(at, "state") : NULL;
        if (!at || (state && has_state)) {
            return false;
        }
        has_state = has_state || state;
        at = state ? path_of_state(state, wanted) : step(at, "prefix");
        is_first = false;
    } while (at && is_union && !strncmp(at, " | ", 3));
    if (!at || !has_state || strcmp(at, is_union ? ")" : "") != 0) {
        return false;
    }
    /* libyang knows which leaves there are. */
    struct ly_set *nodes = NULL;
    bool exists = !lys_find_xpath(session->context, NULL, xpath, 0, &nodes) && nodes->count;
    ly_set_free(nodes, NULL);
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    return exists;
}

/* The key as srv6mgrd has it. */
static bool make_canonical(const struct session *session, char **key) {
    const struct lysc_node *leaf = lys_find_path(session->context, NULL, SID "/prefix", 0);
    const char *canonical = NULL;
    if (!leaf ||
        lyd_value_validate(session->context, leaf, *key, strlen(*key), NULL, NULL, &canonical)) {
        ly_err_clean((struct ly_ctx *)session->context, NULL);
        return false;
    }
    free(*key);
    *key = must_copy(canonical);
    lydict_remove(session->context, canonical);
    return true;
}

static const char *value_of(const struct lyd_node *node, const char *name) {
    const char *value = request_value(node, name);
    return value ? value : "";
}

static bool denies_reading(const struct lyd_node *rule) {
    const char *operations = value_of(rule, "access-operations");
    return !strcmp(value_of(rule, "action"), "deny") && !request_child(rule, "rpc-name") &&
           !request_child(rule, "notification-name") &&
           (!*operations || strchr(operations, '*') || strstr(operations, "read"));
}

/* Whether NACM lets everybody read everything; where it makes a difference, sysrepo decides. */
static bool all_may_be_read(const struct lyd_node *nacm) {
    const struct lyd_node *list, *rule;
    if (!strcmp(value_of(nacm, "enable-nacm"), "false")) {
        return true;
    }
    if (strcmp(value_of(nacm, "read-default"), "permit") != 0) {
        return false;
    }
    LY_LIST_FOR(lyd_child(nacm), list) {
        LY_LIST_FOR(lyd_child(list), rule) {
            if (!strcmp(LYD_NAME(rule), "rule") && denies_reading(rule)) {
                return false;
            }
        }
    }
    return true;
}

static bool may_read(const struct session *session) {
    sr_session_ctx_t *sr = NULL;
    sr_data_t *data = NULL;
    if (!strcmp(session->user, sr_nacm_get_recovery_user())) {
        return true;
    }
    bool may = !sr_session_start(server.connection, SR_DS_RUNNING, &sr) &&
               !sr_get_data(sr, "/ietf-netconf-acm:nacm", 0, READ_TIMEOUT_MS, 0, &data) && data &&
               data->tree && all_may_be_read(data->tree);
    sr_release_data(data);
    sr_session_stop(sr);
    return may;
}

static bool is_wanted(const struct wanted *wanted, const char *leaf) {
    return !wanted->leaf || (strlen(leaf) == wanted->leaf_length &&
                             !strncmp(leaf, wanted->leaf, wanted->leaf_length));
}

static void put_text(struct text *text, const struct wanted *wanted, const char *leaf,
                     const char *value) {
    if (is_wanted(wanted, leaf)) {
        text_puts(text, "<");
        text_puts(text, leaf);
        text_puts(text, ">");
        text_put_xml(text, value);
        text_puts(text, "</");
        text_puts(text, leaf);
        text_puts(text, ">");
    }
}

static void put_number(struct text *text, const struct wanted *wanted, const char *leaf,
                       uint64_t value) {
    char digits[21], *at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put_text(text, wanted, leaf, at);
}

static void put_time(struct text *text, struct wanted *wanted, const char *leaf, uint64_t at) {
    char written[sizeof wanted->day + sizeof ".000000000+00:00"];
    if (!at || !is_wanted(wanted, leaf)) {
        return;
    }
    if (wanted->second != at / SECOND) {
        struct tm tm;
        time_t second = (time_t)(at / SECOND);
        if (!gmtime_r(&second, &tm) ||
            !strftime(wanted->day, sizeof wanted->day, "%Y-%m-%dT%H:%M:%S", &tm)) {
            return;
        }
        wanted->second = at / SECOND;
    }
    snprintf(written, sizeof written, "%s.%09u+00:00", wanted->day, (unsigned)(at % SECOND));
    put_text(text, wanted, leaf, written);
}

static void put_counters(struct text *text, struct wanted *wanted, const struct sid *sid) {
    const size_t before = text->length;
    text_puts(text, "<counters>");
    const size_t opened = text->length;
    put_number(text, wanted, "in-pkts", sid->packets);
    put_number(text, wanted, "in-octets", sid->octets);
    put_number(text, wanted, "in-errors", sid->errors);
    put_time(text, wanted, "discontinuity-time", sid->discontinuity);
    if (text->length == opened) {
        text_cut(text, before);
    } else {
        text_puts(text, "</counters>");
    }
}

static void put_sid(const struct sid *sid, void *data, struct text *text) {
    struct wanted *wanted = data;
    const size_t before = text->length;
    text_puts(text, "<sid><prefix>");
    text_put_xml(text, sid->prefix);
    text_puts(text, "</prefix><state>");
    const size_t opened = text->length;
    if (wanted->with_state) {
        put_text(text, wanted, "install-status", statuses[sid->status]);
        put_text(text, wanted, "reason", sid->reason);
        put_time(text, wanted, "since", sid->since);
        put_time(text, wanted, "last-repair", sid->last_repair);
        put_number(text, wanted, "repairs", sid->repairs);
    }
    if (wanted->with_counters) {
        put_counters(text, wanted, sid);
    }
    if (text->length == opened) {
        text_cut(text, before);
    } else {
        text_puts(text, "</state></sid>");
    }
}

static struct reply *read_store(const struct session *session, const struct lyd_node *rpc,
                                const char *key, struct wanted *wanted) {
    const struct lysc_node *sid = lys_find_path(session->context, NULL, SID, 0);
    struct text text = {0};
    text_printf(&text, "<data xmlns=\"%s\">", rpc->schema->module->ns);
    const size_t opened = text.length;
    text_printf(&text, "<srv6 xmlns=\"%s\"><local-sids>", sid->module->ns);
    const size_t filled = text.length;
    if (!store_read(key, put_sid, wanted, &text)) {
        text_free(&text);
        return NULL;
    }
    if (text.length == filled) {
        text_cut(&text, opened);
    } else {
        text_puts(&text, "</local-sids></srv6>");
    }
    text_puts(&text, "</data>");
    return reply_xml(text);
}

struct reply *counted(const struct session *session, const struct lyd_node *rpc,
                      const char *xpath) {
    struct wanted wanted = {0};
    struct reply *reply = NULL;
    char *key = NULL;
    if (understood(session, xpath, &wanted, &key) && (!key || make_canonical(session, &key)) &&
        may_read(session)) {
        reply = read_store(session, rpc, key, &wanted);
    }
    free(key);
    return reply;
}
