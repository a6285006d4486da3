/*
 * NVML without a GPU, built as libnvidia-ml.so.1 for tests: a clock of 1980 MHz, and the processes that
 * FAKE_NVML_PROCESSES names, "number:percent" for each sample, joined by ','; number 0 is the process that asks.
 * FAKE_NVML_CLOCK=fails makes the clock unknown.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/nvml.h"

#define EXPORT __attribute__((visibility("default")))
#define NOT_FOUND 6

#define FAKE_DECLARE(member, symbol, parameters) EXPORT int symbol parameters;
NVML_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

int nvmlInit_v2(void) { return NVML_SUCCESS; }

int nvmlDeviceGetHandleByUUID(const char *uuid, nvml_device **device) {
    static char handle;
    *device = (nvml_device *)(void *)&handle;
    return uuid ? NVML_SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetClockInfo(nvml_device *device, int kind, unsigned *mhz) {
    const char *how = getenv("FAKE_NVML_CLOCK");
    (void)device;
    *mhz = 1980;
    return kind == NVML_CLOCK_SM && !how ? NVML_SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetProcessUtilization(nvml_device *device, nvml_sample *samples, unsigned *count,
                                    unsigned long long since) {
    const char *at = getenv("FAKE_NVML_PROCESSES");
    const unsigned most = *count;
    unsigned process, percent;
    (void)device;
    *count = 0;
    if (since > 1000000ull * (unsigned long long)time(NULL)) return NOT_FOUND; /* nothing is newer than now */
    while (at && *count < most && sscanf(at, "%u:%u", &process, &percent) == 2) {
        samples[(*count)++] = (nvml_sample){
            .process = process ? process : (unsigned)getpid(), .microseconds = since + 1, .multiprocessors = percent};
        at = strchr(at, ',');
        if (at) at++;
    }
    return *count ? NVML_SUCCESS : NOT_FOUND;
}
