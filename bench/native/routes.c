// The limit that the kernel sets: SID routes sent and dumped with nothing
// around it.
//
//   routes add|delete|dump COUNT TABLE DEVICE
//
// Prints seconds. Routes are End.DT6 with counters, as bench/reconcile.py makes
// them.

#include <arpa/inet.h>
#include <linux/lwtunnel.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seg6_local.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
  BATCH = 500,
  PROTOCOL = 86,
  METRIC = 1024,
  MAIN = 254,
  BUFFER = 8 << 20
};

static char answer[1 << 20];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static size_t put(char *at, int type, const void *value, size_t size) {
  struct nlattr *head = (void *)at;
  head->nla_type = type;
  head->nla_len = sizeof(*head) + size;
  memcpy(at + sizeof(*head), value, size);
  return NLA_ALIGN(head->nla_len);
}

// One request with the address still zero; says where the address is.
static size_t request(char *at, int add, uint32_t table, uint32_t device,
                      size_t *address) {
  struct nlmsghdr *head = (void *)at;
  struct rtmsg *route = NLMSG_DATA(head);
  head->nlmsg_type = add ? RTM_NEWROUTE : RTM_DELROUTE;
  head->nlmsg_flags = NLM_F_REQUEST | (add ? NLM_F_CREATE | NLM_F_EXCL : 0);
  route->rtm_family = AF_INET6;
  route->rtm_dst_len = 64;
  route->rtm_protocol = PROTOCOL;
  route->rtm_type = add ? RTN_UNICAST : 0;
  size_t size = NLMSG_LENGTH(sizeof(*route));
  char none[16] = {0};
  *address = size + sizeof(struct nlattr);
  size += put(at + size, RTA_DST, none, sizeof(none));
  size += put(at + size, RTA_TABLE, &table, sizeof(table));
  uint32_t metric = METRIC;
  size += put(at + size, RTA_PRIORITY, &metric, sizeof(metric));
  if (add) {
    char encap[128], counters[64];
    uint64_t zero = 0;
    uint32_t action = SEG6_LOCAL_ACTION_END_DT6, lookup = MAIN;
    size_t inner = put(encap, SEG6_LOCAL_ACTION, &action, sizeof(action));
    inner += put(encap + inner, SEG6_LOCAL_TABLE, &lookup, sizeof(lookup));
    size_t counts = 0;
    for (int kind = SEG6_LOCAL_CNT_PACKETS; kind <= SEG6_LOCAL_CNT_ERRORS;
         kind++)
      counts += put(counters + counts, kind, &zero, sizeof(zero));
    inner += put(encap + inner, SEG6_LOCAL_COUNTERS | NLA_F_NESTED, counters,
                 counts);
    size += put(at + size, RTA_OIF, &device, sizeof(device));
    size += put(at + size, RTA_ENCAP | NLA_F_NESTED, encap, inner);
    uint16_t type = LWTUNNEL_ENCAP_SEG6_LOCAL;
    size += put(at + size, RTA_ENCAP_TYPE, &type, sizeof(type));
  }
  head->nlmsg_len = size;
  return size;
}

// fcbb:0:HHHH:LLLL::/64 from 1 on, as bench/reconcile.py counts them.
static void address_of(char *at, uint32_t number) {
  memset(at, 0, 16);
  uint16_t words[4] = {htons(0xfcbb), 0, htons(0x100 + (number >> 16)),
                       htons(number & 0xffff)};
  memcpy(at, words, sizeof(words));
}

static void acknowledged(int netlink, uint32_t last) {
  for (;;) {
    ssize_t left = recv(netlink, answer, sizeof(answer), 0);
    if (left < 0)
      fail("recv");
    for (struct nlmsghdr *m = (void *)answer; NLMSG_OK(m, left);
         m = NLMSG_NEXT(m, left)) {
      const struct nlmsgerr *error = NLMSG_DATA(m);
      if (m->nlmsg_type == NLMSG_ERROR && error->error) {
        fprintf(stderr, "refused: %s\n", strerror(-error->error));
        exit(1);
      }
      if (m->nlmsg_seq == last)
        return;
    }
  }
}

