// Bytes and numbers put at p; what follows them.
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint8_t *copy(uint8_t *p, const void *from, uint32_t length) {
  memcpy(p, from, length);
  return p + length;
}

static inline uint8_t *decimal(uint8_t *p, uint64_t n) {
  uint8_t digits[20];
  int i = sizeof digits;
  do {
    digits[--i] = '0' + n % 10;
    n /= 10;
  } while (n);
  return copy(p, digits + i, sizeof digits - i);
}
