/*
 * Files of weights: what a safetensors file holds, and the weights of lenet86 as its course gave them away. That
 * file, weights-86.bin, has ten layers: the number 10, then for each layer a count and as many f32, everything
 * little-endian. A layer with numbers is a filter or matrix as safetensors has it, and then its bias; the others
 * (activations, pooling, softmax) are empty. Names and shapes come from the network itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/safetensors.h"
#include "core/sizes.h"
#include "nets/net.h"

enum { LAYERS = 10, TENSORS = 8, NUMBER = 4 }; /* NUMBER: bytes of a count and of a value */

/* ---- What a file holds -------------------------------------------------------------------- */

static braid_status describe(const safetensors *file, braid_file_text_function text, braid_file_tensor_function tensor,
                             void *user) {
    for (size_t i = 0; text && i < safetensors_metadata_count(file); i++) {
        const char *key, *value = safetensors_metadata_at(file, i, &key);
        text(user, key, value);
    }
    for (size_t i = 0; i < safetensors_count(file); i++) {
        const safetensors_entry *entry = safetensors_at(file, i);
        braid_file_tensor told = {
            .name = entry->name, .dtype = entry->dtype, .rank = entry->rank, .bytes = entry->end - entry->begin};
        for (int axis = 0; axis < entry->rank; axis++) told.dims[axis] = entry->dims[axis];
        TRY(safetensors_verify(file, entry));
        if (tensor) tensor(user, &told);
    }
    return BRAID_OK;
}

braid_status braid_file_describe(const char *path, braid_file_text_function text, braid_file_tensor_function tensor,
                                 void *user, int *verified) {
    safetensors *file;
    if (verified) *verified = 0;
    files_forget_fault();
    TRY(files_blame_system(safetensors_open(path, &file)));
    braid_status status = describe(file, text, tensor, user);
    if (verified) *verified = status == BRAID_OK && safetensors_has_checksums(file);
    safetensors_close(file);
    return files_blame_system(status);
}

static braid_status read_numbers(const safetensors *file, const char *name, braid_dtype dtype, void *data,
                                 size_t bytes) {
    const safetensors_entry *entry = safetensors_find(file, name);
    void *raw = NULL;
    if (!entry) return fail(BRAID_ERROR_DATA, "expected a tensor \"%.64s\" in the file, got none of that name", name);
    size_t stored = entry->end - entry->begin, count = stored / dtype_bytes(entry->dtype);
    if (bytes != count * dtype_bytes(dtype))
        return fail(BRAID_ERROR_DATA, "%.64s: expected %zu numbers, got %zu", name, bytes / dtype_bytes(dtype), count);
    TRY(memory_alloc(1, stored + 1, "tensor", &raw));
    braid_status status = safetensors_read(file, entry, raw);
    for (size_t j = 0; j < count && !status; j++)
        dtype_store(data, dtype, (int64_t)j, dtype_load(raw, entry->dtype, (int64_t)j));
    memory_free(raw);
    return status;
}

braid_status braid_file_read(const char *path, const char *name, braid_dtype dtype, void *data, size_t bytes) {
    safetensors *file;
    if (!path || !name || (!data && bytes) || (dtype != BRAID_DTYPE_F32 && dtype != BRAID_DTYPE_F64))
        return fail(BRAID_ERROR_ARGUMENT, "braid_file_read: expected a path, a name, f32 or f64 and a place, got NULL");
    TRY(safetensors_open(path, &file));
    braid_status status = read_numbers(file, name, dtype, data, bytes);
    safetensors_close(file);
    return status;
}

braid_status braid_file_write(const char *path, const braid_file_tensor *tensors, const void *const *data, int count) {
    safetensors_writer *writer = NULL;
    if (!path || count < 0 || (count && (!tensors || !data)))
        return fail(BRAID_ERROR_ARGUMENT, "braid_file_write: expected a path and tensors, got NULL");
    braid_status status = safetensors_writer_create(&writer);
    for (int j = 0; j < count && !status; j++) {
        safetensors_tensor one = {
            .name = tensors[j].name, .dtype = tensors[j].dtype, .rank = tensors[j].rank, .data = data[j]};
        for (int axis = 0; axis < BRAID_FILE_MAX_RANK; axis++) one.dims[axis] = tensors[j].dims[axis];
        status = safetensors_writer_add(writer, &one);
    }
    if (!status) status = safetensors_writer_write(writer, path);
    safetensors_writer_destroy(writer);
    return status;
}

