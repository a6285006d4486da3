/*
 * Counters that launches share. Every launch leaves them as it found them, so zeros are written once, when the device
 * is opened. A launch that fails takes the device with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cuda/device.h"

#define QUEUE_BYTES (CUDA_MOST_COUNTERS * sizeof(uint32_t))

braid_status counters_open(cuda_device *d) {
    cu_result result = d->driver->memory_alloc(&d->counters, 2 * QUEUE_BYTES);
    if (!result) result = d->driver->memory_set(d->counters, 0, 2 * QUEUE_BYTES, d->queue);
    return cuda_check_memory(d, result, "making counters");
}

void counters_close(cuda_device *d) {
    if (d->counters) (void)d->driver->memory_free(d->counters);
}

uint32_t *cuda_counters(device *head, int64_t count) {
    const cuda_device *d = cuda_device_of(head);
    if (count > CUDA_MOST_COUNTERS) return NULL;
    return (uint32_t *)(uintptr_t)(d->counters + (d->side.is_on ? QUEUE_BYTES : 0));
}
