/* The UNIX sockets that sessions come through. */
#ifndef LISTENER_H
#define LISTENER_H

/* sshd's subsystem, and srv6-netconf-tls. */
#define LISTENERS 2

#define OVER_SSH "netconf-ssh"
#define OVER_TLS "netconf-tls"

struct listener {
    const char *path;
    const char *transport; /* identity of RFC 6022 section 2.1.3 */
    int listening;         /* of door_open */
};

/* Listen at the paths of all, which members of the group may connect to, beside root; 0, or -1: one
 * of them can't be opened, which is logged. */
int listener_open(struct listener *listeners, const char *group);

/* Serve sessions until stop (a descriptor) becomes readable; then all have ended, and the sockets
 * are gone. */
void listener_serve(const struct listener *listeners, int stop);

#endif
