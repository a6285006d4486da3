/*
 * The inside of a CUDA device, for the files of this folder.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_DEVICE_H
#define BRAID_BACKEND_CUDA_DEVICE_H

#include "backend/cuda/cuda.h"
#include "backend/cuda/driver.h"

typedef struct loaded_function {
    struct loaded_function *next;
    const char *stem; /* of a row of cuda_images */
    cu_function function;
    size_t shared_bytes; /* that it may use by now */
    char name[];         /* its own copy: a launcher's buffer holds another name at the next launch */
} loaded_function;

/* Pinned memory that uploads pass through, chunk after chunk, so that nobody waits for the queue. */
#define STAGING_CHUNKS 40 /* two batches of images: one is filled while the device is at work on another */
#define STAGING_CHUNK_BYTES ((size_t)1 << 20)
typedef struct staging {
    unsigned char *memory;         /* of all chunks */
    cu_event done[STAGING_CHUNKS]; /* behind the last copy out of a chunk */
    int is_marked[STAGING_CHUNKS]; /* 1: the event stands in the queue */
    int chunk;                     /* that is being filled */
    size_t used;                   /* bytes of it */
} staging;

/* A second queue for what recorded on the side queue. */
#define SIDE_EVENTS 32
typedef struct side_queue {
    cu_queue queue; /* the other one: where launches go alternates between it and the device's */
    cu_event fork, done[SIDE_EVENTS];
    int number[SIDE_EVENTS]; /* of what an event stands behind; -1: of nothing that is still to be joined */
    int next;                /* event */
    int is_on;               /* 1: launches go to the side queue */
} side_queue;

typedef struct vendor_handle {
    void *handle; /* NULL: not made, or it cannot be */
    int is_tried;
    char reason[512]; /* why it cannot be used; for want of memory that is not kept: it is tried again */
} vendor_handle;

typedef struct cuda_device {
    device head;
    const cuda_driver *driver;
    cu_device handle;
    cu_context context;
    cu_queue queue;
    cu_event begin, end;
    staging staging;
    side_queue side;
    cu_pointer counters; /* CUDA_MOST_COUNTERS for each of the two queues */
    int is_recording;
    cu_module *modules; /* one for each image, NULL until it is used */
    loaded_function *functions;
    vendor_handle vendors[CUDA_VENDORS];
    int processors, capability; /* 90 for 9.0 */
    size_t memory_bytes, cache_bytes;
    char fault[512]; /* the first error; "" while there is none */
} cuda_device;

static inline cuda_device *cuda_device_of(device *d) { return (cuda_device *)(void *)d; }

/* backend.watch: what other processes do on the GPU. */
device_load cuda_watch(device *d, double seconds);

/* Keeps the first error of the device; every later call answers with it. */
braid_status cuda_check(cuda_device *d, cu_result result, const char *what);

/* The same for a call that takes memory. That there is none is no fault: it is said, and the device goes on. */
braid_status cuda_check_memory(cuda_device *d, cu_result result, const char *what);

/* Makes the device's context current until cuda_leave. Refuses a device that failed before. */
braid_status cuda_enter(cuda_device *d);

/* Hands on the status of what was done since cuda_enter. */
braid_status cuda_leave(cuda_device *d, braid_status status);

/* Staging memory, with the context current. Closing is fine for what was opened in part. */
braid_status staging_open(cuda_device *d);
void staging_close(cuda_device *d);
braid_status staging_send(cuda_device *d, cu_pointer to, const void *from, size_t bytes);

/* The counters, all zero, with the context current and a queue there. Closing is fine for what was not opened. */
braid_status counters_open(cuda_device *d);
void counters_close(cuda_device *d);

/* The times of the backend table. */
braid_status cuda_time(device *head, braid_status (*launch)(void *context, int i), void *context, int iterations,
                       double *seconds);
braid_status cuda_time_launches(device *head, braid_status (*launch)(void *context, int i), void *context,
                                int iterations, double *seconds);
braid_status cuda_time_each(device *head, braid_status (*launch)(void *context, int i), void *context, int count,
                            double *seconds);
braid_status cuda_look_at(device *head, braid_status (*launch)(void *context, int i), void *context, queued_work *work);
/* Destroys the handles, with the context current. */
void vendors_close(cuda_device *d);
/* Appends ", cudnn 9.14.0, cublaslt none". */
void vendors_identity(char *text, size_t bytes);
void vendors_describe(device *head, braid_row_function row, void *user);

/* The readings of the backend table. */
braid_status cuda_reading_create(device *head, size_t bytes, reading **out);
void cuda_reading_destroy(device *head, reading *r);
braid_status cuda_reading_ask(device *head, reading *r, const void *from);
braid_status cuda_reading_get(device *head, reading *r, const void **data);

/* The recordings of the backend table. */
braid_status cuda_record(device *head);
braid_status cuda_record_end(device *head, recording **out);
braid_status cuda_replay(device *head, recording *r);
void cuda_forget(device *head, recording *r);

/* What recorded on the side queue, of the backend table. Opening and closing with the context current; closing is fine
 * for what was opened in part. */
braid_status side_open(cuda_device *d);
void side_close(cuda_device *d);
/* Launches go to the device's queue again, and all that it has is joined. */
braid_status side_finish(cuda_device *d);
braid_status cuda_side_begin(device *head);
braid_status cuda_side_end(device *head, int number);
braid_status cuda_join(device *head, int number);

#endif
