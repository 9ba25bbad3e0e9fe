#include "xpath.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define BLANKS " \t\r\n"
#define STEPS 20
#define PREDICATES 8
#define PATHS 16
#define KEYS 16 /* of a list that are distinguished */
#define EVERYTHING "/*"

static const char *skip_blanks(const char *at) {
    return at + strspn(at, BLANKS);
}

static bool is_of_name(char character) {
    return isalnum((unsigned char)character) || (character && strchr("_-.:", character)) ||
           (unsigned char)character >= 0x80;
}

/* What follows a name, NULL: there is none. */
static const char *skip_name(const char *at) {
    const char *end = at;
    while (is_of_name(*end)) {
        end++;
    }
    const bool is_axis = memmem(at, (size_t)(end - at), "::", 2);
    return end == at || is_axis || strchr(".-0123456789", *at) ? NULL : end;
}

/* What follows a literal, NULL: there is none. */
static const char *skip_literal(const char *at) {
    const char *end = *at == '\'' || *at == '"' ? strchr(at + 1, *at) : NULL;
    return end ? end + 1 : NULL;
}

/* What follows [NAME='LITERAL'] or [.='LITERAL']; NULL: it is something else. */
static const char *skip_predicate(const char *at) {
    at = skip_blanks(at + 1);
    at = *at == '.' ? at + 1 : skip_name(at);
    at = at ? skip_blanks(at) : NULL;
    at = at && *at == '=' ? skip_literal(skip_blanks(at + 1)) : NULL;
    at = at ? skip_blanks(at) : NULL;
    return at && *at == ']' ? at + 1 : NULL;
}

/* What follows a plain path; NULL: it is none. */
static const char *skip_path(const char *at, bool may_search) {
    size_t predicates = 0;
    if (*at != '/') {
        return NULL;
    }
    at += may_search && at[1] == '/';
    for (size_t steps = 0; *at == '/'; steps++) {
        const char *end = skip_name(++at);
        if (!end && *at == '*') {
            end = at + 1;
        } else if (end && end[-1] == ':' && *end == '*') {
            end++;
        }
        while (end && *end == '[' && predicates++ < PREDICATES) {
            end = skip_predicate(end);
        }
        if (!end || *end == '[' || steps == STEPS) {
            return NULL;
        }
        at = end;
    }
    return at;
}

bool xpath_is_plain(const char *xpath) {
    const char *end = skip_path(skip_blanks(xpath), false);
    return end && !*skip_blanks(end);
}

bool xpath_is_bounded(const char *xpath) {
    const char *at = skip_blanks(xpath);
    const bool enclosed = *at == '(';
    at = skip_blanks(at + enclosed);
    for (size_t paths = 0; paths < PATHS; paths++) {
        at = skip_path(at, true);
        at = at ? skip_blanks(at) : NULL;
        if (!at || *at != '|') {
            break;
        }
        at = skip_blanks(at + 1);
    }
    if (at && enclosed) {
        at = *at == ')' ? skip_blanks(at + 1) : NULL;
    }
    return at && !*at;
}

unsigned xpath_keys_of(const struct lysc_node *list) {
    const struct lysc_node *key = lys_getnext(NULL, list, NULL, 0);
    unsigned keys = 0;
    for (; key && lysc_is_key(key); key = lys_getnext(key, list, NULL, 0)) {
        keys++;
    }
    return keys;
}

/* The number of the key that [NAME='LITERAL'] is a condition on, from 0; KEYS: on none. */
static unsigned key_of(const struct lysc_node *list, const char *predicate) {
    const char *name = skip_blanks(predicate + 1), *end = skip_name(name);
    const char *colon = end ? memchr(name, ':', (size_t)(end - name)) : NULL;
    const char *module = list->module->name;
    const struct lysc_node *key = lys_getnext(NULL, list, NULL, 0);
    if (!end || (colon && ((size_t)(colon - name) != strlen(module) ||
                           strncmp(name, module, strlen(module)) != 0))) {
        return KEYS;
    }
    name = colon ? colon + 1 : name;
    for (unsigned number = 0; key && lysc_is_key(key) && number < KEYS; number++) {
        if (strlen(key->name) == (size_t)(end - name) &&
            !strncmp(key->name, name, (size_t)(end - name))) {
            return number;
        }
        key = lys_getnext(key, list, NULL, 0);
    }
    return KEYS;
}

