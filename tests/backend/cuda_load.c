/*
 * What other processes do on a GPU and its clock, by a fake NVML (tests/backend/fake_cuda/libnvidia-ml.c). Each case
 * has its own process, because a process opens the library once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "backend/backend.h"
#include "tests/backend/child_case.h"

static const char *processes; /* as FAKE_NVML_PROCESSES */
static double others;         /* the share that is to be found */

static int others_are_seen(void) {
    device *d = NULL;
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_CUDA_FOLDER, 1) == 0);
    EXPECT(setenv("FAKE_NVML_PROCESSES", processes, 1) == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    const device_load seen = backend_cuda.watch(d, 1);
    EXPECT(seen.others > others - 1e-9 && seen.others < others + 1e-9);
    EXPECT(seen.mhz == 1980);
    setenv("FAKE_NVML_CLOCK", "fails", 1);
    EXPECT(backend_cuda.watch(d, 1).mhz == 0);
    EXPECT(backend_cuda.watch(d, -10).others == 0); /* nothing since a time to come */
    backend_cuda.close(d);
    return 0;
}

static void test_others_on_the_gpu(void **state) {
    static const struct {
        const char *processes;
        double share;
    } cases[] = {
        {"", 0},
        {"0:90,0:80", 0},                  /* this process alone */
        {"7:90", 0},                       /* under another number, as in a container */
        {"0:50,7:20,7:40", 0.3},           /* the mean of its samples */
        {"7:50,8:20", 0.7},                /* two others, this one idle */
        {"0:50,7:80,8:90", 1},             /* at most all of it */
        {"0:10,1:1,2:1,3:1,4:1,5:1", 0.05} /* many small ones */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        processes = cases[i].processes;
        others = cases[i].share;
        run_in_child(others_are_seen);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_others_on_the_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
