/*
 * The CUDA device behind the backend table: memory, one queue, timing, and the embedded kernels,
 * which are loaded for the plan that uses them, or when first used. It lives in the primary context,
 * so that it shares a process with other users of the GPU, and puts that context aside again after
 * every call.
 *
 * A device that failed once stays failed: the first error is kept, every later call answers with
 * it, and nothing is asked of the driver any more, not even to clean up. To have no memory is no
 * failure of the device.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/device.h"
#include "backend/cuda/images.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/reals.h"

#define SHARED_WITHOUT_ASKING 49152 /* bytes of dynamic shared memory that any kernel may have */

braid_status cuda_check(cuda_device *d, cu_result result, const char *what) {
    char text[256];
    if (result == CU_SUCCESS) return BRAID_OK;
    if (!d->fault[0]) {
        (void)snprintf(d->fault, sizeof d->fault, "%s: %s failed: %s", d->head.name, what,
                       driver_error_text(d->driver, result, text, sizeof text));
        log_write(LOG_DEVICE, "%s", d->fault);
    }
    return fail(BRAID_ERROR_DEVICE, "%s; the device cannot be used any more in this process", d->fault);
}

braid_status cuda_check_memory(cuda_device *d, cu_result result, const char *what) {
    size_t available = 0, total = 0;
    char room[96] = "";
    if (result != CU_ERROR_OUT_OF_MEMORY) return cuda_check(d, result, what);
    if (d->driver->memory_info(&available, &total) == CU_SUCCESS)
        (void)snprintf(room, sizeof room, ", with %zu bytes free of the GPU's %zu", available, total);
    return fail(BRAID_ERROR_MEMORY, "%s: no memory for %s%s; make the batch smaller or end other programs on this GPU",
                d->head.name, what, room);
}

braid_status cuda_enter(cuda_device *d) {
    if (d->fault[0])
        return fail(BRAID_ERROR_DEVICE, "%s; the device cannot be used any more in this process", d->fault);
    return cuda_check(d, d->driver->context_push(d->context), "making the context current");
}

braid_status cuda_leave(cuda_device *d, braid_status status) {
    cu_context mine;
    if (d->fault[0]) return status;
    braid_status popped = cuda_check(d, d->driver->context_pop(&mine), "putting the context aside");
    return status ? status : popped;
}

/* ---- Opening and closing ------------------------------------------------------------------------ */

/* The driver, where this build has kernels for it. */
static braid_status usable_driver(const cuda_driver **out) {
    if (cuda_image_count == 0) {
        return fail(
            BRAID_ERROR_DEVICE,
            "cuda: this library has no CUDA kernels: it was built without nvcc, or where no GPU was; install nvcc "
            "and build again here, or for all GPUs: make all GPUS=all");
    }
    return driver_open(out);
}

static int cuda_count(void) {
    const cuda_driver *driver;
    char text[256];
    int count = 0;
    if (usable_driver(&driver) != BRAID_OK) return 0;
    cu_result result = driver->device_count(&count);
    if (result != CU_SUCCESS) {
        (void)fail(BRAID_ERROR_DEVICE, "cuda: counting the GPUs failed: %s",
                   driver_error_text(driver, result, text, sizeof text));
        return 0;
    }
    if (count <= 0) {
        (void)fail(BRAID_ERROR_DEVICE,
                   "cuda: the NVIDIA driver is there but sees no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES");
        return 0;
    }
    return count;
}

