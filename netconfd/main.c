/* srv6-netconfd: NETCONF for what sysrepo holds. */
#include <getopt.h>
#include <libyang/libyang.h>
#include <nc_server.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysrepo.h>
#include <sysrepo/netconf_acm.h>
#include <unistd.h>

#include "candidate.h"
#include "commits.h"
#include "confirmed.h"
#include "evaluator.h"
#include "events.h"
#include "listener.h"
#include "log.h"
#include "manager.h"
#include "modes.h"
#include "monitoring.h"
#include "priority.h"
#include "session.h"
#include "shm.h"
#include "store.h"
#include "text.h"

#define SOCKET "/run/srv6mgr/netconf.sock"
#define TLS_SOCKET "/run/srv6mgr/netconf-tls.sock"
#define GROUP "srv6mgr"
#define STORE "/run/srv6mgr/store"

static struct events *nacm, *nacm_statistics;

/* As sysrepo has it in yang-library. */
static char *content_id(void *data) {
    (void)data;
    return must_format("0x%08x", sr_get_content_id(server.connection));
}

/* The statistics are read through the other one: a thread each. */
static int start_nacm(void) {
    sr_subscription_ctx_t *rules = NULL, *statistics = NULL;
    nacm = events_start("nacm");
    nacm_statistics = events_start("nacm-statistics");
    if (!nacm || !nacm_statistics) {
        return SR_ERR_SYS;
    }
    int failed = sr_nacm_init(server.own, SR_SUBSCR_NO_THREAD, &rules);
    events_follow(nacm, rules);
    failed = failed ? failed
                    : sr_nacm_glob_stats_subscribe(server.own, SR_SUBSCR_NO_THREAD, &statistics);
    /* None where another server has subscribed to them. */
    events_follow(nacm_statistics, statistics);
    return failed;
}

static int start_sysrepo(void) {
    struct reply *reply = shm_lacks_room();
    if (reply) {
        log_error("%s", reply->errors->message);
        reply_free(reply);
        return -1;
    }
    int failed = sr_connect(0, &server.connection);
    modes_deny_others();
    failed = failed ? failed : sr_session_start(server.connection, SR_DS_RUNNING, &server.own);
    failed = failed ? failed : start_nacm();
    if (failed) {
        log_error("sysrepo: %s; see that its modules are installed", sr_strerror(failed));
        return -1;
    }
    sr_session_set_orig_name(server.own, NORTHBOUND);
    confirmed_forsake();
    candidate_find();
    return monitoring_start();
}

static int start_netconf(void) {
    if (nc_server_init()) {
        log_error("libnetconf2 can't be started");
        return -1;
    }
    nc_server_set_capab_withdefaults(NC_WD_EXPLICIT,
                                     NC_WD_ALL | NC_WD_ALL_TAG | NC_WD_TRIM | NC_WD_EXPLICIT);
    nc_server_set_content_id_clb(content_id, NULL, NULL);
    nc_server_set_capability("urn:ietf:params:netconf:capability:notification:1.0");
    nc_server_set_capability("urn:ietf:params:netconf:capability:interleave:1.0");
    clock_gettime(CLOCK_REALTIME, &server.start);
    return 0;
}

static void stop_all(void) {
    monitoring_stop();
    events_stop(nacm_statistics);
    events_stop(nacm);
    sr_nacm_destroy();
    nc_server_destroy();
    sr_session_stop(server.own);
    sr_disconnect(server.connection);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"socket", required_argument, NULL, 's'}, {"tls-socket", required_argument, NULL, 't'},
        {"store", required_argument, NULL, 'c'},  {"commit-socket", required_argument, NULL, 'm'},
        {"group", required_argument, NULL, 'g'},  {EVALUATOR_OPTION, no_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},         {0}};
    struct listener listeners[LISTENERS] = {{.path = SOCKET, .transport = OVER_SSH},
                                            {.path = TLS_SOCKET, .transport = OVER_TLS}};
    const char *store = STORE, *group = GROUP;
    int option;
    while ((option = getopt_long(argc, argv, "s:t:c:m:g:h", options, NULL)) != -1) {
        switch (option) {
        case 's':
        case 't':
            listeners[option == 't'].path = optarg;
            break;
        case 'c':
            store = optarg;
            break;
        case 'm':
            commits_at(optarg);
            break;
        case 'g':
            group = optarg;
            break;
        case 'e':
            return evaluator_run();
        default:
            printf("usage: srv6-netconfd [--socket PATH]       (default " SOCKET ")\n"
                   "                     [--tls-socket PATH]   (default " TLS_SOCKET ")\n"
                   "                     [--store PATH]        (default " STORE ")\n"
                   "                     [--commit-socket PATH]\n"
                   "                     [--group NAME]        (default " GROUP ")\n");
            return option == 'h' ? 0 : 2;
        }
    }
    store_at(store);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* also of the threads to come */
    signal(SIGPIPE, SIG_IGN);
    int stop = signalfd(-1, &ends, SFD_CLOEXEC);
    log_start();
    priority_take_short_slices(); /* also of the threads to come */
    if (start_sysrepo() || start_netconf()) {
        return 1;
    }
    if (listener_open(listeners, group)) {
        return 1;
    }
    manager_notify("READY=1");
    listener_serve(listeners, stop);
    manager_notify("STOPPING=1");
    stop_all();
    return 0;
}
