/*
 * A synthetic MIMII: two fans. A normal one hums (harmonics of its blades, a little unsteady) in the noise of its air;
 * an abnormal one also knocks, a resonance that is struck a few times a second, and squeaks. Loudness and pitch differ
 * from sound to sound, so that the level alone tells nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "data/make.h"
#include "data/wav.h"

#define RATE 16000
#define MACHINES 2
#define HARMONICS 10
#define TURN 6.283185307179586

static const char *const machine_names[MACHINES] = {"id_00", "id_02"};
static const double pitches[MACHINES] = {87, 131};

typedef struct sound_maker {
    maker *m;
    int64_t frames;
    float *samples;
    int64_t normal, abnormal; /* of each machine */
} sound_maker;

static void hum(sound_maker *s, rng *r, double pitch, double loud) {
    double phase[HARMONICS], level[HARMONICS], beat = draw_between(r, 0.3, 1.5), turn = 0;
    for (int h = 0; h < HARMONICS; h++) {
        phase[h] = rng_uniform(r);
        level[h] = loud * draw_between(r, 0.7, 1.3) / (1 + h);
    }
    for (int64_t t = 0; t < s->frames; t++) {
        double slow = 1 + 0.15 * sin(TURN * beat * (double)t / RATE), sum = 0;
        turn += pitch * (1 + 0.002 * slow) / RATE;
        for (int h = 0; h < HARMONICS; h++) sum += level[h] * sin(TURN * ((h + 1) * turn + phase[h]));
        s->samples[t] += (float)(slow * sum);
    }
}

/* Rushing air: white noise through two poles, and a little of it as it is. */
static void air(sound_maker *s, rng *r, double loud) {
    double first = 0, second = 0;
    for (int64_t t = 0; t < s->frames; t++) {
        double white = draw_noise(r);
        first += 0.15 * (white - first);
        second += 0.15 * (first - second);
        s->samples[t] += (float)(loud * (4 * second + 0.15 * white));
    }
}

static void knock(sound_maker *s, rng *r, double loud) {
    double pitch = draw_between(r, 1800, 3200), pause = draw_between(r, 0.12, 0.25);
    double start = draw_between(r, 0, pause);
    while (start * RATE < (double)s->frames) {
        for (int64_t t = (int64_t)(start * RATE); t < s->frames && t < (int64_t)(start * RATE) + RATE / 8; t++) {
            double since = (double)t / RATE - start;
            if (since >= 0) s->samples[t] += (float)(loud * exp(-30 * since) * sin(TURN * pitch * since));
        }
        start += pause * draw_between(r, 0.8, 1.2);
    }
}

static void squeak(sound_maker *s, rng *r, double loud) {
    double pitch = draw_between(r, 4000, 6000), wobble = draw_between(r, 2, 6), turn = 0;
    for (int64_t t = 0; t < s->frames; t++) {
        double swing = sin(TURN * wobble * (double)t / RATE);
        turn += pitch * (1 + 0.05 * swing) / RATE;
        s->samples[t] += (float)(loud * (0.5 + 0.5 * swing) * sin(TURN * turn));
    }
}

static void play(sound_maker *s, rng r, double pitch, int is_abnormal) {
    double loud = 0.05 * draw_between(&r, 0.7, 1.4);
    memset(s->samples, 0, (size_t)s->frames * sizeof *s->samples);
    hum(s, &r, pitch * draw_between(&r, 0.97, 1.03), loud);
    air(s, &r, loud * draw_between(&r, 0.8, 1.2));
    if (is_abnormal) {
        knock(s, &r, 4 * loud);
        squeak(s, &r, 0.5 * loud);
    }
    for (int64_t t = 0; t < s->frames; t++) s->samples[t] = fmaxf(-0.99f, fminf(0.99f, s->samples[t]));
}

static braid_status write_sound(sound_maker *s, const char *name) {
    void *file;
    size_t bytes;
    TRY(wav_write(s->samples, s->frames, RATE, &file, &bytes));
    braid_status status = maker_write(s->m, name, file, bytes);
    memory_free(file);
    return status;
}

static braid_status make_sounds(sound_maker *s, int machine, int is_abnormal, int64_t count) {
    char folder[64], name[96];
    snprintf(folder, sizeof folder, "0_dB_fan/fan/%s/%s", machine_names[machine], is_abnormal ? "abnormal" : "normal");
    TRY(maker_folder(s->m, folder));
    for (int64_t k = 0; k < count; k++) {
        snprintf(name, sizeof name, "%s/%08lld.wav", folder, (long long)k);
        TRY(maker_step(s->m, name));
        play(s, maker_rng(s->m, (braid_split)(2 * machine + is_abnormal), k), pitches[machine], is_abnormal);
        TRY(write_sound(s, name));
    }
    return BRAID_OK;
}

static braid_status make_all(sound_maker *s) {
    for (int machine = 0; machine < MACHINES; machine++) {
        TRY(make_sounds(s, machine, 0, s->normal));
        TRY(make_sounds(s, machine, 1, s->abnormal));
    }
    return BRAID_OK;
}

braid_status make_mimii(maker *m) {
    int64_t seconds = m->options->size[0] ? m->options->size[0] : 4;
    sound_maker s = {.m = m, .frames = seconds * RATE};
    void *memory;
    if (seconds > 600 || (m->options->size[1] && m->options->size[1] != m->options->size[0]))
        return fail(BRAID_ERROR_ARGUMENT, "size: expected 1 to 600 seconds, got %lldx%lld", (long long)seconds,
                    (long long)m->options->size[1]);
    s.abnormal = (m->counts[BRAID_SPLIT_TEST] + MACHINES - 1) / MACHINES;
    s.normal = (m->counts[BRAID_SPLIT_TRAIN] + MACHINES - 1) / MACHINES + s.abnormal;
    m->total = MACHINES * (s.normal + s.abnormal);
    TRY(memory_alloc((size_t)s.frames, sizeof *s.samples, "a sound", &memory));
    s.samples = memory;
    braid_status status = make_all(&s);
    memory_free(memory);
    return status;
}
