#include "store.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "srv6mgr"
#define LAYOUT 3
#define PAGE 4096
#define KIND_SID 3

struct header {
    char magic[8];
    uint32_t layout, capacity;
    uint64_t lock, generation, sample, sampled_at;
    uint32_t used, replaced;
    uint64_t lease, renewed;
};

struct object {
    uint8_t kind, status, name_length, detail_length;
    uint16_t reason_length, unused;
    uint64_t since, last_repair, repairs;
    char name[64], detail[104], reason[216];
};

/* A counter record, and one of the counters when they were cleared. */
struct sid_state_answer {
    uint64_t packets, octets, errors, at;
};

struct base {
    uint64_t packets, octets, errors;
};

_Static_assert(sizeof(struct header) == 72 && sizeof(struct object) == 416, "as in store_file.py");

static const char *const statuses[] = {"",        "pending",  "installed", "failed", "unsupported",
                                       "drifted", "rejected", "unknown"};

/* As in model/status.py and counters/lease.py. */
#define UNKNOWN 7
#define EXPIRED "srv6mgrd does not report any more; start it (systemctl status srv6mgrd says why)"

#define STATUSES (sizeof statuses / sizeof *statuses)

static const char *path;

/* Mapped once for all sessions: each lookup of a SID touches pages of it. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static const struct header *map;
static size_t length;
static ino_t inode;

const char *store_status(uint8_t status) {
    return statuses[status < STATUSES ? status : 0];
}

void store_at(const char *at) {
    path = at;
}

static size_t needed(uint64_t capacity) {
    return PAGE + (size_t)capacity * (sizeof(struct object) + 2 * sizeof(struct sid_state_answer) +
                                      sizeof(struct base));
}

static void unmap(void) {
    if (map) {
        munmap((void *)map, length);
        map = NULL;
    }
}

static bool is_current(void) {
    struct stat status;
    return map && !__atomic_load_n(&map->replaced, __ATOMIC_ACQUIRE) && !stat(path, &status) &&
           status.st_ino == inode;
}

static void map_anew(void) {
    struct stat status;
    unmap();
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    if (!fstat(file, &status) && status.st_size >= PAGE) {
        length = (size_t)status.st_size;
        inode = status.st_ino;
        void *made = mmap(NULL, length, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
        map = made == MAP_FAILED ? NULL : made;
    }
    close(file);
    if (map && (strcmp(map->magic, MAGIC) != 0 || map->layout != LAYOUT ||
                length < needed(map->capacity))) {
        unmap();
    }
}

/* False: there is no store. Else it is held until the lock is released. */
static bool hold(void) {
    pthread_rwlock_rdlock(&lock);
    if (is_current()) {
        return true;
    }
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    if (!is_current()) {
        map_anew();
    }
    bool found = map != NULL;
    pthread_rwlock_unlock(&lock);
    if (found) {
        pthread_rwlock_rdlock(&lock);
        found = map != NULL;
        if (!found) {
            pthread_rwlock_unlock(&lock);
        }
    }
    return found;
}

static void since_cleared(struct sid *sid, const struct sid_state_answer *total,
                          const struct sid_state_answer *cleared) {
    bool counts = cleared->at && total->at <= cleared->at;
    const struct sid_state_answer none = {0};
    const struct sid_state_answer *base = counts ? cleared : &none;
    sid->packets = total->packets - base->packets;
    sid->octets = total->octets - base->octets;
    sid->errors = total->errors - base->errors;
    sid->discontinuity = counts ? cleared->at : total->at;
}

static void put(char *to, size_t room, const char *from, size_t size) {
    size = size < room ? size : room - 1;
    memcpy(to, from, size);
    to[size] = '\0';
}

