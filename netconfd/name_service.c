#include "name_service.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysrepo/netconf_acm.h>

#include "text.h"

#define FRESH_MS 1000  /* for so long an answer does */
#define REFRESH_MS 250 /* so long a newer one is waited for */
#define LOOKUPS 16     /* at once */
#define ENTRIES 1000
#define GROUPS 64 /* more than most users have */
#define ROOM (16u << 10)
#define LARGEST_ROOM (16u << 20) /* of a group with all of its members */

struct answer {
    bool is_user;
    uid_t uid;
    gid_t gid;
    size_t count;
    gid_t *ids;   /* of groups that have a name; owned */
    char **names; /* all owned */
};

/* One user. Guarded by the lock, but for its name. */
struct entry {
    struct entry *next;
    char *user;
    struct answer *answer; /* NULL: unknown; owned */
    int64_t answered, asked;
    bool is_asked;
    unsigned waiting;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_cond_t changed;
static struct entry *entries; /* the one that was learned last is first */
static unsigned lookups;

/* The system's own. */
static int (*next_getpwnam_r)(const char *, struct passwd *, char *, size_t, struct passwd **);
static int (*next_getgrouplist)(const char *, gid_t, gid_t *, int *);
static int (*next_getgrgid_r)(gid_t, struct group *, char *, size_t, struct group **);

static void start(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    *(void **)&next_getpwnam_r = dlsym(RTLD_NEXT, "getpwnam_r");
    *(void **)&next_getgrouplist = dlsym(RTLD_NEXT, "getgrouplist");
    *(void **)&next_getgrgid_r = dlsym(RTLD_NEXT, "getgrgid_r");
}

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void answer_free(struct answer *answer) {
    for (size_t i = 0; answer && i < answer->count; i++) {
        free(answer->names[i]);
    }
    if (answer) {
        free(answer->ids);
        free((void *)answer->names);
        free(answer);
    }
}

/* getpwnam(3): these say that there is none, others that it is not known. */
static bool is_answer(int error) {
    return !error || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

/* Add a group, unless it has no name: sysrepo would leave out all behind it. False: it is not
 * known. */
static bool add_group(struct answer *answer, gid_t id) {
    struct group group, *found = NULL;
    char *room = NULL;
    int error = ERANGE;
    for (size_t size = ROOM; error == ERANGE && size <= LARGEST_ROOM; size *= 4) {
        free(room);
        room = must_alloc(size);
        error = next_getgrgid_r(id, &group, room, size, &found);
    }
    if (found) {
        answer->ids[answer->count] = id;
        answer->names[answer->count++] = must_copy(group.gr_name);
    }
    free(room);
    return found || is_answer(error);
}

/* All of a user's, in memory of its own. */
static gid_t *ids_of(const char *user, gid_t first, int *count) {
    int room = GROUPS;
    for (;;) {
        gid_t *ids = must_alloc((size_t)room * sizeof *ids);
        *count = room;
        if (next_getgrouplist(user, first, ids, count) >= 0) {
            return ids;
        }
        free(ids);
        room = *count > room ? *count : 2 * room;
    }
}

/* NULL: the name service failed. Blocks, maybe forever. */
static struct answer *ask(const char *user) {
    struct passwd passwd, *known = NULL;
    char room[ROOM];
    int count = 0;
    int error = next_getpwnam_r(user, &passwd, room, sizeof room, &known);
    if (!known && !is_answer(error)) {
        return NULL;
    }
    struct answer *answer = must_alloc(sizeof *answer);
    if (!known) {
        return answer;
    }
    answer->is_user = true;
    answer->uid = known->pw_uid;
    answer->gid = known->pw_gid;
    gid_t *ids = ids_of(user, answer->gid, &count);
    answer->ids = must_alloc((size_t)count * sizeof *ids);
    answer->names = (char **)must_alloc((size_t)count * sizeof *answer->names);
    for (int i = 0; i < count; i++) {
        if (!add_group(answer, ids[i])) {
            answer_free(answer);
            answer = NULL;
            break;
        }
    }
    free(ids);
    return answer;
}

static void *look_up(void *data) {
    struct entry *entry = data;
    struct answer *answer = ask(entry->user);
    pthread_mutex_lock(&lock);
    if (answer) {
        answer_free(entry->answer);
        entry->answer = answer;
        entry->answered = now_ms();
    }
    entry->is_asked = false;
    lookups--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Under the lock, as all below. */
static void refresh(struct entry *entry) {
    pthread_t thread;
    const bool is_fresh = entry->answer && now_ms() - entry->answered < FRESH_MS;
    if (is_fresh || entry->is_asked || lookups >= LOOKUPS) {
        return;
    }
    entry->is_asked = true;
    entry->asked = now_ms();
    lookups++;
    if (pthread_create(&thread, NULL, look_up, entry)) {
        entry->is_asked = false;
        lookups--;
        return;
    }
    pthread_detach(thread);
}

static struct entry *find(const char *user) {
    for (struct entry *entry = entries; entry; entry = entry->next) {
        if (!strcmp(entry->user, user)) {
            return entry;
        }
    }
    return NULL;
}

/* Forget who was learned longest ago, when there are too many. */
static void forget(void) {
    struct entry **last = NULL;
    size_t count = 0;
    for (struct entry **at = &entries; *at; at = &(*at)->next) {
        last = (*at)->is_asked || (*at)->waiting ? last : at;
        count++;
    }
    if (count > ENTRIES && last) {
        struct entry *entry = *last;
        *last = entry->next;
        answer_free(entry->answer);
        free(entry->user);
        free(entry);
    }
}

/* The entry of a user, which is the first from now on. */
static struct entry *enter(const char *user) {
    struct entry *entry = find(user);
    if (!entry) {
        forget();
        entry = must_alloc(sizeof *entry);
        entry->user = must_copy(user);
    } else {
        struct entry **at = &entries;
        while (*at != entry) {
            at = &(*at)->next;
        }
        *at = entry->next;
    }
    entry->next = entries;
    entries = entry;
    return entry;
}

static bool is_recovery(const char *user) {
    return !strcmp(user, sr_nacm_get_recovery_user());
}

bool name_service_learn(const char *user) {
    pthread_once(&once, start);
    if (is_recovery(user)) {
        return true; /* under no rules */
    }
    pthread_mutex_lock(&lock);
    struct entry *entry = enter(user);
    refresh(entry);
    const int64_t until =
        entry->asked + (entry->answer ? REFRESH_MS : NAME_SERVICE_SECONDS * INT64_C(1000));
    const struct timespec deadline = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
    entry->waiting++;
    while (entry->is_asked && pthread_cond_timedwait(&changed, &lock, &deadline) != ETIMEDOUT) {
    }
    entry->waiting--;
    const bool is_known = entry->answer;
    pthread_mutex_unlock(&lock);
    return is_known;
}

/* The answer about a user, which is looked up again beside; NULL: it was not learned. */
static const struct answer *known_of(const char *user) {
    struct entry *entry = find(user);
    if (!entry || !entry->answer) {
        return NULL;
    }
    refresh(entry);
    return entry->answer;
}

int getpwnam_r(const char *name, struct passwd *passwd, char *buffer, size_t size,
               struct passwd **found) {
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    const struct answer *answer = known_of(name);
    const bool is_known = answer, is_user = answer && answer->is_user;
    if (is_user) {
        *passwd = (struct passwd){.pw_uid = answer->uid, .pw_gid = answer->gid};
    }
    pthread_mutex_unlock(&lock);
    if (!is_known) {
        return next_getpwnam_r(name, passwd, buffer, size, found);
    }
    *found = NULL;
    if (!is_user) {
        return 0;
    }
    const size_t length = strlen(name) + 1;
    if (length > size) {
        return ERANGE;
    }
    memcpy(buffer, name, length);
    passwd->pw_name = buffer;
    /* Nobody here asks for more. */
    passwd->pw_passwd = passwd->pw_gecos = passwd->pw_dir = passwd->pw_shell = buffer + length - 1;
    *found = passwd;
    return 0;
}

int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count) {
    pthread_once(&once, start);
    const gid_t only[] = {group};
    pthread_mutex_lock(&lock);
    const struct answer *answer = is_recovery(user) ? NULL : known_of(user);
    const bool is_known = answer || is_recovery(user);
    const gid_t *ids = answer ? answer->ids : only;
    const size_t known = answer ? answer->count : 1;
    const size_t room = *count > 0 ? (size_t)*count : 0, given = known < room ? known : room;
    if (is_known && given) {
        memcpy(groups, ids, given * sizeof *groups);
    }
    pthread_mutex_unlock(&lock);
    if (!is_known) {
        return next_getgrouplist(user, group, groups, count);
    }
    *count = (int)known;
    return known <= room ? (int)known : -1;
}

/* The name of a group that some user is in, in the buffer; 0: nobody. */
static size_t name_of_group(gid_t id, char *buffer, size_t size) {
    for (const struct entry *entry = entries; entry; entry = entry->next) {
        for (size_t i = 0; entry->answer && i < entry->answer->count; i++) {
            if (entry->answer->ids[i] == id) {
                const size_t length = strlen(entry->answer->names[i]) + 1;
                memcpy(buffer, entry->answer->names[i], length <= size ? length : 0);
                return length;
            }
        }
    }
    return 0;
}

int getgrgid_r(gid_t id, struct group *group, char *buffer, size_t size, struct group **found) {
    static char *nobody[] = {NULL};
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    const size_t length = name_of_group(id, buffer, size);
    pthread_mutex_unlock(&lock);
    if (!length) {
        return next_getgrgid_r(id, group, buffer, size, found);
    }
    *found = NULL;
    if (length > size) {
        return ERANGE;
    }
    *group = (struct group){
        .gr_name = buffer,
        .gr_passwd = buffer + length - 1,
        .gr_gid = id,
        .gr_mem = nobody,
    };
    *found = group;
    return 0;
}
