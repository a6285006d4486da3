/*
 * What other processes do on a GPU and its clock, from the driver's libnvidia-ml.so.1, opened when first asked for.
 * Where it is not there, or a container hides it, nothing is known and nothing is said.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/device.h"
#include "backend/cuda/nvml.h"
#include "backend/library.h"

#define MOST_SAMPLES 256
#define MOST_PROCESSES 64

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nvml_library nvml;
static int is_there;

static void open_library(void) {
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    void *library = library_open(names);
    is_there = library != NULL;
#define NVML_FIND(member, symbol, parameters) is_there = is_there && library_symbol(library, #symbol, &nvml.member);
    NVML_FUNCTIONS(NVML_FIND)
#undef NVML_FIND
    is_there = is_there && nvml.init() == NVML_SUCCESS;
}

/* Samples of one process, of many that may be there. */
typedef struct process {
    unsigned id, samples;
    double percent; /* the sum over its samples */
} process;

/* In a container processes may have other numbers than here: one that is alone is taken for this one. */
static double share_of_others(const nvml_sample *samples, unsigned count) {
    process list[MOST_PROCESSES];
    int processes = 0;
    double sum = 0;
    for (unsigned i = 0; i < count; i++) {
        int j = 0;
        while (j < processes && list[j].id != samples[i].process) j++;
        if (j == MOST_PROCESSES) continue;
        if (j == processes) list[processes++] = (process){.id = samples[i].process};
        list[j].samples++;
        list[j].percent += samples[i].multiprocessors;
    }
    for (int j = 0; j < processes && processes > 1; j++)
        if (list[j].id != (unsigned)getpid()) sum += list[j].percent / (100.0 * list[j].samples);
    return fmin(1, sum);
}

device_load cuda_watch(device *head, double seconds) {
    device_load load = {0};
    nvml_device *gpu = NULL;
    nvml_sample samples[MOST_SAMPLES];
    unsigned mhz = 0, count = MOST_SAMPLES;
    struct timespec now;
    (void)pthread_once(&once, open_library);
    if (!is_there || nvml.device_by_uuid(head->serial, &gpu) != NVML_SUCCESS) return load;
    if (nvml.clock(gpu, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS) load.mhz = mhz;
    clock_gettime(CLOCK_REALTIME, &now);
    const double since = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - seconds;
    if (nvml.process_utilization(gpu, samples, &count, (unsigned long long)(1e6 * since)) == NVML_SUCCESS)
        load.others = share_of_others(samples, count < MOST_SAMPLES ? count : MOST_SAMPLES);
    return load;
}
