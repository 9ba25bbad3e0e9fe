#include "commits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"
#include "problem.h"
#include "request.h"
#include "room.h"

#define SILENCE_MS 10000 /* srv6mgrd gives a sign of life each second */
#define RENEWAL_MS 200   /* between attempts to have a lock again after a restart */
#define BACKLOG_FULL (-2)
#define MOST_ERRORS 64
#define MOST_TEXT 4096 /* bytes of a text; libyang prints whole values */
#define MOST_BYTES (256u << 20)

static const char *socket_path = "/run/srv6mgr/commit.sock";

enum outcome { ANSWERED, ABSENT, DIED, SILENT, LEFT };

void commits_at(const char *path) {
    socket_path = path;
}

void commits_put(struct text *request, const char *name, const char *value) {
    const uint16_t name_length = htons((uint16_t)strlen(name));
    const uint32_t value_length = htonl((uint32_t)strlen(value));
    text_add(request, (const char *)&name_length, sizeof name_length);
    text_puts(request, name);
    text_add(request, (const char *)&value_length, sizeof value_length);
    text_puts(request, value);
}

struct text commits_request(const struct session *session, const char *name) {
    struct text request = {0};
    text_add(&request, "\0\0\0\0", sizeof(uint32_t)); /* its length, known at the end */
    commits_put(&request, "request", name);
    commits_put(&request, "northbound", NORTHBOUND);
    if (session) {
        char *id = must_format("%u", session->id);
        commits_put(&request, "session", id);
        commits_put(&request, "user", session->user);
        commits_put(&request, "address", session->address ? session->address : "");
        commits_put(&request, "restricted", "");
        free(id);
    }
    return request;
}

struct field {
    const char *name, *value; /* within the message */
    size_t name_length, value_length;
};

static bool is_named(const struct field *field, const char *name) {
    return field->name_length == strlen(name) && !memcmp(field->name, name, field->name_length);
}

/* The field at *at, which then is that of the next; false at the end, or where a field goes beyond
 * it: *at is not the length of the message then. */
static bool next_field(const struct text *message, size_t *at, struct field *field) {
    uint16_t name_length;
    uint32_t value_length;
    size_t left = message->length - *at;
    const char *from = message->bytes + *at;
    if (left < sizeof name_length) {
        return false;
    }
    memcpy(&name_length, from, sizeof name_length);
    field->name_length = ntohs(name_length);
    field->name = from + sizeof name_length;
    left -= sizeof name_length;
    if (left < field->name_length || left - field->name_length < sizeof value_length) {
        return false;
    }
    memcpy(&value_length, field->name + field->name_length, sizeof value_length);
    field->value_length = ntohl(value_length);
    field->value = field->name + field->name_length + sizeof value_length;
    left -= field->name_length + sizeof value_length;
    if (left < field->value_length) {
        return false;
    }
    *at = (size_t)(field->value - message->bytes) + field->value_length;
    return true;
}

const char *commits_field(const struct text *answer, const char *name, size_t *length) {
    struct field field;
    for (size_t at = 0; next_field(answer, &at, &field);) {
        if (is_named(&field, name)) {
            if (length) {
                *length = field.value_length;
            }
            return field.value;
        }
    }
    return NULL;
}

/* A descriptor, BACKLOG_FULL, or -1: nobody listens. */
static int connected(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(socket_path) >= sizeof address.sun_path) {
        return -1;
    }
    strcpy(address.sun_path, socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* A process that is stopped lets its backlog fill up: then connect waits so long. */
    const struct timeval timeout = {.tv_sec = SILENCE_MS / 1000};
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    }
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address)) {
        const bool full = errno == EAGAIN;
        close(fd);
        return full ? BACKLOG_FULL : -1;
    }
    return fd;
}

bool commits_is_absent(void) {
    int fd = connected();
    const bool unasked = fd < 0 && lacks_room(errno);
    if (fd >= 0) {
        close(fd);
    }
    return fd == -1 && !unasked;
}

/* Wait until fd has data; who left is noticed meanwhile. */
static enum outcome wait_for(int fd, const struct session *session) {
    struct pollfd both[2] = {
        {.fd = fd, .events = POLLIN},
        {.fd = session ? session->wire.socket : -1, .events = POLLRDHUP},
    };
    int ready;
    do {
        ready = poll(both, 2, SILENCE_MS);
    } while (ready < 0 && errno == EINTR);
    if (!ready) {
        return SILENT;
    }
    if (both[0].revents & POLLIN) {
        return ANSWERED;
    }
    return both[1].revents ? LEFT : DIED;
}

static enum outcome read_exactly(int fd, const struct session *session, char *bytes,
                                 size_t length) {
    while (length) {
        enum outcome outcome = wait_for(fd, session);
        if (outcome != ANSWERED) {
            return outcome;
        }
        ssize_t got = recv(fd, bytes, length, MSG_DONTWAIT);
        if (!got || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            return DIED;
        }
        if (got > 0) {
            bytes += got;
            length -= (size_t)got;
        }
    }
    return ANSWERED;
}

