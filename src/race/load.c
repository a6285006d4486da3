/*
 * The load, from /proc/stat, /proc/loadavg, the clock of this process and the device.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/load.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/reals.h"

#define LOOK_SECONDS 0.05 /* between two looks; the system counts in hundredths of a second */
#define MOST_CROWD 0.2    /* CPUs' worth of other work without a CPU of its own */
#define MOST_STOLEN 0.05
#define MOST_OF_DEVICE 0.05
#define LOOK_BACK 1.0 /* seconds; a driver looks at its GPU a few times a second */
#define MOST_TEXT ((size_t)1 << 20)
#define TICKS 2.0 /* that each CPU's counter may be off */

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double tick(void) { return 1.0 / (double)sysconf(_SC_CLK_TCK); }

/* A small file of the system, for memory_free; NULL where it cannot be read. */
static char *read_system(const char *path) {
    char *text = NULL;
    size_t bytes = 0;
    const fail_kept kept = fail_keep();
    if (files_read(path, MOST_TEXT, BRAID_ERROR_DEVICE, &text, &bytes) == BRAID_OK) return text;
    fail_put_back(&kept);
    return NULL;
}

/* Adds one line "cpu3 user nice system idle iowait irq softirq steal" of a CPU that this process may use. */
static void add_line(const char *line, const cpu_set_t *usable, load_mark *m) {
    int cpu;
    unsigned long long user, nice, system, idle, wait, irq, soft, steal;
    if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system, &idle, &wait, &irq,
               &soft, &steal) != 9)
        return;
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, usable)) return;
    m->busy += (double)(user + nice + system + irq + soft) * tick();
    m->stolen += (double)steal * tick();
    m->cpus++;
}

load_mark load_now(void) {
    load_mark m = {.at = seconds_of(CLOCK_MONOTONIC), .own = seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
    cpu_set_t usable;
    char *text = sched_getaffinity(0, sizeof usable, &usable) ? NULL : read_system("/proc/stat");
    for (const char *line = text; line && strncmp(line, "cpu", 3) == 0; line = strchr(line, '\n') + 1) {
        add_line(line, &usable, &m);
        if (!strchr(line, '\n')) break;
    }
    memory_free(text);
    return m;
}

load load_between(const load_mark *from, const load_mark *to) {
    load l = {.seconds = to->at - from->at};
    if (from->cpus < 1 || to->cpus != from->cpus || l.seconds <= 0) return l;
    l.cpus = to->cpus;
    l.others = fmax(0, (to->busy - from->busy - (to->own - from->own)) / l.seconds);
    l.stolen = fmax(0, (to->stolen - from->stolen) / (l.seconds * l.cpus));
    return l;
}

/* Of the first CPU now; 0: the system does not tell. */
static double clock_mhz(void) {
    double khz = 0;
    char *text = read_system("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
    if (!text || sscanf(text, "%lf", &khz) != 1) khz = 0;
    memory_free(text);
    return khz / 1e3;
}

static device_load device_since(device *d, double seconds) {
    return d->backend->watch ? d->backend->watch(d, seconds) : (device_load){0};
}

load load_since(const load_mark *mark, device *d) {
    const load_mark now = load_now();
    load l = load_between(mark, &now);
    l.mhz = clock_mhz();
    l.device = device_since(d, fmax(l.seconds, LOOK_BACK));
    return l;
}

int load_is_heavy(const load *l, int threads) {
    if (l->device.others > MOST_OF_DEVICE) return 1;
    if (l->cpus < 1) return 0;
    const double blur = TICKS * tick() * l->cpus / l->seconds, crowd = l->others + threads - l->cpus;
    return crowd > MOST_CROWD + blur || l->stolen > MOST_STOLEN + blur / l->cpus;
}

void load_print(const load *l, char text[LOAD_TEXT]) {
    char host[48] = "", clock[32] = "", gpu[64] = "", beat[32] = "";
    if (l->stolen > MOST_STOLEN)
        real_format(host, sizeof host, ", the host took %.0f %% of their time", 100 * l->stolen);
    if (l->mhz > 0) real_format(clock, sizeof clock, ", at %.0f MHz", l->mhz);
    if (l->device.others > MOST_OF_DEVICE)
        real_format(gpu, sizeof gpu, ", other processes took %.0f %% of the GPU", 100 * l->device.others);
    if (l->device.mhz > 0) real_format(beat, sizeof beat, ", the GPU at %.0f MHz", l->device.mhz);
    real_format(text, LOAD_TEXT, "other processes kept %.1f of %d CPUs busy%s%s%s%s", l->others, l->cpus, host, clock,
                gpu, beat);
}

/* Threads that want a CPU at this moment, this one not counted; -1: not known. */
static int run_queue(void) {
    int running = 0;
    char *text = read_system("/proc/loadavg");
    if (!text || sscanf(text, "%*f %*f %*f %d", &running) != 1) running = 0;
    memory_free(text);
    return running - 1;
}

static int is_quiet(int threads, device *d) {
    const load_mark mark = load_now();
    const int host_is_quiet = mark.cpus < 1 || run_queue() <= mark.cpus - threads;
    if (host_is_quiet && device_since(d, LOOK_BACK).others <= MOST_OF_DEVICE) return 1;
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * LOOK_SECONDS)}, NULL);
    const load l = load_since(&mark, d);
    return !load_is_heavy(&l, threads);
}

int load_wait(int threads, device *d, double most) {
    const double start = seconds_of(CLOCK_MONOTONIC);
    int quiet = is_quiet(threads, d);
    while (!quiet && seconds_of(CLOCK_MONOTONIC) - start + LOOK_SECONDS < most) quiet = is_quiet(threads, d);
    return quiet;
}

int load_is_ignored(void) {
    const char *text = getenv("BRAID_BUSY");
    return text && strcmp(text, "ignore") == 0;
}
