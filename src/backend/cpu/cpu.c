/*
 * The CPU as a device: host memory, the clock, and what the machine is. Work runs when it is
 * launched, so there is nothing to wait for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cpu/cpu.h"

#include <inttypes.h>
#include <emmintrin.h> /* SSE2: every x86-64 has it */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/host_reading.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/threads.h"

/* Used where the system does not tell: beyond the last cache of most machines. */
#define UNKNOWN_CACHE_BYTES ((size_t)32 << 20)

typedef struct cpu_cache {
    int level;
    char type; /* 'D', 'I' or 'U'; 0: there is no such cache */
    size_t bytes;
} cpu_cache;

#define CPU_CACHES 5

typedef struct cpu_device {
    device head;
    cpu_cache cache[CPU_CACHES]; /* as seen from the first core */
    size_t last_cache_bytes;
} cpu_device;

/* Reads a small file of the system into `text`, which is empty where there is none. Fails for want of memory alone. */
static braid_status read_system(const char *path, char *text, size_t bytes) {
    char *data = NULL;
    size_t length = 0;
    const fail_kept kept = fail_keep();
    text[0] = '\0';
    braid_status status = files_read(path, (size_t)1 << 16, BRAID_ERROR_DEVICE, &data, &length);
    if (status == BRAID_ERROR_MEMORY) return status;
    if (status != BRAID_OK) {
        fail_put_back(&kept);
        return BRAID_OK;
    }
    snprintf(text, bytes, "%s", data);
    memory_free(data);
    return BRAID_OK;
}

static braid_status read_cache_field(int index, const char *field, char *text, size_t bytes) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, field);
    return read_system(path, text, bytes);
}

static braid_status read_cache(int index, cpu_cache *cache) {
    char size[32], level[32], type[32];
    unsigned long long kib = 0;
    *cache = (cpu_cache){0};
    TRY(read_cache_field(index, "size", size, sizeof size));
    TRY(read_cache_field(index, "level", level, sizeof level));
    TRY(read_cache_field(index, "type", type, sizeof type));
    if (sscanf(size, "%lluK", &kib) != 1 || sscanf(level, "%d", &cache->level) != 1) return BRAID_OK;
    cache->type = type[0];
    cache->bytes = (size_t)kib << 10;
    return BRAID_OK;
}

static braid_status read_caches(cpu_device *d) {
    for (int i = 0; i < CPU_CACHES; i++) TRY(read_cache(i, &d->cache[i]));
    return BRAID_OK;
}

static size_t last_cache(const cpu_device *d) {
    size_t bytes = 0;
    for (int i = 0; i < CPU_CACHES; i++) {
        if (d->cache[i].type && d->cache[i].bytes > bytes) bytes = d->cache[i].bytes;
    }
    if (bytes > 0) return bytes;
    const long told = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return told > 0 ? (size_t)told : UNKNOWN_CACHE_BYTES;
}

/* "avx2 avx512", or "none". */
static void feature_text(unsigned features, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (unsigned bit = FEATURE_AVX2; bit <= FEATURE_AMX_BF16 && used < bytes; bit <<= 1) {
        if (features & bit)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? " " : "", feature_name(bit));
    }
    if (!features) snprintf(text, bytes, "none");
}

/* "onednn 2.6.3 avx512_core", or "onednn none". */
static void vendor_text(const vendor_library *v, char *text, size_t bytes) {
    if (v->reason)
        snprintf(text, bytes, "%.12s none", v->name);
    else
        snprintf(text, bytes, "%.12s %.12s %.20s", v->name, v->version, v->isa);
}

/* Two files of one version may compute differently. */
static uint64_t vendor_files(void) {
    return library_fingerprint(onednn_library()->file) ^ library_fingerprint(openblas_library()->file) << 1;
}

static void write_identity(device *head, size_t cache_bytes) {
    char signature[48], features[64], onednn[48], openblas[48];
    cpu_signature(signature, sizeof signature);
    feature_text(head->features, features, sizeof features);
    vendor_text(onednn_library(), onednn, sizeof onednn);
    vendor_text(openblas_library(), openblas, sizeof openblas);
    snprintf(head->identity, sizeof head->identity, "%016" PRIx64 "; %.40s; %.32s; %.36s; %zu KiB; %s; %s",
             vendor_files(), head->model, signature, features, cache_bytes >> 10, onednn, openblas);
}

