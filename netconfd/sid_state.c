#include "sid_state.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "request.h"
#include "store.h"

#define SID SIDS "/sid"
#define ENDS "/[ )" /* what may follow a name, if anything does */

#define COUNTERS ((1u << SID_LEAVES) - (1u << SID_IN_PKTS))
#define STATE ((1u << SID_IN_PKTS) - 1)

/* The leaves of each SID that are asked for, and may be read. */
struct wanted {
    uint32_t leaves; /* bits 1 << SID_* */
    const struct access *access;
    struct text_moment last;
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

/* The path below the container state; *leaves: those that it selects. */
static const char *path_of_state(const char *at, uint32_t *leaves) {
    const char *below = step(at, "counters");
    *leaves = below ? COUNTERS : STATE | COUNTERS;
    at = below ? below : at;
    if (*at == '/') {
        const uint32_t group = below ? COUNTERS : STATE;
        *leaves = 0;
        for (unsigned leaf = 0; leaf < SID_LEAVES && !*leaves; leaf++) {
            const char *after = group & 1u << leaf ? step(at, sid_leaves[leaf]) : NULL;
            *leaves = after ? 1u << leaf : 0;
            at = after ? after : at;
        }
    }
    return at;
}

/* Whether xpath is a plain path to state of SIDs, or of one, whose key is to be freed. A subtree
 * filter becomes a union in parentheses, with the key beside it if that was named: it is there
 * anyhow. */
static bool understood(const struct session *session, const char *xpath, uint32_t *leaves,
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
        at = state ? path_of_state(state, leaves) : step(at, "prefix");
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

static void put_text(struct text *text, enum sid_leaf leaf, const char *value) {
    text_puts(text, "<");
    text_puts(text, sid_leaves[leaf]);
    text_puts(text, ">");
    text_put_xml(text, value);
    text_puts(text, "</");
    text_puts(text, sid_leaves[leaf]);
    text_puts(text, ">");
}

static void put_number(struct text *text, uint32_t leaves, enum sid_leaf leaf, uint64_t value) {
    char digits[21], *at = digits + sizeof digits - 1;
    if (!(leaves & 1u << leaf)) {
        return;
    }
    *at = '\0';
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put_text(text, leaf, at);
}

static void put_time(struct text *text, uint32_t leaves, struct wanted *wanted, enum sid_leaf leaf,
                     uint64_t at) {
    if (at && leaves & 1u << leaf) {
        put_text(text, leaf, text_of_time(&wanted->last, at));
    }
}

static void put_counters(struct text *text, uint32_t leaves, struct wanted *wanted,
                         const struct sid *sid) {
    const size_t before = text->length;
    text_puts(text, "<counters>");
    const size_t opened = text->length;
    put_number(text, leaves, SID_IN_PKTS, sid->packets);
    put_number(text, leaves, SID_IN_OCTETS, sid->octets);
    put_number(text, leaves, SID_IN_ERRORS, sid->errors);
    put_time(text, leaves, wanted, SID_DISCONTINUITY_TIME, sid->discontinuity);
    if (text->length == opened) {
        text_cut(text, before);
    } else {
        text_puts(text, "</counters>");
    }
}

static void put_sid(const struct sid *sid, void *data, struct text *text) {
    struct wanted *wanted = data;
    const uint32_t leaves = wanted->leaves & access_to_sid(wanted->access, sid->prefix);
    const size_t before = text->length;
    text_puts(text, "<sid><prefix>");
    text_put_xml(text, sid->prefix);
    text_puts(text, "</prefix><state>");
    const size_t opened = text->length;
    if (leaves & 1u << SID_INSTALL_STATUS) {
        put_text(text, SID_INSTALL_STATUS, store_status(sid->status));
    }
    if (leaves & 1u << SID_REASON) {
        put_text(text, SID_REASON, sid->reason);
    }
    put_time(text, leaves, wanted, SID_SINCE, sid->since);
    put_time(text, leaves, wanted, SID_LAST_REPAIR, sid->last_repair);
    put_number(text, leaves, SID_REPAIRS, sid->repairs);
    put_counters(text, leaves, wanted, sid);
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

struct reply *sid_state_answer(const struct session *session, const struct lyd_node *rpc,
                               const char *xpath) {
    struct wanted wanted = {0};
    struct reply *reply = NULL;
    char *key = NULL;
    if (understood(session, xpath, &wanted.leaves, &key) &&
        (!key || make_canonical(session, &key))) {
        struct access *access = access_of(session);
        wanted.access = access;
        reply = access ? read_store(session, rpc, key, &wanted) : NULL;
        access_free(access);
    }
    free(key);
    return reply;
}
