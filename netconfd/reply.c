#include "reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE "urn:ietf:params:xml:ns:netconf:base:1.0"
#define OF_MODULE "xmlns:ncwd=\"urn:ietf:params:xml:ns:yang:ietf-netconf-with-defaults\""
#define OF_RFC6243 "xmlns:ncwd=\"urn:ietf:params:xml:ns:netconf:default:1.0\""

struct reply *reply_ok(void) {
    struct reply *reply = must_alloc(sizeof *reply);
    reply->kind = REPLY_OK;
    return reply;
}

struct reply *reply_data(struct lyd_node *output, uint32_t with_defaults) {
    struct reply *reply = must_alloc(sizeof *reply);
    reply->kind = REPLY_DATA;
    reply->data = output;
    reply->with_defaults = with_defaults;
    return reply;
}

struct reply *reply_xml(struct text xml) {
    struct reply *reply = must_alloc(sizeof *reply);
    reply->kind = REPLY_XML;
    reply->xml = xml;
    return reply;
}

struct reply *reply_of(struct error *errors) {
    struct reply *reply = must_alloc(sizeof *reply);
    reply->kind = REPLY_ERRORS;
    reply->errors = errors;
    return reply;
}

struct reply *reply_error(const char *tag, const char *type, const char *format, ...) {
    char *message;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0) {
        message = NULL;
    }
    va_end(arguments);
    return reply_of(error_new(tag, type, message));
}

void reply_free(struct reply *reply) {
    if (!reply) {
        return;
    }
    lyd_free_all(reply->data);
    text_free(&reply->xml);
    error_free(reply->errors);
    free(reply);
}

struct error *error_new(const char *tag, const char *type, char *message) {
    struct error *error = must_alloc(sizeof *error);
    error->tag = tag;
    error->type = type;
    error->message = message;
    return error;
}

void error_append(struct error **list, struct error *error) {
    while (*list) {
        list = &(*list)->next;
    }
    *list = error;
}

void error_free(struct error *list) {
    while (list) {
        struct error *next = list->next;
        free(list->app_tag);
        free(list->path);
        free(list->message);
        free(list->bad_element);
        free(list->bad_attribute);
        free(list->bad_namespace);
        free(list);
        list = next;
    }
}

static size_t name_length(const char *at) {
    return strcspn(at, "/[]=:()'\" ");
}

/* A step or key name that has no module gets the one of the step before. */
static const char *put_name(const char *at, char *module, size_t size, struct text *path) {
    size_t length = name_length(at);
    if (at[length] == ':' && length < size) {
        memcpy(module, at, length);
        module[length] = '\0';
        at += length + 1;
        length = name_length(at);
    }
    if (*module) {
        text_printf(path, "%s:", module);
    }
    text_add(path, at, length);
    return at + length;
}

static void declare(struct text *declarations, const struct ly_ctx *context, const char *name) {
    const struct lys_module *module = *name ? ly_ctx_get_module_implemented(context, name) : NULL;
    char *start = must_format(" xmlns:%s=", name);
    if (module && (!declarations->bytes || !strstr(declarations->bytes, start))) {
        text_printf(declarations, "%s\"%s\"", start, module->ns);
    }
    free(start);
}

/* libyang's /module:a/b[key='v'] as /p:a/p:b[p:key='v'], with module names for prefixes. */
static void put_path(struct text *text, const char *path, const struct ly_ctx *context) {
    struct text declarations = {0}, steps = {0};
    char module[128] = "";
    while (*path) {
        if (*path == '/' || (*path == '[' && path[1] != '.' && path[1] != ']')) {
            bool position = *path == '[' && path[1] >= '0' && path[1] <= '9';
            text_add(&steps, path++, 1);
            if (!position) {
                path = put_name(path, module, sizeof module, &steps);
                declare(&declarations, context, module);
            }
        } else if (*path == '\'' || *path == '"') {
            const char *end = strchr(path + 1, *path);
            size_t length = end ? (size_t)(end - path) + 1 : strlen(path);
            text_add(&steps, path, length);
            path += length;
        } else {
            text_add(&steps, path++, 1);
        }
    }
    text_printf(text, "<error-path%s>", declarations.bytes ? declarations.bytes : "");
    text_put_xml(text, steps.bytes ? steps.bytes : "");
    text_puts(text, "</error-path>");
    text_free(&declarations);
    text_free(&steps);
}

