/*
 * The message of a failure, and its detail, live in a fixed buffer of its thread, so that reporting "no memory" needs
 * no memory. Control characters are replaced: a message may quote a hostile file and end on a terminal.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/status.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/reals.h"

static _Thread_local char thread_message[FAIL_BYTES];
static _Thread_local braid_detail thread_detail;

static void replace_control_characters(char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) *text = '?';
    }
}

/* The text is built beside the old message, which may be one of the arguments. Keeps errno. */
__attribute__((format(printf, 3, 0))) static void fail_list(braid_status code, braid_detail detail, const char *format,
                                                            va_list arguments) {
    char text[FAIL_BYTES];
    int saved_errno = errno, length = real_format_list(text, sizeof text, format, arguments);
    if (length < 0) snprintf(text, sizeof text, "failed with status %d", (int)code);
    if (length >= FAIL_BYTES) memcpy(text + FAIL_BYTES - 4, "...", 4);
    replace_control_characters(text);
    memcpy(thread_message, text, sizeof text);
    thread_detail = detail;
    errno = saved_errno;
}

braid_status fail(braid_status code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(code, BRAID_DETAIL_NONE, format, arguments);
    va_end(arguments);
    return code;
}

braid_status fail_with(braid_status code, braid_detail detail, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(code, detail, format, arguments);
    va_end(arguments);
    return code;
}

const char *fail_reason(int error) { return strerror_l(error, newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

const char *fail_message(void) { return thread_message; }

braid_detail fail_detail(void) { return thread_detail; }

fail_kept fail_keep(void) {
    fail_kept kept = {.detail = thread_detail};
    memcpy(kept.text, thread_message, sizeof kept.text);
    return kept;
}

void fail_put_back(const fail_kept *kept) {
    memcpy(thread_message, kept->text, sizeof kept->text);
    thread_detail = kept->detail;
}
