#include "shm.h"

#include <sys/statvfs.h>

#define PATH "/dev/shm"
#define RESERVE (4ull << 20)

struct reply *shm_lacks_room(void) {
    struct statvfs found;
    if (statvfs(PATH, &found)) {
        return NULL;
    }
    const unsigned long long left = (unsigned long long)found.f_bavail * found.f_frsize;
    return left >= RESERVE
               ? NULL
               : reply_error("resource-denied", "application",
                             "shared memory: " PATH " has %llu KiB left, %llu KiB are needed; "
                             "remove what fills it (du -a " PATH "), or enlarge it (mount -o "
                             "remount,size=... " PATH "), and try again",
                             left >> 10, RESERVE >> 10);
}