static enum outcome read_message(int fd, const struct session *session, struct text *answer) {
    uint32_t length = 0;
    enum outcome outcome = read_exactly(fd, session, (char *)&length, sizeof length);
    length = ntohl(length);
    if (outcome != ANSWERED || length > MOST_BYTES) {
        return outcome == ANSWERED ? DIED : outcome;
    }
    text_free(answer);
    *answer = (struct text){.bytes = must_alloc(length + 1), .length = length, .room = length + 1};
    answer->bytes[length] = '\0';
    return read_exactly(fd, session, answer->bytes, length);
}

/* Every field ends where another begins, or with the message. */
static bool is_whole(const struct text *answer) {
    struct field field;
    size_t at = 0;
    while (next_field(answer, &at, &field)) {
    }
    return at == answer->length;
}

static bool is_result(const struct text *answer, const char *result) {
    size_t length = 0;
    const char *found = commits_field(answer, "result", &length);
    return found && length == strlen(result) && !memcmp(found, result, length);
}

static bool send_all(int fd, const struct text *request) {
    for (size_t at = 0; at < request->length;) {
        ssize_t sent = send(fd, request->bytes + at, request->length - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        at += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static enum outcome exchange(int fd, const struct session *session, struct text *request,
                             struct text *answer) {
    const uint32_t length = htonl((uint32_t)(request->length - sizeof length));
    memcpy(request->bytes, &length, sizeof length);
    enum outcome outcome = send_all(fd, request) ? ANSWERED : DIED;
    do {
        outcome = outcome == ANSWERED ? read_message(fd, session, answer) : outcome;
        if (outcome == ANSWERED && !is_whole(answer)) {
            outcome = DIED;
        }
    } while (outcome == ANSWERED && is_result(answer, "waiting"));
    return outcome;
}

static struct reply *no_answer(enum outcome outcome) {
    const char *text =
        outcome == ABSENT ? "it is not running, so the change cannot be carried out; start it and "
                            "try again"
        : outcome == DIED ? "it ended while the request was carried out; read the running "
                            "configuration, then try again"
        : outcome == LEFT ? "the client has left"
                          : "no sign of life for 10 s; the change may still be carried out; see "
                            "systemctl status srv6mgrd";
    struct reply *reply = reply_error("operation-failed", "application", "srv6mgrd: %s", text);
    reply->errors->app_tag = must_copy(outcome == SILENT ? "timed-out" : "unavailable");
    return reply;
}

/* error-code begins each. */
static struct reply *of_errors(const struct text *answer) {
    struct failure all[MOST_ERRORS] = {0};
    size_t count = 0, copied = 0;
    char *copies[MOST_ERRORS * 7];
    struct field field;
    for (size_t at = 0; next_field(answer, &at, &field);) {
        if (is_named(&field, "error-code")) {
            if (count == MOST_ERRORS) {
                break;
            }
            all[count++].code = (int)strtol(field.value, NULL, 10);
            continue;
        }
        static const char *const names[] = {"error-message", "error-tag",  "error-type",
                                            "error-app-tag", "error-path", "error-bad-element"};
        for (size_t i = 0; count && i < sizeof names / sizeof *names; i++) {
            struct failure *failure = &all[count - 1];
            const char **const members[] = {&failure->message, &failure->tag,
                                            &failure->type,    &failure->app_tag,
                                            &failure->path,    &failure->bad_element};
            if (is_named(&field, names[i]) && !*members[i]) {
                char *copy = strndup(field.value, field.value_length);
                copies[copied++] = copy;
                *members[i] = copy;
            }
        }
    }
    struct reply *reply = problem_of_reported(all, count);
    while (copied) {
        free(copies[--copied]);
    }
    return reply;
}

static struct reply *of_answer(const struct text *answer) {
    static const struct {
        const char *result, *tag, *app_tag;
    } known[] = {
        {"locked", "in-use", NULL},
        {"expired", "in-use", "deadline-exceeded"},
        {"pending", "in-use", NULL},
        {"denied", "access-denied", NULL},
        {"none-pending", "data-missing", NULL},
        {"timed-out", "operation-failed", "timed-out"},
        {"outdated", "operation-failed", "candidate-outdated"},
        {"unavailable", "operation-failed", "unavailable"},
    };
    if (is_result(answer, "ok")) {
        return NULL;
    }
    if (is_result(answer, "errors")) {
        return of_errors(answer);
    }
    size_t length = 0;
    const char *message = commits_field(answer, "message", &length);
    char *text = message ? strndup(message, length) : must_copy("srv6mgrd: it failed; see its log");
    const char *tag = "operation-failed", *app_tag = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (is_result(answer, known[i].result)) {
            tag = known[i].tag;
            app_tag = known[i].app_tag;
        }
    }
    struct reply *reply = reply_error(tag, "application", "%s", text);
    reply->errors->app_tag = app_tag ? must_copy(app_tag) : NULL;
    free(text);
    return reply;
}

static bool is_dead(int fd) {
    struct pollfd one = {.fd = fd, .events = POLLRDHUP};
    return poll(&one, 1, 0) > 0;
}

static void hang_up(struct session *session) {
    if (session->lock >= 0) {
        close(session->lock);
        session->lock = -1;
    }
}

/* The lock ended with the srv6mgrd that granted it. */
static bool is_lock_lost(const struct session *session) {
    return session->has_lock && (session->lock < 0 || is_dead(session->lock));
}

/* The next srv6mgrd grants the lock again, unless another came first: then it is gone. */
static struct reply *renew_lock(struct session *session) {
    struct text answer = {0};
    if (!is_lock_lost(session)) {
        return NULL;
    }
    hang_up(session);
    struct reply *reply = commits_lock(session, &answer);
    if (reply && commits_field(&answer, "holder", NULL)) {
        session->has_lock = false;
    }
    text_free(&answer);
    return reply;
}

void commits_keep_lock(struct session *session) {
    struct pollfd both[2] = {{.fd = session->wire.socket, .events = POLLIN}};
    while (session->has_lock && session->wire.begin == session->wire.end) {
        const bool is_lost = is_lock_lost(session);
        both[1] = (struct pollfd){.fd = is_lost ? -1 : session->lock, .events = POLLRDHUP};
        if (poll(both, 2, is_lost ? RENEWAL_MS : -1) > 0 && both[0].revents) {
            return;
        }
        if (is_lock_lost(session)) {
            reply_free(renew_lock(session));
            if (!session->has_lock) {
                log_error("session %u: it ends, as another has locked running since srv6mgrd was "
                          "restarted",
                          session->id);
                session->end = "other";
                shutdown(session->wire.socket, SHUT_RDWR);
            }
        }
    }
}

static struct reply *ask_at(int fd, struct session *session, struct text *request,
                            struct text *answer) {
    enum outcome outcome = fd == BACKLOG_FULL ? SILENT
                           : fd < 0           ? ABSENT
                                              : exchange(fd, session, request, answer);
    text_free(request);
    struct reply *reply = outcome == ANSWERED ? of_answer(answer) : no_answer(outcome);
    return reply;
}

struct reply *commits_ask(struct session *session, struct text *request, struct text *answer) {
    struct reply *reply = session ? renew_lock(session) : NULL;
    if (reply) {
        text_free(request);
        return reply;
    }
    const bool locked = session && session->lock >= 0;
    int fd = locked ? session->lock : connected();
    reply = ask_at(fd, session, request, answer);
    if (!locked && fd >= 0) {
        close(fd);
    }
    return reply;
}

struct reply *commits_lock(struct session *session, struct text *answer) {
    struct text request = commits_request(session, "lock");
    const bool held = session->lock >= 0;
    int fd = held ? session->lock : connected();
    struct reply *reply = ask_at(fd, session, &request, answer);
    if (reply && !held && fd >= 0) {
        close(fd);
    } else if (!reply) {
        session->lock = fd;
        if (!session->has_lock) {
            clock_gettime(CLOCK_REALTIME, &session->locked);
        }
        session->has_lock = true;
    }
    return reply;
}

struct reply *commits_unlock(struct session *session) {
    struct text request = commits_request(session, "unlock"), answer = {0};
    const bool is_lost = is_lock_lost(session);
    struct reply *reply = is_lost ? NULL : ask_at(session->lock, session, &request, &answer);
    if (is_lost) {
        text_free(&request);
    }
    text_free(&answer);
    hang_up(session);
    session->has_lock = false;
    return reply;
}

static void put_cut(struct text *request, const char *name, const char *value) {
    if (value && *value) {
        char *cut = must_format("%.*s", MOST_TEXT, value);
        commits_put(request, name, cut);
        free(cut);
    }
}

struct reply *commits_message(const struct failure *all, size_t count) {
    struct text request = commits_request(NULL, "word"), answer = {0};
    for (size_t i = 0; i < count && i < MOST_ERRORS; i++) {
        char *code = must_format("%d", all[i].code);
        commits_put(&request, "error-code", code);
        put_cut(&request, "error-message", all[i].message);
        put_cut(&request, "error-tag", all[i].tag);
        put_cut(&request, "error-type", all[i].type);
        put_cut(&request, "error-app-tag", all[i].app_tag);
        put_cut(&request, "error-path", all[i].path);
        put_cut(&request, "error-bad-element", all[i].bad_element);
        put_cut(&request, "error-value", all[i].value);
        free(code);
    }
    int fd = connected();
    enum outcome outcome = fd < 0 ? ABSENT : exchange(fd, NULL, &request, &answer);
    struct reply *reply =
        outcome == ANSWERED && is_result(&answer, "errors") ? of_errors(&answer) : NULL;
    if (fd >= 0) {
        close(fd);
    }
    text_free(&request);
    text_free(&answer);
    return reply;
}