/* ---- weights-86.bin ----------------------------------------------------------------------- */

/* Where everything lies in weights-86.bin. */
typedef struct layout {
    braid_tensor_info tensor[TENSORS]; /* in the order of the file: each layer's weight, then its bias */
    size_t begin[TENSORS], size[TENSORS];
    int64_t count[LAYERS];
    size_t bytes;
} layout;

static void put_number(unsigned char *to, uint32_t value) {
    for (int i = 0; i < NUMBER; i++) to[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get_number(const unsigned char *from) {
    uint32_t value = 0;
    for (int i = NUMBER - 1; i >= 0; i--) value = value << 8 | from[i];
    return value;
}

/* Places one layer: the next two tensors, or none. */
static braid_status place_layer(layout *l, int layer, int first) {
    l->count[layer] = 0;
    if (!size_add(l->bytes, NUMBER, &l->bytes)) return fail(BRAID_ERROR_MEMORY, "weights-86.bin: too large");
    for (int t = first; first >= 0 && t < first + 2; t++) {
        int64_t elements = 0;
        TRY(size_elements(l->tensor[t].dims, l->tensor[t].rank, l->tensor[t].name, &elements));
        TRY(size_array((size_t)elements, NUMBER, l->tensor[t].name, &l->size[t]));
        l->begin[t] = l->bytes;
        l->count[layer] += elements;
        if (!size_add(l->bytes, l->size[t], &l->bytes)) return fail(BRAID_ERROR_MEMORY, "weights-86.bin: too large");
    }
    return BRAID_OK;
}

static braid_status make_layout(const braid_net *net, layout *l) {
    static const int first_tensor[LAYERS] = {0, -1, -1, 2, -1, -1, 4, -1, 6, -1};
    *l = (layout){.bytes = NUMBER};
    if (braid_net_tensor_count(net) != TENSORS)
        return fail(BRAID_ERROR_MODEL, "lenet86: expected %d tensors, got %d", TENSORS, braid_net_tensor_count(net));
    for (int t = 0; t < TENSORS; t++) TRY(braid_net_tensor(net, t, &l->tensor[t]));
    for (int layer = 0; layer < LAYERS; layer++) TRY(place_layer(l, layer, first_tensor[layer]));
    return BRAID_OK;
}

/* Holds all numbers but the values against the layout. */
static braid_status check_image(const layout *l, const unsigned char *image, size_t bytes, const char *path) {
    if (bytes != l->bytes)
        return fail(BRAID_ERROR_MODEL, "%s: expected weights-86.bin with %zu bytes, got %zu; copy it again", path,
                    l->bytes, bytes);
    if (get_number(image) != LAYERS)
        return fail(BRAID_ERROR_MODEL, "%s: expected %d layers, got %" PRIu32 "; is it weights-86.bin?", path, LAYERS,
                    get_number(image));
    size_t at = NUMBER;
    for (int layer = 0; layer < LAYERS; layer++) {
        uint32_t count = get_number(image + at);
        if (count != l->count[layer])
            return fail(BRAID_ERROR_MODEL, "%s: layer %d: expected %" PRId64 " numbers, got %" PRIu32, path, layer,
                        l->count[layer], count);
        at += NUMBER * ((size_t)count + 1);
    }
    return BRAID_OK;
}

static braid_status add_tensors(const layout *l, const unsigned char *image, safetensors_writer *writer) {
    for (int t = 0; t < TENSORS; t++) {
        safetensors_tensor tensor = {.name = l->tensor[t].name,
                                     .dtype = BRAID_DTYPE_F32,
                                     .rank = l->tensor[t].rank,
                                     .data = image + l->begin[t]};
        for (int axis = 0; axis < tensor.rank; axis++) tensor.dims[axis] = l->tensor[t].dims[axis];
        TRY(safetensors_writer_add(writer, &tensor));
    }
    return BRAID_OK;
}

static braid_status write_safetensors(const braid_net *net, const layout *l, const char *image, const char *to) {
    safetensors_writer *writer;
    TRY(safetensors_writer_create(&writer));
    braid_status status = add_tensors(l, (const unsigned char *)image, writer);
    if (status == BRAID_OK) status = safetensors_writer_metadata(writer, SAFETENSORS_NET, braid_net_describe(net));
    if (status == BRAID_OK) status = safetensors_writer_write(writer, to);
    safetensors_writer_destroy(writer);
    return status;
}

static braid_status convert_to_safetensors(const braid_net *net, const layout *l, const char *from, const char *to) {
    char *image;
    size_t bytes;
    TRY(files_read(from, l->bytes, BRAID_ERROR_MODEL, &image, &bytes));
    braid_status status = check_image(l, (const unsigned char *)image, bytes, from);
    if (status == BRAID_OK) status = write_safetensors(net, l, image, to);
    memory_free(image);
    return status;
}

static void shape_text(int rank, const int64_t *dims, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int axis = 0; axis < rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, axis ? "x" : "", dims[axis]);
}

static braid_status read_tensor(const safetensors *file, const char *path, const braid_tensor_info *wanted, void *to) {
    char expected[96], got[192];
    const safetensors_entry *entry = safetensors_find(file, wanted->name);
    if (!entry)
        return fail(BRAID_ERROR_MODEL, "%s: expected the tensor \"%s\" of lenet86, got none of that name", path,
                    wanted->name);
    if (entry->dtype != BRAID_DTYPE_F32)
        return fail(BRAID_ERROR_MODEL, "%s: tensor \"%s\": expected F32, got %s", path, wanted->name,
                    safetensors_dtype_name(entry->dtype));
    if (entry->rank != wanted->rank || memcmp(entry->dims, wanted->dims, (size_t)entry->rank * sizeof *entry->dims)) {
        shape_text(wanted->rank, wanted->dims, expected, sizeof expected);
        shape_text(entry->rank, entry->dims, got, sizeof got);
        return fail(BRAID_ERROR_MODEL, "%s: tensor \"%s\": expected the shape %s, got %s", path, wanted->name, expected,
                    got);
    }
    return safetensors_read(file, entry, to);
}

static braid_status fill_image(const layout *l, const safetensors *file, const char *path, unsigned char *image) {
    if (safetensors_count(file) != TENSORS)
        return fail(BRAID_ERROR_MODEL, "%s: expected the %d tensors of lenet86, got %zu", path, TENSORS,
                    safetensors_count(file));
    for (int t = 0; t < TENSORS; t++) TRY(read_tensor(file, path, &l->tensor[t], image + l->begin[t]));
    put_number(image, LAYERS);
    size_t at = NUMBER;
    for (int layer = 0; layer < LAYERS; layer++) {
        put_number(image + at, (uint32_t)l->count[layer]);
        at += NUMBER * ((size_t)l->count[layer] + 1);
    }
    return BRAID_OK;
}

static braid_status convert_from_safetensors(const layout *l, const char *from, const char *to) {
    void *image = NULL;
    safetensors *file;
    TRY(safetensors_open(from, &file));
    braid_status status = memory_alloc(l->bytes, 1, "weights-86.bin", &image);
    if (status == BRAID_OK) status = fill_image(l, file, from, image);
    safetensors_close(file);
    if (status == BRAID_OK) status = files_replace(to, image, l->bytes);
    memory_free(image);
    return status;
}

static int ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

braid_status braid_convert(const char *from, const char *to) {
    braid_net *net;
    layout l;
    if (!from || !to)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected the name of a file, got NULL", from ? "to" : "from");
    int safe = ends_in(to, ".safetensors");
    if (!safe && !ends_in(to, ".bin"))
        return fail(BRAID_ERROR_ARGUMENT,
                    "to: expected a name that ends in .safetensors or in .bin (weights-86.bin), got \"%s\"", to);
    TRY(braid_net_create("lenet86", NULL, &net));
    braid_status status = make_layout(net, &l);
    if (status == BRAID_OK)
        status = safe ? convert_to_safetensors(net, &l, from, to) : convert_from_safetensors(&l, from, to);
    braid_net_destroy(net);
    return status;
}
