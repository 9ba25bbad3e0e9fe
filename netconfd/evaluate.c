#include "evaluate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "evaluator.h"
#include "log.h"
#include "problem.h"
#include "text.h"
#include "turns.h"

#define CPU_SECONDS 10
#define SECONDS 30
#define MEMORY ((rlim_t)1 << 29) /* of four it fits into the unit's MemoryMax */

/* So many at a time, of all and of one user, and so many that wait. */
#define MOST 4
#define MOST_OF_USER 2
#define MOST_WAITING 16
#define WAIT_SECONDS 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static const char *users[MOST];
static unsigned waiting;

/* Take a place; -1: there is none. Under the lock. */
static int take_place(const char *user) {
    int place = -1;
    unsigned same = 0;
    for (int i = 0; i < MOST; i++) {
        same += users[i] && !strcmp(users[i], user);
        place = users[i] ? place : i;
    }
    if (place < 0 || same >= MOST_OF_USER) {
        return -1;
    }
    users[place] = user;
    return place;
}

static int wait_for_place(const char *user) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_SECONDS;
    pthread_mutex_lock(&lock);
    int place = take_place(user), late = waiting >= MOST_WAITING;
    waiting++;
    while (place < 0 && !late) {
        late = pthread_cond_timedwait(&freed, &lock, &end);
        place = take_place(user);
    }
    waiting--;
    pthread_mutex_unlock(&lock);
    return place;
}

static void leave_place(int place) {
    pthread_mutex_lock(&lock);
    users[place] = NULL;
    pthread_cond_broadcast(&freed);
    pthread_mutex_unlock(&lock);
}

static void add_module(struct text *modules, const struct lys_module *module) {
    const struct lysp_feature *feature = NULL;
    uint32_t index = 0;
    text_printf(modules, "%s %s", module->name, module->revision ? module->revision : "");
    while ((feature = lysp_feature_next(feature, module->parsed, &index))) {
        if (feature->flags & LYS_FENABLED) {
            text_printf(modules, " %s", feature->name);
        }
    }
    text_puts(modules, "\n");
}

static bool put(int file, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length) {
        ssize_t written = write(file, at, length);
        if (written <= 0) {
            return false;
        }
        at += written;
        length -= (size_t)written;
    }
    return true;
}

/* A file in memory with all that evaluator.h names; -1: there is no memory. */
static int write_request(const struct session *session, const char *xpath, uint32_t depth,
                         const struct lyd_node *tree) {
    const struct lys_module *module;
    struct text modules = {0}, data = {0};
    struct ly_out *out = NULL;
    uint32_t index = 0;
    char *folder = must_format("%s/yang", sr_get_repo_path());
    while ((module = ly_ctx_get_module_iter(session->context, &index))) {
        if (module->implemented) {
            add_module(&modules, module);
        }
    }
    bool done = !tree ||
                (!ly_out_new_clb(text_write, &data, &out) && !lyd_print_all(out, tree, LYD_LYB, 0));
    ly_out_free(out, NULL, 0);
    const struct evaluator_request request = {strlen(folder), modules.length,
                                              strlen(xpath),  data.length,
                                              depth,          ly_ctx_get_options(session->context)};
    int file = done ? memfd_create("request", MFD_CLOEXEC) : -1;
    done = file >= 0 && put(file, &request, sizeof request) && put(file, folder, strlen(folder)) &&
           put(file, modules.bytes, modules.length) && put(file, xpath, strlen(xpath)) &&
           put(file, data.bytes, data.length) && !lseek(file, 0, SEEK_SET);
    if (!done && file >= 0) {
        close(file);
        file = -1;
    }
    free(folder);
    text_free(&modules);
    text_free(&data);
    return file;
}

static pid_t start(int request, int answer) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t process;
    char *argv[] = {"srv6-netconfd", "--" EVALUATOR_OPTION, NULL};
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, request, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, answer, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    int failed = posix_spawn(&process, "/proc/self/exe", &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failed ? -1 : process;
}

static void limit(pid_t process) {
    const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS + 1};
    prlimit(process, RLIMIT_CPU, &cpu, NULL);
#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses */
    const struct rlimit memory = {MEMORY, MEMORY};
    prlimit(process, RLIMIT_AS, &memory, NULL);
#endif
}

enum end { DONE, LATE, LEFT };

/* Wait until it ends, its time is over, or the client leaves. A client that only sends no more
 * still waits for its answer. */
