/*
 * Fuzz target: tables of files, CSV and TSV. Every cell of a table that is read is a text within it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "data/table_file.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    table_file t;
    if (table_file_read((const char *)data, bytes, &t) == BRAID_OK) {
        MUTATE_MUST(t.rows > 1 && t.columns > 0 && t.columns <= TABLE_FILE_MAX_COLUMNS);
        for (int64_t k = 0; k < t.rows * t.columns; k++)
            MUTATE_MUST(t.cell[k] >= t.text && t.cell[k] + strlen(t.cell[k]) <= t.text + bytes);
    }
    table_file_free(&t);
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {"rgb,depth,label\na.png,b.png,cat\nc.png,d.png,\"a \"\"dog\"\", \nor two\"\n",
                                    "rgb\tlabel\r\na.png\tcat\r\n\r\n", "a;b\n1;2\n", "\xef\xbb\xbfx,label\n\"\",\n",
                                    NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
