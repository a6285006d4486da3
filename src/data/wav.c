/*
 * WAV by libsndfile on memory, see the header.
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

#define BLOCK_FRAMES 4096

/* ---- The header --------------------------------------------------------------------------- */

static uint32_t u16_at(const uint8_t *at) { return at[0] | (uint32_t)at[1] << 8; }
static uint32_t u32_at(const uint8_t *at) { return u16_at(at) | u16_at(at + 2) << 16; }

/* The chunk "fmt ": plain numbers (1), floats (3), or the extended form (0xfffe), which names one of them again. */
static braid_status read_format(const uint8_t *at, size_t bytes, wav_info *out, uint32_t *frame_bytes) {
    if (bytes < 16) return fail(BRAID_ERROR_DATA, "WAV: expected a format chunk of 16 bytes or more, got %zu", bytes);
    uint32_t kind = u16_at(at), bits = u16_at(at + 14);
    out->channels = (int)u16_at(at + 2);
    out->rate = (int)(u32_at(at + 4) & 0x7fffffff);
    *frame_bytes = u16_at(at + 12);
    if (kind == 0xfffe && bytes >= 26) kind = u16_at(at + 24);
    if (kind != 1 && kind != 3)
        return fail(BRAID_ERROR_DATA, "WAV: expected plain numbers (format 1) or floats (3), got format %u", kind);
    if (out->channels < 1 || out->channels > WAV_MAX_CHANNELS || out->rate < 1 || bits % 8 != 0 || *frame_bytes == 0 ||
        *frame_bytes != (uint32_t)out->channels * (bits / 8))
        return fail(
            BRAID_ERROR_DATA,
            "WAV: expected 1 to %d channels of whole bytes and a rate, got %d of %u bits, %d a second, %u bytes "
            "a frame",
            WAV_MAX_CHANNELS, out->channels, bits, out->rate, *frame_bytes);
    return BRAID_OK;
}

braid_status wav_look(const void *data, size_t bytes, size_t file_bytes, wav_info *out) {
    const uint8_t *file = data;
    uint32_t frame_bytes = 0;
    *out = (wav_info){0};
    if (bytes < 12 || memcmp(file, "RIFF", 4) != 0 || memcmp(file + 8, "WAVE", 4) != 0)
        return fail(BRAID_ERROR_DATA, "WAV: expected a file that begins with RIFF....WAVE");
    for (size_t at = 12; at + 8 <= bytes;) {
        size_t length = u32_at(file + at + 4), left = file_bytes - at - 8;
        if (length > left)
            return fail(BRAID_ERROR_DATA, "WAV: expected %zu bytes behind byte %zu, got %zu: the file is cut short",
                        length, at + 8, left);
        if (!memcmp(file + at, "data", 4)) {
            if (!frame_bytes) return fail(BRAID_ERROR_DATA, "WAV: expected a format chunk before the data");
            out->frames = (int64_t)(length / frame_bytes);
            return BRAID_OK;
        }
        if (!memcmp(file + at, "fmt ", 4)) {
            size_t seen = bytes - at - 8;
            TRY(read_format(file + at + 8, length < seen ? length : seen, out, &frame_bytes));
        }
        at += 8 + length + length % 2;
    }
    return fail(BRAID_ERROR_DATA, "WAV: expected a data chunk in the first %zu bytes, got none", bytes);
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

braid_status wav_read(const void *data, size_t bytes, wav_info *info, float **samples) {
    SF_INFO read_info = {0};
    memory_file file = {.data = (unsigned char *)data, .bytes = (sf_count_t)bytes};
    void *memory;
    *samples = NULL;
    TRY(wav_look(data, bytes, bytes, info));
    SNDFILE *sound = sf_open_virtual(&memory_calls, SFM_READ, &read_info, &file);
    if (!sound) return fail(BRAID_ERROR_DATA, "WAV: %s", sf_strerror(NULL));
    braid_status status = BRAID_OK;
    if (read_info.channels != info->channels || read_info.samplerate != info->rate || read_info.frames != info->frames)
        status = fail(BRAID_ERROR_DATA, "WAV: expected %lld frames of %d channels, got %lld of %d",
                      (long long)info->frames, info->channels, (long long)read_info.frames, read_info.channels);
    if (!status) status = memory_alloc((size_t)info->frames, sizeof **samples, "a sound", &memory);
    if (!status) {
        *samples = memory;
        status = read_blocks(sound, info, *samples);
    }
    sf_close(sound);
    if (status == BRAID_OK) return BRAID_OK;
    memory_free(*samples);
    *samples = NULL;
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
