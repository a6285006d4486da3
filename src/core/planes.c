/*
 * The arithmetic of planes: offsets and bytes, all by core/sizes. No memory is touched here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/planes.h"

#include <stdio.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"

/* Places plane i behind the bytes laid so far. */
static braid_status lay_plane(planes *p, int i) {
    char what[32];
    size_t plane_bytes, end;
    const int64_t dims[4] = {p->batch, p->height, p->width, p->channels[i]};
    snprintf(what, sizeof what, "plane %d", i);
    TRY(size_tensor(dims, 4, p->pitch[i], p->dtype, what, &plane_bytes));
    if (!size_add(p->bytes, plane_bytes, &end) || !size_align(end, MEMORY_DEVICE_ALIGNMENT, &end))
        return fail(BRAID_ERROR_MEMORY, "%s: expected planes whose bytes fit in 64 bits, got %zu after %zu bytes", what,
                    plane_bytes, p->bytes);
    p->offset[i] = p->bytes;
    p->bytes = end;
    return BRAID_OK;
}

braid_status planes_lay(planes *out, braid_dtype dtype, const int64_t shape_bhw[3], int count, const int64_t *channels,
                        const int64_t *pitch) {
    planes laid = {
        .count = count, .dtype = dtype, .batch = shape_bhw[0], .height = shape_bhw[1], .width = shape_bhw[2]};
    if (count < 1 || count > BRAID_MAX_PLANES)
        return fail(BRAID_ERROR_ARGUMENT, "planes: expected 1 to %d planes, got %d", BRAID_MAX_PLANES, count);
    for (int i = 0; i < count; i++) {
        laid.channels[i] = channels[i];
        laid.pitch[i] = pitch ? pitch[i] : channels[i];
        TRY(lay_plane(&laid, i));
    }
    *out = laid;
    return BRAID_OK;
}

/* Channels that no tensor can have come back as they are; planes_lay refuses them. */
int64_t planes_pitch16(int64_t channels, braid_dtype dtype) {
    size_t element_bytes = dtype_bytes(dtype), rounded;
    if (element_bytes == 0 || channels < 0) return channels;
    if (!size_align((size_t)channels, 16 / element_bytes, &rounded) || rounded > INT64_MAX) return channels;
    return (int64_t)rounded;
}

/* The bytes of a view span its own planes, counted from the first of them. */
braid_status planes_view(planes *out, const planes *from, int first, int count) {
    if (first < 0 || count < 1 || count > from->count || first > from->count - count)
        return fail(BRAID_ERROR_ARGUMENT, "planes: expected a view within %d planes, got %d from plane %d", from->count,
                    count, first);
    planes view = {
        .count = count, .dtype = from->dtype, .batch = from->batch, .height = from->height, .width = from->width};
    for (int i = 0; i < count; i++) {
        view.channels[i] = from->channels[first + i];
        view.pitch[i] = from->pitch[first + i];
        view.offset[i] = from->offset[first + i];
    }
    size_t end = first + count < from->count ? from->offset[first + count] : from->offset[0] + from->bytes;
    view.bytes = end - view.offset[0];
    *out = view;
    return BRAID_OK;
}

void *planes_at(const planes *p, void *base, int i) {
    if (!base || i < 0 || i >= p->count) return NULL;
    return (unsigned char *)base + p->offset[i];
}
