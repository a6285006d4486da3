/*
 * Readings of a device whose memory is the host's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/host_reading.h"

#include <string.h>

#include "core/memory.h"

struct reading {
    size_t bytes;
    unsigned char *memory;
};

braid_status host_reading_create(device *d, size_t bytes, reading **out) {
    reading *made = NULL;
    (void)d;
    *out = NULL;
    TRY(memory_calloc(1, sizeof *made, "reading", (void **)&made));
    made->bytes = bytes;
    braid_status status = memory_alloc(1, bytes, "reading", (void **)&made->memory);
    if (status)
        memory_free(made);
    else
        *out = made;
    return status;
}

void host_reading_destroy(device *d, reading *r) {
    (void)d;
    if (!r) return;
    memory_free(r->memory);
    memory_free(r);
}

braid_status host_reading_ask(device *d, reading *r, const void *from) {
    (void)d;
    memcpy(r->memory, from, r->bytes);
    return BRAID_OK;
}

braid_status host_reading_get(device *d, reading *r, const void **data) {
    (void)d;
    *data = r->memory;
    return BRAID_OK;
}
