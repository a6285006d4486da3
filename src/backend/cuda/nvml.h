/*
 * NVML by dlopen: the functions and types of it that cuda_watch uses. Names and layouts are those of NVIDIA's
 * interface, which keeps them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_NVML_H
#define BRAID_BACKEND_CUDA_NVML_H

#define NVML_SUCCESS 0
#define NVML_CLOCK_SM 1

typedef struct nvml_device nvml_device;

/* How much of the GPU a process used, in percent, at one moment. */
typedef struct nvml_sample {
    unsigned process;
    unsigned long long microseconds; /* since 1970 */
    unsigned multiprocessors, memory, encoder, decoder;
} nvml_sample;
_Static_assert(sizeof(nvml_sample) == 32, "the layout of nvmlProcessUtilizationSample_t");

/* X(member, symbol, parameters) */
#define NVML_FUNCTIONS(X)                                                                  \
    X(init, nvmlInit_v2, (void))                                                           \
    X(device_by_uuid, nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device **device)) \
    X(clock, nvmlDeviceGetClockInfo, (nvml_device * device, int kind, unsigned *mhz))      \
    X(process_utilization, nvmlDeviceGetProcessUtilization,                                \
      (nvml_device * device, nvml_sample * samples, unsigned *count, unsigned long long since))

typedef struct nvml_library {
#define NVML_MEMBER(member, symbol, parameters) int(*member) parameters;
    NVML_FUNCTIONS(NVML_MEMBER)
#undef NVML_MEMBER
} nvml_library;

#endif
