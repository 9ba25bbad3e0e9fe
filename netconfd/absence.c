#include "absence.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commits.h"
#include "store.h"
#include "text.h"

#define MODULE "srv6mgr-srv6"
#define TOP "/" MODULE ":srv6/"
#define NAMED "[name='"
#define VRFS TOP "vrfs/vrf" NAMED
#define STEERING "srv6mgr-steering:steering"
#define CHAINING TOP "srv6mgr-chain:service-chaining"
#define POLICIES "srv6mgr-routing-policy:routing-policy"
#define MAIN "main" /* of routes: no VRF */
#define LOOK_S 1

/* As in model/status.py. */
enum {
    LOCATOR = 1,
    VRF,
    SID,
    VRF_BGP,
    SEGMENT_LIST,
    ROUTE,
    INTERFACE,
    ROUTING_POLICY,
    STATIC_ROUTE,
    ROUTE_LEAK,
    OSPF,
    OSPFV3,
    SERVICE_FUNCTION,
    SERVICE_FUNCTION_GROUP,
    SERVICE_FUNCTION_CHAIN,
    CLASSIFIER
};

static const struct place {
    const char *member; /* that srv6mgrd answers for, too */
    uint8_t kind;
    const char *list;  /* up to its key */
    const char *below; /* what in the entry; of a route the list up to its key */
} places[] = {
    {TOP "locators", LOCATOR, TOP "locators/locator" NAMED, ""},
    {TOP "interfaces", INTERFACE, TOP "interfaces/interface" NAMED, ""},
    {TOP "segment-lists", SEGMENT_LIST, TOP "segment-lists/segment-list" NAMED, ""},
    {TOP "vrfs", VRF, VRFS, ""},
    {TOP "vrfs", VRF_BGP, VRFS, "/srv6mgr-bgp:bgp"},
    {TOP "vrfs", ROUTE, VRFS, "/" STEERING "/route[prefix='"},
    {TOP "vrfs", STATIC_ROUTE, VRFS, "/srv6mgr-routing:static-routes/route[prefix='"},
    {TOP STEERING, ROUTE, TOP STEERING "/route[prefix='", ""},
    {CHAINING, SERVICE_FUNCTION, CHAINING "/service-function" NAMED, ""},
    {CHAINING, SERVICE_FUNCTION_GROUP, CHAINING "/service-function-group" NAMED, ""},
    {CHAINING, SERVICE_FUNCTION_CHAIN, CHAINING "/service-function-chain" NAMED, ""},
    {CHAINING, CLASSIFIER, CHAINING "/classifier" NAMED, ""},
    {TOP POLICIES, ROUTING_POLICY, TOP POLICIES "/policy-definitions/policy-definition" NAMED, ""},
};
#define PLACES (sizeof places / sizeof *places)

static void put(struct lyd_node **tree, const struct ly_ctx *context, const char *entry,
                const char *leaf, const char *value) {
    struct lyd_node *made = NULL;
    char *path = must_format("%s/state/%s", entry, leaf);
    if (*value && !lyd_new_path(*tree, context, path, value, 0, &made) && !*tree) {
        *tree = made;
    }
    free(path);
}

/* The path of the entry; NULL: the object is another member's. */
static char *entry_of(const struct place *place, const struct stored *object) {
    const char *blank = strchr(object->name, ' ');
    if (place->kind != ROUTE && place->kind != STATIC_ROUTE) {
        return must_format("%s%s']%s", place->list, object->name, place->below);
    }
    const bool is_main = blank && !strncmp(object->name, MAIN " ", sizeof MAIN);
    if (!blank || is_main != !strcmp(place->member, TOP STEERING)) {
        return NULL;
    }
    return is_main ? must_format("%s%s']", place->list, blank + 1)
                   : must_format("%s%.*s']%s%s']", place->list, (int)(blank - object->name),
                                 object->name, place->below, blank + 1);
}

static void add(struct lyd_node **tree, const struct ly_ctx *context, const struct place *place,
                const struct stored *object) {
    struct text_moment moment = {0};
    char *entry = entry_of(place, object);
    if (entry) {
        put(tree, context, entry, "install-status", store_status(object->status));
        put(tree, context, entry, "reason", object->reason);
        put(tree, context, entry, "since",
            object->since ? text_of_time(&moment, object->since) : "");
    }
    free(entry);
}

/* One look a second: many members are read in a row. */
static bool is_absent(void) {
    static _Atomic time_t looked;
    static atomic_bool absent;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - looked >= LOOK_S) {
        absent = commits_is_absent();
        looked = now.tv_sec;
    }
    return absent;
}

static int answer(sr_session_ctx_t *sr, uint32_t id, const char *module, const char *member,
                  const char *asked, uint32_t request, struct lyd_node **parent, void *data) {
    struct text objects = {0};
    (void)id, (void)module, (void)asked, (void)request, (void)data;
    if (!is_absent() || !store_objects(&objects)) {
        return SR_ERR_OK;
    }
    const struct ly_ctx *context = sr_session_acquire_context(sr);
    for (size_t at = 0; at + sizeof(struct stored) <= objects.length; at += sizeof(struct stored)) {
        struct stored object;
        memcpy(&object, objects.bytes + at, sizeof object);
        for (size_t i = 0; i < PLACES; i++) {
            if (places[i].kind == object.kind && !strcmp(places[i].member, member)) {
                add(parent, context, &places[i], &object);
            }
        }
    }
    sr_session_release_context(sr);
    text_free(&objects);
    return SR_ERR_OK;
}

int absence_start(sr_session_ctx_t *session, sr_subscription_ctx_t **subscription) {
    int failed = 0;
    for (size_t i = 0; !failed && i < PLACES; i++) {
        if (!i || strcmp(places[i].member, places[i - 1].member) != 0) {
            failed =
                sr_oper_get_subscribe(session, MODULE, places[i].member, answer, NULL,
                                      SR_SUBSCR_OPER_MERGE | SR_SUBSCR_NO_THREAD, subscription);
        }
    }
    return failed;
}
