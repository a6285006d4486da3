/*
 * Tests of the search for libraries: a library of CUDA is found beside the loader's path, in the folders of a toolkit
 * and in those that pip fills in a Python, and the user's own folder comes before all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/library.h"

#include "tests/support/unit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* On no loader's path. */
#define NAME "libbraid_elsewhere.so.9"

static char folder[64];
static char some_library[PATH_MAX];

/* The folders of the test, each inside the one before it where the path says so. */
static const char *const made[] = {"/cuda",
                                   "/cuda/lib64",
                                   "/venv",
                                   "/venv/bin",
                                   "/venv/lib",
                                   "/venv/lib/python3.11",
                                   "/venv/lib/python3.11/site-packages",
                                   "/venv/lib/python3.11/site-packages/nvidia",
                                   "/venv/lib/python3.11/site-packages/nvidia/part",
                                   "/venv/lib/python3.11/site-packages/nvidia/part/lib",
                                   "/own"};
enum { MADE = sizeof made / sizeof made[0] };

static const char *const toolkit_file = "/cuda/lib64/" NAME;
static const char *const python_file = "/venv/lib/python3.11/site-packages/nvidia/part/lib/" NAME;
static const char *const own_file = "/own/" NAME;
static const char *const python_program = "/venv/bin/python3";

static const char *in_folder(const char *name) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", folder, name);
    return path;
}

static void clear_environment(void) {
    static const char *const names[] = {"BRAID_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
    setenv("PATH", "/nowhere", 1);
}

static int set_up(void **state) {
    void *handle = dlopen("libm.so.6", RTLD_NOW);
    (void)state;
    if (!handle || !library_file(handle, some_library, sizeof some_library)) return -1;
    snprintf(folder, sizeof folder, "/tmp/braid-library-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    for (int i = 0; i < MADE; i++) {
        if (mkdir(in_folder(made[i]), 0700) != 0) return -1;
    }
    clear_environment();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(in_folder(toolkit_file));
    unlink(in_folder(python_file));
    unlink(in_folder(own_file));
    unlink(in_folder(python_program));
    for (int i = MADE - 1; i >= 0; i--) rmdir(in_folder(made[i]));
    return rmdir(folder);
}

static void put(const char *file, const char *target) { assert_int_equal(symlink(target, in_folder(file)), 0); }

static int is_found(void) {
    static const char *const names[] = {NAME, NULL};
    void *handle = library_open_cuda(names);
    if (handle) dlclose(handle);
    return handle != NULL;
}

static void found_in_a_toolkit(void **state) {
    (void)state;
    assert_false(is_found());
    put(toolkit_file, some_library);
    assert_false(is_found());
    setenv("CUDA_HOME", in_folder("/cuda"), 1);
    assert_true(is_found());
    unsetenv("CUDA_HOME");
    setenv("CUDA_PATH", in_folder("/cuda"), 1);
    assert_true(is_found());
}

static void found_in_a_python(void **state) {
    (void)state;
    put(python_file, some_library);
    assert_false(is_found());
    setenv("VIRTUAL_ENV", in_folder("/venv"), 1);
    assert_true(is_found());
    unsetenv("VIRTUAL_ENV");
    setenv("CONDA_PREFIX", in_folder("/venv"), 1);
    assert_true(is_found());
}

static void found_beside_the_python_program(void **state) {
    char path[2 * PATH_MAX];
    (void)state;
    put(python_file, some_library);
    snprintf(path, sizeof path, "::/nowhere:%s", in_folder("/venv/bin"));
    setenv("PATH", path, 1);
    assert_false(is_found());
    put(python_program, "/bin/true");
    assert_true(is_found());
}

/* What lies there may be no library at all. */
static void files_of_another_kind(void **state) {
    (void)state;
    put(toolkit_file, "/etc/passwd");
    setenv("CUDA_HOME", in_folder("/cuda"), 1);
    assert_false(is_found());
    put(python_file, some_library);
    setenv("VIRTUAL_ENV", in_folder("/venv"), 1);
    assert_true(is_found());
}

static void own_folder_first(void **state) {
    static const char *const names[] = {NAME, NULL};
    char file[PATH_MAX];
    (void)state;
    put(toolkit_file, some_library);
    setenv("CUDA_HOME", in_folder("/cuda"), 1);
    put(own_file, some_library);
    setenv("BRAID_LIBRARY_PATH", in_folder("/own"), 1);
    void *handle = library_open_cuda(names);
    assert_non_null(handle);
    assert_true(library_file(handle, file, sizeof file));
    assert_string_equal(file, some_library);
    dlclose(handle);
    unlink(in_folder(toolkit_file));
    assert_true(is_found());
}

/* A folder that depends on where we happen to be is none that anybody installed. */
static void relative_folders_are_left_out(void **state) {
    char *before = getcwd(NULL, 0);
    (void)state;
    put(python_file, some_library);
    put(toolkit_file, some_library);
    put(python_program, "/bin/true");
    assert_int_equal(chdir(in_folder("/venv/bin")), 0);
    setenv("VIRTUAL_ENV", "..", 1);
    setenv("CONDA_PREFIX", "../../venv", 1);
    setenv("CUDA_HOME", "../../cuda", 1);
    setenv("PATH", ".:../bin::/nowhere", 1);
    int found = is_found();
    assert_int_equal(chdir(before), 0);
    free(before);
    assert_false(found);
}

static void copy(const char *from, const char *to, size_t changed_byte) {
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (int c = fgetc(in), at = 0; c != EOF; c = fgetc(in), at++) fputc((size_t)at == changed_byte ? c ^ 1 : c, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* The build id tells files of one version apart, and where there is none, the content. */
static void fingerprints(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder(own_file));
    const uint64_t first = library_fingerprint(some_library);
    assert_true(first != 0);
    copy(some_library, path, (size_t)-1);
    assert_true(library_fingerprint(path) == first);
    uint64_t last = 0;
    for (size_t byte = 0; byte < 3; byte++) { /* of the ELF's mark: it is no library any more, and all of it counts */
        copy(some_library, path, byte);
        const uint64_t changed = library_fingerprint(path);
        assert_true(changed != 0 && changed != first && changed != last);
        last = changed;
    }
    copy(some_library, path, 0);
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, -1, SEEK_END), 0);
    fputc(0x5a, file);
    fclose(file);
    const uint64_t end = library_fingerprint(path);
    copy(some_library, path, 0);
    assert_true(library_fingerprint(path) != end);
    assert_true(library_fingerprint_parts(path, "*.so.9") != 0);
    assert_true(library_fingerprint_parts(path, "*.nosuch") == 0);
    assert_true(library_fingerprint("/nowhere/lib.so") == 0 && library_fingerprint(NULL) == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(found_in_a_toolkit),    TEST(found_in_a_python), TEST(found_beside_the_python_program),
        TEST(files_of_another_kind), TEST(own_folder_first),  TEST(relative_folders_are_left_out),
        TEST(fingerprints),
    };
    return cmocka_run_group_tests_name("backend/library", tests, NULL, NULL);
}
