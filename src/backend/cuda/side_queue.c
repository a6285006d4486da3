/*
 * Launches that are recorded on the side queue: they go to a second queue, which an event joins to the first where they
 * begin and another where somebody needs what they made. In the recorded graph they are a branch of their own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>

#include "backend/cuda/device.h"

braid_status side_open(cuda_device *d) {
    side_queue *a = &d->side;
    cu_result result = d->driver->queue_create(&a->queue, CU_QUEUE_NON_BLOCKING);
    if (!result) result = d->driver->event_create(&a->fork, CU_EVENT_WITHOUT_TIME);
    for (int j = 0; j < SIDE_EVENTS && !result; j++) {
        a->number[j] = -1;
        result = d->driver->event_create(&a->done[j], CU_EVENT_WITHOUT_TIME);
    }
    return cuda_check_memory(d, result, "making a second queue");
}

void side_close(cuda_device *d) {
    side_queue *a = &d->side;
    if (a->fork) (void)d->driver->event_destroy(a->fork);
    for (int j = 0; j < SIDE_EVENTS; j++) {
        if (a->done[j]) (void)d->driver->event_destroy(a->done[j]);
    }
    if (a->queue) (void)d->driver->queue_destroy(a->queue);
}

/* Launches go to the other queue from now on. */
static void change_queue(cuda_device *d) {
    cu_queue other = d->side.queue;
    d->side.queue = d->queue;
    d->queue = other;
    d->side.is_on = !d->side.is_on;
}

braid_status cuda_side_begin(device *head) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    cu_result result = d->driver->event_record(d->side.fork, d->queue);
    if (!result) result = d->driver->queue_wait_event(d->side.queue, d->side.fork, 0);
    if (!result) change_queue(d);
    return cuda_leave(d, cuda_check(d, result, "putting a launch on the side queue"));
}

/* With the context current. */
static braid_status end_side(cuda_device *d, int number) {
    side_queue *a = &d->side;
    cu_result result = d->driver->event_record(a->done[a->next], d->queue);
    change_queue(d);
    a->number[a->next] = number;
    a->next = (a->next + 1) % SIDE_EVENTS;
    return cuda_check(d, result, "putting a launch on the side queue");
}

braid_status cuda_side_end(device *head, int number) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    return cuda_leave(d, end_side(d, number));
}

/* The event behind the first number from `number` on; -1: there is none. The second queue keeps its order, so what
 * comes later has waited for what came before. */
static int first_from(const side_queue *a, int number) {
    int found = -1;
    for (int j = 0; j < SIDE_EVENTS; j++) {
        if (a->number[j] >= number && (found < 0 || a->number[j] < a->number[found])) found = j;
    }
    return found;
}

/* The first queue waits for an event of the second, and what it stands for is joined. */
static braid_status wait_for(cuda_device *d, int event) {
    side_queue *a = &d->side;
    int number = a->number[event];
    for (int j = 0; j < SIDE_EVENTS; j++) {
        if (a->number[j] <= number) a->number[j] = -1;
    }
    return cuda_check(d, d->driver->queue_wait_event(d->queue, a->done[event], 0), "joining what the side queue has");
}

braid_status cuda_join(device *head, int number) {
    cuda_device *d = cuda_device_of(head);
    int event = first_from(&d->side, number);
    if (event < 0) return BRAID_OK;
    TRY(cuda_enter(d));
    return cuda_leave(d, wait_for(d, event));
}

braid_status side_finish(cuda_device *d) {
    const side_queue *a = &d->side;
    if (a->is_on) TRY(end_side(d, INT_MAX)); /* a launch failed there; the branch is joined all the same */
    int last = (a->next + SIDE_EVENTS - 1) % SIDE_EVENTS;
    return a->number[last] < 0 ? BRAID_OK : wait_for(d, last);
}
