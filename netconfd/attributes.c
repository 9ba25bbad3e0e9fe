#include "attributes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "xpath.h"

#define BLANKS " \t\r\n"
#define DEPTH 500       /* of elements: libyang's own limit */
#define ATTRIBUTES 100  /* of one element, with its namespaces */
#define NAMESPACES 1000 /* in scope */
/* libyang takes quadratic time for siblings that are no entries of lists. */
#define SIBLINGS 1000
#define ELEMENTS 4000000 /* of a message: each takes about 300 bytes of memory */
#define OF_DEFAULTS "urn:ietf:params:xml:ns:netconf:default:1.0" /* RFC 6243 section 5 */

/* A part of the message. */
struct slice {
    const char *start;
    size_t length;
};

struct attribute {
    struct slice prefix, name, value;
    struct slice namespace; /* start NULL: in none */
};

struct namespace {
    struct slice prefix, name;
    size_t depth; /* of the element that declares it */
};

struct scan {
    const struct ly_ctx *context;
    const char *at;
    size_t depth;
    struct slice elements[DEPTH + 1];
    const struct lysc_node *schemas[DEPTH + 1]; /* of elements; NULL: of none that is known */
    unsigned siblings[DEPTH + 1];               /* in an element, beside entries of lists */
    unsigned total;
    size_t configuration;   /* depth of <config>; 0: not within one */
    const char *expression; /* where the text of an element with an XPath expression begins */
    size_t expression_depth;
    struct namespace namespaces[NAMESPACES];
    size_t declared;
    struct attribute attributes[ATTRIBUTES];
    size_t count;
};

static bool same(struct slice one, struct slice other) {
    return one.length == other.length && !memcmp(one.start, other.start, one.length);
}

static bool is(struct slice slice, const char *text) {
    return slice.length == strlen(text) && !memcmp(slice.start, text, slice.length);
}

static struct reply *broken(const struct scan *scan, const char *tag, const char *cause,
                            const struct attribute *attribute, const char *remedy) {
    struct slice element = scan->elements[scan->depth];
    char *name = attribute
                     ? must_format("%.*s%s%.*s", (int)attribute->prefix.length,
                                   attribute->prefix.start, attribute->prefix.length ? ":" : "",
                                   (int)attribute->name.length, attribute->name.start)
                     : NULL;
    struct reply *reply =
        reply_error(tag, "protocol", "element %.*s: attribute%s%s %s; %s", (int)element.length,
                    element.start, name ? " " : "s", name ? name : "", cause, remedy);
    reply->errors->bad_attribute = name;
    reply->errors->bad_element = must_format("%.*s", (int)element.length, element.start);
    return reply;
}

static struct slice namespace_of(const struct scan *scan, struct slice prefix) {
    for (size_t i = scan->declared; i > 0; i--) {
        if (same(scan->namespaces[i - 1].prefix, prefix)) {
            return scan->namespaces[i - 1].name;
        }
    }
    return (struct slice){0};
}

static bool is_known(const struct ly_ctx *context, struct slice namespace) {
    char *name = must_format("%.*s", (int)namespace.length, namespace.start);
    bool known = !strcmp(name, OF_DEFAULTS) || ly_ctx_get_module_implemented_ns(context, name);
    free(name);
    return known;
}

/* Of configuration; what of a known namespace is unknown libyang reports itself. */
static struct reply *check_known(const struct scan *scan) {
    for (size_t i = 0; i < scan->count; i++) {
        const struct attribute *attribute = &scan->attributes[i];
        if (is(attribute->prefix, "xmlns") || is(attribute->prefix, "xml")) {
            continue;
        }
        if (!attribute->prefix.length) {
            if (is(attribute->name, "xmlns")) {
                continue;
            }
            return broken(scan, "unknown-attribute", "is in no namespace", attribute,
                          "write it with a prefix, as nc:operation (RFC 6241 section 7.2)");
        }
        if (attribute->namespace.start && !is_known(scan->context, attribute->namespace)) {
            char *cause = must_format("can't be understood: namespace %.*s is unknown",
                                      (int)attribute->namespace.length, attribute->namespace.start);
            struct reply *reply =
                broken(scan, "unknown-attribute", cause, attribute, "leave it out");
            free(cause);
            return reply;
        }
    }
    return NULL;
}

static struct reply *check_unique(const struct scan *scan) {
    for (size_t i = 0; i < scan->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct attribute *one = &scan->attributes[i], *other = &scan->attributes[j];
            const bool alike = one->namespace.start && other->namespace.start
                                   ? same(one->namespace, other->namespace)
                                   : same(one->prefix, other->prefix);
            if (alike && same(one->name, other->name)) {
                return broken(scan, "malformed-message", "is there twice", one, "write it once");
            }
        }
    }
    return NULL;
}

