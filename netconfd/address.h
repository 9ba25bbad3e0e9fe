/* The client's address, handed from srv6-netconf-tls to srv6-netconfd before anything else.
 *
 * A message of its own, with SCM_CREDENTIALS of root: a user's own process can't send it. Over SSH
 * nobody can: the process that sshd starts is the user's, and says what the user likes. */
#ifndef ADDRESS_H
#define ADDRESS_H

/* To be called by root. -1: errno says why. */
int address_send(int socket, const char *address);

/* Wait for the first bytes of a connection, and take the address when they are one; NULL: they are
 * not, or not from root. What is no address stays to be read. */
char *address_receive(int socket, int seconds);

#endif
