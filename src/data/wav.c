/*
 * WAV, see the header. libsndfile is never shown a header: some of its readers walk over chunks that a file makes up
 * without end. It gets the samples alone, as raw numbers of the format that was read here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/wav.h"

#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "data/limits.h"

#define BLOCK_FRAMES 4096

/* ---- The header --------------------------------------------------------------------------- */

static uint32_t u16_at(const uint8_t *at) { return at[0] | (uint32_t)at[1] << 8; }
static uint32_t u32_at(const uint8_t *at) { return u16_at(at) | u16_at(at + 2) << 16; }

/* Where the samples of a file are, and how libsndfile is told of them. */
typedef struct sound_view {
    wav_info info;
    int format;
    uint32_t frame_bytes; /* 0: no format chunk came yet */
    size_t begin;
} sound_view;

/* A number format of `bits` bits as libsndfile calls it; 0: there is none. Kind 1 are whole numbers, 3 floats. */
static int format_of(uint32_t kind, uint32_t bits) {
    static const int whole[] = {0, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32};
    if (kind == 1) return bits % 8 == 0 && bits <= 32 ? whole[bits / 8] : 0;
    return bits == 32 ? SF_FORMAT_FLOAT : bits == 64 ? SF_FORMAT_DOUBLE : 0;
}

/* The chunk "fmt ": plain numbers (1), floats (3), or the extended form (0xfffe), which names one of them again. */
static braid_status read_format(const uint8_t *at, size_t bytes, sound_view *out) {
    if (bytes < 16) return fail(BRAID_ERROR_DATA, "WAV: expected a format chunk of 16 bytes or more, got %zu", bytes);
    uint32_t kind = u16_at(at), bits = u16_at(at + 14);
    out->info.channels = (int)u16_at(at + 2);
    out->info.rate = (int)(u32_at(at + 4) & 0x7fffffff);
    out->frame_bytes = u16_at(at + 12);
    if (kind == 0xfffe && bytes >= 26) kind = u16_at(at + 24);
    if (kind != 1 && kind != 3)
        return fail(BRAID_ERROR_DATA, "WAV: expected plain numbers (format 1) or floats (3), got format %u", kind);
    out->format = format_of(kind, bits);
    if (out->info.channels < 1 || out->info.channels > WAV_MAX_CHANNELS || out->info.rate < 1 || !out->format ||
        out->frame_bytes != (uint32_t)out->info.channels * (bits / 8))
        return fail(BRAID_ERROR_DATA,
                    "WAV: expected 1 to %d channels of 8, 16, 24 or 32 bits (floats: 32 or 64) and a rate, got %d of "
                    "%u bits, %d a second, %u bytes a frame",
                    WAV_MAX_CHANNELS, out->info.channels, bits, out->info.rate, out->frame_bytes);
    return BRAID_OK;
}

static braid_status find_samples(const uint8_t *file, size_t bytes, size_t file_bytes, sound_view *out) {
    *out = (sound_view){0};
    if (bytes < 12 || memcmp(file, "RIFF", 4) != 0 || memcmp(file + 8, "WAVE", 4) != 0)
        return fail(BRAID_ERROR_DATA, "WAV: expected a file that begins with RIFF....WAVE");
    for (size_t at = 12; at + 8 <= bytes;) {
        size_t length = u32_at(file + at + 4), left = file_bytes - at - 8;
        if (length > left)
            return fail(BRAID_ERROR_DATA, "WAV: expected %zu bytes after byte %zu, got %zu: the file is cut short",
                        length, at + 8, left);
        if (!memcmp(file + at, "data", 4)) {
            if (!out->frame_bytes) return fail(BRAID_ERROR_DATA, "WAV: expected a format chunk before the data");
            out->info.frames = (int64_t)(length / out->frame_bytes);
            out->begin = at + 8;
            return BRAID_OK;
        }
        if (!memcmp(file + at, "fmt ", 4)) {
            size_t seen = bytes - at - 8;
            TRY(read_format(file + at + 8, length < seen ? length : seen, out));
        }
        at += 8 + length + length % 2;
    }
    return fail(BRAID_ERROR_DATA, "WAV: expected a data chunk in the first %zu bytes, got none", bytes);
}

braid_status wav_look(const void *data, size_t bytes, size_t file_bytes, wav_info *out) {
    sound_view view;
    braid_status status = find_samples(data, bytes, file_bytes, &view);
    *out = view.info;
    return status;
}

/* ---- Files in memory ---------------------------------------------------------------------- */

typedef struct memory_file {
    unsigned char *data;
    sf_count_t bytes, room, at;
    int failed;
} memory_file;

static sf_count_t file_length(void *user) { return ((memory_file *)user)->bytes; }