/* As nvidia-smi -L shows it. */
static void read_serial(cuda_device *d) {
    unsigned char u[16];
    if (!d->driver->device_uuid || d->driver->device_uuid(u, d->handle) != CU_SUCCESS) return;
    (void)snprintf(d->head.serial, sizeof d->head.serial,
                   "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3],
                   u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static braid_status read_properties(cuda_device *d) {
    const cuda_driver *driver = d->driver;
    int major = 0, minor = 0, cache = 0;
    cu_result result = driver->device_get(&d->handle, d->head.ordinal);
    if (!result) result = driver->device_name(d->head.model, (int)sizeof d->head.model, d->handle);
    if (!result) result = driver->device_attribute(&major, CU_ATTRIBUTE_CAPABILITY_MAJOR, d->handle);
    if (!result) result = driver->device_attribute(&minor, CU_ATTRIBUTE_CAPABILITY_MINOR, d->handle);
    if (!result) result = driver->device_attribute(&d->processors, CU_ATTRIBUTE_MULTIPROCESSORS, d->handle);
    if (!result) result = driver->device_attribute(&cache, CU_ATTRIBUTE_L2_BYTES, d->handle);
    if (!result) result = driver->device_memory(&d->memory_bytes, d->handle);
    TRY(cuda_check(d, result, "reading the properties of the GPU"));
    d->head.model[sizeof d->head.model - 1] = '\0';
    read_serial(d);
    d->capability = 10 * major + minor;
    d->cache_bytes = cache > 0 ? (size_t)cache : 0;
    if (major >= 8) d->head.features |= FEATURE_SM80;
    if (d->capability == 90) d->head.features |= FEATURE_SM90A;
    (void)snprintf(d->head.identity, sizeof d->head.identity,
                   "%s, capability %d.%d, %d multiprocessors, %zu MiB, driver %d.%d", d->head.model, major, minor,
                   d->processors, d->memory_bytes >> 20, driver->number / 1000, driver->number % 1000 / 10);
    vendors_identity(d->head.identity, sizeof d->head.identity);
    return BRAID_OK;
}

/* The names of the targets that this library has code for. */
static const char *target_names(char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (const struct cuda_target *t = cuda_targets; t->name && used < bytes; t++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", t->name);
    return text;
}

/* A GPU that is too old for every kernel is opened: planning says so. */
static braid_status expect_code(const cuda_device *d) {
    char names[64];
    if (!(d->head.features & FEATURE_SM80)) return BRAID_OK;
    for (const struct cuda_target *t = cuda_targets; t->name; t++) {
        if (d->capability >= t->least && d->capability <= t->most) return BRAID_OK;
    }
    return fail(BRAID_ERROR_DEVICE,
                "%s: this library was built for other GPUs (%s) than %s, whose compute capability is %d.%d; build it "
                "again here, or for all GPUs: make all GPUS=all",
                d->head.name, target_names(names, sizeof names), d->head.model, d->capability / 10, d->capability % 10);
}

static braid_status make_queue(cuda_device *d) {
    TRY(cuda_check_memory(d, d->driver->context_retain(&d->context, d->handle), "opening the primary context"));
    TRY(cuda_enter(d));
    cu_result result = d->driver->queue_create(&d->queue, CU_QUEUE_NON_BLOCKING);
    if (!result) result = d->driver->event_create(&d->begin, 0);
    if (!result) result = d->driver->event_create(&d->end, 0);
    braid_status status = cuda_check_memory(d, result, "making a queue");
    if (!status) status = side_open(d);
    if (!status) status = counters_open(d);
    return cuda_leave(d, status ? status : staging_open(d));
}

/* Gives back what the context holds, with it current, once launches and copies out of pinned memory have ended. */
static void release(cuda_device *d) {
    if (d->queue && cuda_check(d, d->driver->queue_wait(d->queue), "waiting for the queue") != BRAID_OK) return;
    for (int i = 0; i < cuda_image_count; i++) {
        if (d->modules[i]) (void)d->driver->module_unload(d->modules[i]);
    }
    staging_close(d);
    side_close(d);
    counters_close(d);
    vendors_close(d);
    if (d->begin) (void)d->driver->event_destroy(d->begin);
    if (d->end) (void)d->driver->event_destroy(d->end);
    if (d->queue) (void)d->driver->queue_destroy(d->queue);
    (void)cuda_leave(d, BRAID_OK);
    if (!d->fault[0]) (void)d->driver->context_release(d->handle);
}

static void cuda_close(device *head) {
    cuda_device *d = cuda_device_of(head);
    if (!d) return;
    const fail_kept kept = fail_keep();
    if (d->context && cuda_enter(d) == BRAID_OK) release(d);
    fail_put_back(&kept);
    while (d->functions) {
        loaded_function *next = d->functions->next;
        memory_free(d->functions);
        d->functions = next;
    }
    memory_free(d->modules);
    memory_free(d);
}

static braid_status cuda_open(int ordinal, device **out) {
    const cuda_driver *driver;
    void *memory = NULL;
    *out = NULL;
    TRY(usable_driver(&driver));
    int count = cuda_count();
    if (count == 0) return BRAID_ERROR_DEVICE;
    if (ordinal < 0 || ordinal >= count) {
        return fail(BRAID_ERROR_DEVICE, "cuda: expected a GPU from cuda:0 to cuda:%d, got cuda:%d", count - 1, ordinal);
    }
    TRY(memory_calloc(1, sizeof(cuda_device), "cuda device", &memory));
    cuda_device *d = memory;
    d->head.backend = &backend_cuda;
    d->head.ordinal = ordinal;
    d->driver = driver;
    (void)snprintf(d->head.name, sizeof d->head.name, "cuda:%d", ordinal);
    braid_status status = memory_calloc((size_t)cuda_image_count, sizeof *d->modules, "cuda modules", &memory);
    if (!status) d->modules = memory;
    if (!status) status = read_properties(d);
    if (!status) status = expect_code(d);
    if (!status) status = make_queue(d);
    if (status) {
        cuda_close(&d->head);
        return status;
    }
    *out = &d->head;
    return BRAID_OK;
}

/* ---- Memory --------------------------------------------------------------------------------------- */

static braid_status cuda_alloc(device *head, size_t bytes, void **out) {
    cuda_device *d = cuda_device_of(head);
    cu_pointer address = 0;
    char what[64];
    *out = NULL;
    TRY(cuda_enter(d));
    (void)snprintf(what, sizeof what, "allocating %zu bytes", bytes);
    TRY(cuda_leave(d, cuda_check_memory(d, d->driver->memory_alloc(&address, bytes ? bytes : 1), what)));
    *out = (void *)(uintptr_t)address;
    return BRAID_OK;
}

static void cuda_free(device *head, void *memory) {
    cuda_device *d = cuda_device_of(head);
    if (!memory || d->fault[0] || cuda_enter(d) != BRAID_OK) return;
    (void)cuda_leave(d, cuda_check(d, d->driver->memory_free((cu_pointer)(uintptr_t)memory), "freeing memory"));
}

static braid_status cuda_upload(device *head, void *to, const void *from, size_t bytes) {
    cuda_device *d = cuda_device_of(head);
    if (d->is_recording)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected no upload inside a recording, which would repeat it",
                    head->name);
    TRY(cuda_enter(d));
    return cuda_leave(d, staging_send(d, (cu_pointer)(uintptr_t)to, from, bytes));
}

static braid_status cuda_download(device *head, void *to, const void *from, size_t bytes) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    cu_result result = bytes ? d->driver->copy_out(to, (cu_pointer)(uintptr_t)from, bytes, d->queue) : CU_SUCCESS;
    if (!result) result = d->driver->queue_wait(d->queue);
    return cuda_leave(d, cuda_check(d, result, "copying from the device"));
}

static braid_status cuda_copy(device *head, void *to, const void *from, size_t bytes) {
    cuda_device *d = cuda_device_of(head);
    if (bytes == 0) return BRAID_OK;
    TRY(cuda_enter(d));
    cu_result result = d->driver->copy_within((cu_pointer)(uintptr_t)to, (cu_pointer)(uintptr_t)from, bytes, d->queue);
    return cuda_leave(d, cuda_check(d, result, "copying on the device"));
}

static braid_status cuda_zero(device *head, void *at, size_t bytes) {
    cuda_device *d = cuda_device_of(head);
    if (bytes == 0) return BRAID_OK;
    TRY(cuda_enter(d));
    cu_result result = d->driver->memory_set((cu_pointer)(uintptr_t)at, 0, bytes, d->queue);
    return cuda_leave(d, cuda_check(d, result, "writing zeros"));
}

static braid_status cuda_synchronize(device *head) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    return cuda_leave(d, cuda_check(d, d->driver->queue_wait(d->queue), "waiting for the queue"));
}