static int cpu_count(void) { return 1; }

static braid_status cpu_open(int ordinal, device **out) {
    void *memory = NULL;
    *out = NULL;
    if (ordinal != 0)
        return fail(BRAID_ERROR_DEVICE, "device: expected cpu, got cpu:%d; there is one CPU device", ordinal);
    TRY(cpu_check_isa());
    TRY(memory_calloc(1, sizeof(cpu_device), "the CPU device", &memory));
    cpu_device *d = memory;
    d->head.backend = &backend_cpu;
    d->head.features = cpu_features();
    snprintf(d->head.name, sizeof d->head.name, "cpu");
    cpu_model(d->head.model, sizeof d->head.model);
    braid_status status = read_caches(d);
    if (status != BRAID_OK) {
        memory_free(d);
        return status;
    }
    d->last_cache_bytes = last_cache(d);
    write_identity(&d->head, d->last_cache_bytes);
    *out = &d->head;
    return BRAID_OK;
}

static void cpu_close(device *d) { memory_free(d); }

static braid_status cpu_alloc(device *d, size_t bytes, void **out) {
    (void)d;
    return memory_alloc_device(bytes, "CPU memory", out);
}

static void cpu_free(device *d, void *memory) {
    (void)d;
    memory_free(memory);
}

#define COPY_PART_BYTES ((size_t)1 << 20)

typedef struct copy_work {
    char *to;
    const char *from;
    size_t bytes;
    int stream; /* more than the last cache holds: stored past it, which saves reading what is overwritten */
} copy_work;

/* `to` is aligned to the 16 bytes of a store. */
static void copy_past_caches(char *to, const char *from, size_t bytes) {
    size_t i = 0;
    for (; i + 64 <= bytes; i += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 32));
        __m128i e = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 48));
        _mm_stream_si128((__m128i *)(void *)(to + i), a);
        _mm_stream_si128((__m128i *)(void *)(to + i + 16), b);
        _mm_stream_si128((__m128i *)(void *)(to + i + 32), c);
        _mm_stream_si128((__m128i *)(void *)(to + i + 48), e);
    }
    memcpy(to + i, from + i, bytes - i);
    _mm_sfence();
}

static void copy_part(void *context, int64_t part) {
    const copy_work *w = context;
    size_t begin = (size_t)part * COPY_PART_BYTES, rest = w->bytes - begin;
    size_t bytes = rest < COPY_PART_BYTES ? rest : COPY_PART_BYTES;
    if (w->stream)
        copy_past_caches(w->to + begin, w->from + begin, bytes);
    else
        memcpy(w->to + begin, w->from + begin, bytes);
}

static braid_status cpu_copy(device *d, void *to, const void *from, size_t bytes) {
    const int large = bytes > ((const cpu_device *)d)->last_cache_bytes;
    copy_work work = {to, from, bytes, large && (uintptr_t)to % 16 == 0};
    threads_for((int64_t)((bytes + COPY_PART_BYTES - 1) / COPY_PART_BYTES), copy_part, &work);
    return BRAID_OK;
}

static braid_status cpu_zero(device *d, void *at, size_t bytes) {
    (void)d;
    if (bytes) memset(at, 0, bytes);
    return BRAID_OK;
}

