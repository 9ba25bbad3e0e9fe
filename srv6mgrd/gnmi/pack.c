// Counters of SIDs as gNMI SubscribeResponses, straight from the records of the
// store. gnmi/pack.py describes the arguments, and holds the same in Python.
// A GetResponse with one Notification has the same bytes.
#include "../counters/put.h"

// The barrier of counters/fence.py: nothing is loaded or stored across it.
void srv6_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

enum { PROTO, JSON_IETF, JSON, ASCII };
enum { DISCONTINUITY = 3, COLUMNS = 4 };

struct srv6_rows {
  const uint8_t *head; // elements of the path above the entry, encoded
  uint32_t head_length;
  const uint8_t *entries; // element of each row's entry, encoded
  const uint32_t *offsets;
  const uint32_t *slots; // record of each row
  const uint8_t *tails;  // elements below the entry, of each leaf
  const uint32_t *tail_offsets;
  const uint8_t *columns; // what each leaf shows of the record
  uint32_t leaves;
  const uint8_t *members; // name of each leaf in JSON, with its colon; or null
  const uint32_t *member_offsets;
  const uint8_t *frame; // Notification.timestamp and prefix, encoded
  uint32_t frame_length;
  uint32_t duplicates;
  uint32_t encoding;
};

static uint8_t *varint(uint8_t *p, uint64_t n) {
  while (n >= 0x80) {
    *p++ = n | 0x80;
    n >>= 7;
  }
  *p++ = n;
  return p;
}

static uint32_t varint_size(uint64_t n) {
  uint32_t size = 1;
  while (n >= 0x80) {
    n >>= 7;
    size++;
  }
  return size;
}

static uint8_t *padded(uint8_t *p, uint64_t n, int width) {
  for (int i = width - 1; i >= 0; i--) {
    p[i] = '0' + n % 10;
    n /= 10;
  }
  return p + width;
}

// RFC 3339 in UTC with nanoseconds. Days to a date after H. Hinnant,
// "chrono-Compatible Low-Level Date Algorithms".
static uint8_t *date_and_time(uint8_t *p, uint64_t ns) {
  uint64_t seconds = ns / 1000000000, rest = seconds % 86400;
  uint64_t z = seconds / 86400 + 719468, era = z / 146097, doe = z % 146097;
  uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100),
           mp = (5 * doy + 2) / 153;
  uint64_t month = mp < 10 ? mp + 3 : mp - 9;
  p = padded(p, yoe + era * 400 + (month <= 2), 4);
  *p++ = '-';
  p = padded(p, month, 2);
  *p++ = '-';
  p = padded(p, doy - (153 * mp + 2) / 5 + 1, 2);
  *p++ = 'T';
  p = padded(p, rest / 3600, 2);
  *p++ = ':';
  p = padded(p, rest / 60 % 60, 2);
  *p++ = ':';
  p = padded(p, rest % 60, 2);
  *p++ = '.';
  p = padded(p, ns % 1000000000, 9);
  memcpy(p, "+00:00", 6);
  return p + 6;
}

static uint8_t *text(uint8_t *p, uint32_t encoding, int column, uint64_t n) {
  int is_time = column == DISCONTINUITY;
  int quoted = encoding == JSON_IETF || (encoding == JSON && is_time);
  if (quoted)
    *p++ = '"';
  p = is_time ? date_and_time(p, n) : decimal(p, n);
  if (quoted)
    *p++ = '"';
  return p;
}

static const uint8_t tags[] = {0x0a, 0x5a, 0x52, 0x62};

// TypedValue.
static uint8_t *value(uint8_t *p, uint32_t encoding, int column, uint64_t n) {
  if (encoding == PROTO && column != DISCONTINUITY) {
    *p++ = 0x18; // uint_val
    return varint(p, n);
  }
  *p++ = tags[encoding];
  uint8_t *length = p++;
  p = text(p, encoding, column, n);
  *length = p - length - 1;
  return p;
}

// What was counted since it was cleared (counters/store_reader.py, _since).
static uint64_t since(const uint64_t *total, const uint64_t *cleared,
                      int column) {
  if (!cleared[3] || total[3] > cleared[3])
    return total[column];
  return column == DISCONTINUITY ? cleared[3] : total[column] - cleared[column];
}

