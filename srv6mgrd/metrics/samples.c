// Samples of SIDs as text of OpenMetrics, straight from the records of the
// store (counters/store_file.py). metrics/sids.py holds the same in Python.
#include "../counters/put.h"

enum { SID = 3, OBJECT = 416, NAME = 64, DETAIL = 104, VRF = 16, COLUMNS = 4 };
// Offsets in a record of an object.
enum { KIND_AT = 0, NAME_LENGTH_AT = 2, DETAIL_LENGTH_AT = 3 };
enum { NAME_AT = 32, DETAIL_AT = NAME_AT + NAME };

struct srv6_samples {
  const uint8_t *objects;
  const uint64_t *counters;
  const uint8_t *name; // of the metric, up to the value of its first label
  uint32_t name_length;
  uint32_t column;
  const uint8_t *vrfs; // those wanted, each of VRF bytes; none: all
  uint32_t vrf_count;
};

static int is_wanted(const struct srv6_samples *s, const uint8_t *vrf,
                     uint32_t length) {
  if (!s->vrf_count)
    return 1;
  uint8_t padded[VRF] = {0};
  if (length > VRF)
    return 0;
  memcpy(padded, vrf, length);
  for (uint32_t i = 0; i < s->vrf_count; i++)
    if (!memcmp(s->vrfs + (size_t)i * VRF, padded, VRF))
      return 1;
  return 0;
}

// A sample for each SID among the records from..to; how many bytes. room takes
// name_length and 256 bytes for each record.
size_t srv6_samples(const struct srv6_samples *s, uint32_t from, uint32_t to,
                    uint8_t *room) {
  uint8_t *p = room;
  for (uint32_t slot = from; slot < to; slot++) {
    const uint8_t *object = s->objects + (size_t)slot * OBJECT;
    if (object[KIND_AT] != SID)
      continue;
    uint32_t length = object[NAME_LENGTH_AT], detail = object[DETAIL_LENGTH_AT];
    if (length > NAME || detail > DETAIL)
      continue;
    const uint8_t *behavior = object + DETAIL_AT, *end = behavior + detail;
    const uint8_t *space = memchr(behavior, ' ', detail);
    const uint8_t *vrf = space ? space + 1 : end;
    if (!is_wanted(s, vrf, end - vrf))
      continue;
    p = copy(p, s->name, s->name_length);
    p = copy(p, object + NAME_AT, length);
    p = copy(p, "\",vrf=\"", 7);
    p = copy(p, vrf, end - vrf);
    p = copy(p, "\",behavior=\"", 12);
    p = copy(p, behavior, (space ? space : end) - behavior);
    p = copy(p, "\"} ", 3);
    p = decimal(p, s->counters[COLUMNS * (size_t)slot + s->column]);
    *p++ = '\n';
  }
  return p - room;
}
