/*
 * Makes the Nth allocation or the Nth file call of the library fail, once or from then on. Install a
 * shim, arm it, do the work, disarm it; loop N upwards until a run in which nothing was left to fail:
 *
 *     fail_alloc_install();                                 // while nothing of braid's is alive
 *     for (int64_t nth = 1;; nth++) {
 *         fail_alloc_arm(nth, FAIL_ONCE);
 *         braid_status status = the_work();                 // must clean up after itself
 *         int64_t failures = fail_alloc_disarm();
 *         assert_int_equal(memory_live(), 0);
 *         if (failures == 0) break;                         // N is beyond the last call: status is BRAID_OK
 *         assert_int_equal(status, BRAID_ERROR_MEMORY);
 *     }
 *     fail_alloc_remove();
 *
 * Arming counts from the next call on, so objects that were made before stay untouched. Only calls of
 * braid count: jansson, the C library and vendor libraries have allocators of their own. The counters
 * are atomic; arm and disarm while no other thread is at work.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FAIL_NTH_H
#define BRAID_TESTS_FAIL_NTH_H

#include <stdint.h>

typedef enum fail_mode {
    FAIL_ONCE,       /* the Nth call alone */
    FAIL_PERSISTENT, /* the Nth call and every later one */
} fail_mode;

/* ---- Allocations -------------------------------------------------------------------------- */

/* Sets the allocator of the process; it fills new memory with 0xff bytes (NaN, -1). Needs memory_live() == 0. */
void fail_alloc_install(void);

/* Restores malloc. Needs memory_live() == 0. */
void fail_alloc_remove(void);

/* From now on the nth allocation fails, 1 being the next; 0 fails none and counts. */
void fail_alloc_arm(int64_t nth, fail_mode mode);

/* Stops failing. Returns how many allocations were made to fail. */
int64_t fail_alloc_disarm(void);

/* Allocations asked for since the last arm, failed ones included. */
int64_t fail_alloc_calls(void);

/* ---- File calls --------------------------------------------------------------------------- */

/* Which calls count, as a set. */
#define FAIL_OPEN 0x01u
#define FAIL_PREAD 0x02u
#define FAIL_WRITE 0x04u
#define FAIL_FSYNC 0x08u
#define FAIL_CLOSE 0x10u
#define FAIL_RENAME 0x20u
#define FAIL_UNLINK 0x40u
#define FAIL_MKDIR 0x80u
#define FAIL_LINK 0x100u
#define FAIL_FLOCK 0x200u
#define FAIL_ANY_FILE_CALL 0x3ffu

/* In place of an errno: pwrite and pread move half of what was asked (at least a byte), and only they count. */
#define FAIL_SHORT (-1)

/* In place of an errno: the process dies of kill -9 in front of the call. */
#define FAIL_KILL (-2)

/* Sets the table of core/files; the calls go on to the system. */
void fail_files_install(void);
void fail_files_remove(void);

/*
 * From now on the nth call of the set fails with `error`, an errno, FAIL_SHORT or FAIL_KILL; 0 fails none and
 * counts. A failing call does nothing, except close, which closes the file and then says that it failed.
 */
void fail_files_arm(unsigned calls, int64_t nth, fail_mode mode, int error);

/* Stops failing. Returns how many calls were made to fail. */
int64_t fail_files_disarm(void);

/* From now on the disk says that it has so many blocks of 4 KiB free; 0: the truth. It takes what is written all the
 * same. */
void fail_files_fill(int blocks);

/* Calls of the set since the last arm, failed ones included. */
int64_t fail_files_calls(void);

#endif
