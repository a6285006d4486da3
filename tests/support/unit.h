/*
 * cmocka, with the headers that it wants before it. Its macro fail() would hide our function of that
 * name (core/status.h) and is removed; fail_msg, which used it, is kept. Include this first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_UNIT_H
#define BRAID_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail
#undef fail_msg

/* Fails the running test with a printf-style message. */
#define fail_msg(...)              \
    do {                           \
        print_error(__VA_ARGS__);  \
        print_error("\n");         \
        _fail(__FILE__, __LINE__); \
    } while (0)

#if defined(__has_feature)
#define UNIT_HAS_FEATURE(name) __has_feature(name)
#else
#define UNIT_HAS_FEATURE(name) 0
#endif
/* 1 under ThreadSanitizer, which ends every child of a fork that starts a thread. */
#if defined(__SANITIZE_THREAD__) || UNIT_HAS_FEATURE(thread_sanitizer)
#define UNIT_UNDER_TSAN 1
#else
#define UNIT_UNDER_TSAN 0
#endif

/* Leaves out a test whose forked child starts threads, where that cannot be. */
#define SKIP_THREADS_AFTER_FORK()                                                         \
    do {                                                                                  \
        if (!UNIT_UNDER_TSAN) break;                                                      \
        print_message("skip: ThreadSanitizer ends a forked child that starts threads\n"); \
        skip();                                                                           \
    } while (0)

#endif
