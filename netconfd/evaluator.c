#include "evaluator.h"

#include <libyang/libyang.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prune.h"
#include "text.h"

#define FEATURES 64

static char *copy_of(const char **at, uint64_t length) {
    char *copy = must_format("%.*s", (int)length, *at);
    *at += length;
    return copy;
}

static LY_ERR load_module(struct ly_ctx *context, char *line) {
    const char *features[FEATURES + 1] = {0};
    char *rest = line;
    const char *name = strsep(&rest, " "), *revision = strsep(&rest, " ");
    for (size_t i = 0; i < FEATURES && rest; i++) {
        features[i] = strsep(&rest, " ");
    }
    return ly_ctx_load_module(context, name, revision && *revision ? revision : NULL, features)
               ? LY_SUCCESS
               : LY_ENOTFOUND;
}

static struct ly_ctx *load(const char *folder, char *modules, uint32_t options) {
    struct ly_ctx *context = NULL;
    const uint32_t used = options | LY_CTX_DISABLE_SEARCHDIR_CWD | LY_CTX_EXPLICIT_COMPILE;
    LY_ERR failed = ly_ctx_new(folder, (uint16_t)used, &context);
    while (!failed && modules) {
        char *line = strsep(&modules, "\n");
        failed = *line ? load_module(context, line) : LY_SUCCESS;
    }
    return failed || ly_ctx_compile(context) ? NULL : context;
}

static void put(const char *bytes, size_t length) {
    while (length) {
        ssize_t written = write(STDOUT_FILENO, bytes, length);
        if (written <= 0) {
            _exit(1);
        }
        bytes += written;
        length -= (size_t)written;
    }
}

static int report(const struct ly_ctx *context) {
    const struct ly_err_item *error = ly_err_first(context);
    const char *message = error && error->msg ? error->msg : "";
    put((const char[]){EVALUATOR_ERROR}, 1);
    put(message, strlen(message));
    return 0;
}

static int select_from(const struct ly_ctx *context, struct lyd_node *tree, const char *xpath,
                       uint32_t depth) {
    struct ly_set *found = NULL;
    struct ly_out *out;
    if (lyd_find_xpath3(NULL, tree, xpath, LY_VALUE_JSON, NULL, NULL, &found)) {
        return report(context);
    }
    for (uint32_t i = 0; i < found->count; i++) {
        prune_mark(found->dnodes[i]);
    }
    prune(&tree, depth);
    put((const char[]){EVALUATOR_DATA}, 1);
    return tree && (ly_out_new_fd(STDOUT_FILENO, &out) || lyd_print_all(out, tree, LYD_LYB, 0));
}

/* A process that goes astray harms nothing but itself. */
static void give_way(void) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 10);
    FILE *score = fopen("/proc/self/oom_score_adj", "w");
    if (score) {
        fputs("1000", score);
        fclose(score);
    }
}

int evaluator_run(void) {
    struct stat status;
    struct lyd_node *tree = NULL;
    give_way();
    ly_log_options(LY_LOSTORE);
    if (fstat(STDIN_FILENO, &status) || (size_t)status.st_size < sizeof(struct evaluator_request)) {
        return 1;
    }
    const char *input = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    if (input == MAP_FAILED) {
        return 1;
    }
    struct evaluator_request request;
    memcpy(&request, input, sizeof request);
    const char *at = input + sizeof request;
    char *folder = copy_of(&at, request.folder), *modules = copy_of(&at, request.modules);
    char *xpath = copy_of(&at, request.xpath);
    struct ly_ctx *context = load(folder, modules, request.options);
    if (!context) {
        return 1;
    }
    if (request.data &&
        lyd_parse_data_mem(context, at, LYD_LYB, LYD_PARSE_ONLY | LYD_PARSE_STRICT, 0, &tree)) {
        fprintf(stderr, "srv6-netconfd: evaluation: %s\n", ly_last_logmsg());
        return 1;
    }
    return select_from(context, tree, xpath, request.depth);
}
