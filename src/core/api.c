/*
 * The calls of braid.h that the core answers by itself. They stand apart because libbraid_lab holds a copy of the
 * rest of the core, hidden, and must take these from libbraid.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "core/status.h"

const char *braid_message(void) { return fail_message(); }

braid_detail braid_message_detail(void) { return fail_detail(); }

const char *braid_status_name(braid_status status) {
    switch (status) {
        case BRAID_OK: return "ok";
        case BRAID_ERROR_CHECK: return "check";
        case BRAID_ERROR_ARGUMENT: return "argument";
        case BRAID_ERROR_DATA: return "data";
        case BRAID_ERROR_MODEL: return "model";
        case BRAID_ERROR_MEMORY: return "memory";
        case BRAID_ERROR_DEVICE: return "device";
        case BRAID_ERROR_DISK: return "disk";
        case BRAID_ERROR_PEER: return "peer";
        case BRAID_ERROR_DIVERGED: return "diverged";
    }
    return "unknown";
}

const char *braid_version(void) { return BRAID_VERSION; }

int braid_abi(void) { return BRAID_ABI; }

braid_status braid_set_allocator(const braid_allocator *allocator) { return memory_set_allocator(allocator); }
