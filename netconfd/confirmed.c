#include "confirmed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "commits.h"
#include "log.h"
#include "request.h"
#include "srv6mgrd.h"

#define OF_SESSION "netconf-session-"

/* A commit by its secret or, where that is not known, by its name. */
struct commit_of {
    const char *token, *name;
};

static char *field(const struct text *answer, const char *name) {
    size_t length = 0;
    const char *found = commits_field(answer, name, &length);
    return found ? strndup(found, length) : NULL;
}

void confirmed_read(struct pending *pending) {
    struct text request = commits_request(NULL, "pending"), answer = {0};
    struct reply *reply = commits_ask(NULL, &request, &answer);
    *pending = (struct pending){0};
    if (!reply) {
        pending->name = field(&answer, "id");
        pending->northbound = field(&answer, "origin");
        pending->user = field(&answer, "user");
        pending->deadline = field(&answer, "deadline");
    }
    reply_free(reply);
    text_free(&answer);
}

/* In the words of srv6mgrd/datastore/coordinator.py. */
struct reply *confirmed_in_use(const struct pending *pending) {
    return reply_error("in-use", "protocol",
                       "commit %s: it came through %s%s%s and awaits confirmation until %s; wait "
                       "for it, confirm it or cancel it",
                       pending->name, pending->northbound ? pending->northbound : "another door",
                       pending->user ? " of " : "", pending->user ? pending->user : "",
                       pending->deadline ? pending->deadline : "its time is over");
}

void confirmed_pending_free(struct pending *pending) {
    free(pending->name);
    free(pending->northbound);
    free(pending->user);
    free(pending->deadline);
    *pending = (struct pending){0};
}

static struct reply *call(const char *rpc, const struct commit_of *commit, uint32_t seconds,
                          const char *new_token) {
    char timeout[16];
    snprintf(timeout, sizeof timeout, "%u", seconds);
    const struct argument arguments[] = {{"id", commit->token},
                                         {"commit-id", commit->name},
                                         {"timeout", seconds ? timeout : NULL},
                                         {"new-id", new_token}};
    return srv6mgrd_call(rpc, arguments, sizeof arguments / sizeof *arguments);
}

struct reply *confirmed_begin(const char *token, const char *name, uint32_t seconds) {
    return call("commit", &(struct commit_of){.token = token, .name = name}, seconds, NULL);
}

struct reply *confirmed_call(const char *rpc, const char *token) {
    return call(rpc, &(struct commit_of){.token = token}, 0, NULL);
}

struct reply *confirmed_extend(const char *token, uint32_t seconds, const char *new_token) {
    return call("extend", &(struct commit_of){.token = token}, seconds, new_token);
}

char *confirmed_name(const struct session *session) {
    return must_format(OF_SESSION "%u", session->id);
}

char *confirmed_token(void) {
    unsigned char bytes[16];
    char *token = must_alloc(2 * sizeof bytes + 1);
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        abort(); /* up to 256 bytes come whole (getrandom(2)) */
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    }
    return token;
}

bool confirmed_is_of_session(const struct pending *pending, const struct session *session) {
    char *name = confirmed_name(session);
    const bool is = session->commit && pending->name && !strcmp(pending->name, name);
    free(name);
    return is;
}

bool confirmed_is_of_token(const char *token) {
    struct reply *reply = confirmed_call("check-commit", token);
    const bool is = !reply;
    reply_free(reply);
    return is;
}

static void undo(const char *name) {
    struct reply *reply = call("cancel", &(struct commit_of){.name = name}, 0, NULL);
    if (reply) {
        log_error("%s", reply->errors->message);
    } else {
        log_info("commit %s: undone with its session", name);
    }
    reply_free(reply);
}

void confirmed_session_ends(const struct session *session) {
    struct pending pending;
    if (session->commit) {
        confirmed_read(&pending);
        if (confirmed_is_of_session(&pending, session)) {
            undo(pending.name);
        }
        confirmed_pending_free(&pending);
    }
}

void confirmed_forsake(void) {
    struct pending pending;
    confirmed_read(&pending);
    if (pending.name && !strncmp(pending.name, OF_SESSION, strlen(OF_SESSION))) {
        undo(pending.name);
    }
    confirmed_pending_free(&pending);
}
