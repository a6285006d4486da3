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

#endif
