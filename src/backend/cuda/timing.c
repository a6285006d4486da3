/*
 * Times of the queue, by events of the driver: of many launches together (as replays of a recording where the host is
 * slower than they are, because that is how they run in a plan), and of each launch of a row. For the second
 * the row is recorded with an event behind every launch and replayed, so that the host is in no figure; what
 * an event itself takes is measured in the same replay and taken off. The nodes of a recording also tell what a
 * launch puts into the queue, vendor libraries' own kernels included.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/device.h"
#include "core/memory.h"

#define SPARE_EVENTS 9 /* behind the row, with nothing between them */
#define MOST_NODES 64  /* of one launch that are looked at */
#define MOST_RECORDED 128
#define HOST_SHARE 0.7 /* of the time: from it on the host may be what was timed */

braid_status cuda_time(device *head, braid_status (*launch)(void *context, int i), void *context, int iterations,
                       double *seconds) {
    cuda_device *d = cuda_device_of(head);
    float milliseconds = 0;
    *seconds = 0;
    TRY(head->backend->synchronize(head));
    TRY(cuda_enter(d));
    TRY(cuda_leave(d, cuda_check(d, d->driver->event_record(d->begin, d->queue), "timing")));
    for (int i = 0; i < iterations; i++) TRY(launch(context, i));
    TRY(cuda_enter(d));
    cu_result result = d->driver->event_record(d->end, d->queue);
    if (!result) result = d->driver->event_wait(d->end);
    if (!result) result = d->driver->event_elapsed(&milliseconds, d->begin, d->end);
    TRY(cuda_leave(d, cuda_check(d, result, "timing")));
    *seconds = (double)milliseconds * 1e-3;
    return BRAID_OK;
}

/* ---- Short launches ------------------------------------------------------------------------- */

/* Launches as the stopwatch repeats them. */
typedef struct repeated {
    device *head;
    recording *row;
} repeated;

static braid_status replay_row(void *context, int i) {
    const repeated *r = context;
    (void)i;
    return cuda_replay(r->head, r->row);
}

static braid_status record_row(device *head, braid_status (*launch)(void *context, int i), void *context, int count,
                               recording **row) {
    braid_status status = BRAID_OK;
    TRY(cuda_record(head));
    for (int i = 0; i < count && !status; i++) status = launch(context, i);
    braid_status ended = cuda_record_end(head, status ? NULL : row);
    return status ? status : ended;
}

/* The same launches as replays, so that the device does not wait for the host. */
static braid_status time_replays(device *head, braid_status (*launch)(void *context, int i), void *context,
                                 int iterations, double *seconds) {
    repeated r = {.head = head};
    int count = iterations < MOST_RECORDED ? iterations : MOST_RECORDED, replays = (iterations + count - 1) / count;
    TRY(record_row(head, launch, context, count, &r.row));
    braid_status status = replay_row(&r, 0); /* the first brings the graph to the device */
    if (!status) status = cuda_time(head, replay_row, &r, replays, seconds);
    cuda_forget(head, r.row);
    *seconds *= (double)iterations / (double)(replays * count);
    return status;
}

static double host_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Launches with the host's time for them counted. */
typedef struct counted {
    braid_status (*launch)(void *context, int i);
    void *context;
    double host_s;
} counted;

static braid_status launch_counted(void *context, int i) {
    counted *c = context;
    double start = host_now();
    braid_status status = c->launch(c->context, i);
    c->host_s += host_now() - start;
    return status;
}

braid_status cuda_time_launches(device *head, braid_status (*launch)(void *context, int i), void *context,
                                int iterations, double *seconds) {
    counted c = {.launch = launch, .context = context};
    TRY(cuda_time(head, launch_counted, &c, iterations, seconds));
    if (iterations < 2 || c.host_s < HOST_SHARE * *seconds) return BRAID_OK;
    return time_replays(head, launch, context, iterations, seconds);
}

/* ---- Each of a row -------------------------------------------------------------------------- */

static braid_status make_events(cuda_device *d, cu_event *events, int count) {
    cu_result result = CU_SUCCESS;
    TRY(cuda_enter(d));
    for (int j = 0; j < count && !result; j++) result = d->driver->event_create(&events[j], 0);
    return cuda_leave(d, cuda_check_memory(d, result, "making events"));
}

static void drop_events(cuda_device *d, const cu_event *events, int count) {
    if (d->fault[0] || cuda_enter(d) != BRAID_OK) return;
    for (int j = 0; j < count; j++) {
        if (events[j]) (void)d->driver->event_destroy(events[j]);
    }
    (void)cuda_leave(d, BRAID_OK);
}

static braid_status mark(cuda_device *d, cu_event event) {
    TRY(cuda_enter(d));
    cu_result result = d->driver->event_record_flags(event, d->queue, CU_EVENT_RECORD_EXTERNAL);
    return cuda_leave(d, cuda_check(d, result, "recording an event"));
}

