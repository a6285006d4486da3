/*
 * Log-mel spectrograms, see the header. The triangles are held as one run of weights for each band.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/mel.h"

#include <math.h>
#include <string.h>

#include <kiss_fftr.h>

#include "core/memory.h"
#include "data/limits.h"

#define LEAST 2.22e-16 /* added to the power before the logarithm */

typedef struct band {
    int first, count;
    float *weights;
} band;

struct mel {
    mel_options options;
    size_t plan_bytes;
    float *window;
    band *bands;
};

/* Slaney: linear to 1 kHz, then 27 steps to each factor of 6.4. */
static double mel_of_hz(double hz) { return hz < 1000 ? hz * 3 / 200 : 15 + log(hz / 1000) * 27 / log(6.4); }

static double hz_of_mel(double m) { return m < 15 ? m * 200 / 3 : 1000 * exp((m - 15) * log(6.4) / 27); }

/* The edge of the bands, 0 to n_mels + 1, in Hz. */
static double edge(const mel_options *o, int i) { return hz_of_mel(mel_of_hz(o->rate / 2.0) * i / (o->n_mels + 1)); }

static double triangle(const mel_options *o, int i, int bin) {
    double hz = (double)bin * o->rate / o->n_fft, low = edge(o, i), middle = edge(o, i + 1), high = edge(o, i + 2);
    double rise = (hz - low) / (middle - low), fall = (high - hz) / (high - middle);
    double least = rise < fall ? rise : fall;
    return least > 0 ? least * 2 / (high - low) : 0;
}

static braid_status create_band(const mel_options *o, int i, band *b) {
    int bins = o->n_fft / 2 + 1, last = -1;
    void *memory;
    b->first = bins;
    for (int bin = 0; bin < bins; bin++)
        if (triangle(o, i, bin) > 0) {
            if (b->first == bins) b->first = bin;
            last = bin;
        }
    b->count = last < 0 ? 0 : last - b->first + 1;
    TRY(memory_alloc((size_t)b->count, sizeof *b->weights, "a mel band", &memory));
    b->weights = memory;
    for (int k = 0; k < b->count; k++) b->weights[k] = (float)triangle(o, i, b->first + k);
    return BRAID_OK;
}

void mel_destroy(mel *m) {
    if (!m) return;
    for (int i = 0; m->bands && i < m->options.n_mels; i++) memory_free(m->bands[i].weights);
    memory_free(m->bands);
    memory_free(m->window);
    memory_free(m);
}

static braid_status fill(mel *m) {
    const mel_options *o = &m->options;
    void *window, *bands;
    TRY(memory_alloc((size_t)o->n_fft, sizeof *m->window, "a window", &window));
    m->window = window;
    for (int i = 0; i < o->n_fft; i++) m->window[i] = (float)(0.5 - 0.5 * cos(6.283185307179586 * i / o->n_fft));
    TRY(memory_calloc((size_t)o->n_mels, sizeof *m->bands, "mel bands", &bands));
    m->bands = bands;
    for (int i = 0; i < o->n_mels; i++) TRY(create_band(o, i, &m->bands[i]));
    kiss_fftr_alloc(o->n_fft, 0, NULL, &m->plan_bytes);
    return BRAID_OK;
}

braid_status mel_create(const mel_options *options, mel **out) {
    void *memory;
    *out = NULL;
    if (options->n_fft < 2 || options->n_fft > 1 << 20 || options->n_fft % 2 || options->hop < 1 ||
        options->n_mels < 1 || options->n_mels > 4096 || options->rate < 1)
        return fail(BRAID_ERROR_ARGUMENT,
                    "mel: expected an even n_fft, hop, n_mels and rate of 1 or more, got %d, %d, %d, %d",
                    options->n_fft, options->hop, options->n_mels, options->rate);
    TRY(memory_calloc(1, sizeof **out, "a mel front end", &memory));
    mel *m = memory;
    m->options = *options;
    braid_status status = fill(m);
    if (status == BRAID_OK)
        *out = m;
    else
        mel_destroy(m);
    return status;
}

int64_t mel_frames(const mel_options *options, int64_t samples) { return 1 + samples / options->hop; }

typedef struct work {
    kiss_fftr_cfg plan;
    kiss_fft_scalar *frame;
    kiss_fft_cpx *spectrum;
} work;

static void run_frame(const mel *m, const float *samples, int64_t count, int64_t frame, const work *w, float *out) {
    const mel_options *o = &m->options;
    int64_t begin = frame * o->hop - o->n_fft / 2;
    for (int i = 0; i < o->n_fft; i++) {
        int64_t at = begin + i;
        w->frame[i] = at >= 0 && at < count ? samples[at] * m->window[i] : 0;
    }
    kiss_fftr(w->plan, w->frame, w->spectrum);
    for (int i = 0; i < o->n_mels; i++) {
        const band *b = &m->bands[i];
        double sum = 0;
        for (int k = 0; k < b->count; k++) {
            kiss_fft_cpx x = w->spectrum[b->first + k];
            sum += (double)b->weights[k] * ((double)x.r * x.r + (double)x.i * x.i);
        }
        out[i] = (float)(10 * log10(sum + LEAST));
    }
}

braid_status mel_run(const mel *m, const float *samples, int64_t count, float *out) {
    const mel_options *o = &m->options;
    void *plan = NULL, *frame = NULL, *spectrum = NULL;
    size_t plan_bytes = m->plan_bytes;
    braid_status status = memory_alloc(m->plan_bytes, 1, "a Fourier transform", &plan);
    if (!status) status = memory_alloc((size_t)o->n_fft, sizeof(kiss_fft_scalar), "a frame", &frame);
    if (!status) status = memory_alloc((size_t)o->n_fft / 2 + 1, sizeof(kiss_fft_cpx), "a spectrum", &spectrum);
    if (!status) {
        const work w = {kiss_fftr_alloc(o->n_fft, 0, plan, &plan_bytes), frame, spectrum};
        for (int64_t t = 0; t < mel_frames(o, count) && !status; t++) {
            run_frame(m, samples, count, t, &w, out + t * o->n_mels);
            status = limits_work((size_t)o->n_fft);
        }
    }
    memory_free(plan);
    memory_free(frame);
    memory_free(spectrum);
    return status;
}
