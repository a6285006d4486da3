/*
 * Limits of reading, see the header. More pixels that are asked for bring more time and memory in proportion.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/limits.h"

#include <pthread.h>
#include <time.h>

#define WORK_BYTES ((size_t)64 << 10) /* between two looks at the clock */
#define FILE_SECONDS 1.0
#define SECONDS_PER_MIB 1.0
#define WAIT_NS 50000000 /* between two looks at the wish to stop */

static _Thread_local struct {
    const braid_data_limits *of; /* NULL: the usual ones */
    double allowed_s, ends_s;    /* 0: no file has begun */
    size_t work;
    size_t taken; /* of the memory */
} mine;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t given;
    size_t taken;
} memory = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

braid_status limits_check(const braid_data_limits *of) {
    if (of->max_pixels >= 0 && of->max_pixels <= LIMITS_MOST_PIXELS) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "max_pixels: expected 1 to %lld, got %lld", (long long)LIMITS_MOST_PIXELS,
                (long long)of->max_pixels);
}

void limits_begin(const braid_data_limits *of) {
    mine.of = of;
    mine.ends_s = 0;
}

void limits_end(void) { limits_begin(NULL); }

int64_t limits_max_pixels(void) { return mine.of && mine.of->max_pixels ? mine.of->max_pixels : LIMITS_PIXELS; }

/* How much more than usual is asked for; 1 at least. */
static double factor(void) {
    double more = (double)limits_max_pixels() / (double)LIMITS_PIXELS;
    return more > 1 ? more : 1;
}

static braid_status check_stop(void) {
    if (!mine.of || !mine.of->stop || !mine.of->stop(mine.of->user)) return BRAID_OK;
    return fail(BRAID_ERROR_CHECK, "stopped, as it was asked to");
}

braid_status limits_begin_file(size_t bytes) {
    mine.allowed_s = (FILE_SECONDS + SECONDS_PER_MIB * (double)bytes / (1 << 20)) * factor();
    mine.ends_s = cpu_s() + mine.allowed_s;
    mine.work = 0;
    return check_stop();
}

braid_status limits_work(size_t bytes) {
    mine.work += bytes < WORK_BYTES ? bytes : WORK_BYTES;
    if (mine.work < WORK_BYTES) return BRAID_OK;
    mine.work = 0;
    TRY(check_stop());
    if (mine.ends_s <= 0 || cpu_s() < mine.ends_s) return BRAID_OK;
    return fail(BRAID_ERROR_DATA, "took longer than %.1f s, which is what a file of this size may take",
                mine.allowed_s);
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* Under the lock: until something is given back, or for a moment. */
static void wait_a_moment(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&memory.given, &memory.lock, &until);
}

braid_status limits_take(size_t bytes) {
    size_t most = (size_t)((double)LIMITS_BYTES * factor());
    braid_status status = BRAID_OK;
    pthread_mutex_lock(&memory.lock);
    while (!status && mine.taken == 0 && memory.taken > 0 && (bytes > most || memory.taken > most - bytes)) {
        wait_a_moment();
        status = check_stop();
    }
    if (!status) {
        memory.taken += bytes;
        mine.taken += bytes;
    }
    pthread_mutex_unlock(&memory.lock);
    return status;
}

void limits_give(size_t bytes) {
    if (bytes == 0) return;
    mine.taken -= bytes < mine.taken ? bytes : mine.taken;
    pthread_mutex_lock(&memory.lock);
    memory.taken -= bytes;
    pthread_cond_broadcast(&memory.given);
    pthread_mutex_unlock(&memory.lock);
}
