/*
 * Event files. The messages are written by hand: of event.proto and summary.proto only
 *     Event      { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
 *                  SessionLog session_log = 7; }
 *     Summary    { repeated Value value = 1; }
 *     Value      { string tag = 1; float simple_value = 2; }
 *     SessionLog { Status status = 1; }, where START = 1
 * A record is: length (8 bytes), masked CRC-32C of these, message, masked CRC-32C of the message; little-endian.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/events.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "core/memory.h"
#include "core/sizes.h"

#define HEAD_BYTES 12  /* of a record, before the message */
#define TAIL_BYTES 4   /* behind it */
#define EVENT_BYTES 64 /* more than an event takes beside its scalars */
#define VALUE_BYTES 32 /* more than a scalar takes beside its tag */
#define MOST_TAG 1024
#define FILE_VERSION "brain.Event:2"

/* Wire types of protocol buffers. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct message {
    unsigned char *data;
    size_t bytes;
} message;

/* ---- Protocol buffers ---------------------------------------------------------------------- */

static void put_little_endian(unsigned char *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static void put_fixed(message *m, uint64_t value, int bytes) {
    put_little_endian(m->data + m->bytes, value, bytes);
    m->bytes += (size_t)bytes;
}

static void put_varint(message *m, uint64_t value) {
    while (value >= 0x80) {
        m->data[m->bytes++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    m->data[m->bytes++] = (unsigned char)value;
}

static void put_key(message *m, unsigned field, unsigned wire_type) { put_varint(m, field << 3 | wire_type); }

static void put_bytes(message *m, unsigned field, const void *data, size_t bytes) {
    put_key(m, field, BYTES);
    put_varint(m, bytes);
    memcpy(m->data + m->bytes, data, bytes);
    m->bytes += bytes;
}

static size_t varint_bytes(uint64_t value) {
    size_t bytes = 1;
    while (value >>= 7) bytes++;
    return bytes;
}

static void put_time(message *m, double wall_time, int64_t step) {
    uint64_t bits;
    memcpy(&bits, &wall_time, sizeof bits);
    put_key(m, 1, FIXED64);
    put_fixed(m, bits, 8);
    put_key(m, 2, VARINT);
    put_varint(m, (uint64_t)step);
}

/* ---- Messages ----------------------------------------------------------------------------- */

static size_t value_bytes(const events_scalar *s) {
    size_t tag = strlen(s->tag);
    return 1 + varint_bytes(tag) + tag + 1 + 4;
}

static void put_value(message *m, const events_scalar *s) {
    float value = (float)s->value;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(m, 1, BYTES);
    put_varint(m, value_bytes(s));
    put_bytes(m, 1, s->tag, strlen(s->tag));
    put_key(m, 2, FIXED32);
    put_fixed(m, bits, 4);
}

static void put_summary(message *m, const events_scalar *scalars, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        size_t value = value_bytes(&scalars[i]);
        bytes += 1 + varint_bytes(value) + value;
    }
    put_key(m, 5, BYTES);
    put_varint(m, bytes);
    for (int i = 0; i < count; i++) put_value(m, &scalars[i]);
}

static uint32_t masked_crc(const void *data, size_t bytes) {
    uint32_t crc = crc32c(data, bytes);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Closes a record around a message that begins HEAD_BYTES into `record`, and writes it. */
static braid_status add_record(events *e, unsigned char *record, size_t bytes) {
    put_little_endian(record, bytes, 8);
    put_little_endian(record + 8, masked_crc(record, 8), 4);
    put_little_endian(record + HEAD_BYTES + bytes, masked_crc(record + HEAD_BYTES, bytes), 4);
    return files_growing_add(&e->file, record, HEAD_BYTES + bytes + TAIL_BYTES);
}

static braid_status add_version(events *e, int64_t step, double wall_time) {
    unsigned char record[HEAD_BYTES + EVENT_BYTES + TAIL_BYTES];
    message m = {.data = record + HEAD_BYTES};
    put_time(&m, wall_time, step);
    put_bytes(&m, 3, FILE_VERSION, strlen(FILE_VERSION));
    return add_record(e, record, m.bytes);
}

static braid_status add_session_start(events *e, int64_t step, double wall_time) {
    static const unsigned char start[] = {1 << 3 | VARINT, 1};
    unsigned char record[HEAD_BYTES + EVENT_BYTES + TAIL_BYTES];
    message m = {.data = record + HEAD_BYTES};
    put_time(&m, wall_time, step);
    put_bytes(&m, 7, start, sizeof start);
    return add_record(e, record, m.bytes);
}

/* ---- Files -------------------------------------------------------------------------------- */

/* A name that is free. Names sort by time, which is how TensorBoard reads them. */
static braid_status make_path(const char *folder, double wall_time, char **path) {
    static atomic_uint count;
    char host[HOST_NAME_MAX + 1] = "localhost", name[HOST_NAME_MAX + 96];
    if (gethostname(host, sizeof host) != 0 || strchr(host, '/')) snprintf(host, sizeof host, "localhost");
    host[HOST_NAME_MAX] = 0;
    do {
        memory_free(*path);
        snprintf(name, sizeof name, "events.out.tfevents.%010lld.%s.%ld.%u", (long long)wall_time, host, (long)getpid(),
                 atomic_fetch_add(&count, 1));
        TRY(files_join(folder, name, path));
    } while (access(*path, F_OK) == 0);
    return BRAID_OK;
}

braid_status events_open(events *e, const char *folder, int64_t first_step, double wall_time) {
    *e = (events){.first_step = first_step, .started = wall_time};
    TRY(make_path(folder, wall_time, &e->path));
    files_growing_open(&e->file, e->path, 0);
    return BRAID_OK;
}

/* What a file begins with. Where the disk refuses it, it waits in front of what follows. */
static braid_status begin_file(events *e) {
    if (e->begun) return BRAID_OK;
    braid_status status = add_version(e, e->first_step, e->started);
    if (status && status != BRAID_ERROR_DISK) return status;
    e->begun = true;
    if (e->first_step > 0) status = add_session_start(e, e->first_step, e->started);
    return status == BRAID_ERROR_DISK ? BRAID_OK : status;
}

static braid_status record_room(const events_scalar *scalars, int count, size_t *room) {
    *room = HEAD_BYTES + EVENT_BYTES + TAIL_BYTES;
    for (int i = 0; i < count; i++) {
        size_t tag = strlen(scalars[i].tag);
        if (tag == 0 || tag > MOST_TAG)
            return fail(BRAID_ERROR_ARGUMENT, "event: expected a tag of 1 to %d bytes, got %zu", MOST_TAG, tag);
        if (!size_add(*room, tag + VALUE_BYTES, room))
            return fail(BRAID_ERROR_MEMORY, "event: expected scalars that fit in memory, got %d", count);
    }
    return BRAID_OK;
}

braid_status events_add(events *e, int64_t step, double wall_time, const events_scalar *scalars, int count) {
    size_t room;
    void *record;
    TRY(record_room(scalars, count, &room));
    TRY(begin_file(e));
    TRY(memory_alloc(room, 1, "an event", &record));
    message m = {.data = (unsigned char *)record + HEAD_BYTES};
    put_time(&m, wall_time, step);
    put_summary(&m, scalars, count);
    braid_status status = add_record(e, record, m.bytes);
    memory_free(record);
    return status;
}

braid_status events_sync(events *e) { return files_growing_sync(&e->file); }

void events_close(events *e) {
    files_growing_close(&e->file);
    memory_free(e->path);
    *e = (events){0};
}

double events_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
