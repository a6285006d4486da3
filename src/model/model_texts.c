/*
 * Texts that a model's files carry along under keys of the caller's. They are kept as JSON strings, because that is
 * what they are in a file.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/json.h"
#include "model/model.h"

/* Written by braid itself. */
static int is_reserved(const char *key) {
    return safetensors_is_own_key(key) || !strcmp(key, SAFETENSORS_NET) || !strcmp(key, MODEL_TRAINING_KEY);
}

static braid_status set_text(json_t *texts, const char *key, const char *text) {
    json_t *value = json_string(text);
    if (!value)
        return fail(BRAID_ERROR_ARGUMENT, "model: expected a text in UTF-8 under \"%.80s\", got other bytes", key);
    if (json_object_set_new(texts, key, value) != 0)
        return fail(BRAID_ERROR_ARGUMENT, "model: expected a key in UTF-8, and memory for its text, got neither");
    return BRAID_OK;
}

braid_status braid_model_set_text(braid_model *model, const char *key, const char *text) {
    if (!model || !key) return fail(BRAID_ERROR_ARGUMENT, "braid_model_set_text: expected a model and a key, got NULL");
    if (!*key || strlen(key) > SAFETENSORS_MAX_NAME || is_reserved(key))
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_model_set_text: key: expected 1 to %d bytes and none of braid's own keys, got \"%.80s\"",
                    SAFETENSORS_MAX_NAME, key);
    if (!model->texts && !(model->texts = json_object()))
        return fail(BRAID_ERROR_MEMORY, "model: no memory for its texts");
    if (text) return set_text(model->texts, key, text);
    json_object_del(model->texts, key);
    return BRAID_OK;
}

const char *braid_model_text(const braid_model *model, const char *key) {
    return model && key ? json_string_value(json_object_get(model->texts, key)) : NULL;
}

void model_forget_texts(braid_model *model) {
    json_decref(model->texts);
    model->texts = NULL;
}

braid_status model_load_texts(braid_model *model, const safetensors *file) {
    json_t *texts = json_object();
    braid_status status = texts ? BRAID_OK : fail(BRAID_ERROR_MEMORY, "model: no memory for its texts");
    for (size_t j = 0; j < safetensors_metadata_count(file) && !status; j++) {
        const char *key, *text = safetensors_metadata_at(file, j, &key);
        if (!is_reserved(key)) status = set_text(texts, key, text);
    }
    if (status) {
        json_decref(texts);
        return status;
    }
    model_forget_texts(model);
    model->texts = texts;
    return BRAID_OK;
}

braid_status model_save_texts(const braid_model *model, safetensors_writer *writer) {
    const char *key;
    json_t *text;
    json_object_foreach(model->texts, key, text) {
        TRY(safetensors_writer_metadata(writer, key, json_string_value(text)));
    }
    return BRAID_OK;
}