// What one SID counted as a JSON object; where there is nothing, p.
static uint8_t *object(uint8_t *p, const struct srv6_rows *r,
                       const uint64_t *total, const uint64_t *cleared) {
  uint8_t *first = p;
  for (uint32_t leaf = 0; leaf < r->leaves; leaf++) {
    int column = r->columns[leaf];
    uint64_t n = since(total, cleared, column);
    if (column == DISCONTINUITY && !n)
      continue;
    *p = p == first ? '{' : ',';
    p++;
    const uint32_t *at = r->member_offsets + leaf;
    p = copy(p, r->members + at[0], at[1] - at[0]);
    p = text(p, r->encoding, column, n);
  }
  if (p > first)
    *p++ = '}';
  return p;
}

// An Update: head, the row's entry, tail, and an encoded TypedValue in two
// parts. Null when it may not fit before limit.
static uint8_t *put(uint8_t *p, const uint8_t *limit, const struct srv6_rows *r,
                    uint32_t row, uint32_t leaf, const uint8_t *typed[2],
                    const uint32_t typed_length[2]) {
  uint32_t entry = r->offsets[row + 1] - r->offsets[row];
  uint32_t tail = r->tail_offsets[leaf + 1] - r->tail_offsets[leaf];
  uint32_t path = r->head_length + entry + tail;
  uint32_t val = typed_length[0] + typed_length[1];
  uint32_t update = 1 + varint_size(path) + path + 1 + varint_size(val) + val;
  if (r->duplicates)
    update += 1 + varint_size(r->duplicates);
  if (p + update + 12 > limit)
    return 0;
  *p++ = 0x22; // Notification.update
  p = varint(p, update);
  *p++ = 0x0a; // Update.path
  p = varint(p, path);
  p = copy(p, r->head, r->head_length);
  p = copy(p, r->entries + r->offsets[row], entry);
  p = copy(p, r->tails + r->tail_offsets[leaf], tail);
  *p++ = 0x1a; // Update.val
  p = varint(p, val);
  p = copy(p, typed[0], typed_length[0]);
  p = copy(p, typed[1], typed_length[1]);
  if (r->duplicates) {
    *p++ = 0x20; // Update.duplicates
    p = varint(p, r->duplicates);
  }
  return p;
}

// Rows from..to as one message at the end of room; where it begins, or 0 when
// there is nothing to report. room holds size bytes, enough for the rows. last
// and known, unless null, hold what was last sent of each record: only what
// differs is sent.
size_t srv6_pack(const struct srv6_rows *r, const uint64_t *counters,
                 const uint64_t *cleared, uint64_t *last, uint8_t *known,
                 uint32_t from, uint32_t to, uint8_t *room, size_t size,
                 size_t *end) {
  enum { HEADER = 11 }; // a tag and the longest length
  uint8_t *begin = room + HEADER, *p = copy(begin, r->frame, r->frame_length),
          *first = p;
  for (uint32_t row = from; row < to; row++) {
    const uint64_t *total = counters + COLUMNS * (size_t)r->slots[row];
    const uint64_t *at_clear = cleared + COLUMNS * (size_t)r->slots[row];
    uint8_t typed[1024], head[HEADER];
    const uint8_t *parts[2] = {head, typed};
    uint32_t lengths[2] = {0};
    if (r->members) {
      if (r->member_offsets[r->leaves] + 48 * r->leaves > sizeof typed)
        return 0;
      lengths[1] = object(typed, r, total, at_clear) - typed;
      if (!lengths[1])
        continue;
      head[0] = tags[r->encoding];
      lengths[0] = varint(head + 1, lengths[1]) - head;
      if (!(p = put(p, room + size, r, row, 0, parts, lengths)))
        return 0;
      continue;
    }
    for (uint32_t leaf = 0; leaf < r->leaves; leaf++) {
      int column = r->columns[leaf];
      uint64_t n = since(total, at_clear, column);
      if (last) {
        size_t i = COLUMNS * (size_t)r->slots[row] + column;
        if (known[i] && last[i] == n)
          continue;
        known[i] = 1;
        last[i] = n;
      }
      if (column == DISCONTINUITY && !n)
        continue;
      lengths[1] = value(typed, r->encoding, column, n) - typed;
      if (!(p = put(p, room + size, r, row, leaf, parts, lengths)))
        return 0;
    }
  }
  if (p == first)
    return 0;
  uint8_t header[HEADER], *h = header;
  *h++ = 0x0a; // SubscribeResponse.update
  h = varint(h, p - begin);
  size_t start = HEADER - (h - header);
  memcpy(room + start, header, h - header);
  *end = p - room;
  return start;
}