/* Whether srv6mgrd no longer renews its lease: statuses are unknown then. */
static bool is_expired(void) {
    struct timespec now;
    const uint64_t lease = __atomic_load_n(&map->lease, __ATOMIC_ACQUIRE);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return lease && lease < (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What is read within read_whole. */
struct reading {
    const char *prefix;
    store_visit *visit; /* NULL: all but SIDs */
    void *data;
    struct text *text;
};

static void read_others(struct text *text) {
    const size_t used = map->used < map->capacity ? map->used : map->capacity;
    const struct object *objects = (const void *)((const char *)map + PAGE);
    const bool expired = is_expired();
    for (size_t slot = 0; slot < used; slot++) {
        const struct object *object = &objects[slot];
        if (!object->kind || object->kind == KIND_SID) {
            continue;
        }
        struct stored stored = {.kind = object->kind, .since = object->since};
        stored.status = object->status < STATUSES ? object->status : 0;
        put(stored.name, sizeof stored.name, object->name, object->name_length);
        put(stored.reason, sizeof stored.reason, object->reason, object->reason_length);
        if (expired) {
            stored.status = UNKNOWN;
            stored.since = map->renewed;
            put(stored.reason, sizeof stored.reason, EXPIRED, sizeof EXPIRED - 1);
        }
        text_add(text, (const char *)&stored, sizeof stored);
    }
}

/* What is torn meanwhile is thrown away afterwards, but it must not lead astray. */
static void read_sids(const char *prefix, store_visit *visit, void *data, struct text *text) {
    const size_t capacity = map->capacity, wanted = prefix ? strlen(prefix) : 0;
    const size_t used = map->used < capacity ? map->used : capacity;
    const struct object *objects = (const void *)((const char *)map + PAGE);
    const struct sid_state_answer *totals = (const void *)(objects + capacity);
    const struct base *bases = (const void *)(totals + capacity);
    const struct sid_state_answer *cleared = (const void *)(bases + capacity);
    const bool expired = is_expired();
    for (size_t slot = 0; slot < used; slot++) {
        const struct object *object = &objects[slot];
        if (object->kind != KIND_SID || (prefix && (object->name_length != wanted ||
                                                    memcmp(object->name, prefix, wanted) != 0))) {
            continue;
        }
        struct sid sid = {.status = object->status < STATUSES ? object->status : 0,
                          .since = object->since,
                          .last_repair = object->last_repair,
                          .repairs = object->repairs};
        put(sid.prefix, sizeof sid.prefix, object->name, object->name_length);
        put(sid.reason, sizeof sid.reason, object->reason, object->reason_length);
        if (expired) {
            sid.status = UNKNOWN;
            sid.since = map->renewed;
            put(sid.reason, sizeof sid.reason, EXPIRED, sizeof EXPIRED - 1);
        }
        since_cleared(&sid, &totals[slot], &cleared[slot]);
        visit(&sid, data, text);
        if (prefix) {
            break;
        }
    }
}

static bool read_whole(const struct reading *reading) {
    struct text *text = reading->text;
    const size_t before = text->length;
    uint64_t stuck = 0;
    struct timespec begin = {0}, now;
    if (!path || !hold()) {
        return false;
    }
    bool is_whole = false;
    while (!is_whole) {
        uint64_t at = __atomic_load_n(&map->lock, __ATOMIC_ACQUIRE);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (at != stuck || !begin.tv_sec) {
            /* It writes: only who says nothing new for a second is dead. */
            stuck = at;
            begin = now;
        } else if (now.tv_sec - begin.tv_sec > 1) {
            break;
        }
        if (at % 2 == 0) {
            if (reading->visit) {
                read_sids(reading->prefix, reading->visit, reading->data, text);
            } else {
                read_others(text);
            }
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            is_whole = __atomic_load_n(&map->lock, __ATOMIC_RELAXED) == at;
        }
        if (!is_whole) {
            text_cut(text, before);
            sched_yield();
        }
    }
    pthread_rwlock_unlock(&lock);
    return is_whole;
}

bool store_read(const char *prefix, store_visit *visit, void *data, struct text *text) {
    const struct reading reading = {prefix, visit, data, text};
    return read_whole(&reading);
}

bool store_objects(struct text *objects) {
    const struct reading reading = {.text = objects};
    return read_whole(&reading);
}

uint64_t store_revision(void) {
    /* Beside the store, each replaced as a whole. */
    static const char *const files[] = {"node.json", "observed.json", "alarms.json"};
    uint64_t revision = 0;
    struct stat status;
    if (!path || !hold()) {
        return 0;
    }
    revision = __atomic_load_n(&map->generation, __ATOMIC_ACQUIRE) ^ (uint64_t)inode << 40;
    pthread_rwlock_unlock(&lock);
    const char *end = strrchr(path, '/');
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *file = must_format("%.*s/%s", end ? (int)(end - path) : 0, path, files[i]);
        if (!stat(file, &status)) {
            revision =
                revision * 31 ^ (uint64_t)status.st_ino << 20 ^ (uint64_t)status.st_mtim.tv_nsec;
        }
        free(file);
    }
    return revision;
}
