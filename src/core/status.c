/*
 * The message of a failure lives in a fixed buffer of its thread, so that reporting "no memory" needs
 * no memory. Control characters are replaced: a message may quote a hostile file and end on a terminal.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char thread_message[FAIL_BYTES];

static void replace_control_characters(char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) *text = '?';
    }
}

/* The text is built beside the old message, which may be one of the arguments. Keeps errno. */
braid_status fail(braid_status code, const char *format, ...) {
    char text[FAIL_BYTES];
    int saved_errno = errno;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) snprintf(text, sizeof text, "failed with status %d", (int)code);
    if (length >= FAIL_BYTES) memcpy(text + FAIL_BYTES - 4, "...", 4);
    replace_control_characters(text);
    memcpy(thread_message, text, sizeof text);
    errno = saved_errno;
    return code;
}

const char *fail_message(void) { return thread_message; }

fail_kept fail_keep(void) {
    fail_kept kept;
    memcpy(kept.text, thread_message, sizeof kept.text);
    return kept;
}

void fail_put_back(const fail_kept *kept) { memcpy(thread_message, kept->text, sizeof kept->text); }