static size_t cuda_cache_bytes(const device *head) { return ((const cuda_device *)(const void *)head)->cache_bytes; }

int cuda_processors(const device *head) { return ((const cuda_device *)(const void *)head)->processors; }

static size_t cuda_free_bytes(const device *head) {
    cuda_device *d = cuda_device_of((device *)(uintptr_t)head);
    size_t available = 0, total = 0;
    if (cuda_enter(d) != BRAID_OK) return 0;
    cu_result result = d->driver->memory_info(&available, &total);
    return cuda_leave(d, cuda_check(d, result, "asking for free memory")) == BRAID_OK ? available : 0;
}

/* ---- Kernels -------------------------------------------------------------------------------------- */

/* The index of an image; -1 where there is none of that stem. */
static int find_image(const char *stem) {
    for (int i = 0; i < cuda_image_count; i++) {
        if (strcmp(cuda_images[i].stem, stem) == 0) return i;
    }
    return -1;
}

static braid_status load_function(cuda_device *d, const char *stem, const char *name, loaded_function **out) {
    void *memory = NULL;
    cu_module module = NULL;
    cu_function function = NULL;
    char what[128];
    int image = find_image(stem);
    if (image < 0) {
        return fail(
            BRAID_ERROR_DEVICE,
            "%s: expected an image of kernels/cuda/%s.cu in the library, got none; build it again: make all GPUS=all",
            d->head.name, stem);
    }
    if (!d->modules[image]) {
        (void)snprintf(what, sizeof what, "loading the kernels of %s", stem);
        TRY(cuda_check_memory(d, d->driver->module_load(&module, cuda_images[image].begin), what));
        d->modules[image] = module;
        log_write(LOG_DEVICE, "%s: loaded %s, %td bytes", d->head.name, stem,
                  cuda_images[image].end - cuda_images[image].begin);
    }
    (void)snprintf(what, sizeof what, "finding %s in %s", name, stem);
    TRY(cuda_check_memory(d, d->driver->module_function(&function, d->modules[image], name), what));
    TRY(memory_calloc(1, sizeof(loaded_function) + strlen(name) + 1, "cuda function", &memory));
    loaded_function *f = memory;
    f->next = d->functions;
    f->stem = cuda_images[image].stem;
    f->function = function;
    f->shared_bytes = SHARED_WITHOUT_ASKING;
    memcpy(f->name, name, strlen(name) + 1);
    d->functions = f;
    *out = f;
    return BRAID_OK;
}