static void write_all(int netlink, int add, uint32_t count, uint32_t table,
                      uint32_t device) {
  char one[512] = {0};
  static char batch[BATCH * sizeof(one)];
  size_t address, size = request(one, add, table, device, &address);
  for (uint32_t first = 1; first <= count; first += BATCH) {
    uint32_t some = count - first + 1 < BATCH ? count - first + 1 : BATCH;
    for (uint32_t i = 0; i < some; i++) {
      char *at = batch + i * size;
      memcpy(at, one, size);
      address_of(at + address, first + i);
      ((struct nlmsghdr *)at)->nlmsg_seq = first + i;
    }
    ((struct nlmsghdr *)(batch + (some - 1) * size))->nlmsg_flags |= NLM_F_ACK;
    if (send(netlink, batch, some * size, 0) < 0)
      fail("send");
    acknowledged(netlink, first + some - 1);
  }
}

static uint64_t packets_of(struct nlmsghdr *m) {
  int left = RTM_PAYLOAD(m);
  for (struct rtattr *a = RTM_RTA(NLMSG_DATA(m)); RTA_OK(a, left);
       a = RTA_NEXT(a, left)) {
    if ((a->rta_type & NLA_TYPE_MASK) != RTA_ENCAP)
      continue;
    int inside = RTA_PAYLOAD(a);
    for (struct rtattr *b = RTA_DATA(a); RTA_OK(b, inside);
         b = RTA_NEXT(b, inside)) {
      if ((b->rta_type & NLA_TYPE_MASK) != SEG6_LOCAL_COUNTERS)
        continue;
      int counts = RTA_PAYLOAD(b);
      for (struct rtattr *c = RTA_DATA(b); RTA_OK(c, counts);
           c = RTA_NEXT(c, counts))
        if (c->rta_type == SEG6_LOCAL_CNT_PACKETS)
          return *(uint64_t *)RTA_DATA(c);
    }
  }
  return 0;
}

static uint32_t dump(int netlink, uint32_t table) {
  struct {
    struct nlmsghdr head;
    struct rtmsg route;
    char table[8];
  } ask = {
      .head = {sizeof(ask), RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, 0, 0},
      .route = {.rtm_family = AF_INET6}};
  put(ask.table, RTA_TABLE, &table, sizeof(table));
  if (send(netlink, &ask, sizeof(ask), 0) < 0)
    fail("send");
  uint32_t routes = 0;
  volatile uint64_t packets = 0;
  for (;;) {
    ssize_t left = recv(netlink, answer, sizeof(answer), 0);
    if (left < 0)
      fail("recv");
    for (struct nlmsghdr *m = (void *)answer; NLMSG_OK(m, left);
         m = NLMSG_NEXT(m, left)) {
      if (m->nlmsg_type == NLMSG_DONE)
        return routes;
      packets += packets_of(m);
      routes++;
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: routes add|delete|dump COUNT TABLE DEVICE\n");
    return 2;
  }
  uint32_t count = atoi(argv[2]), table = atoi(argv[3]),
           device = if_nametoindex(argv[4]);
  int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  int size = BUFFER, yes = 1;
  struct sockaddr_nl any = {.nl_family = AF_NETLINK};
  setsockopt(netlink, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
  setsockopt(netlink, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
  setsockopt(netlink, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &yes, sizeof(yes));
  if (netlink < 0 || bind(netlink, (void *)&any, sizeof(any)) < 0)
    fail("netlink");
  double start = now();
  if (!strcmp(argv[1], "dump")) {
    if (dump(netlink, table) != count) {
      fprintf(stderr, "there are not %u routes\n", count);
      return 1;
    }
  } else {
    write_all(netlink, !strcmp(argv[1], "add"), count, table, device);
  }
  printf("%.6f\n", now() - start);
  return 0;
}
