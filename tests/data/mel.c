/*
 * The log-mel front end against values frozen from its formulas (tools/mel_values), and WAV files: every kind of
 * number, several channels, and everything that can be wrong with one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "data/mel.h"
#include "data/wav.h"
#include "tests/data/mel_values.h"
#include "tests/support/fail_nth.h"

#define TURN 6.283185307179586
#define RATE 16000

static const mel_options usual = {.rate = RATE, .n_fft = 1024, .hop = 512, .n_mels = 64};

static void make_signal(float *out) {
    uint64_t state = 12345;
    for (int i = 0; i < MEL_SAMPLES; i++) {
        double t = i;
        state = (1103515245 * state + 12345) % (UINT64_C(1) << 31);
        double noise = (double)state / (1 << 30) - 1;
        double x = 0.3 * sin(TURN * 440 * t / RATE) + 0.1 * sin(TURN * 3000 * t / RATE);
        out[i] = (float)(x + 0.2 * sin(TURN * (100 + 0.5 * t) * t / RATE) + 0.05 * noise);
    }
}

static void equals_the_formulas(void **state) {
    (void)state;
    static float signal[MEL_SAMPLES], out[MEL_FRAMES * MEL_BANDS];
    mel *m;
    make_signal(signal);
    assert_int_equal(mel_create(&usual, &m), BRAID_OK);
    assert_int_equal(mel_frames(&usual, MEL_SAMPLES), MEL_FRAMES);
    assert_int_equal(mel_run(m, signal, MEL_SAMPLES, out), BRAID_OK);
    for (int t = 0; t < MEL_FRAMES; t++)
        for (int k = 0; k < MEL_BANDS; k++) {
            double difference = fabs(out[t * MEL_BANDS + k] - mel_values[t][k]);
            /* the transform rounds to float: 2e-4 dB is 5e-5 of the power; the noise keeps every band well above 0 */
            if (!(difference < 2e-4))
                fail_msg("frame %d band %d: expected %f, got %f", t, k, mel_values[t][k],
                         (double)out[t * MEL_BANDS + k]);
        }
    mel_destroy(m);
}

static void silence_is_the_floor(void **state) {
    (void)state;
    float out[2 * 64];
    static const float zeros[600];
    mel *m;
    assert_int_equal(mel_create(&usual, &m), BRAID_OK);
    assert_int_equal(mel_run(m, zeros, 600, out), BRAID_OK);
    for (int k = 0; k < 128; k++) assert_true(fabs(out[k] - 10 * log10(2.22e-16)) < 1e-4);
    assert_int_equal(mel_frames(&usual, 0), 1);
    assert_int_equal(mel_run(m, NULL, 0, out), BRAID_OK);
    mel_destroy(m);
}

static void options_are_checked(void **state) {
    (void)state;
    mel *m;
    assert_int_equal(mel_create(&(mel_options){.rate = 1, .n_fft = 1023, .hop = 1, .n_mels = 1}, &m),
                     BRAID_ERROR_ARGUMENT);
    assert_int_equal(mel_create(&(mel_options){.rate = 1, .n_fft = 1024, .hop = 0, .n_mels = 1}, &m),
                     BRAID_ERROR_ARGUMENT);
    assert_int_equal(mel_create(&(mel_options){.rate = 0, .n_fft = 1024, .hop = 1, .n_mels = 1}, &m),
                     BRAID_ERROR_ARGUMENT);
    mel_destroy(NULL);
}

/* ---- WAV ---------------------------------------------------------------------------------- */

typedef struct wav_file {
    unsigned char bytes[4096];
    size_t used;
} wav_file;

static void put(wav_file *f, uint32_t value, int count) {
    for (int i = 0; i < count; i++) f->bytes[f->used++] = (unsigned char)(value >> (8 * i));
}

static void put_text(wav_file *f, const char *text) {
    memcpy(f->bytes + f->used, text, strlen(text));
    f->used += strlen(text);
}

/* A file of frames of `bits` bits; kind 1 whole numbers, 3 floats. */
static wav_file make_wav(int kind, int channels, int bits, int frames) {
    wav_file f = {.used = 0};
    uint32_t frame_bytes = (uint32_t)(channels * bits / 8), data = frame_bytes * (uint32_t)frames;
    put_text(&f, "RIFF");
    put(&f, 36 + 10 + data, 4);
    put_text(&f, "WAVEfmt ");
    put(&f, 16, 4);
    put(&f, (uint32_t)kind, 2);
    put(&f, (uint32_t)channels, 2);
    put(&f, RATE, 4);
    put(&f, RATE * frame_bytes, 4);
    put(&f, frame_bytes, 2);
    put(&f, (uint32_t)bits, 2);
    put_text(&f, "note"); /* a chunk that nobody knows, of odd length */
    put(&f, 1, 4);
    put(&f, 0, 2);
    put_text(&f, "data");
    put(&f, data, 4);
    return f;
}

static float half_then(int frame, int channel) { return frame == 0 ? 0.5f : channel ? -0.25f : 0.25f; }

static void put_sample(wav_file *f, int kind, int bits, float value) {
    if (bits == 64) {
        double wide = (double)value;
        memcpy(f->bytes + f->used, &wide, 8);
        f->used += 8;
    } else if (kind == 3) {
        uint32_t word;
        memcpy(&word, &value, 4);
        put(f, word, 4);
    } else if (bits == 8) {
        put(f, (uint32_t)(128 + (int)(value * 128)), 1);
    } else {
        put(f, (uint32_t)(int32_t)(value * (float)(1u << (bits - 1))), bits / 8);
    }
}

