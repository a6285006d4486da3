/*
 * The log-mel spectrogram of a sound, as librosa's defaults make it: frames of n_fft samples, hop apart, centred, the
 * sound continued by zeros; a periodic Hann window; the squared magnitude; triangles on Slaney's mel scale from 0 to
 * half the rate, each of area 2 / its width; then 10 log10(x + 2.22e-16).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_MEL_H
#define BRAID_DATA_MEL_H

#include "core/status.h"

typedef struct mel_options {
    int rate, n_fft, hop, n_mels;
} mel_options;

/* Tables and the plan of the transform; used by any number of threads, each with its own memory from mel_run. */
typedef struct mel mel;

braid_status mel_create(const mel_options *options, mel **out);
void mel_destroy(mel *m);

/* 1 + samples / hop. */
int64_t mel_frames(const mel_options *options, int64_t samples);

/* out: [frames][n_mels]. */
braid_status mel_run(const mel *m, const float *samples, int64_t count, float *out);

#endif
