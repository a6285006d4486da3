/*
 * What every test program asks of the sanitizers: an allocation that is too large returns NULL, as
 * malloc does, in place of ending the program; clang's OpenMP may keep what it allocates for its
 * threads; and thread-local memory of libraries that were loaded late is left alone, because gcc's
 * leak checker dies on oneDNN's. Nobody calls these when there is no sanitizer.
 *
 * SPDX-License-Identifier: MIT
 */

#define CALLED_BY_SANITIZER __attribute__((visibility("default"), used))

const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__lsan_default_suppressions(void);

CALLED_BY_SANITIZER const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:intercept_tls_get_addr=0";
}

CALLED_BY_SANITIZER const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

CALLED_BY_SANITIZER const char *__lsan_default_suppressions(void) { return "leak:libomp.so\n"; }