/* Where the operation has its configuration: in <config>, or in <source><config>. */
static bool is_configuration(const struct scan *scan) {
    const struct slice *elements = scan->elements;
    const bool is_source = scan->depth == 4 && is(elements[3], "source");
    return is(elements[scan->depth], "config") && (scan->depth == 3 || is_source) &&
           (is(elements[2], "edit-config") || is(elements[2], "edit-data") ||
            is(elements[2], "copy-config") || is(elements[2], "validate"));
}

static struct slice name_at(const char *at) {
    return (struct slice){at, strcspn(at, BLANKS "/>=<")};
}

/* What follows the colon of a name, with what is before it in *prefix. */
static struct slice split(struct slice name, struct slice *prefix) {
    const char *colon = memchr(name.start, ':', name.length);
    *prefix = (struct slice){name.start, 0};
    if (colon) {
        prefix->length = (size_t)(colon - name.start);
        name = (struct slice){colon + 1, name.length - prefix->length - 1};
    }
    return name;
}

/* Of the leaves whose type is an expression, which libyang reads before anything is judged. */
static bool has_expression(struct slice name) {
    static const char *const names[] = {"xpath-filter", "stream-xpath-filter",
                                        "datastore-xpath-filter", "path"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static struct reply *check_expression(const struct scan *scan, size_t length) {
    struct slice element = scan->elements[scan->depth];
    return length <= XPATH_LONGEST
               ? NULL
               : reply_error("too-big", "protocol",
                             "%.*s: the expression is longer than %d characters; split it",
                             (int)element.length, element.start, XPATH_LONGEST);
}

static bool declare(struct scan *scan, struct slice prefix, struct slice name) {
    if (scan->declared == NAMESPACES) {
        return false;
    }
    scan->namespaces[scan->declared++] = (struct namespace){prefix, name, scan->depth};
    return true;
}

/* Read NAME="VALUE" at scan->at; false: it is no XML. */
static bool read_attribute(struct scan *scan, bool *too_many) {
    struct slice whole = name_at(scan->at), prefix;
    struct slice name = split(whole, &prefix);
    const char *at = whole.start + whole.length;
    at += strspn(at, BLANKS);
    if (!name.length || *at++ != '=') {
        return false;
    }
    at += strspn(at, BLANKS);
    const char *end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
    if (!end) {
        return false;
    }
    const struct slice value = {at + 1, (size_t)(end - at - 1)};
    scan->at = end + 1;
    const bool is_default = !prefix.length && is(name, "xmlns");
    *too_many = scan->count == ATTRIBUTES || (is(prefix, "xmlns") && !declare(scan, name, value)) ||
                (is_default && !declare(scan, prefix, value));
    if (!*too_many) {
        scan->attributes[scan->count++] = (struct attribute){prefix, name, value, {0}};
    }
    return true;
}

static const struct lys_module *module_of(const struct scan *scan, struct slice namespace,
                                          const struct lysc_node *parent) {
    if (!namespace.start || (parent && is(namespace, parent->module->ns))) {
        return namespace.start ? parent->module : NULL;
    }
    char *name = must_format("%.*s", (int)namespace.length, namespace.start);
    const struct lys_module *module = ly_ctx_get_module_implemented_ns(scan->context, name);
    free(name);
    return module;
}

/* Of the element that begins, in <rpc>: an operation, a parameter, or data in one. */
static const struct lysc_node *schema_of(const struct scan *scan, struct slice prefix,
                                         struct slice name) {
    const struct lysc_node *parent = scan->schemas[scan->depth - 1];
    if (!parent && scan->depth > 2) {
        return NULL;
    }
    const struct lys_module *module = module_of(scan, namespace_of(scan, prefix), parent);
    if (!module || (parent && parent->nodetype & (LYS_LEAF | LYS_LEAFLIST))) {
        return NULL;
    }
    parent = parent && parent->nodetype & LYD_NODE_ANY ? NULL : parent;
    return lys_find_child(parent, module, name.start, name.length, 0, 0);
}

static struct reply *check_number(struct scan *scan, struct slice prefix, struct slice name) {
    const size_t depth = scan->depth;
    scan->siblings[depth] = 0;
    scan->schemas[depth] = depth > 1 ? schema_of(scan, prefix, name) : NULL;
    if (++scan->total > ELEMENTS) {
        return reply_error("too-big", "protocol",
                           "message: it has more than %d elements; send them in parts", ELEMENTS);
    }
    const struct lysc_node *schema = scan->schemas[depth];
    const bool is_entry = schema && schema->nodetype & (LYS_LIST | LYS_LEAFLIST);
    if (is_entry || ++scan->siblings[depth - 1] <= SIBLINGS) {
        return NULL;
    }
    struct slice parent = scan->elements[depth - 1];
    return reply_error("too-big", "protocol",
                       "element %.*s: it has more than %d elements that are no entries of a list; "
                       "leave out what the model does not know",
                       (int)parent.length, parent.start, SIBLINGS);
}

/* at: where its end tag begins. */
static struct reply *leave(struct scan *scan, const char *at) {
    struct reply *reply = NULL;
    if (scan->expression_depth == scan->depth) {
        reply = check_expression(scan, (size_t)(at - scan->expression));
        scan->expression_depth = 0;
    }
    if (scan->configuration == scan->depth) {
        scan->configuration = 0;
    }
    while (scan->declared && scan->namespaces[scan->declared - 1].depth == scan->depth) {
        scan->declared--;
    }
    scan->depth--;
    return reply;
}

/* An element's tag, after its '<'. False: it is no XML, or *reply says what is wrong. */
static bool read_tag(struct scan *scan, struct reply **reply) {
    struct slice prefix, name = split(name_at(scan->at), &prefix);
    if (!name.length || scan->depth == DEPTH) {
        return false;
    }
    scan->elements[++scan->depth] = name;
    scan->at = name.start + name.length;
    scan->count = 0;
    bool too_many = false;
    for (scan->at += strspn(scan->at, BLANKS); *scan->at != '>' && *scan->at != '/';
         scan->at += strspn(scan->at, BLANKS)) {
        if (!read_attribute(scan, &too_many)) {
            return false;
        }
        if (too_many) {
            *reply = broken(scan, "too-big", "are too many", NULL,
                            "an element may have 100, and 1000 namespaces be declared at a time");
            return false;
        }
    }
    for (size_t i = 0; i < scan->count; i++) {
        struct attribute *attribute = &scan->attributes[i];
        if (attribute->prefix.length) {
            attribute->namespace = namespace_of(scan, attribute->prefix);
        }
    }
    *reply = check_number(scan, prefix, name);
    *reply = *reply ? *reply : check_unique(scan);
    if (!*reply && scan->configuration) {
        *reply = check_known(scan);
    }
    if (!scan->configuration && is_configuration(scan)) {
        scan->configuration = scan->depth;
    }
    for (size_t i = 0; !*reply && i < scan->count; i++) {
        if (is(scan->attributes[i].name, "select")) {
            *reply = check_expression(scan, scan->attributes[i].value.length);
        }
    }
    if (!scan->expression_depth && has_expression(name)) {
        scan->expression_depth = scan->depth;
        scan->expression = scan->at;
    }
    if (!*reply && *scan->at == '/') {
        *reply = leave(scan, scan->at++);
    }
    return !*reply && *scan->at == '>';
}

/* Past the end mark; false: it is not there. */
static bool skip_past(struct scan *scan, const char *mark) {
    const char *end = strstr(scan->at, mark);
    scan->at = end ? end + strlen(mark) : scan->at;
    return end;
}

/* What follows a '<'. */
static bool read_markup(struct scan *scan, struct reply **reply) {
    if (!strncmp(scan->at, "!--", 3)) {
        return skip_past(scan, "-->");
    }
    if (!strncmp(scan->at, "![CDATA[", 8)) {
        return skip_past(scan, "]]>");
    }
    if (*scan->at == '?') {
        return skip_past(scan, "?>");
    }
    if (*scan->at == '/') {
        if (!scan->depth) {
            return false;
        }
        *reply = leave(scan, scan->at);
        return !*reply && skip_past(scan, ">");
    }
    return read_tag(scan, reply);
}

struct reply *attributes_check(const struct ly_ctx *context, const char *message) {
    struct scan *scan = must_alloc(sizeof *scan);
    struct reply *reply = NULL;
    scan->context = context;
    scan->at = message;
    while ((scan->at = strchr(scan->at, '<'))) {
        scan->at++;
        if (!read_markup(scan, &reply)) {
            break;
        }
    }
    free(scan);
    return reply;
}

char *attributes_message_id(const char *message) {
    struct scan *scan = must_alloc(sizeof *scan);
    struct reply *reply = NULL;
    char *made = NULL;
    scan->at = message;
    while (!scan->depth) {
        scan->at = strchr(scan->at, '<');
        if (!scan->at) {
            break;
        }
        scan->at++;
        if (!read_markup(scan, &reply)) {
            break;
        }
    }
    for (size_t i = 0; i < scan->count && !made; i++) {
        struct slice value = scan->attributes[i].value;
        if (is(scan->attributes[i].name, "message-id") && !scan->attributes[i].prefix.length &&
            value.length < 256) {
            made = must_format("%.*s", (int)value.length, value.start);
        }
    }
    for (const char *at = made; made && *at; at++) {
        if (*at < ' ' || *at > '~' || strchr("<&\"", *at)) {
            *made = '\0'; /* it can't be repeated as it is */
        }
    }
    reply_free(reply);
    free(scan);
    return made ? made : must_copy("");
}
