/*
 * Fuzz target: JPEG. Any bytes are refused in words, or give an image of 8 bits.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/image.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    image i;
    if (jpeg_decode(data, bytes, &i) == BRAID_OK) {
        unsigned sum = 0;
        MUTATE_MUST((i.channels == 1 || i.channels == 3) && i.bits == 8);
        for (int64_t k = 0; k < i.height * i.width * i.channels; k++) sum += ((const uint8_t *)i.pixels)[k];
        MUTATE_MUST(sum < UINT32_MAX); /* every byte is there to be read */
        image_free(&i);
    } else {
        MUTATE_MUST(strstr(fail_message(), "JPEG") != NULL && i.pixels == NULL);
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
int main(int count, char **arguments) {
    uint8_t pixels[17 * 15 * 3];
    mutate_seed seeds[5] = {{0}};
    for (int k = 0; k < 17 * 15 * 3; k++) pixels[k] = (uint8_t)(k * 31 / 7);
    for (int k = 0; k < 4; k++)
        seeds[k].data = jpeg_file_make(pixels, 9 + 4 * (k % 3), 15, k % 2 ? 3 : 1, k / 2, &seeds[k].bytes);
    int code = mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 50000);
    for (int k = 0; k < 4; k++) free((void *)seeds[k].data);
    return code;
}
#endif
