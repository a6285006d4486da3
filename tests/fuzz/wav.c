/*
 * Fuzz target: WAV. Any bytes are refused in words, or give as many samples as the header tells.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/wav.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    wav_info info;
    float *samples;
    if (wav_read(data, bytes, &info, &samples) == BRAID_OK) {
        for (int64_t i = 0; i < info.frames; i++) MUTATE_MUST(isfinite(samples[i]));
        MUTATE_MUST(info.channels >= 1 && info.rate >= 1);
        memory_free(samples);
    } else {
        MUTATE_MUST(strstr(fail_message(), "WAV: ") != NULL && samples == NULL);
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#define SEED(text) \
    { text, sizeof(text) - 1 }
static const mutate_seed seeds[] = {
    SEED("RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\10\0\0\0abcdefgh"),
    SEED("RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\3\0\2\0\x80\x3e\0\0\0\xf4\1\0\10\0\x20\0data\10\0\0\0\0\0\0\x3f\0\0\0\xbf"),
    SEED("RIFF\x44\0\0\0WAVEfmt \x28\0\0\0\xfe\xff\1\0\x80\x3e\0\0\x80\xbb\0\0\3\0\x18\0\x16\0\x18\0\4\0\0\0"
         "\1\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
         "data\6\0\0\0abcdef"),
    {0}};

int main(int count, char **arguments) {
    return mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 50000);
}
#endif
