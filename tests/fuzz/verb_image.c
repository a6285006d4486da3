/*
 * Fuzz target: an image of a set, through all that the verbs do with one. The first byte of an input says by which
 * ending it goes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "braid_lab.h"
#include "tests/support/fuzz_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const char *const names[] = {"train/depth/00000.png", "train/depth/00000.jpg", "train/depth/00000.npy"};
    static const char *last;
    fuzz_set_folder(BRAID_DATA_SUNRGBD);
    if (bytes == 0) return 0;
    const char *name = names[data[0] % 3];
    fuzz_set_put(name, last && last != name ? last : name == names[0] ? NULL : names[0], data + 1, bytes - 1);
    last = name;
    fuzz_set_read(NULL);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#include <stdlib.h>
#include <string.h>

#include "tests/support/jpeg_file.h"

static mutate_seed with_kind(char kind, const void *data, size_t bytes) {
    char *all = malloc(bytes + 1);
    MUTATE_MUST(all);
    all[0] = kind;
    memcpy(all + 1, data, bytes);
    return (mutate_seed){all, bytes + 1};
}

int main(int count, char **arguments) {
    static const uint8_t pixels[16 * 16];
    char npy[10 + 64 + sizeof pixels] =
        "\x93NUMPY\1\0\x40\0{'descr': '|u1', 'fortran_order': False, 'shape': (16, 16), }  ";
    npy[10 + 63] = '\n';
    size_t bytes;
    mutate_seed seeds[5] = {{0}};
    const mutate_seed png = fuzz_set_seed(BRAID_DATA_SUNRGBD, "train/depth/00000.png");
    seeds[0] = with_kind(0, png.data, png.bytes);
    for (int progressive = 0; progressive < 2; progressive++) {
        unsigned char *jpeg = jpeg_file_make(pixels, 16, 16, 1, progressive, &bytes);
        seeds[1 + progressive] = with_kind(1, jpeg, bytes);
        free(jpeg);
    }
    seeds[3] = with_kind(2, npy, sizeof npy);
    int code = mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 3000);
    for (int k = 0; k < 4; k++) free((void *)seeds[k].data);
    free((void *)png.data);
    return code;
}
#endif
