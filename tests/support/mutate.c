/*
 * Mutations, see the header. Run j depends on j alone: to see a failure again, run up to it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/mutate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/rng.h"

#define MOST_SEEDS 256

typedef struct input {
    uint8_t data[MUTATE_MOST];
    size_t bytes;
} input;

static size_t below(rng *r, size_t end) { return end ? (size_t)rng_between(r, 0, (int64_t)end - 1) : 0; }

static void insert(input *in, size_t at, const void *piece, size_t bytes) {
    if (in->bytes + bytes > MUTATE_MOST) return;
    memmove(in->data + at + bytes, in->data + at, in->bytes - at);
    memcpy(in->data + at, piece, bytes);
    in->bytes += bytes;
}

static void erase(input *in, size_t at, size_t bytes) {
    if (bytes > in->bytes - at) bytes = in->bytes - at;
    memmove(in->data + at, in->data + at + bytes, in->bytes - at - bytes);
    in->bytes -= bytes;
}

/* What parsers trip over. */
static const char *const pieces[] = {"0",
                                     "-1",
                                     "9223372036854775807",
                                     "99999999999999999999",
                                     "2147483648",
                                     "1e308",
                                     "nan",
                                     ":",
                                     "::",
                                     ",",
                                     "x",
                                     "=",
                                     "\"",
                                     "\\",
                                     "{",
                                     "}",
                                     "[",
                                     "]",
                                     "null",
                                     "\xff",
                                     "\n",
                                     " ",
                                     "\x01",
                                     ".",
                                     "e",
                                     "same"};

static void insert_piece(rng *r, input *in) {
    const char *piece = pieces[below(r, sizeof pieces / sizeof pieces[0])];
    insert(in, below(r, in->bytes + 1), piece, strlen(piece));
}

/* A stretch of another seed, or of this one. */
static void splice(rng *r, input *in, const mutate_seed *from) {
    size_t length = from->bytes, begin = below(r, length), bytes = below(r, length - begin) + 1;
    if (length > 0) insert(in, below(r, in->bytes + 1), (const char *)from->data + begin, bytes);
}

static void mutate_once(rng *r, input *in, const mutate_seed *other) {
    size_t at = below(r, in->bytes);
    switch (rng_between(r, 0, 6)) {
        case 0: in->data[at] = (uint8_t)(in->data[at] ^ (1u << below(r, 8))); break;
        case 1: in->data[at] = (uint8_t)rng_u32(r); break;
        case 2: erase(in, at, 1 + below(r, 8)); break;
        case 3: in->bytes = at; break;
        case 4: splice(r, in, other); break;
        case 5: erase(in, at, below(r, in->bytes)); break;
        default: insert_piece(r, in); break;
    }
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define MOST_SECONDS 10.0
#else
#define MOST_SECONDS 1.0
#endif

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void try_input(mutate_target *target, const void *data, size_t bytes) {
    double began = cpu_s();
    target(data, bytes);
    MUTATE_MUST(cpu_s() - began < MOST_SECONDS);
}

static void run_one(mutate_target *target, const mutate_seed *seeds, size_t count, uint64_t run) {
    rng r = {.seed = 1, .stream = run};
    static input in;
    const mutate_seed *seed = &seeds[below(&r, count)];
    in.bytes = seed->bytes < MUTATE_MOST ? seed->bytes : MUTATE_MOST;
    memcpy(in.data, seed->data, in.bytes);
    for (int64_t changes = rng_between(&r, 1, 5); changes > 0; changes--)
        mutate_once(&r, &in, &seeds[below(&r, count)]);
    uint8_t *exact =
        malloc(in.bytes ? in.bytes : 1); /* of its own size, so that a sanitizer sees the first byte too many */
    if (!exact) return;
    memcpy(exact, in.data, in.bytes);
    try_input(target, exact, in.bytes);
    free(exact);
}

static int write_corpus(const char *folder, const mutate_seed *seeds) {
    for (int j = 0; seeds[j].data; j++) {
        char path[512];
        snprintf(path, sizeof path, "%s/seed%d", folder, j);
        FILE *file = fopen(path, "wb");
        if (!file) return 1;
        fwrite(seeds[j].data, 1, seeds[j].bytes, file);
        if (fclose(file) != 0) return 1;
    }
    return 0;
}

/* The inputs that are kept for this program, behind the seeds. */
static size_t add_kept(const char *program, mutate_seed *list, size_t count) {
    const char *slash = strrchr(program, '/');
    char folder[256], path[1024];
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", slash ? slash + 1 : program);
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && count < MOST_SEEDS && (entry = readdir(stream));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        void *data = malloc(MUTATE_MOST);
        MUTATE_MUST(file && data);
        list[count++] = (mutate_seed){data, fread(data, 1, MUTATE_MOST, file)};
        fclose(file);
    }
    if (stream) closedir(stream);
    return count;
}

static int by_bytes(const void *a, const void *b) {
    const mutate_seed *x = a, *y = b;
    size_t shared = x->bytes < y->bytes ? x->bytes : y->bytes;
    int order = memcmp(x->data, y->data, shared);
    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int mutate_bytes_main(int count, char **arguments, mutate_target *target, const mutate_seed *seeds, int64_t runs) {
    static mutate_seed all[MOST_SEEDS];
    size_t own = 0;
    if (count == 3 && strcmp(arguments[1], "--corpus") == 0) return write_corpus(arguments[2], seeds);
    if (count == 2) runs = strtoll(arguments[1], NULL, 10);
    for (; seeds[own].data && own < MOST_SEEDS; own++) all[own] = seeds[own];
    size_t total = add_kept(arguments[0], all, own);
    qsort(all + own, total - own, sizeof *all, by_bytes); /* folders have no order */
    for (size_t j = 0; j < total; j++) try_input(target, all[j].data, all[j].bytes);
    for (int64_t run = 0; run < runs; run++) run_one(target, all, total, (uint64_t)run);
    for (size_t j = own; j < total; j++) free((void *)all[j].data);
    printf("%zu seeds, %zu kept, %lld mutations\n1 passed, 0 failed, 0 skipped\n", own, total - own, (long long)runs);
    return 0;
}

int mutate_main(int count, char **arguments, mutate_target *target, const char *const *seeds, int64_t runs) {
    mutate_seed list[MOST_SEEDS + 1] = {{0}};
    for (int j = 0; seeds[j] && j < MOST_SEEDS; j++) list[j] = (mutate_seed){seeds[j], strlen(seeds[j])};
    return mutate_bytes_main(count, arguments, target, list, runs);
}
