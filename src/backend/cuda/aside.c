/*
 * Launches that are recorded aside: they go to a second queue, which an event joins to the first where they begin and
 * another where somebody needs what they made. In the recorded graph they are a branch of their own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>

#include "backend/cuda/device.h"

braid_status aside_open(cuda_device *d) {
    aside *a = &d->aside;
    cu_result result = d->driver->queue_create(&a->queue, CU_QUEUE_NON_BLOCKING);
    if (!result) result = d->driver->event_create(&a->fork, CU_EVENT_WITHOUT_TIME);
    for (int j = 0; j < ASIDE_EVENTS && !result; j++) {
        a->number[j] = -1;
        result = d->driver->event_create(&a->done[j], CU_EVENT_WITHOUT_TIME);
    }
    return cuda_check_memory(d, result, "making a second queue");
}

void aside_close(cuda_device *d) {
    aside *a = &d->aside;
    if (a->fork) (void)d->driver->event_destroy(a->fork);
    for (int j = 0; j < ASIDE_EVENTS; j++) {
        if (a->done[j]) (void)d->driver->event_destroy(a->done[j]);
    }
    if (a->queue) (void)d->driver->queue_destroy(a->queue);
}

/* Launches go to the other queue from now on. */
static void change_queue(cuda_device *d) {
    cu_queue other = d->aside.queue;
    d->aside.queue = d->queue;
    d->queue = other;
    d->aside.is_on = !d->aside.is_on;
}

braid_status cuda_aside(device *head) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    cu_result result = d->driver->event_record(d->aside.fork, d->queue);
    if (!result) result = d->driver->queue_wait_event(d->aside.queue, d->aside.fork, 0);
    if (!result) change_queue(d);
    return cuda_leave(d, cuda_check(d, result, "putting a launch aside"));
}

/* With the context current. */
static braid_status end_aside(cuda_device *d, int number) {
    aside *a = &d->aside;
    cu_result result = d->driver->event_record(a->done[a->next], d->queue);
    change_queue(d);
    a->number[a->next] = number;
    a->next = (a->next + 1) % ASIDE_EVENTS;
    return cuda_check(d, result, "putting a launch aside");
}

braid_status cuda_aside_end(device *head, int number) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    return cuda_leave(d, end_aside(d, number));
}

/* The event behind the first number from `number` on; -1: there is none. The second queue keeps its order, so what
 * comes later has waited for what came before. */
static int first_from(const aside *a, int number) {
    int found = -1;
    for (int j = 0; j < ASIDE_EVENTS; j++) {
        if (a->number[j] >= number && (found < 0 || a->number[j] < a->number[found])) found = j;
    }
    return found;
}

/* The first queue waits for an event of the second, and what it stands for is joined. */
static braid_status wait_for(cuda_device *d, int event) {
    aside *a = &d->aside;
    int number = a->number[event];
    for (int j = 0; j < ASIDE_EVENTS; j++) {
        if (a->number[j] <= number) a->number[j] = -1;
    }
    return cuda_check(d, d->driver->queue_wait_event(d->queue, a->done[event], 0), "joining what was put aside");
}

braid_status cuda_join(device *head, int number) {
    cuda_device *d = cuda_device_of(head);
    int event = first_from(&d->aside, number);
    if (event < 0) return BRAID_OK;
    TRY(cuda_enter(d));
    return cuda_leave(d, wait_for(d, event));
}

braid_status aside_finish(cuda_device *d) {
    const aside *a = &d->aside;
    if (a->is_on) TRY(end_aside(d, INT_MAX)); /* a launch failed there; the branch is joined all the same */
    int last = (a->next + ASIDE_EVENTS - 1) % ASIDE_EVENTS;
    return a->number[last] < 0 ? BRAID_OK : wait_for(d, last);
}
