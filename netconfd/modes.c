#include "modes.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "name the AUDIT_ARCH of this machine"
#endif

#define OTHERS 0007
#define READ_BY_OTHERS 0004
#define AT(member) offsetof(struct seccomp_data, member)

/* Skips an fchmod() that would let others read: the call returns 0. */
static int filter(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fchmod, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(args[1])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, READ_BY_OTHERS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

void modes_deny_others(void) {
    umask(umask(OTHERS) | OTHERS);
    if (filter()) {
        log_error("sysrepo: its shared memory is readable by every user of this node (seccomp: "
                  "%s); use a kernel with CONFIG_SECCOMP_FILTER",
                  strerror(errno));
    }
}
