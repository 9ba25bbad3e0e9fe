#include "words.h"

#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "/srv6mgr-srv6:srv6"
#define GROUPS 4

/* A kind of object, and where its list entry stands below the root; inner ones come first. */
struct object {
    const char *name;
    const char *step; /* with the key open: name=' */
    const char *within;
};

static const struct object objects[] = {
    {"BGP neighbor", "neighbor[address='", "srv6mgr-bgp:bgp"},
    {"BGP neighbor", "unnumbered-neighbor[interface='", "srv6mgr-bgp:bgp"},
    {"BGP peer group", "peer-group[name='", "srv6mgr-bgp:bgp"},
    {"route", "route[prefix='", "srv6mgr-steering:steering"},
    {"static route", "route[prefix='", "srv6mgr-routing:static-routes"},
    {"import from VRF", "import-from[vrf='", NULL},
    {"VRF", "vrf[name='", NULL},
    {"SID", "sid[prefix='", "local-sids"},
    {"locator", "locator[name='", NULL},
    {"routing policy", "policy-definition[name='", NULL},
    {"prefix set", "prefix-set[name='", NULL},
    {"community set", "community-set[name='", NULL},
    {"AS path set", "as-path-set[name='", NULL},
    {"segment list", "segment-list[name='", NULL},
};

static char *key_after(const char *path, const char *step) {
    const char *at = strstr(path, step);
    if (!at) {
        return NULL;
    }
    at += strlen(step);
    size_t length = strcspn(at, "'");
    char *key = must_alloc(length + 1);
    memcpy(key, at, length);
    return key;
}

/* Name of the first node of a path: of the RPC, mostly. */
static char *first_of(const char *path) {
    size_t length = strcspn(path + 1, "/[");
    const char *colon = memchr(path + 1, ':', length);
    const char *start = colon ? colon + 1 : path + 1;
    return length ? must_format("%.*s", (int)(path + 1 + length - start), start)
                  : must_copy("request");
}

char *words_object(const char *path) {
    if (*path != '/') {
        return must_copy("request");
    }
    const char *ours = strstr(path, ROOT);
    if (!ours) {
        return first_of(path);
    }
    path = ours; /* also where it is a parameter of an RPC */
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        if (objects[i].within && !strstr(path, objects[i].within)) {
            continue;
        }
        char *key = key_after(path, objects[i].step);
        if (!key) {
            continue;
        }
        char *vrf = i < 3 ? key_after(path, "vrf[name='") : NULL;
        char *name = vrf ? must_format("%s %s of VRF %s", objects[i].name, key, vrf)
                         : must_format("%s %s", objects[i].name, key);
        free(key);
        free(vrf);
        return name;
    }
    if (strstr(path, "/boundary")) {
        return must_copy("boundary");
    }
    return must_copy(strstr(path, "/encapsulation") ? "encapsulation" : "SRv6");
}

/* Name of the last node of a data path. */
static char *leaf_of(const char *path) {
    const char *start = path, *end = path;
    bool quoted = false, within = false;
    for (const char *at = path; *at; at++) {
        if (*at == '\'') {
            quoted = !quoted;
        } else if (!quoted && (*at == '[' || *at == ']')) {
            within = *at == '[';
        } else if (!quoted && !within && (*at == '/' || *at == ':')) {
            start = at + 1;
        }
        if (!quoted && !within && *at != ']') {
            end = at + 1;
        }
    }
    size_t length = end > start ? (size_t)(end - start) : 0;
    char *leaf = must_alloc(length + 1);
    memcpy(leaf, start, length);
    return leaf;
}

/* How a text of libyang 3.13 is told. In cause and remedy %1 and %2 are groups of the pattern,
 * %L the leaf of the path. */
struct rule {
    const char *pattern;
    const char *tag;
    const char *app_tag;
    const char *cause;
    const char *remedy;
    int bad_element; /* the group that names the offender; 0: none */
};

