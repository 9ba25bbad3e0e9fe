/* What passes between a client's TLS and the socket of srv6-netconfd. */
#ifndef RELAY_H
#define RELAY_H

#include <openssl/ssl.h>

/* Carry it until one of them ends; both sockets are non-blocking. */
void relay(SSL *ssl, int client, int server);

#endif