/* An event, then launch and event in turn, then the spare ones. */
static braid_status put_row(cuda_device *d, braid_status (*launch)(void *context, int i), void *context, int count,
                            const cu_event *events) {
    TRY(mark(d, events[0]));
    for (int i = 0; i < count; i++) {
        TRY(launch(context, i));
        TRY(mark(d, events[i + 1]));
    }
    for (int j = 1; j <= SPARE_EVENTS; j++) TRY(mark(d, events[count + j]));
    return BRAID_OK;
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static braid_status read_row(cuda_device *d, int count, const cu_event *events, double *seconds) {
    float spare[SPARE_EVENTS], milliseconds = 0;
    cu_result result = CU_SUCCESS;
    for (int j = 0; j < SPARE_EVENTS && !result; j++)
        result = d->driver->event_elapsed(&spare[j], events[count + j], events[count + j + 1]);
    if (!result) qsort(spare, SPARE_EVENTS, sizeof *spare, by_size);
    for (int i = 0; i < count && !result; i++) {
        result = d->driver->event_elapsed(&milliseconds, events[i], events[i + 1]);
        double own = (double)milliseconds - (double)spare[SPARE_EVENTS / 2];
        seconds[i] = own > 0 ? 1e-3 * own : 0;
    }
    return cuda_check(d, result, "timing");
}

braid_status cuda_time_each(device *head, braid_status (*launch)(void *context, int i), void *context, int count,
                            double *seconds) {
    cuda_device *d = cuda_device_of(head);
    int all = count + 1 + SPARE_EVENTS;
    cu_event *events = NULL;
    recording *row = NULL;
    TRY(memory_calloc((size_t)all, sizeof *events, "events", (void **)&events));
    braid_status status = make_events(d, events, all);
    if (!status) status = cuda_record(head);
    if (!status) {
        status = put_row(d, launch, context, count, events);
        braid_status ended = cuda_record_end(head, status ? NULL : &row);
        if (!status) status = ended;
    }
    if (!status) status = cuda_replay(head, row);
    if (!status) status = head->backend->synchronize(head);
    if (!status) status = cuda_enter(d);
    if (!status) status = cuda_leave(d, read_row(d, count, events, seconds));
    cuda_forget(head, row);
    drop_events(d, events, all);
    memory_free(events);
    return status;
}

/* ---- What a launch queues ------------------------------------------------------------------- */

/* The kernels of vendor libraries whose only effect is another order of the same numbers. */
static int rearranges(const char *name) {
    static const char *const words[] = {"nchwToNhwc", "nhwcToNchw", "tensorTransform", "transpose", "Transpose"};
    for (size_t j = 0; j < sizeof words / sizeof words[0]; j++) {
        if (strstr(name, words[j])) return 1;
    }
    return 0;
}

static cu_result count_node(const cuda_device *d, cu_node node, queued_work *work) {
    cu_kernel_node kernel = {0};
    const char *name = NULL;
    int type = 0;
    cu_result result = d->driver->node_type(node, &type);
    if (result) return result;
    work->kernels += type == CU_NODE_KERNEL;
    work->copies += type == CU_NODE_COPY;
    work->zeros += type == CU_NODE_SET;
    if (type != CU_NODE_KERNEL || !d->driver->node_kernel || !d->driver->function_name) return CU_SUCCESS;
    if (d->driver->node_kernel(node, &kernel) || !kernel.function) return CU_SUCCESS;
    if (d->driver->function_name(&name, kernel.function) == CU_SUCCESS && name) work->rearranging += rearranges(name);
    return CU_SUCCESS;
}

static braid_status count_nodes(cuda_device *d, cu_graph graph, queued_work *work) {
    cu_node nodes[MOST_NODES];
    size_t count = MOST_NODES;
    cu_result result = d->driver->graph_nodes(graph, nodes, &count);
    for (size_t j = 0; j < count && j < MOST_NODES && !result; j++) result = count_node(d, nodes[j], work);
    return cuda_check(d, result, "looking at a recording");
}

braid_status cuda_look_at(device *head, braid_status (*launch)(void *context, int i), void *context,
                          queued_work *work) {
    cuda_device *d = cuda_device_of(head);
    cu_graph graph = NULL;
    *work = (queued_work){0};
    TRY(cuda_record(head));
    braid_status status = launch(context, 0);
    d->is_recording = 0;
    TRY(cuda_enter(d));
    braid_status ended = cuda_check(d, d->driver->capture_end(d->queue, &graph), "ending a recording");
    if (!status) status = ended;
    if (!status) status = count_nodes(d, graph, work);
    if (graph && !d->fault[0]) (void)d->driver->graph_destroy(graph);
    return cuda_leave(d, status);
}
