/*
 * Messages, memory and text of the lab. Text is gathered by the C library's own memory streams, so
 * that the printers are plain fprintf.
 *
 * SPDX-License-Identifier: MIT
 */
#include "report/lab.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/reals.h"
#include "core/status.h"

const char *braid_lab_message(void) { return fail_message(); }

void braid_text_destroy(char *text) { free(text); }

braid_status lab_fail(braid_status code, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    real_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(code, "%s", text);
}

braid_status lab_from_braid(braid_status status) {
    return status == BRAID_OK ? BRAID_OK : lab_fail(status, "%s", braid_message());
}

static braid_status no_memory(size_t count, size_t element_bytes) {
    return lab_fail(BRAID_ERROR_MEMORY, "no memory for %zu elements of %zu bytes", count, element_bytes);
}

braid_status lab_new(size_t bytes, void **out) {
    *out = calloc(1, bytes);
    return *out ? BRAID_OK : no_memory(1, bytes);
}

braid_status lab_resize(void **array, size_t count, size_t element_bytes) {
    void *resized = reallocarray(*array, count ? count : 1, element_bytes);
    if (!resized) return no_memory(count, element_bytes);
    *array = resized;
    return BRAID_OK;
}

braid_status lab_copy_text(const char *text, char **out) {
    *out = strdup(text);
    return *out ? BRAID_OK : no_memory(strlen(text) + 1, 1);
}

braid_status lab_text_begin(lab_text *t) {
    t->data = NULL;
    t->bytes = 0;
    t->stream = open_memstream(&t->data, &t->bytes);
    return t->stream ? BRAID_OK : no_memory(1, BUFSIZ);
}

braid_status lab_text_end(lab_text *t, braid_status status, char **text) {
    int broken = ferror(t->stream);
    broken |= fclose(t->stream);
    *text = NULL;
    if (status == BRAID_OK && broken) status = no_memory(t->bytes, 1);
    if (status == BRAID_OK)
        *text = t->data;
    else
        free(t->data);
    return status;
}
