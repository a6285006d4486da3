/*
 * Fuzz target: metrics.jsonl as it may be found. Any file can be opened; what is left of it are whole lines, a second
 * time nothing more is dropped, and it can be read and added to.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "tests/support/fuzz_file.h"
#include "tests/support/mutate.h"
#include "train/history.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file_path(".jsonl");
    history h;
    char *text;
    size_t kept, again;
    json_t *columns;
    fuzz_file_write(path, data, bytes);
    MUTATE_MUST(history_open(&h, path, (history_place){2, 25}) == BRAID_OK);
    kept = h.file.bytes;
    history_close(&h);
    MUTATE_MUST(files_read(path, SIZE_MAX, BRAID_ERROR_DATA, &text, &again) == BRAID_OK);
    MUTATE_MUST(kept == again && kept <= bytes && (kept == 0 || text[kept - 1] == '\n'));
    memory_free(text);
    MUTATE_MUST(history_open(&h, path, (history_place){2, 25}) == BRAID_OK && h.file.bytes <= kept);
    MUTATE_MUST(history_add(&h, &(history_row){HISTORY_EPOCH, 9, 9, NULL, 0}) == BRAID_OK);
    history_close(&h);
    MUTATE_MUST(history_read(path, &columns) == BRAID_OK);
    MUTATE_MUST(json_array_size(json_object_get(columns, "step")) > 0 || json_object_get(columns, "step"));
    json_decref(columns);
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "{\"kind\":\"epoch\",\"epoch\":1,\"step\":10,\"train_loss\":1,\"learning_rates\":[0.1,0.02]}\n"
    "{\"kind\":\"epoch\",\"epoch\":2,\"step\":20,\"val_loss\":null}\n"
    "{\"kind\":\"epoch\",\"epoch\":3,\"step\":30,\"train_loss\":0.25}\n",
    "a note\n{\"kind\":\"summary\",\"step\":7,\"early_stopping\":{\"stopped_early\":true}}\n[1]\n\n{\"kind\":\"st",
    "",
    NULL,
};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 20000); }
#endif
