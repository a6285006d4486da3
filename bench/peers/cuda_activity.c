/*
 * Counts every kernel, copy and fill that a process runs on the GPU, those inside of vendor libraries and replayed
 * graphs included, by CUPTI. The CUDA driver loads it into any program:
 *
 *     cc -shared -fPIC -I/usr/local/cuda/include bench/peers/cuda_activity.c -o libcuda_activity.so -lcupti
 *     CUDA_INJECTION64_PATH=$PWD/libcuda_activity.so CUDA_ACTIVITY=counts.txt braid check linet18 --steps 10 ...
 *
 * At the end it writes a line for each name to CUDA_ACTIVITY (default: standard error), "COUNT kernel NAME", "COUNT
 * copy KIND", "COUNT fill", and their sums. Two runs whose numbers of steps differ tell what one step has.
 *
 * SPDX-License-Identifier: MIT
 */
#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)8 << 20)
#define MOST_NAMES 4096

typedef struct counted {
    char *what;
    long count;
} counted;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static counted names[MOST_NAMES];
static int name_count;
static size_t lost;

static void count(const char *kind, const char *name) {
    char what[512];
    snprintf(what, sizeof what, "%s %s", kind, name ? name : "");
    for (int j = 0; j < name_count; j++) {
        if (strcmp(names[j].what, what) != 0) continue;
        names[j].count++;
        return;
    }
    if (name_count < MOST_NAMES) names[name_count++] = (counted){.what = strdup(what), .count = 1};
}

static const char *copy_kind(uint8_t kind) {
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "host to device";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "device to host";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "device to device";
        default: return "other";
    }
}

static void take(const CUpti_Activity *record) {
    switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            count("kernel", ((const CUpti_ActivityKernel9 *)record)->name);
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            count("copy", copy_kind(((const CUpti_ActivityMemcpy5 *)record)->copyKind));
            break;
        case CUPTI_ACTIVITY_KIND_MEMSET: count("fill", ""); break;
        default: break;
    }
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *most_records) {
    *buffer = aligned_alloc(64, BUFFER_BYTES);
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid) {
    CUpti_Activity *record = NULL;
    size_t more = 0;
    (void)bytes;
    pthread_mutex_lock(&lock);
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) take(record);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &more) == CUPTI_SUCCESS) lost += more;
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static void report(void) {
    const char *path = getenv("CUDA_ACTIVITY");
    long kernels = 0, copies = 0, fills = 0;
    (void)cuptiActivityFlushAll(1);
    FILE *out = path ? fopen(path, "w") : stderr;
    if (!out) return;
    for (int j = 0; j < name_count; j++) {
        fprintf(out, "%ld %s\n", names[j].count, names[j].what);
        kernels += names[j].what[0] == 'k' ? names[j].count : 0;
        copies += names[j].what[0] == 'c' ? names[j].count : 0;
        fills += names[j].what[0] == 'f' ? names[j].count : 0;
    }
    fprintf(out, "all: %ld kernels, %ld copies, %ld fills; %zu records lost\n", kernels, copies, fills, lost);
    if (path) fclose(out);
}

/* Called by the driver. */
int InitializeInjection(void) {
    CUptiResult result = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    if (!result) result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (!result) result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    if (!result) result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
    if (result) fprintf(stderr, "cuda_activity: nothing is counted: CUPTI error %d\n", (int)result);
    atexit(report);
    return 1;
}