static enum end wait_for(pid_t process, int client, int *status) {
    struct pollfd wanted[] = {{.fd = pidfd_open(process, 0), .events = POLLIN}, {.fd = client}};
    enum end end = LATE;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (now = begin; now.tv_sec - begin.tv_sec < SECONDS; clock_gettime(CLOCK_MONOTONIC, &now)) {
        if (wanted[0].fd < 0 || poll(wanted, 2, 1000) <= 0) {
            continue;
        }
        end = wanted[0].revents ? DONE : LEFT;
        break;
    }
    if (end != DONE) {
        kill(process, SIGKILL);
    }
    while (waitpid(process, status, 0) < 0 && errno == EINTR) {
    }
    if (wanted[0].fd >= 0) {
        close(wanted[0].fd);
    }
    return end;
}

static struct reply *failed(enum end end, int status) {
    if (end == LATE || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU))) {
        return reply_error("resource-denied", "application",
                           "filter: its evaluation takes longer than %d s; name the nodes by a "
                           "plain path",
                           CPU_SECONDS);
    }
    if (end == LEFT) {
        return reply_error("operation-failed", "application",
                           "filter: its client left; send it again");
    }
    return reply_error("resource-denied", "application",
                       "filter: its evaluation needs too much memory, or is nested too deeply; "
                       "name the nodes by a plain path");
}

static struct reply *read_answer(const struct session *session, int answer,
                                 struct lyd_node **tree) {
    struct stat status;
    struct reply *reply = NULL;
    if (fstat(answer, &status) || status.st_size < 1) {
        return failed(DONE, 0);
    }
    const size_t length = (size_t)status.st_size;
    char *text = mmap(NULL, length, PROT_READ, MAP_PRIVATE, answer, 0);
    if (text == MAP_FAILED) {
        return failed(DONE, 0);
    }
    if (*text == EVALUATOR_ERROR) {
        char *message = must_format("%.*s", (int)length - 1, text + 1);
        reply = problem_of_text(message, NULL);
        free(message);
    } else if (length > 1 && lyd_parse_data_mem(session->context, text + 1, LYD_LYB,
                                                LYD_PARSE_ONLY | LYD_PARSE_STRICT, 0, tree)) {
        reply = problem_of_libyang(session->context, "application", NULL, NULL);
    }
    munmap(text, length);
    return reply;
}

static struct reply *run(const struct session *session, int request, struct lyd_node **tree) {
    int answer = memfd_create("answer", MFD_CLOEXEC), status = 0;
    pid_t process = answer < 0 ? -1 : start(request, answer);
    struct reply *reply;
    if (process < 0) {
        reply = reply_error("resource-denied", "application",
                            "filter: there is no process for its evaluation; try again later");
    } else {
        limit(process);
        enum end end = wait_for(process, session->wire.socket, &status);
        if (end == DONE && WIFEXITED(status) && !WEXITSTATUS(status)) {
            reply = read_answer(session, answer, tree);
        } else {
            log_info("session %u: the evaluation of a filter was ended", session->id);
            reply = failed(end, status);
        }
    }
    if (answer >= 0) {
        close(answer);
    }
    return reply;
}

static struct reply *in_place(const struct session *session, const char *xpath, uint32_t depth,
                              struct lyd_node **tree) {
    int place = wait_for_place(session->user);
    if (place < 0) {
        lyd_free_siblings(*tree);
        *tree = NULL;
        return reply_error("resource-denied", "application",
                           "filter: %d others are being evaluated, or %d of user %s; try again "
                           "later, or name the nodes by a plain path",
                           MOST, MOST_OF_USER, session->user);
    }
    int request = write_request(session, xpath, depth, *tree);
    lyd_free_siblings(*tree);
    *tree = NULL;
    struct reply *reply;
    if (request < 0) {
        reply = reply_error("resource-denied", "application",
                            "filter: there is no memory for its evaluation; try again later");
    } else {
        reply = run(session, request, tree);
        close(request);
    }
    leave_place(place);
    return reply;
}

struct reply *evaluate(const struct session *session, const char *xpath, uint32_t depth,
                       struct lyd_node **tree) {
    /* The places bound it; reads that need none go on. */
    const bool had_turn = turns_pause();
    struct reply *reply = in_place(session, xpath, depth, tree);
    if (had_turn) {
        turns_resume(session);
    }
    return reply;
}
