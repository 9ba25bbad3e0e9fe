#include "srv6mgrd.h"

#include <stdlib.h>

#include "commits.h"

struct reply *srv6mgrd_call(const char *rpc, const struct argument *arguments, size_t count) {
    struct text request = commits_request(NULL, "call"), answer = {0};
    char *path = must_format("/srv6mgr-operations:%s", rpc);
    commits_put(&request, "path", path);
    free(path);
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].value) {
            commits_put(&request, "name", arguments[i].name);
            commits_put(&request, "value", arguments[i].value);
        }
    }
    struct reply *reply = commits_ask(NULL, &request, &answer);
    text_free(&answer);
    return reply;
}