static void reads_every_kind_of_number(void **state) {
    (void)state;
    const int kinds[][2] = {{1, 8}, {1, 16}, {1, 24}, {1, 32}, {3, 32}, {3, 64}};
    for (int k = 0; k < 6; k++)
        for (int channels = 1; channels <= 2; channels++) {
            wav_file f = make_wav(kinds[k][0], channels, kinds[k][1], 3);
            wav_info info;
            float *samples;
            for (int i = 0; i < 3; i++)
                for (int c = 0; c < channels; c++) put_sample(&f, kinds[k][0], kinds[k][1], half_then(i, c));
            assert_int_equal(wav_read(f.bytes, f.used, &info, &samples), BRAID_OK);
            assert_int_equal(info.frames, 3);
            assert_int_equal(info.channels, channels);
            assert_int_equal(info.rate, RATE);
            assert_true(samples[0] == 0.5f);
            assert_true(samples[1] == (channels == 1 ? 0.25f : 0)); /* the mean of both */
            memory_free(samples);
        }
}

static void refuses(const wav_file *f, size_t bytes, const char *words) {
    wav_info info;
    float *samples;
    assert_int_equal(wav_read(f->bytes, bytes, &info, &samples), BRAID_ERROR_DATA);
    if (!strstr(fail_message(), words)) fail_msg("expected \"%s\" in \"%s\"", words, fail_message());
    assert_null(samples);
}

static void refuses_what_is_wrong(void **state) {
    (void)state;
    wav_file f = make_wav(1, 1, 16, 3), other;
    for (int i = 0; i < 3; i++) put(&f, 0, 2);
    for (size_t bytes = 0; bytes < f.used; bytes++) refuses(&f, bytes, "WAV:"); /* cut anywhere */
    refuses(&f, f.used - 1, "the file is cut short");
    other = f;
    other.bytes[20] = 6; /* A-law */
    refuses(&other, f.used, "got format 6");
    other = f;
    other.bytes[22] = 0;
    refuses(&other, f.used, "channels");
    other = f;
    other.bytes[32] = 3;
    refuses(&other, f.used, "bytes a frame");
    other = f;
    memset(other.bytes + 24, 0, 4);
    refuses(&other, f.used, "a rate");
    other = f;
    memcpy(other.bytes + 12, "junk", 4);
    refuses(&other, f.used, "a format chunk before the data");
    other = f;
    memcpy(other.bytes, "RIFX", 4);
    refuses(&other, f.used, "RIFF");
}

/* Chunks that libsndfile would walk over without end; a hang is ended by SIGALRM. */
static void what_follows_the_data_is_not_looked_at(void **state) {
    (void)state;
    wav_file f = make_wav(1, 1, 16, 3);
    wav_info info;
    float *samples;
    for (int i = 0; i < 3; i++) put_sample(&f, 1, 16, half_then(i, 0));
    memcpy(f.bytes + f.used, "INFO\0\0\0\377\0\0\0\377\367\377\377\377", 16);
    alarm(60);
    assert_int_equal(wav_read(f.bytes, f.used + 16, &info, &samples), BRAID_OK);
    alarm(0);
    assert_int_equal(info.frames, 3);
    assert_true(samples[0] == 0.5f && samples[2] == 0.25f);
    memory_free(samples);
}

static void refuses_what_is_not_a_number(void **state) {
    (void)state;
    wav_file f = make_wav(3, 2, 32, 3);
    for (int i = 0; i < 5; i++) put_sample(&f, 3, 32, 0.5f);
    put_sample(&f, 3, 32, NAN);
    refuses(&f, f.used, "expected finite numbers, got nan in frame 2");
    f.used -= 4;
    put_sample(&f, 3, 32, -INFINITY);
    refuses(&f, f.used, "got -inf in frame 2");
}

static void written_sounds_come_back(void **state) {
    (void)state;
    float samples[1000], *again;
    void *file;
    size_t bytes;
    wav_info info;
    for (int i = 0; i < 1000; i++) samples[i] = (float)(0.9 * sin(0.05 * i));
    assert_int_equal(wav_write(samples, 1000, RATE, &file, &bytes), BRAID_OK);
    assert_int_equal(bytes, 44 + 2000);
    assert_int_equal(wav_read(file, bytes, &info, &again), BRAID_OK);
    assert_int_equal(info.frames, 1000);
    /* written as x * 32767, read as n / 32768: one step and half a rounding */
    for (int i = 0; i < 1000; i++) assert_true(fabsf(samples[i] - again[i]) <= 1.5f / 32768);
    memory_free(again);
    memory_free(file);
}

/* Everything above that allocates, with each allocation failing in turn. */
static braid_status all_of_it(void) {
    float samples[600] = {0}, out[2 * 64], *again = NULL;
    void *file = NULL;
    size_t bytes = 0;
    wav_info info;
    mel *m = NULL;
    braid_status status = wav_write(samples, 600, RATE, &file, &bytes);
    if (!status) status = wav_read(file, bytes, &info, &again);
    if (!status) status = mel_create(&usual, &m);
    if (!status) status = mel_run(m, again, 600, out);
    mel_destroy(m);
    memory_free(again);
    memory_free(file);
    return status;
}

static void no_memory(void **state) {
    (void)state;
    fail_alloc_install();
    for (int64_t nth = 1;; nth++) {
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = all_of_it();
        int64_t failures = fail_alloc_disarm();
        assert_int_equal(memory_live(), 0);
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        if (!failures) break;
    }
    fail_alloc_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_formulas),
        cmocka_unit_test(silence_is_the_floor),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(reads_every_kind_of_number),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(what_follows_the_data_is_not_looked_at),
        cmocka_unit_test(refuses_what_is_not_a_number),
        cmocka_unit_test(written_sounds_come_back),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
