/*
 * Fuzz target: the reader of safetensors, on the bytes as they are and as a header of the right length in front
 * of as much data as its tensors ask for. What is believed covers the data without holes, can be found by name
 * and read; what is refused is refused in words and leaves no memory behind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/safetensors.h"
#include "tests/support/mutate.h"

#define DATA_BYTES 64

static void must_be_sound(const safetensors *file, size_t bytes) {
    size_t covered = 0;
    for (size_t i = 0; i < safetensors_count(file); i++) {
        const safetensors_entry *entry = safetensors_at(file, i);
        MUTATE_MUST(entry->begin == covered && entry->end >= covered && entry->end <= bytes);
        MUTATE_MUST(safetensors_find(file, entry->name) == entry);
        MUTATE_MUST(safetensors_dtype_name(entry->dtype) && entry->rank >= 0 && entry->rank <= SAFETENSORS_MAX_RANK);
        covered = entry->end;
        void *data = malloc(covered - entry->begin + 1);
        MUTATE_MUST(data && safetensors_read(file, entry, data) != BRAID_ERROR_MEMORY);
        free(data);
        MUTATE_MUST(safetensors_verify(file, entry) == BRAID_OK || safetensors_has_checksums(file));
    }
    (void)safetensors_metadata(file, "format");
}

static void open_one(const void *data, size_t bytes) {
    safetensors *file;
    if (safetensors_open_memory(data, bytes, &file) == BRAID_OK)
        must_be_sound(file, bytes);
    else
        MUTATE_MUST(strstr(braid_message(), "expected") != NULL && file == NULL);
    safetensors_close(file);
    MUTATE_MUST(memory_live() == 0);
}

/* The bytes as a header, in front of 0 to DATA_BYTES bytes; the last byte says how many. */
static void open_as_header(const uint8_t *data, size_t bytes) {
    size_t data_bytes = bytes ? data[bytes - 1] % (DATA_BYTES + 1) : 0;
    uint8_t *image = malloc(8 + bytes + data_bytes);
    if (!image) return;
    for (int i = 0; i < 8; i++) image[i] = (uint8_t)(bytes >> (8 * i));
    memcpy(image + 8, data, bytes);
    memset(image + 8 + bytes, 0, data_bytes);
    open_one(image, 8 + bytes + data_bytes);
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    open_one(data, bytes);
    open_as_header(data, bytes);
    return 0;
}

#ifndef BRAID_LIBFUZZER
/* Texts end at a zero byte, so that the seeds are headers; ' ' asks for 32 bytes of data, '}' for 60. */
static const char *const seeds[] = {
    "{}",
    "{\"__metadata__\":{\"format\":\"pt\",\"\\u00e9\\ud83d\\ude00\":\"\\n\"}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,4],\"data_offsets\":[0,32]}} ",
    "{\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},\"z\":{\"dtype\":\"F32\",\"shape\":[64,0,1,1],"
    "\"data_offsets\":[8,8]},\"h\":{\"dtype\":\"BF16\",\"shape\":[3,4],\"data_offsets\":[8,32]}} ",
    "{\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},\"u\":{\"dtype\":\"U8\",\"shape\":[52],"
    "\"data_offsets\":[8,60]}}",
    "{\"__metadata__\":{\"braid.checksum\":\"xxh3:0123456789abcdef0123456789abcdef\"},"
    "\"a\":{\"dtype\":\"F16\",\"shape\":[16],\"data_offsets\":[0,32]}} ",
    "\x02",
    NULL,
};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
