/*
 * Checkpoints as model files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/safetensors.h"

#define HEADER_BYTES ((size_t)1 << 17) /* more than names, choices and the state of a run take */
#define FORMAT 2                       /* of the state; another one is refused */

size_t checkpoint_bytes(const braid_model *model, int moments) {
    size_t whole = (size_t)model->elements * dtype_bytes(model->master);
    return whole * (size_t)(1 + moments) + model->state_bytes + HEADER_BYTES;
}

braid_status checkpoint_save(braid_model *model, const char *path, const json_t *state) {
    int64_t updates;
    char *text = NULL;
    size_t bytes;
    TRY(model_step_read(model, &updates));
    json_t *whole = json_copy((json_t *)state);
    if (!whole || json_object_set_new(whole, "format", json_integer(FORMAT)) != 0 ||
        json_object_set_new(whole, "updates", json_integer(updates)) != 0) {
        json_decref(whole);
        return fail(BRAID_ERROR_MEMORY, "checkpoint: no memory for the state of the run");
    }
    braid_status status = json_write(whole, &text, &bytes);
    json_decref(whole);
    if (!status) status = model_save_training(model, path, text);
    memory_free(text);
    return status;
}

braid_status checkpoint_check(const char *path, void *user) {
    safetensors *file = NULL;
    (void)user;
    files_forget_fault();
    braid_status status = safetensors_open(path, &file);
    for (size_t j = 0; !status && j < safetensors_count(file); j++)
        status = safetensors_verify(file, safetensors_at(file, j));
    safetensors_close(file);
    return files_blame_system(status);
}

static braid_status read_state(const char *text, const char *path, json_t **state) {
    int64_t format, updates;
    char what[256];
    if (!text)
        return fail(BRAID_ERROR_MODEL,
                    "%.200s: expected a checkpoint (%s in the metadata), got a model without the state of its training",
                    path, MODEL_TRAINING_KEY);
    snprintf(what, sizeof what, "%.200s: the state of the training", path);
    TRY(json_read(text, strlen(text), what, BRAID_ERROR_MODEL, state));
    braid_status status = BRAID_OK;
    if (json_get_integer(*state, "format", &format))
        status = fail(BRAID_ERROR_MODEL, "%.200s: expected the format of the state, a number, got none", path);
    else if (format != FORMAT)
        status =
            fail(BRAID_ERROR_MODEL,
                 "%.200s: expected a state of training in format %d, got format %lld, of another version of braid; "
                 "its weights serve predict and eval, but its training cannot be resumed",
                 path, FORMAT, (long long)format);
    else if (json_get_integer(*state, "updates", &updates) || updates < 0 || updates > CHECKPOINT_MOST_COUNT)
        status = fail(BRAID_ERROR_MODEL, "%.200s: expected the number of updates, got none or one out of range", path);
    if (!status) return BRAID_OK;
    json_decref(*state);
    *state = NULL;
    return status;
}

braid_status checkpoint_state(const char *path, json_t **state) {
    safetensors *file = NULL;
    *state = NULL;
    files_forget_fault();
    TRY(files_blame_system(safetensors_open(path, &file)));
    braid_status status = read_state(safetensors_metadata(file, MODEL_TRAINING_KEY), path, state);
    safetensors_close(file);
    return status;
}

braid_status checkpoint_load(braid_model *model, const char *path, const json_t *state) {
    int64_t updates;
    TRY(json_get_integer(state, "updates", &updates));
    TRY(model_load_training(model, path));
    return model_step_write(model, updates);
}
