/*
 * The patterns of images.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/elementwise/image_patterns.h"

/* pitch / gcd(pitch, width); width is a power of 2. */
int64_t images_period(int64_t pitch, int64_t width) {
    int64_t common = 1;
    while (common < width && pitch % (2 * common) == 0) common *= 2;
    return pitch / common;
}

/* False where it would have to pick from more bytes than it may. */
static int make_vector(const images_channels *c, int64_t width, int64_t v, images_vector *out) {
    int64_t bytes[IMAGES_LANES], lowest = 0, any = 0;
    *out = (images_vector){0};
    for (int64_t lane = 0; lane < width; lane++) {
        int64_t at = v * width + lane, channel = at % c->pitch, pixel = at / c->pitch;
        bytes[lane] = (c->mirrored ? -pixel : pixel) * c->channels + channel;
        if (channel >= c->channels) continue;
        if (!any++ || bytes[lane] < lowest) lowest = bytes[lane];
        out->scale[lane] = (float)(1 / (255 * (c->std ? (double)c->std[channel] : 1)));
        out->shift[lane] = c->std ? (float)(-(double)c->mean[channel] / (double)c->std[channel]) : 0;
    }
    out->first = lowest;
    for (int64_t lane = 0; lane < width; lane++) {
        if ((v * width + lane) % c->pitch >= c->channels) continue;
        if (bytes[lane] - lowest >= IMAGES_BYTES) return 0;
        out->places[lane] = (uint8_t)(bytes[lane] - lowest);
    }
    return 1;
}

images_pattern images_make_pattern(images_vector *vectors, const images_channels *c, int64_t width) {
    int64_t period = images_period(c->pitch, width), bytes = period * width / c->pitch * c->channels;
    for (int64_t v = 0; v < period; v++) {
        if (!make_vector(c, width, v, &vectors[v])) return (images_pattern){0};
    }
    return (images_pattern){period, c->mirrored ? -bytes : bytes, vectors};
}