static braid_status cpu_synchronize(device *d) {
    (void)d;
    return BRAID_OK;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static braid_status cpu_time(device *d, braid_status (*launch)(void *context, int i), void *context, int iterations,
                             double *seconds) {
    (void)d;
    const double start = now();
    for (int i = 0; i < iterations; i++) TRY(launch(context, i));
    *seconds = now() - start;
    return BRAID_OK;
}

static braid_status cpu_time_each(device *d, braid_status (*launch)(void *context, int i), void *context, int count,
                                  double *seconds) {
    (void)d;
    for (int i = 0; i < count; i++) {
        const double start = now();
        TRY(launch(context, i));
        seconds[i] = now() - start;
    }
    return BRAID_OK;
}

static size_t cpu_cache_bytes(const device *d) { return ((const cpu_device *)d)->last_cache_bytes; }

static size_t cpu_free_bytes(const device *d) {
    (void)d;
    char text[4096];
    unsigned long long kib = 0;
    const char *line =
        read_system("/proc/meminfo", text, sizeof text) == BRAID_OK ? strstr(text, "MemAvailable:") : NULL;
    if (line && sscanf(line, "MemAvailable: %llu kB", &kib) == 1) return (size_t)kib << 10;
    const long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages << __builtin_ctzl((unsigned long)page) : 0;
}

/* "L1d 32 KiB, L2 1024 KiB, L3 32768 KiB" */
static void cache_text(const cpu_device *d, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < CPU_CACHES && used < bytes; i++) {
        const cpu_cache *c = &d->cache[i];
        if (c->type == 0 || c->type == 'I') continue;
        used += (size_t)snprintf(text + used, bytes - used, "%sL%d%s %zu KiB", used ? ", " : "", c->level,
                                 c->type == 'D' ? "d" : "", c->bytes >> 10);
    }
    if (used == 0) snprintf(text, bytes, "unknown; %zu KiB taken for the last level", d->last_cache_bytes >> 10);
}

static void describe_isa(const device *d, braid_row_function row, void *user) {
    char allowed[64], masked[64], value[160];
    const unsigned hidden = cpu_hardware() & ~d->features;
    const char *word = getenv("BRAID_ISA");
    feature_text(d->features, allowed, sizeof allowed);
    feature_text(hidden, masked, sizeof masked);
    if (!hidden)
        snprintf(value, sizeof value, "%s", allowed);
    else if (word && *word)
        snprintf(value, sizeof value, "%s (BRAID_ISA masks %s)", allowed, masked);
    else
        snprintf(value, sizeof value, "%s (the system refuses %s)", allowed, masked);
    row(user, "cpu", "isa", value, hidden && word && *word ? "unset BRAID_ISA" : NULL);
}

static void describe_vendor(const vendor_library *v, braid_row_function row, void *user) {
    char value[512];
    if (v->reason) {
        row(user, "vendor", v->name, "not used", v->reason);
        return;
    }
    snprintf(value, sizeof value, "%s, %s%s, %s", v->version, v->isa, v->handicapped ? " (handicapped)" : "", v->file);
    row(user, "vendor", v->name, value,
        v->handicapped ? "it does not run at this CPU's best instruction set: its times prove nothing" : NULL);
}

static void cpu_describe(device *d, braid_row_function row, void *user) {
    char text[160];
    row(user, "cpu", "model", d->model, NULL);
    cpu_signature(text, sizeof text);
    row(user, "cpu", "signature", text, NULL);
    snprintf(text, sizeof text, "%d", threads_available());
    row(user, "cpu", "cores usable", text, NULL);
    snprintf(text, sizeof text, "%d (%s)", threads_get(), threads_runtime());
    row(user, "cpu", "threads", text, NULL);
    describe_isa(d, row, user);
    cache_text((const cpu_device *)d, text, sizeof text);
    row(user, "cpu", "caches", text, NULL);
    snprintf(text, sizeof text, "%zu MiB", cpu_free_bytes(d) >> 20);
    row(user, "cpu", "free memory", text, NULL);
    describe_vendor(onednn_library(), row, user);
    describe_vendor(openblas_library(), row, user);
}

const backend backend_cpu = {
    .name = "cpu",
    .count = cpu_count,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .upload = cpu_copy,
    .download = cpu_copy,
    .synchronize = cpu_synchronize,
    .reading_create = host_reading_create,
    .reading_destroy = host_reading_destroy,
    .reading_ask = host_reading_ask,
    .reading_get = host_reading_get,
    .time = cpu_time,
    .time_launches = cpu_time,
    .time_each = cpu_time_each,
    .copy = cpu_copy,
    .zero = cpu_zero,
    .cache_bytes = cpu_cache_bytes,
    .free_bytes = cpu_free_bytes,
    .describe = cpu_describe,
};
