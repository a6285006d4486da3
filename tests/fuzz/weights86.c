/*
 * Fuzz target: weights-86.bin. The bytes are edits of a good file, four bytes each: where (one of the file's own
 * counts, or any byte) and what is put there; the first byte says how much is cut off or added. What is taken comes
 * back as it was; what is refused is refused in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "braid.h"
#include "core/files.h"
#include "core/memory.h"
#include "tests/support/fuzz_file.h"
#include "tests/support/mutate.h"

#define LAYERS 10
#define FILE_BYTES 180788
#define MOST_MORE 128

static size_t counts[LAYERS + 1]; /* where the counts are */

static void put(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/* A file whose values are all 0. */
static void fill_good(uint8_t file[FILE_BYTES + MOST_MORE]) {
    static const uint32_t values[LAYERS] = {200, 0, 0, 3152, 0, 0, 41504, 0, 330, 0};
    size_t at = 4;
    memset(file, 0, FILE_BYTES + MOST_MORE);
    put(file, LAYERS);
    for (int layer = 0; layer < LAYERS; layer++) {
        counts[layer + 1] = at;
        put(file + at, values[layer]);
        at += 4 * ((size_t)values[layer] + 1);
    }
    MUTATE_MUST(at == FILE_BYTES);
}

/* Returns how long the file is. */
static size_t edit(uint8_t *file, const uint8_t *data, size_t bytes) {
    for (size_t j = 1; j + 4 <= bytes; j += 4) {
        size_t anywhere = ((size_t)data[j] << 16 | (size_t)data[j + 1] << 8 | data[j + 2]) % FILE_BYTES;
        size_t at = data[j] & 1 ? anywhere : counts[data[j + 1] % (LAYERS + 1)] + data[j + 2] % 4;
        file[at] = data[j + 3];
    }
    return bytes ? FILE_BYTES + MOST_MORE - data[0] : FILE_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static uint8_t file[FILE_BYTES + MOST_MORE];
    const char *from = fuzz_file_path(".bin"), *to = fuzz_file_path(".safetensors");
    char *back;
    size_t back_bytes;
    fill_good(file);
    size_t file_bytes = edit(file, data, bytes);
    fuzz_file_write(from, file, file_bytes);
    braid_status status = braid_convert(from, to);
    if (status == BRAID_OK) {
        MUTATE_MUST(braid_convert(to, from) == BRAID_OK);
        MUTATE_MUST(files_read(from, FILE_BYTES, BRAID_ERROR_MODEL, &back, &back_bytes) == BRAID_OK);
        MUTATE_MUST(back_bytes == file_bytes && !memcmp(back, file, file_bytes));
        memory_free(back);
    } else {
        MUTATE_MUST(status == BRAID_ERROR_MODEL && strstr(braid_message(), "expected"));
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#define SEED(text) \
    { text, sizeof(text) - 1 }
static const mutate_seed seeds[] = {
    SEED("\x80"), SEED("\x80\0\0\0\x0b"), SEED("\x80\1\x20\x33\x7f\0\1\1\0\0\3\2\1"), SEED("\x7f\1\1\1\1"), {0}};

int main(int count, char **arguments) {
    return mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 4000);
}
#endif