/* Whether there is one of it, where there is one of what it is in: each key is given, once. A
 * condition on anything else would be evaluated on data that the user may not read. */
static bool is_single(const struct ly_ctx *context, const char *path, const char *predicate) {
    const struct lysc_node *node = lys_find_path(context, NULL, path, 0);
    unsigned found = 0;
    ly_err_clean((struct ly_ctx *)context, NULL);
    if (!node || *predicate != '[' || node->nodetype != LYS_LIST) {
        return node && *predicate != '[' && !(node->nodetype & (LYS_LIST | LYS_LEAFLIST));
    }
    for (; predicate && *predicate == '['; predicate = skip_predicate(predicate)) {
        const unsigned bit = 1u << key_of(node, predicate);
        if (bit == 1u << KEYS || found & bit) {
            return false;
        }
        found |= bit;
    }
    return found == (1u << xpath_keys_of(node)) - 1;
}

char *xpath_root(const struct ly_ctx *context, const char *xpath) {
    struct text names = {0};
    const char *const begin = skip_blanks(xpath), *at = begin;
    size_t length = 0;
    while (*at == '/') {
        const char *end = skip_name(at + 1);
        if (!end || *end == '*') {
            break;
        }
        text_add(&names, at, (size_t)(end - at));
        if (!is_single(context, names.bytes, end)) {
            break;
        }
        while (*end == '[') {
            end = skip_predicate(end);
        }
        at = end;
        length = (size_t)(at - begin);
    }
    text_free(&names);
    return length ? must_format("%.*s", (int)length, begin) : must_copy(EVERYTHING);
}

/* Whether a slash there continues a path; else it begins one, at the root. */
static bool continues(const char *xpath, const char *slash) {
    while (slash > xpath && strchr(BLANKS, slash[-1])) {
        slash--;
    }
    return slash > xpath && (is_of_name(slash[-1]) || strchr("*)].", slash[-1]));
}

/* Add the path to the top-level node that begins there; false: it can't be said which that is. */
static bool add_top(struct text *paths, const char *at) {
    const char *end = skip_name(at);
    if (!end || !memchr(at, ':', (size_t)(end - at)) || *end == '(') {
        return false;
    }
    char *path = must_format("/%.*s%s", (int)(end - at), at, end[-1] == ':' ? "*" : "");
    const char *found = paths->length ? strstr(paths->bytes, path) : NULL;
    const char after = found ? found[strlen(path)] : 'x';
    if (after && after != ' ') {
        text_printf(paths, "%s%s", paths->length ? " | " : "", path);
    }
    free(path);
    return true;
}

char *xpath_snapshot(const char *xpath) {
    struct text paths = {0};
    size_t count = 0;
    bool known = true;
    for (const char *at = xpath; known && *at; at++) {
        if (*at == '\'' || *at == '"') {
            const char *end = skip_literal(at);
            at = end ? end - 1 : at + strlen(at) - 1;
        } else if (!strncmp(at, "..", 2) || !strncmp(at, "::", 2) || !strncmp(at, "deref", 5)) {
            known = false; /* it may lead anywhere */
        } else if (*at == '/') {
            const bool searches = at[1] == '/';
            if (!continues(xpath, at)) {
                known = !searches && count++ < PATHS && add_top(&paths, skip_blanks(at + 1));
            }
            at += searches;
        }
    }
    if (!known || !paths.length) {
        text_free(&paths);
        return must_copy(EVERYTHING);
    }
    return paths.bytes;
}
