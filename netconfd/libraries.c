#include <libyang/libyang.h>
#include <nc_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysrepo.h>

#include "log.h"

static void of_netconf(const struct nc_session *session, NC_VERB_LEVEL level, const char *text) {
    if (level <= NC_VERB_WARNING) {
        fprintf(stderr, "libnetconf2: session %u: %s\n", session ? nc_session_get_id(session) : 0,
                text);
    }
}

/* Clients get their own errors; here are only failures of sysrepo itself. */
static void of_sysrepo(sr_log_level_t level, const char *text) {
    if (level == SR_LL_ERR && getenv("SRV6_NETCONFD_DEBUG")) {
        fprintf(stderr, "sysrepo: %s\n", text);
    }
}

void log_start(void) {
    ly_log_options(LY_LOSTORE);
    sr_log_stderr(SR_LL_NONE);
    sr_log_set_cb(of_sysrepo);
    nc_verbosity(NC_VERB_WARNING);
    nc_set_print_clb_session(of_netconf);
}