static sf_count_t file_seek(sf_count_t offset, int whence, void *user) {
    memory_file *f = user;
    sf_count_t base = whence == SEEK_CUR ? f->at : whence == SEEK_END ? f->bytes : 0;
    if (offset < -base || offset > f->bytes - base) return -1;
    return f->at = base + offset;
}

static sf_count_t file_read(void *out, sf_count_t count, void *user) {
    memory_file *f = user;
    if (count < 0) return 0;
    if (count > f->bytes - f->at) count = f->bytes - f->at;
    memcpy(out, f->data + f->at, (size_t)count);
    f->at += count;
    return count;
}

/* The room was made before: nothing grows. */
static sf_count_t file_write(const void *data, sf_count_t count, void *user) {
    memory_file *f = user;
    if (count < 0 || count > f->room - f->at) {
        f->failed = 1;
        return 0;
    }
    memcpy(f->data + f->at, data, (size_t)count);
    f->at += count;
    if (f->at > f->bytes) f->bytes = f->at;
    return count;
}

static sf_count_t file_tell(void *user) { return ((memory_file *)user)->at; }

static SF_VIRTUAL_IO memory_calls = {file_length, file_seek, file_read, file_write, file_tell};

/* ---- Reading ------------------------------------------------------------------------------ */

static braid_status read_blocks(SNDFILE *sound, const wav_info *info, float *samples) {
    float block[BLOCK_FRAMES];
    int64_t most = BLOCK_FRAMES / info->channels;
    for (int64_t done = 0; done < info->frames;) {
        TRY(limits_work(sizeof block));
        int64_t wanted = info->frames - done < most ? info->frames - done : most;
        int64_t got = sf_readf_float(sound, block, wanted);
        if (got <= 0 || got > wanted)
            return fail(BRAID_ERROR_DATA, "WAV: expected %lld frames, got %lld", (long long)info->frames,
                        (long long)done);
        for (int64_t i = 0; i < got; i++) {
            float sum = 0;
            for (int c = 0; c < info->channels; c++) sum += block[i * info->channels + c];
            samples[done + i] = sum / (float)info->channels;
            if (!isfinite(sum))
                return fail(BRAID_ERROR_DATA, "WAV: expected finite numbers, got %g in frame %lld", (double)sum,
                            (long long)(done + i));
        }
        done += got;
    }
    return BRAID_OK;
}

static braid_status read_samples(const void *data, const sound_view *view, float *samples) {
    SF_INFO info = {.samplerate = view->info.rate,
                    .channels = view->info.channels,
                    .format = SF_FORMAT_RAW | SF_ENDIAN_LITTLE | view->format};
    memory_file file = {.data = (unsigned char *)data + view->begin,
                        .bytes = (sf_count_t)view->info.frames * view->frame_bytes};
    SNDFILE *sound = sf_open_virtual(&memory_calls, SFM_READ, &info, &file);
    if (!sound) return fail(BRAID_ERROR_DATA, "WAV: %s", sf_strerror(NULL));
    braid_status status = read_blocks(sound, &view->info, samples);
    sf_close(sound);
    return status;
}

braid_status wav_read(const void *data, size_t bytes, wav_info *info, float **samples) {
    sound_view view;
    void *memory;
    *samples = NULL;
    braid_status status = find_samples(data, bytes, bytes, &view);
    *info = view.info;
    TRY(status);
    TRY(limits_begin_file(bytes));
    TRY(memory_alloc((size_t)info->frames, sizeof **samples, "a sound", &memory));
    status = read_samples(data, &view, memory);
    if (status)
        memory_free(memory);
    else
        *samples = memory;
    return status;
}

/* ---- Writing ------------------------------------------------------------------------------ */

braid_status wav_write(const float *samples, int64_t frames, int rate, void **data, size_t *bytes) {
    SF_INFO info = {.samplerate = rate, .channels = 1, .format = SF_FORMAT_WAV | SF_FORMAT_PCM_16};
    size_t room;
    void *memory;
    *data = NULL;
    TRY(size_array((size_t)frames, 2, "a sound", &room));
    TRY(memory_calloc(room + 1024, 1, "a sound", &memory)); /* and the header */
    memory_file file = {.data = memory, .room = (sf_count_t)room + 1024};
    SNDFILE *sound = sf_open_virtual(&memory_calls, SFM_WRITE, &info, &file);
    int64_t written = sound ? sf_writef_float(sound, samples, frames) : -1;
    if (sound && sf_close(sound) != 0) written = -1;
    if (written != frames || file.failed) {
        memory_free(memory);
        return fail(BRAID_ERROR_MEMORY, "WAV: no memory to write %lld frames", (long long)frames);
    }
    *data = memory;
    *bytes = (size_t)file.bytes;
    return BRAID_OK;
}