static const struct rule rules[] = {
    {"^Invalid leafref value \"(.*)\" - no .*", "data-missing", "instance-required",
     "%L %1 does not exist", "create it or name an existing one", 0},
    {"^Unique data leaf\\(s\\) \"(.*)\" not satisfied in", "operation-failed", "data-not-unique",
     "%1 is already used by another entry", "choose another %1", 0},
    {"^Mandatory node \"(.*)\" instance does not exist", "missing-element", "missing",
     "%1 is missing", "add %1", 1},
    {"^Mandatory choice \"(.*)\" data do not exist", "data-missing", "missing-choice",
     "%1 is missing", "add one of its cases", 0},
    {"^Too few \"(.*)\" instances", "operation-failed", "too-few-elements", "%1 is missing",
     "add %1", 0},
    {"^Too many \"(.*)\" instances", "operation-failed", "too-many-elements",
     "it has too many entries of %1", "see the model for how many", 0},
    {"^Duplicate instance of \"(.*)\"", "bad-element", "data-exists", "%1 is declared twice",
     "declare it once", 1},
    {"^List instance is missing its key \"(.*)\"", "missing-element", "missing",
     "its key %1 is missing", "add %1", 1},
    {"^Node \"(.*)\" not found as a child of \"(.*)\" node", "unknown-element", "unknown-element",
     "%1 is unknown to the model below %2", "correct the name or remove it", 1},
    {"^Node \"(.*)\" not found in the \"(.*)\" module", "unknown-element", "unknown-element",
     "%1 is unknown to the module %2", "correct the name or remove it", 1},
    {"^(RPC|Action) \"(.*)\" not found", "operation-not-supported", NULL, "%2 is no operation here",
     "see get-schema for those there are", 2},
    {"^No (\\(implemented\\) )?module with namespace \"([^\"]*)\"", "unknown-namespace", NULL,
     "namespace %2 is unknown", "see the capabilities for those there are", 0},
    {"^Unexpected (data )?state node \"(.*)\" found", "bad-element", "read-only", "%2 is read-only",
     "leave it out", 2},
    {"^Invalid identityref \"([^\"]*)\" value", "invalid-value", "value-unknown",
     "%L '%1' is unknown", "name one that the model has", 0},
    {"^Failed to convert IPv[46] (address|prefix) \"(.*)\"", "invalid-value", "value-syntax",
     "%L '%2' is no IP %1", "write it as the model says", 0},
    {"^Unsatisfied pattern - \"([^\"]*)\" does not", "invalid-value", "value-syntax",
     "%L '%1' is not well-formed", "see the model for its form", 0},
    {"^Value \"(.*)\" is out of type .* min/max bounds", "invalid-value", "value-range",
     "%L %1 is out of range", "see the model for its range", 0},
    {"^Unsatisfied range - value \"(.*)\" is out of the allowed range", "invalid-value",
     "value-range", "%L %1 is out of range", "see the model for its range", 0},
    {"^Unsatisfied length - string \"(.*)\" length is not allowed", "invalid-value", "value-length",
     "%L '%1' has a length that is not allowed", "see the model for its length", 0},
    {"^Invalid union value \"([^\"]*)\" - no matching", "invalid-value", "value-syntax",
     "%L '%1' is not well-formed", "see the model for its form", 0},
    {"^When condition \".*\" not satisfied", "operation-failed", "unexpected",
     "%L does not go with the rest of it", "remove %L", 0},
    {"^Invalid (type |non-number-encoded )?[a-z0-9_:-]+ value \"(.*)\"", "invalid-value",
     "value-syntax", "%L '%2' is not allowed", "see the model for its values", 0},
    {"^Invalid (empty|boolean|enumeration|decimal64) value \"(.*)\"", "invalid-value",
     "value-syntax", "%L '%2' is not allowed", "see the model for its values", 0},
    {"^Annotation definition for attribute \"(.*)\" not found", "unknown-attribute", NULL,
     "attribute %1 is unknown", "remove it", 0},
    {"^Node \"(.*)\" to be created already exists", "data-exists", "data-exists",
     "%1 exists already", "use merge or replace", 1},
    {"^Node \"(.*)\" (to be deleted )?does not exist", "data-missing", "data-missing",
     "%1 does not exist", "use remove, or leave it out", 1},
    {"^((Unexpected|Unparsed|Unknown|Wrong|Cannot|Invalid number|Non-prefixed).* [Xx][Pp]ath[^.]*)",
     "invalid-value", "value-syntax", "the XPath expression is not understood (%1)", "correct it",
     0},
    {"^XPath \".*\" result is not a node set", "invalid-value", NULL,
     "the XPath expression selects no nodes but has a value", "select nodes", 0},
    {"^XPath \".*\" does not select any notifications|^Failed to collect modules to subscribe",
     "invalid-value", NULL, "the filter selects no notifications", "correct it", 0},
    {"^Unknown XML prefix \"(.*)\"", "unknown-namespace", NULL, "prefix %1 is not declared",
     "declare it with xmlns", 0},
    /* All that sysrepo says of a subscriber that is stopped, or died meanwhile. */
    {"^User callback failed\\.?$", "operation-failed", "timed-out",
     "operational state is not reported, since srv6mgrd does not answer",
     "see systemctl status srv6mgrd, or read the configuration alone", 0},
    {"^Invalid character sequence|^Unexpected end-of-input|^Opening \"|^Opening and closing",
     "malformed-message", NULL, "it is no well-formed XML", "correct it", 0},
};
#define RULES (sizeof rules / sizeof *rules)

