/*
 * What else the machine does while something is timed: the work of other processes on the CPUs that this one may use,
 * or on its GPU, and the time that a host of virtual machines takes away. Read from /proc and from the driver; where
 * it cannot be read, nothing is known and nothing is said.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_LOAD_H
#define BRAID_RACE_LOAD_H

#include "backend/backend.h"

#define LOAD_TEXT 176

/* Counters at one moment, in seconds. */
typedef struct load_mark {
    double at, own, busy, stolen;
    int cpus; /* 0: not known */
} load_mark;

load_mark load_now(void);

/* What happened since. */
typedef struct load {
    double seconds;
    double others; /* CPUs that other processes kept busy, on the average */
    double stolen; /* share of the CPUs' time that went elsewhere */
    double mhz;    /* of the first CPU at its end; 0: the system does not tell */
    int cpus;      /* that this process may use; 0: not known */
    device_load device;
} load;

/* On the host, and on a device that is not the host. */
load load_since(const load_mark *mark, device *d);
load load_between(const load_mark *from, const load_mark *to);

/* Whether it would disturb work of so many threads: others had no CPU of their own or took time of the device, or time
 * was taken away. */
int load_is_heavy(const load *l, int threads);

/* "other processes kept 0.9 of 2 CPUs busy". */
void load_print(const load *l, char text[LOAD_TEXT]);

/* Waits until the machine is quiet enough for so many threads, `most` seconds at most. Returns whether it is; at once
 * where it is. */
int load_wait(int threads, device *d, double most);

/* 1 where $BRAID_BUSY is "ignore": a machine that is always shared is measured as it is. */
int load_is_ignored(void);

#endif
