#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PATH "/dev/shm"
#define RESERVE (4ull << 20)
/* More than libsysrepo has open at a time to announce and store a change. */
#define FILES 8

/* Why no file can be made there now, as errno says it; 0: one can. */
static int lacks_files(void) {
    int held[FILES], count = 0, failed = 0;
    for (; !failed && count < FILES; count++) {
        /* An inode for the first of them, descriptors for all. */
        held[count] = count ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                            : open(PATH, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
        failed = held[count] < 0 ? errno : 0;
    }
    while (count--) {
        if (held[count] >= 0) {
            close(held[count]);
        }
    }
    return failed;
}

struct reply *shm_lacks_room(void) {
    struct statvfs found;
    if (statvfs(PATH, &found)) {
        return NULL;
    }
    const unsigned long long left = (unsigned long long)found.f_bavail * found.f_frsize;
    if (left < RESERVE) {
        return reply_error("resource-denied", "application",
                           "shared memory: " PATH " has %llu KiB left, %llu KiB are needed; "
                           "remove what fills it (du -a " PATH "), or enlarge it (mount -o "
                           "remount,size=... " PATH "), and try again",
                           left >> 10, RESERVE >> 10);
    }
    const int failed = lacks_files();
    return failed ? reply_error("resource-denied", "application",
                                "sysrepo: no files can be made in " PATH " now (%s); see what "
                                "takes them, or the file descriptors of srv6-netconfd (ls -l "
                                "/proc/PID/fd), and try again",
                                strerror(failed))
                  : NULL;
}