static regex_t compiled[RULES];

static void compile(void) {
    for (size_t i = 0; i < RULES; i++) {
        if (regcomp(&compiled[i], rules[i].pattern, REG_EXTENDED)) {
            abort();
        }
    }
}

bool words_are_framing(const char *message) {
    return !strcmp(message, "User callback failed.") || !strcmp(message, "Storing value failed.") ||
           !strncmp(message, "Validation failed", strlen("Validation failed")) ||
           (!strncmp(message, "Failed to ", strlen("Failed to ")) &&
            !strstr(message, "to subscribe to")) ||
           (strstr(message, " event ") && strstr(message, " failed"));
}

static char *group(const char *message, const regmatch_t *match) {
    size_t length = match->rm_so < 0 ? 0 : (size_t)(match->rm_eo - match->rm_so);
    char *made = must_alloc(length + 1);
    if (length) {
        memcpy(made, message + match->rm_so, length);
    }
    return made;
}

static void fill(struct text *text, const char *form, char *const *groups, const char *leaf) {
    for (; *form; form++) {
        if (*form == '%' && form[1] == 'L') {
            text_puts(text, leaf);
            form++;
        } else if (*form == '%' && form[1] >= '1' && form[1] < '0' + GROUPS) {
            text_puts(text, groups[form[1] - '0']);
            form++;
        } else {
            text_add(text, form, 1);
        }
    }
}

/* The tag is the rule's: sysrepo's own says less than its text. */
static struct error *by_rule(const struct rule *rule, const regmatch_t *found, const char *type,
                             const char *message, const char *path) {
    char *groups[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
        groups[i] = group(message, &found[i]);
    }
    struct text text = {0};
    char *leaf = leaf_of(path), *object = words_object(path);
    text_printf(&text, "%s: ", object);
    fill(&text, rule->cause, groups, leaf);
    text_puts(&text, "; ");
    fill(&text, rule->remedy, groups, leaf);
    struct error *error = error_new(rule->tag, type, text.bytes);
    error->app_tag = rule->app_tag ? must_copy(rule->app_tag) : NULL;
    if (rule->bad_element) {
        error->bad_element = must_copy(groups[rule->bad_element]);
    } else if (!strcmp(rule->tag, "unknown-namespace")) {
        error->bad_namespace = must_copy(*groups[2] ? groups[2] : groups[1]);
    } else if (!strcmp(rule->tag, "unknown-attribute")) {
        error->bad_attribute = must_copy(groups[1]);
    }
    free(leaf);
    free(object);
    for (int i = 0; i < GROUPS; i++) {
        free(groups[i]);
    }
    return error;
}

/* What srv6mgrd refused is worded already; of our YANG modules cause and remedy come from there. */
static char *as_told(const char *message, const char *path) {
    const char *remedy = strstr(message, "; ");
    const char *colon = strstr(message, ": ");
    if (remedy && colon && colon < remedy) {
        return must_copy(message);
    }
    char *object = words_object(path), *told;
    size_t length = strlen(message);
    while (length && (message[length - 1] == '.' || message[length - 1] == '\n')) {
        length--;
    }
    told = must_format("%s: %.*s%s", object, (int)length, message,
                       remedy ? "" : "; correct it and send it again");
    free(object);
    return told;
}

void words_place(struct error *error, const char *path) {
    char *object = words_object(path), *leaf = leaf_of(path);
    const char *rest = strstr(error->message, ": ");
    const char *what = rest ? rest + strlen(": ") : error->message;
    bool is_object = path[strlen(path) - 1] == ']' && strstr(path, ROOT);
    if (is_object && !strncmp(what, leaf, strlen(leaf))) {
        what = must_format("%s: it%s", object, what + strlen(leaf));
    } else {
        what = must_format("%s: %s", object, what);
    }
    free(error->message);
    error->message = (char *)what;
    error->path = must_copy(path);
    free(object);
    free(leaf);
}

struct error *words_error(const char *tag, const char *type, const char *message,
                          const char *path) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compile);
    struct error *error = NULL;
    for (size_t i = 0; i < RULES && !error; i++) {
        regmatch_t found[GROUPS];
        if (!regexec(&compiled[i], message, GROUPS, found, 0)) {
            error = by_rule(&rules[i], found, type, message, path);
        }
    }
    if (!error) {
        error = error_new(tag ? tag : "operation-failed", type, as_told(message, path));
    }
    error->path = *path ? must_copy(path) : NULL;
    return error;
}