static void put_element(struct text *text, const char *name, const char *value) {
    if (value) {
        text_printf(text, "<%s>", name);
        text_put_xml(text, value);
        text_printf(text, "</%s>", name);
    }
}

static void put_error(struct text *text, const struct error *error, const struct ly_ctx *context) {
    text_puts(text, "<rpc-error>");
    put_element(text, "error-type", error->type);
    put_element(text, "error-tag", error->tag);
    put_element(text, "error-severity", "error");
    put_element(text, "error-app-tag", error->app_tag);
    if (error->path && *error->path == '/' && error->path[1]) {
        put_path(text, error->path, context);
    }
    if (error->message) {
        text_puts(text, "<error-message xml:lang=\"en\">");
        text_put_xml(text, error->message);
        text_puts(text, "</error-message>");
    }
    if (error->bad_element || error->bad_attribute || error->bad_namespace || error->with_session) {
        text_puts(text, "<error-info>");
        put_element(text, "bad-attribute", error->bad_attribute);
        put_element(text, "bad-element", error->bad_element);
        put_element(text, "bad-namespace", error->bad_namespace);
        if (error->with_session) {
            text_printf(text, "<session-id>%u</session-id>", error->session);
        }
        text_puts(text, "</error-info>");
    }
    text_puts(text, "</rpc-error>");
}

/* RFC 6243 section 6 has a namespace of its own for the attribute; libyang takes the module's. */
static void put_tagged(struct text *text, const char *printed) {
    const size_t length = strlen(OF_MODULE);
    while (*printed) {
        const size_t plain = strcspn(printed, "<"), tag = strcspn(printed + plain, ">");
        const char *end = printed + plain + tag;
        text_add(text, printed, plain);
        for (const char *at = printed + plain; at < end;) {
            if ((size_t)(end - at) >= length && !strncmp(at, OF_MODULE, length)) {
                text_puts(text, OF_RFC6243);
                at += length;
            } else {
                text_add(text, at++, 1);
            }
        }
        printed = end;
        if (*printed) {
            text_add(text, printed++, 1);
        }
    }
}

static void put_data(struct text *text, const struct reply *reply) {
    const struct lyd_node *rpc = reply->data;
    /* Of an action the node that has the output lies deeper. */
    while (rpc && rpc->schema && !(rpc->schema->nodetype & (LYS_RPC | LYS_ACTION))) {
        const struct lyd_node *child = lyd_child_no_keys(rpc);
        if (!child) {
            break;
        }
        rpc = child;
    }
    struct ly_out *out;
    struct text tagged = {0};
    const bool is_tagged = reply->with_defaults == LYD_PRINT_WD_IMPL_TAG;
    if (!rpc || !lyd_child(rpc) || ly_out_new_clb(text_write, is_tagged ? &tagged : text, &out)) {
        return;
    }
    const struct lyd_node *child;
    LY_LIST_FOR(lyd_child(rpc), child) {
        lyd_print_tree(out, child, LYD_XML, LYD_PRINT_SHRINK | reply->with_defaults);
    }
    ly_out_free(out, NULL, 0);
    if (tagged.bytes) {
        put_tagged(text, tagged.bytes);
    }
    text_free(&tagged);
}

void reply_print(const struct reply *reply, const char *attributes, const struct ly_ctx *context,
                 struct text *text) {
    text_printf(text, "<rpc-reply xmlns=\"%s\"%s>", BASE, attributes);
    switch (reply->kind) {
    case REPLY_OK:
        text_puts(text, "<ok/>");
        break;
    case REPLY_DATA:
        put_data(text, reply);
        break;
    case REPLY_XML:
        text_add(text, reply->xml.bytes, reply->xml.length);
        break;
    case REPLY_ERRORS:
        for (const struct error *error = reply->errors; error; error = error->next) {
            put_error(text, error, context);
        }
    }
    text_puts(text, "</rpc-reply>");
}
