/*
 * How a failure travels: the function that notices it calls fail() with a code and a message, and
 * every caller hands the code up with TRY. The message stays with the thread until its next failure.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_STATUS_H
#define BRAID_CORE_STATUS_H

#include "braid.h"

/* Stores the message of this thread and returns the code. Say what was expected, what came, what to do. */
__attribute__((format(printf, 2, 3))) braid_status fail(braid_status code, const char *format, ...);

/* The same with a detail for the program; fail() leaves none. */
__attribute__((format(printf, 3, 4))) braid_status fail_with(braid_status code, braid_detail detail, const char *format,
                                                             ...);

/* What the system says of an errno, in English whatever the locale: it goes into messages that are. */
const char *fail_reason(int error);

/* The message of this thread's last failure; may be an argument of the next fail(). Never NULL. */
const char *fail_message(void);
braid_detail fail_detail(void);

/* The message and its detail as they are, for fail_put_back after a call whose failure is none of the caller's: a
 * successful call of the library leaves the message of the last failed one. */
#define FAIL_BYTES 1024
typedef struct fail_kept {
    char text[FAIL_BYTES];
    braid_detail detail;
} fail_kept;
fail_kept fail_keep(void);
void fail_put_back(const fail_kept *kept);

/* Leaves the enclosing function when the call fails. Only where nothing has to be cleaned up. */
#define TRY(call)                                        \
    do {                                                 \
        braid_status try_status_ = (call);               \
        if (try_status_ != BRAID_OK) return try_status_; \
    } while (0)

#endif
