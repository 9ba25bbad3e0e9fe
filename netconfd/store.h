/* The store that srv6mgrd writes, read in place; srv6mgrd/counters/store_file.py has its layout. */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

/* One SID as it is reported: counters since they were cleared, times in nanoseconds, 0 is never. */
struct sid {
    char prefix[65];
    char reason[217];
    uint8_t status;
    uint64_t since, last_repair, repairs;
    uint64_t packets, octets, errors, discontinuity;
};

/* The status as YANG has it. */
const char *store_status(uint8_t status);

typedef void store_visit(const struct sid *sid, void *data, struct text *text);

/* Where it is; once, before it is read. */
void store_at(const char *path);

/* Have visit write each SID, or the one of that prefix, into text. What is written is of one
 * moment. False, and text as before: there is no store, or its writer died inside. */
bool store_read(const char *prefix, store_visit *visit, void *data, struct text *text);

/* A declared object that is no SID. */
struct stored {
    char name[65];
    char reason[217];
    uint8_t kind, status;
    uint64_t since;
};

/* Append all of them, of one moment, to objects. False: as of store_read. */
bool store_objects(struct text *objects);

/* A number that differs when srv6mgrd has reported something new, counters apart: status of an
 * object, a transaction, a capability. Cheap. */
uint64_t store_revision(void);

#endif
