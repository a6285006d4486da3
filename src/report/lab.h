/*
 * What the bench and the reports of libbraid_lab share: messages, memory and text. They are built on braid.h
 * alone, so they have a few lines of their own for these; a message is kept by the lab's copy of the core.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_REPORT_LAB_H
#define BRAID_REPORT_LAB_H

#include <stdio.h>

#include "braid_lab.h"

/* Stores the message for braid_lab_message and returns the code. */
__attribute__((format(printf, 2, 3))) braid_status lab_fail(braid_status code, const char *format, ...);

/* Takes over the message of a failed libbraid call; gives the status back. */
braid_status lab_from_braid(braid_status status);

/* Leaves the enclosing function when the call fails. Only where nothing has to be cleaned up. */
#define LAB_TRY(call)                                    \
    do {                                                 \
        braid_status try_status_ = (call);               \
        if (try_status_ != BRAID_OK) return try_status_; \
    } while (0)

/* Zeroed memory for one thing, and room for `count` elements in an array that keeps its contents. For free(). */
braid_status lab_new(size_t bytes, void **out);
braid_status lab_resize(void **array, size_t count, size_t element_bytes);
braid_status lab_copy_text(const char *text, char **out);

/* A stream that gathers text in memory. lab_text_end closes it and returns the text, or NULL in *text with a
 * status where memory ran out or `status` is already a failure. */
typedef struct lab_text {
    FILE *stream;
    char *data;
    size_t bytes;
} lab_text;
braid_status lab_text_begin(lab_text *t);
braid_status lab_text_end(lab_text *t, braid_status status, char **text);

#endif