static braid_status find_function(cuda_device *d, const char *stem, const char *name, loaded_function **out) {
    for (loaded_function *f = d->functions; f; f = f->next) {
        if (strcmp(f->name, name) == 0 && strcmp(f->stem, stem) == 0) {
            *out = f;
            return BRAID_OK;
        }
    }
    return load_function(d, stem, name, out);
}

/* The function of a call, with the shared memory that it needs. */
static braid_status ready_function(cuda_device *d, const cuda_call *call, loaded_function **out) {
    TRY(find_function(d, call->stem, call->function, out));
    loaded_function *f = *out;
    if (call->shared_bytes <= f->shared_bytes) return BRAID_OK;
    cu_result result = d->driver->function_set(f->function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)call->shared_bytes);
    TRY(cuda_check_memory(d, result, call->function));
    f->shared_bytes = call->shared_bytes;
    return BRAID_OK;
}

static braid_status launch_current(cuda_device *d, const cuda_call *call) {
    loaded_function *f = NULL;
    TRY(ready_function(d, call, &f));
    if (d->head.is_loading) return BRAID_OK;
    /* By its address, not as a buffer of arguments, in which an aligned struct would not begin at the front. */
    void *parameters[] = {(void *)(uintptr_t)call->args};
    cu_result result = d->driver->launch(f->function, (unsigned)call->blocks, 1, 1, (unsigned)call->threads, 1, 1,
                                         (unsigned)call->shared_bytes, d->queue, parameters, NULL);
    return cuda_check(d, result, call->function);
}

