/*
 * The vendor libraries of a CUDA device: their handles, made when first asked for and closed with the
 * device, and what doctor and wisdom say of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn.h"
#include "backend/cuda/device.h"
#include "core/log.h"

static const vendor_library *library_of(cuda_vendor vendor) {
    return vendor == CUDA_CUDNN ? cudnn_library() : cublaslt_library();
}

/* With the context current. Returns the library's status, 0 for success. */
static int make_handle(cuda_device *d, cuda_vendor vendor, void **out) {
    if (vendor == CUDA_CUBLASLT) return cublaslt()->create(out);
    int status = cudnn()->create(out);
    if (status) return status;
    status = cudnn()->set_queue(*out, d->queue);
    if (status) (void)cudnn()->destroy(*out);
    return status;
}

int cuda_vendor_lacks_memory(cuda_vendor vendor, int status) {
    if (vendor == CUDA_CUBLASLT) return status == LT_NO_MEMORY;
    return status == CUDNN_NO_HOST_MEMORY || status == CUDNN_NO_DEVICE_MEMORY;
}

/* The handle of a library that can be opened; without memory for it, it is as if it had not been tried. */
static void start_vendor(cuda_device *d, cuda_vendor vendor) {
    vendor_handle *v = &d->vendors[vendor];
    const vendor_library *library = library_of(vendor);
    void *made = NULL;
    int status = make_handle(d, vendor, &made);
    if (status == 0) {
        v->handle = made;
        log_write(LOG_DEVICE, "%s: opened %s %s, %s", d->head.name, library->name, library->version, library->file);
        return;
    }
    v->is_tried = !cuda_vendor_lacks_memory(vendor, status);
    (void)snprintf(v->reason, sizeof v->reason, "%s %s does not start on this GPU and driver (status %d)",
                   library->name, library->version, status);
    log_write(LOG_DEVICE, "%s: %s", d->head.name, v->reason);
}

static void open_vendor(cuda_device *d, cuda_vendor vendor) {
    vendor_handle *v = &d->vendors[vendor];
    const vendor_library *library = library_of(vendor);
    v->is_tried = 1;
    if (library->reason) {
        (void)snprintf(v->reason, sizeof v->reason, "%s", library->reason);
    } else if (cuda_enter(d) != BRAID_OK) {
        (void)snprintf(v->reason, sizeof v->reason, "%s", d->fault);
    } else {
        start_vendor(d, vendor);
        (void)cuda_leave(d, BRAID_OK);
    }
}

refusal cuda_vendor_refuses(const device *head, cuda_vendor vendor) {
    cuda_device *d = cuda_device_of((device *)(uintptr_t)head);
    vendor_handle *v = &d->vendors[vendor];
    if (!v->is_tried) open_vendor(d, vendor);
    if (v->handle) return refusal_unable(NULL);
    return v->is_tried ? refusal_unable(v->reason) : refusal_no_memory();
}

braid_status cuda_vendor_enter(device *head, cuda_vendor vendor, void **handle, void **queue) {
    cuda_device *d = cuda_device_of(head);
    const refusal refused = cuda_vendor_refuses(head, vendor);
    if (refused.kind == REFUSAL_NO_MEMORY)
        return fail(BRAID_ERROR_MEMORY, "%s: %s: %s", head->name, library_of(vendor)->name, refused.text);
    if (refused.kind) return fail(BRAID_ERROR_DEVICE, "%s: %s", head->name, refused.text);
    *handle = d->vendors[vendor].handle;
    *queue = d->queue;
    return cuda_enter(d);
}

braid_status cuda_vendor_leave(device *head, braid_status status) { return cuda_leave(cuda_device_of(head), status); }

/* What a library says of its status. */
static const char *status_text(cuda_vendor vendor, int status) {
    if (vendor == CUDA_CUDNN) return cudnn()->error_text(status);
    return status == LT_NO_MEMORY ? "CUBLAS_STATUS_ALLOC_FAILED" : "an error";
}

braid_status cuda_vendor_failed(device *head, cuda_vendor vendor, int status, const char *what) {
    const vendor_library *library = library_of(vendor);
    const char *said = status_text(vendor, status);
    char text[256];
    if (!cuda_vendor_lacks_memory(vendor, status))
        return fail(BRAID_ERROR_DEVICE, "%s: %s failed: %s (status %d); BRAID_DISABLE=%s goes on without it",
                    library->name, what, said, status, library->name);
    (void)snprintf(text, sizeof text, "%s of %s (%s)", what, library->name, said);
    return cuda_check_memory(cuda_device_of(head), CU_ERROR_OUT_OF_MEMORY, text);
}

void vendors_close(cuda_device *d) {
    if (d->vendors[CUDA_CUDNN].handle) (void)cudnn()->destroy(d->vendors[CUDA_CUDNN].handle);
    if (d->vendors[CUDA_CUBLASLT].handle) (void)cublaslt()->destroy(d->vendors[CUDA_CUBLASLT].handle);
}

/* cuDNN opens its parts when it needs them: all that lie beside it count. */
static uint64_t vendor_files(void) {
    const vendor_library *dnn = library_of(CUDA_CUDNN), *blas = library_of(CUDA_CUBLASLT);
    return library_fingerprint_parts(dnn->file, "libcudnn*.so*") ^ library_fingerprint(dnn->file) << 1 ^
           library_fingerprint(blas->file) << 2;
}

void vendors_identity(char *text, size_t bytes) {
    const size_t before = strlen(text);
    (void)snprintf(text + before, bytes - before, ", %016" PRIx64, vendor_files());
    for (int i = 0; i < CUDA_VENDORS; i++) {
        const vendor_library *library = library_of((cuda_vendor)i);
        size_t used = strlen(text);
        (void)snprintf(text + used, bytes - used, ", %s %s", library->name,
                       library->reason ? "none" : library->version);
    }
}

void vendors_describe(device *head, braid_row_function row, void *user) {
    char text[400];
    for (int i = 0; i < CUDA_VENDORS; i++) {
        const vendor_library *library = library_of((cuda_vendor)i);
        const char *reason = cuda_vendor_refuses(head, (cuda_vendor)i).text;
        (void)snprintf(text, sizeof text, "%s, %s", library->version, library->file ? library->file : "");
        row(user, "vendor", library->name, reason ? "not used" : text, reason);
    }
}
