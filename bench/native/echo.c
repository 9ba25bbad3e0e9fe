// One byte there and back, as often as it goes: netperf's TCP_RR and UDP_RR.
//
//   echo serve tcp|udp ADDRESS PORT [DEVICE]      until it is ended
//   echo ask tcp|udp ADDRESS PORT SECONDS [DEVICE]   prints transactions per
//   second, microseconds of CPU for each (of this machine, idle time apart),
//   and transactions per second over a UNIX socket just before
//
// DEVICE is the VRF whose sockets these are. Both ends run on the first CPU:
// what it takes to wake another one would hide what the network takes.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static socklen_t place(struct sockaddr_storage *at, const char *address,
                       int port) {
  struct sockaddr_in6 *six = (void *)at;
  struct sockaddr_in *four = (void *)at;
  memset(at, 0, sizeof(*at));
  if (strchr(address, ':')) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    if (inet_pton(AF_INET6, address, &six->sin6_addr) == 1)
      return sizeof(*six);
  } else {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    if (inet_pton(AF_INET, address, &four->sin_addr) == 1)
      return sizeof(*four);
  }
  fprintf(stderr, "%s: no address\n", address);
  exit(2);
}

static void bind_to(int one, const char *device) {
  if (setsockopt(one, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)) < 0)
    fail("bind to device");
}

static void at_once(int connection) {
  int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static void serve(int here, int stream) {
  char byte;
  while (stream) {
    int connection = accept(here, NULL, NULL);
    if (connection < 0)
      fail("accept");
    at_once(connection);
    while (recv(connection, &byte, 1, 0) == 1)
      if (send(connection, &byte, 1, 0) != 1)
        fail("send");
    close(connection);
  }
  for (;;) {
    struct sockaddr_storage from;
    socklen_t size = sizeof(from);
    if (recvfrom(here, &byte, 1, 0, (void *)&from, &size) == 1)
      sendto(here, &byte, 1, 0, (void *)&from, size);
  }
}

// Seconds in which the machine's CPUs were busy since it booted, and idle.
static void busy(double *used, double *idle) {
  double user, nice, system, waiting, irq, softirq;
  FILE *stat = fopen("/proc/stat", "r");
  if (!stat || fscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf", &user, &nice,
                      &system, idle, &waiting, &irq, &softirq) != 7)
    fail("/proc/stat");
  fclose(stat);
  *used = user + nice + system + irq + softirq;
  *idle += waiting;
}

// Transactions per second of two processes that no network is between.
static double reference(double seconds) {
  int ends[2];
  char byte = 'x';
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
    fail("socketpair");
  pid_t child = fork();
  if (child < 0)
    fail("fork");
  if (!child)
    for (;;)
      if (recv(ends[1], &byte, 1, 0) != 1 || send(ends[1], &byte, 1, 0) != 1)
        _exit(0);
  long done = 0;
  double start = now(), end = start + seconds;
  while (now() < end)
    if (send(ends[0], &byte, 1, 0) == 1 && recv(ends[0], &byte, 1, 0) == 1)
      done++;
  double took = now() - start;
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return done / took;
}

static void ask(int connection, double seconds) {
  double local = reference(seconds);
  // A datagram that is lost is asked for again; that takes its second.
  struct timeval timeout = {.tv_sec = 1};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  char byte = 'x';
  long done = 0;
  double used, idle, used_now, idle_now;
  busy(&used, &idle);
  double start = now(), end = start + seconds;
  while (now() < end) {
    if (send(connection, &byte, 1, 0) != 1)
      fail("send");
    if (recv(connection, &byte, 1, 0) == 1)
      done++;
  }
  double took = now() - start;
  busy(&used_now, &idle_now);
  // Ticks give the share, the clock gives the time.
  double share = (used_now - used) / (used_now - used + idle_now - idle);
  printf("%.1f %.3f %.1f\n", done / took, share * took / done * 1e6, local);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: echo serve|ask tcp|udp ADDRESS PORT [DEVICE | "
                    "SECONDS [DEVICE]]\n");
    return 2;
  }
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (sched_setaffinity(0, sizeof(first), &first) < 0)
    fail("affinity");
  int stream = !strcmp(argv[2], "tcp"), yes = 1;
  struct sockaddr_storage where;
  socklen_t size = place(&where, argv[3], atoi(argv[4]));
  int one = socket(where.ss_family, stream ? SOCK_STREAM : SOCK_DGRAM, 0);
  if (one < 0)
    fail("socket");
  if (!strcmp(argv[1], "ask")) {
    if (argc > 6)
      bind_to(one, argv[6]);
    if (connect(one, (void *)&where, size) < 0)
      fail("connect");
    if (stream)
      at_once(one);
    ask(one, argc > 5 ? atof(argv[5]) : 1);
    return 0;
  }
  setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (argc > 5)
    bind_to(one, argv[5]);
  if (bind(one, (void *)&where, size) < 0)
    fail("bind");
  if (stream && listen(one, 1) < 0)
    fail("listen");
  puts("ready");
  fflush(stdout);
  serve(one, stream);
}