braid_status cuda_launch(device *head, const cuda_call *call) {
    cuda_device *d = cuda_device_of(head);
    if (call->blocks == 0) return BRAID_OK;
    if (call->blocks < 0 || call->blocks > CUDA_MAX_BLOCKS) {
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected at most %d blocks, got %lld", call->function, CUDA_MAX_BLOCKS,
                    (long long)call->blocks);
    }
    if (call->args_bytes > CUDA_MAX_ARGS_BYTES) {
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected an argument of at most %d bytes, got %zu", call->function,
                    CUDA_MAX_ARGS_BYTES, call->args_bytes);
    }
    TRY(cuda_enter(d));
    return cuda_leave(d, launch_current(d, call));
}

static braid_status cuda_load(device *head, braid_status (*launch)(void *context, int i), void *context, int count) {
    braid_status status = BRAID_OK;
    head->is_loading = 1;
    for (int i = 0; i < count && !status; i++) status = launch(context, i);
    head->is_loading = 0;
    return status;
}

/* ---- What doctor prints ----------------------------------------------------------------------------- */

static void cuda_describe(device *head, braid_row_function row, void *user) {
    cuda_device *d = cuda_device_of(head);
    char text[300], names[64];
    row(user, "cuda", "model", head->model, NULL);
    (void)snprintf(text, sizeof text, "%d.%d", d->driver->number / 1000, d->driver->number % 1000 / 10);
    row(user, "cuda", "driver", text, NULL);
    row(user, "cuda", "driver file", d->driver->file[0] ? d->driver->file : "libcuda.so.1", NULL);
    (void)snprintf(text, sizeof text, "%d.%d", d->capability / 10, d->capability % 10);
    row(user, "cuda", "compute capability", text,
        head->features & FEATURE_SM80 ? NULL : "the CUDA kernels need 8.0 or newer: use --device cpu");
    (void)snprintf(text, sizeof text, "%d", d->processors);
    row(user, "cuda", "multiprocessors", text, NULL);
    (void)real_format(text, sizeof text, "%.1f GiB, %.1f GiB free", (double)d->memory_bytes / 1073741824.0,
                      (double)cuda_free_bytes(head) / 1073741824.0);
    row(user, "cuda", "memory", text, NULL);
    (void)real_format(text, sizeof text, "%.0f MiB", (double)d->cache_bytes / 1048576.0);
    row(user, "cuda", "L2 cache", text, NULL);
    (void)snprintf(text, sizeof text, "%d, for %s", cuda_image_count, target_names(names, sizeof names));
    row(user, "cuda", "kernel images", text, NULL);
    vendors_describe(head, row, user);
}

const backend backend_cuda = {
    .name = "cuda",
    .count = cuda_count,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy = cuda_copy,
    .zero = cuda_zero,
    .record = cuda_record,
    .record_end = cuda_record_end,
    .replay = cuda_replay,
    .forget = cuda_forget,
    .side_begin = cuda_side_begin,
    .side_end = cuda_side_end,
    .join = cuda_join,
    .synchronize = cuda_synchronize,
    .reading_create = cuda_reading_create,
    .reading_destroy = cuda_reading_destroy,
    .reading_ask = cuda_reading_ask,
    .reading_get = cuda_reading_get,
    .runs_ahead = 4,
    .has_own_memory = 1,
    .time = cuda_time,
    .time_launches = cuda_time_launches,
    .time_each = cuda_time_each,
    .look_at = cuda_look_at,
    .load = cuda_load,
    .cache_bytes = cuda_cache_bytes,
    .free_bytes = cuda_free_bytes,
    .watch = cuda_watch,
    .describe = cuda_describe,
};
