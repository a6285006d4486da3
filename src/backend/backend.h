/*
 * A device and what can be done with its memory. One vtable per backend; kernels of that backend
 * reach its runtime through their own header (backend/cuda/cuda.h), everything else through this one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_BACKEND_H
#define BRAID_BACKEND_BACKEND_H

#include "core/status.h"

/* What a kernel may ask of a device. */
#define FEATURE_AVX2 1u   /* with FMA and F16C */
#define FEATURE_AVX512 2u /* F, BW, DQ, VL */
#define FEATURE_AVX512_BF16 4u
#define FEATURE_AMX_BF16 8u
#define FEATURE_SM80 16u
#define FEATURE_SM90A 32u

/* "avx2", ...; NULL for an unknown bit. */
const char *feature_name(unsigned bit);

typedef struct device device;

/* What a launch puts into the queue, kernels inside vendor calls included. */
typedef struct queued_work {
    int kernels, copies, zeros;
    int rearranging; /* kernels among them that only change a layout */
} queued_work;

/* Launches and copies that were recorded, to be queued again as one. */
typedef struct recording recording;

/* A place on the host for a copy of some of the device's memory, which comes some time after it was asked for. */
typedef struct reading reading;

/* What other processes did on a device, and its clock. */
typedef struct device_load {
    double others; /* share of the device's time that they took; 0: none, or not known */
    double mhz;    /* now; 0: not known */
} device_load;

typedef struct backend {
    const char *name; /* "cpu", "cuda" */
    /* How many devices there are; 0 with a message in braid_message() where the backend cannot be used. */
    int (*count)(void);
    braid_status (*open)(int ordinal, device **out);
    void (*close)(device *d);
    braid_status (*alloc)(device *d, size_t bytes, void **out); /* aligned to MEMORY_DEVICE_ALIGNMENT */
    void (*free)(device *d, void *memory);
    /* Queued like a launch; `from` may be used again at once. */
    braid_status (*upload)(device *d, void *to, const void *from, size_t bytes);
    braid_status (*download)(device *d, void *to, const void *from, size_t bytes);
    braid_status (*synchronize)(device *d);
    /* A reading belongs to the caller. The copy is queued like a launch; to get it waits for it alone. The data is good
     * until the next time it is asked for. */
    braid_status (*reading_create)(device *d, size_t bytes, reading **out);
    void (*reading_destroy)(device *d, reading *r);
    braid_status (*reading_ask)(device *d, reading *r, const void *from);
    braid_status (*reading_get)(device *d, reading *r, const void **data);
    int runs_ahead; /* how many runs the host may be ahead of the device; 0: launches are done when they return */
    /* Seconds that `iterations` calls of launch(context, i) take, with the device idle before and after. */
    braid_status (*time)(device *d, braid_status (*launch)(void *context, int i), void *context, int iterations,
                         double *seconds);
    /* The same for launches of kernels alone: what the host takes to launch them is in no figure. */
    braid_status (*time_launches)(device *d, braid_status (*launch)(void *context, int i), void *context,
                                  int iterations, double *seconds);
    /* Seconds of each of `count` launches that run one behind the other, without the host in any of them. */
    braid_status (*time_each)(device *d, braid_status (*launch)(void *context, int i), void *context, int count,
                              double *seconds);
    /* What launch(context, 0) would queue; nothing runs. NULL where the backend has no recordings. */
    braid_status (*look_at)(device *d, braid_status (*launch)(void *context, int i), void *context, queued_work *work);
    /* Loads the code that launch(context, i) needs, i from 0 to count - 1, so that no run has to; nothing is queued.
     * NULL where nothing is loaded. */
    braid_status (*load)(device *d, braid_status (*launch)(void *context, int i), void *context, int count);
    /* Copies between two places of the device's memory; queued like a launch. */
    braid_status (*copy)(device *d, void *to, const void *from, size_t bytes);
    braid_status (*zero)(device *d, void *at, size_t bytes);
    /* From record to record_end, launches, copies and zeros are kept instead of run, and nothing else may be asked for.
     * A recording belongs to the caller; record_end with NULL drops what was kept. All four are NULL where the
     * backend has no recordings. */
    braid_status (*record)(device *d);
    braid_status (*record_end)(device *d, recording **out);
    braid_status (*replay)(device *d, recording *r);
    void (*forget)(device *d, recording *r);
    /* Inside a recording: what is launched from side_begin to side_end may run beside all that is launched later, until
     * join waits for it and for what the side queue has before it. Numbers grow from one to the next. record_end joins
     * what is left. All three are NULL where nothing runs side by side. */
    braid_status (*side_begin)(device *d);
    braid_status (*side_end)(device *d, int number);
    braid_status (*join)(device *d, int number);
    int has_own_memory; /* 1: the device's memory is not the host's, and its plans are what it is for */
    /* Bytes of the last cache level, and of free memory. */
    size_t (*cache_bytes)(const device *d);
    size_t (*free_bytes)(const device *d);
    /* Over the last `seconds`. NULL where the device is the host, whose load is that of its CPUs. */
    device_load (*watch)(device *d, double seconds);
    /* Rows for braid_context_describe. */
    void (*describe)(device *d, braid_row_function row, void *user);
} backend;

/* Backends put their own state behind this head. */
struct device {
    const backend *backend;
    int ordinal;
    char name[16];      /* "cpu", "cuda:0" */
    char model[96];     /* "AMD EPYC 9654", "NVIDIA H200" */
    char serial[48];    /* which of several equal ones: "GPU-..." of nvidia-smi; "": not known */
    char identity[256]; /* for wisdom: model, driver, capability, vendor versions; everything that a time depends on */
    unsigned features;
    int is_loading;                /* 1: inside load, where no vendor library is called */
    const struct chooser *chooser; /* kernels/kernel.h; NULL: a chain chooses by the cost model */
};

extern const backend backend_cpu, backend_cuda;

/* Why something is refused: the text is for people, the kind is what the code goes by. For want of memory: a library
 * found none to make a kernel ready that can do its problem; asked again, it may be there. */
typedef enum refusal_kind { REFUSAL_NONE, REFUSAL_UNABLE, REFUSAL_NO_MEMORY } refusal_kind;
typedef struct refusal {
    refusal_kind kind;
    const char *text; /* NULL where nothing is refused */
} refusal;

/* For good, in words; NULL: not at all. */
static inline refusal refusal_unable(const char *text) { return (refusal){text ? REFUSAL_UNABLE : REFUSAL_NONE, text}; }
refusal refusal_no_memory(void);

/* Opens "cpu", "cuda:0" or "auto". */
braid_status backend_open(const char *name, device **out);

#endif
