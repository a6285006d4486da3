/*
 * The loader. An epoch is a row of samples in a fixed order; sample t belongs to batch t / size. Threads take the next
 * sample as long as its batch has a place among the few that are kept ready, so that what a batch holds does not
 * depend on who read it, and a slow file delays no other. The consumer holds one place while it uses a batch. When it
 * has all of an epoch, threads go on with the next one, so that it is there when it is asked for. A sample that cannot
 * be read fails its batch, or is left out of it by the consumer, so that what is left out depends on the files alone; a
 * batch of which nothing is left is passed over.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/planes.h"
#include "data/data.h"
#include "data/limits.h"
#include "data/order.h"

#define DEFAULT_BATCH 32
#define DEFAULT_PREFETCH 4
#define MAX_THREADS 256
#define MAX_PREFETCH 1024
#define MESSAGE_BYTES 1024

typedef struct place {
    void *memory; /* the planes */
    int32_t *labels;
    int64_t *ids, *files;
    char **why;            /* why a row could not be read; NULL: it was */
    int64_t left;          /* samples that are not there yet */
    braid_status status;   /* of the first sample of the batch that could not be read */
    int64_t failed_sample; /* its place in the epoch */
    int64_t bad;           /* samples that have no data: rows with a `why` */
    int64_t faults;        /* samples that failed otherwise: no leaving out mends that */
    char message[MESSAGE_BYTES];
} place;

struct braid_loader {
    const braid_data *data;
    braid_loader_options options;
    int64_t rows;  /* of the largest batch that there is: a set may be smaller than one that is full */
    planes layout; /* of it */
    int64_t *order;
    int64_t samples, batches; /* of an epoch */
    unsigned char *known_bad; /* of every sample of the split: 1 where the caller was told */
    int64_t bad_count;        /* of them */
    place *places;
    int place_count;
    pthread_t *threads;
    int started;               /* threads that run */
    pthread_mutex_t lock;      /* guards what follows, and the places' status and left */
    pthread_cond_t work, done; /* there is a sample to read; a batch is complete or a thread is idle */
    int64_t taken;             /* samples of the epoch that threads took */
    int64_t given;             /* batches of the epoch that the consumer got or skipped */
    int64_t epoch;             /* that is read; -1: none */
    int ahead;                 /* 1: nobody has asked for it yet */
    int busy, stop;
    braid_loader_times times;
};

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double now_s(void) { return seconds_of(CLOCK_MONOTONIC); }

/* ---- Reading ------------------------------------------------------------------------------ */

static int64_t batch_count(const braid_loader *l, int64_t batch) {
    int64_t left = l->samples - batch * l->options.batch;
    return left < l->options.batch ? left : l->options.batch;
}

/* Reads sample t of the epoch to its place. *is_bad: it failed by what its files are, and not by the system. */
static braid_status read_sample(braid_loader *l, int64_t t, place *to, bool *is_bad) {
    void *streams[BRAID_MAX_STREAMS];
    int64_t row = t % l->options.batch, sample = l->order[t];
    braid_split split = l->options.split;
    for (int i = 0; i < l->data->info.streams; i++)
        streams[i] = (char *)planes_at(&l->layout, to->memory, i) + (size_t)row * data_sample_bytes(l->data, i);
    to->ids[row] = sample;
    to->labels[row] = l->data->split[split].labels[sample];
    to->files[row] = data_file_of(l->data, split, sample);
    files_forget_fault();
    limits_begin(&l->data->limits);
    braid_status status = l->data->kind->read(l->data, split, sample, streams);
    limits_end();
    *is_bad = status == BRAID_ERROR_DATA && !files_had_fault();
    return status;
}

/* Under the lock: is there a sample whose batch has a place? */
static int may_take(const braid_loader *l) {
    return l->taken < l->samples && l->taken / l->options.batch < l->given + l->place_count - 1;
}

/* Where bad samples can be left out, each has its reason. Returns BRAID_ERROR_DATA, or why that cannot be kept. */
static braid_status keep_reason(place *to, int64_t row) {
    TRY(memory_copy_text(fail_message(), &to->why[row]));
    to->bad++;
    return BRAID_ERROR_DATA;
}

/* The first sample's failure, but one that no leaving out can mend comes before all others. */
static void keep_failure(place *to, braid_status status, int64_t t) {
    bool is_worse = to->status == BRAID_ERROR_DATA && status != BRAID_ERROR_DATA;
    bool is_better = to->status != BRAID_OK && to->status != BRAID_ERROR_DATA && status == BRAID_ERROR_DATA;
    if (to->status != BRAID_OK && !is_worse && (is_better || to->failed_sample < t)) return;
    to->status = status;
    to->failed_sample = t;
    snprintf(to->message, sizeof to->message, "%s", fail_message());
}

static void forget_reasons(const braid_loader *l, place *p) {
    for (int64_t row = 0; p->why && row < l->rows; row++) {
        memory_free(p->why[row]);
        p->why[row] = NULL;
    }
    p->bad = 0;
}

/* Under the lock, which is let go while the file is read. */
static void take_sample(braid_loader *l) {
    int64_t t = l->taken++, batch = t / l->options.batch;
    place *to = &l->places[batch % l->place_count];
    if (t % l->options.batch == 0) {
        to->left = batch_count(l, batch);
        to->status = BRAID_OK;
        to->faults = 0;
        forget_reasons(l, to);
    }
    l->busy++;
    pthread_mutex_unlock(&l->lock);
    double began = now_s(), worked = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    bool is_bad;
    braid_status status = read_sample(l, t, to, &is_bad);
    double took = now_s() - began;
    worked = seconds_of(CLOCK_THREAD_CPUTIME_ID) - worked;
    pthread_mutex_lock(&l->lock);
    l->times.loading_s += took;
    l->times.working_s += worked;
    l->times.loaded++;
    l->busy--;
    if (is_bad && l->options.bad_sample)
        status = keep_reason(to, t % l->options.batch);
    else if (status != BRAID_OK)
        to->faults++;
    if (status != BRAID_OK) keep_failure(to, status, t);
    to->left--;
    if (to->left == 0 || l->busy == 0) pthread_cond_broadcast(&l->done);
}

static void *work(void *loader) {
    braid_loader *l = loader;
    pthread_mutex_lock(&l->lock);
    while (!l->stop) {
        if (may_take(l))
            take_sample(l);
        else
            pthread_cond_wait(&l->work, &l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- Creating ----------------------------------------------------------------------------- */

static void free_place(const braid_loader *l, place *p) {
    forget_reasons(l, p);
    memory_free(p->why);
    memory_free(p->memory);
    memory_free(p->labels);
    memory_free(p->ids);
    memory_free(p->files);
}

void braid_loader_destroy(braid_loader *loader) {
    if (!loader) return;
    pthread_mutex_lock(&loader->lock);
    loader->stop = 1;
    pthread_cond_broadcast(&loader->work);
    pthread_mutex_unlock(&loader->lock);
    for (int i = 0; i < loader->started; i++) pthread_join(loader->threads[i], NULL);
    for (int i = 0; loader->places && i < loader->place_count; i++) free_place(loader, &loader->places[i]);
    memory_free(loader->places);
    memory_free(loader->known_bad);
    memory_free(loader->threads);
    memory_free(loader->order);
    pthread_mutex_destroy(&loader->lock);
    pthread_cond_destroy(&loader->work);
    pthread_cond_destroy(&loader->done);
    memory_free(loader);
}

static braid_status check_range(const char *name, int64_t value, int64_t most) {
    if (value >= 1 && value <= most) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected 1 to %lld, got %lld", name, (long long)most, (long long)value);
}

static braid_status check_options(const braid_data *data, braid_loader_options *o) {
    if (!o->batch) o->batch = DEFAULT_BATCH;
    if (!o->threads) o->threads = 1;
    if (!o->prefetch) o->prefetch = DEFAULT_PREFETCH;
    if ((unsigned)o->split >= BRAID_SPLIT_COUNT)
        return fail(BRAID_ERROR_ARGUMENT, "split: expected train, val or test, got %d", (int)o->split);
    TRY(check_range("batch", o->batch, INT32_MAX));
    TRY(check_range("threads", o->threads, MAX_THREADS));
    TRY(check_range("prefetch", o->prefetch, MAX_PREFETCH));
    if (data->info.samples[o->split] == 0)
        return fail(BRAID_ERROR_DATA, "%s: expected samples in the split %s, got none", data->folder,
                    braid_split_name(o->split));
    return BRAID_OK;
}

static braid_status create_place(braid_loader *l, place *p) {
    size_t batch = (size_t)l->rows;
    void *labels, *ids, *files;
    TRY(memory_alloc_device(l->layout.bytes, "a batch", &p->memory));
    TRY(memory_alloc(batch, sizeof(int32_t), "labels of a batch", &labels));
    p->labels = labels;
    TRY(memory_alloc(batch, sizeof(int64_t), "ids of a batch", &ids));
    p->ids = ids;
    TRY(memory_alloc(batch, sizeof(int64_t), "files of a batch", &files));
    p->files = files;
    return memory_calloc(batch, sizeof *p->why, "reasons of a batch", (void **)&p->why);
}

static braid_status create_memory(braid_loader *l) {
    const braid_data_info *info = &l->data->info;
    void *places, *threads, *order;
    TRY(planes_lay(&l->layout, info->dtype, (int64_t[]){l->rows, info->size[0], info->size[1]}, info->streams,
                   info->channels, NULL));
    TRY(memory_alloc((size_t)l->samples, sizeof *l->order, "the order of samples", &order));
    l->order = order;
    TRY(memory_calloc((size_t)l->options.threads, sizeof *l->threads, "threads", &threads));
    l->threads = threads;
    TRY(memory_calloc((size_t)info->samples[l->options.split], 1, "samples", (void **)&l->known_bad));
    TRY(memory_calloc((size_t)l->place_count, sizeof *l->places, "batches", &places));
    l->places = places;
    for (int i = 0; i < l->place_count; i++) TRY(create_place(l, &l->places[i]));
    return BRAID_OK;
}

static braid_status start_threads(braid_loader *l) {
    for (; l->started < l->options.threads; l->started++)
        if (pthread_create(&l->threads[l->started], NULL, work, l) != 0)
            return fail(BRAID_ERROR_MEMORY, "threads: could not start thread %d of %d", l->started + 1,
                        l->options.threads);
    return BRAID_OK;
}

braid_status braid_loader_create(const braid_data *data, const braid_loader_options *options, braid_loader **loader) {
    void *memory;
    braid_loader_options o = options ? *options : (braid_loader_options){0};
    if (loader) *loader = NULL;
    if (!data || !loader)
        return fail(BRAID_ERROR_ARGUMENT, "braid_loader_create: expected a set and a place for the loader, got NULL");
    TRY(check_options(data, &o));
    TRY(memory_calloc(1, sizeof **loader, "a loader", &memory));
    braid_loader *l = memory;
    l->data = data;
    l->options = o;
    l->samples = data->info.samples[o.split];
    if (o.drop_partial) l->samples -= l->samples % o.batch;
    l->batches = (l->samples + o.batch - 1) / o.batch;
    l->rows = o.batch < l->samples || l->samples == 0 ? o.batch : l->samples;
    l->place_count = 1 + (int)(l->batches < o.prefetch ? l->batches : o.prefetch); /* one for the consumer */
    l->taken = l->samples; /* nothing to do, and nothing to give, before the start */
    l->given = l->batches;
    l->epoch = -1;
    l->ahead = 1;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->done, NULL);
    braid_status status = create_memory(l);
    if (!status) status = start_threads(l);
    if (status)
        braid_loader_destroy(l);
    else
        *loader = l;
    return status;
}

/* ---- Using -------------------------------------------------------------------------------- */

static braid_status make_order(braid_loader *l, int64_t epoch) {
    const braid_loader_options *o = &l->options;
    int64_t all = l->data->info.samples[o->split];
    void *memory;
    if (o->stratified)
        return order_stratified(l->order, l->samples,
                                &(order_classes){l->data->split[o->split].labels, all, l->data->info.classes}, o->seed,
                                (uint64_t)epoch);
    TRY(memory_alloc((size_t)all, sizeof *l->order, "the order of samples", &memory));
    int64_t *order = memory;
    if (o->in_order)
        for (int64_t i = 0; i < all; i++) order[i] = i;
    else
        order_shuffle(order, all, o->seed, (uint64_t)epoch);
    memcpy(l->order, order, (size_t)l->samples * sizeof *l->order);
    memory_free(order);
    return BRAID_OK;
}

/* Under the lock, where no thread is busy. */
static braid_status begin_epoch(braid_loader *l, int64_t epoch, int64_t first_batch) {
    l->epoch = -1;
    TRY(make_order(l, epoch));
    l->epoch = epoch;
    l->given = first_batch;
    l->taken = first_batch * l->options.batch;
    pthread_cond_broadcast(&l->work);
    return BRAID_OK;
}

/* Under the lock: all of the epoch is given. Without memory for the next one there is no reading ahead. */
static void read_ahead(braid_loader *l) {
    const fail_kept kept = fail_keep();
    l->ahead = 1;
    if (begin_epoch(l, l->epoch + 1, 0) != BRAID_OK) fail_put_back(&kept);
}

/* Under the lock: what is asked for is being read. */
static int is_ahead(const braid_loader *l, int64_t epoch, int64_t first_batch) {
    return l->ahead && l->epoch >= 0 && first_batch == 0 && (l->epoch == epoch || l->options.in_order);
}

braid_status braid_loader_start(braid_loader *loader, int64_t epoch, int64_t first_batch) {
    if (!loader) return fail(BRAID_ERROR_ARGUMENT, "braid_loader_start: expected a loader, got NULL");
    if (epoch < 0 || first_batch < 0 || first_batch > loader->batches)
        return fail(BRAID_ERROR_ARGUMENT, "epoch and batch: expected 0 or more and at most %lld, got %lld and %lld",
                    (long long)loader->batches, (long long)epoch, (long long)first_batch);
    braid_status status = BRAID_OK;
    pthread_mutex_lock(&loader->lock);
    if (is_ahead(loader, epoch, first_batch)) {
        loader->epoch = epoch;
    } else {
        loader->taken = loader->samples;
        loader->given = loader->batches;
        while (loader->busy) pthread_cond_wait(&loader->done, &loader->lock);
        status = begin_epoch(loader, epoch, first_batch);
    }
    loader->ahead = status != BRAID_OK;
    pthread_mutex_unlock(&loader->lock);
    return status;
}

/* Under the lock: waits for the batch, which threads have begun or will. */
static place *wait_for(braid_loader *l, int64_t batch) {
    place *p = &l->places[batch % l->place_count];
    double began = now_s();
    while (l->taken < batch * l->options.batch + batch_count(l, batch) || p->left > 0)
        pthread_cond_wait(&l->done, &l->lock);
    l->times.waited_s += now_s() - began;
    return p;
}

/* ---- Bad samples -------------------------------------------------------------------------- */

/* Tells the caller of the bad samples of a batch. Fails where it does not want to go on. */
static braid_status tell_bad_samples(braid_loader *l, const place *p, int64_t count) {
    for (int64_t row = 0; row < count; row++) {
        int64_t sample = p->ids[row];
        if (!p->why[row] || l->known_bad[sample]) continue;
        l->known_bad[sample] = 1;
        const braid_bad_sample bad = {.split = l->options.split,
                                      .sample = sample,
                                      .why = p->why[row],
                                      .count = ++l->bad_count,
                                      .samples = l->data->info.samples[l->options.split]};
        if (l->options.bad_sample(l->options.user, &bad)) return fail(BRAID_ERROR_DATA, "%s", p->why[row]);
    }
    return BRAID_OK;
}

/* Moves the rows that were read to the front. Returns how many there are. */
static int64_t close_gaps(const braid_loader *l, place *p, int64_t count) {
    int64_t kept = 0;
    for (int64_t row = 0; row < count; row++) {
        if (p->why[row]) continue;
        p->ids[kept] = p->ids[row];
        p->labels[kept] = p->labels[row];
        p->files[kept] = p->files[row];
        for (int i = 0; i < l->data->info.streams && kept < row; i++) {
            size_t bytes = data_sample_bytes(l->data, i);
            char *plane = planes_at(&l->layout, p->memory, i);
            memmove(plane + (size_t)kept * bytes, plane + (size_t)row * bytes, bytes);
        }
        kept++;
    }
    return kept;
}

/* Of a batch with samples that could not be read: how many are left, 0 where none is, or why it fails. */
static braid_status leave_out(braid_loader *l, place *p, int64_t *count) {
    if (p->status != BRAID_ERROR_DATA || p->bad == 0 || p->faults > 0) return fail(p->status, "%s", p->message);
    TRY(tell_bad_samples(l, p, *count));
    *count = close_gaps(l, p, *count);
    return BRAID_OK;
}

/* Under the lock: gives the next batch of the epoch, which has one. Its count is 0 where it fails, and where no sample
 * of it is left. */
static braid_status give_batch(braid_loader *l, braid_batch *batch) {
    braid_status status = BRAID_OK;
    int64_t index = l->given;
    place *p = wait_for(l, index);
    int64_t count = batch_count(l, index);
    l->given++; /* the place before this one is free again */
    pthread_cond_broadcast(&l->work);
    if (p->status != BRAID_OK) status = leave_out(l, p, &count);
    *batch = (braid_batch){
        .count = status ? 0 : count, .index = index, .labels = p->labels, .ids = p->ids, .files = p->files};
    for (int i = 0; i < l->data->info.streams; i++) batch->streams[i] = planes_at(&l->layout, p->memory, i);
    l->times.batches += batch->count > 0 || status != BRAID_OK;
    l->times.samples += batch->count;
    return status;
}

braid_status braid_loader_next(braid_loader *loader, braid_batch *batch) {
    if (batch) *batch = (braid_batch){0};
    if (!loader || !batch)
        return fail(BRAID_ERROR_ARGUMENT, "braid_loader_next: expected a loader and a place for the batch, got NULL");
    braid_status status = BRAID_OK;
    pthread_mutex_lock(&loader->lock);
    if (!loader->ahead) { /* else the epoch is over, or there was none */
        while (!status && batch->count == 0 && loader->given < loader->batches) status = give_batch(loader, batch);
        if (!status && batch->count == 0) {
            *batch = (braid_batch){0};
            read_ahead(loader);
        }
    }
    pthread_mutex_unlock(&loader->lock);
    return status;
}

int64_t braid_loader_batches(const braid_loader *loader) { return loader ? loader->batches : 0; }

size_t braid_loader_bytes(const braid_loader *loader) {
    return loader ? (size_t)loader->place_count * loader->layout.bytes : 0;
}

braid_loader_times braid_loader_measure(braid_loader *loader) {
    if (!loader) return (braid_loader_times){0};
    pthread_mutex_lock(&loader->lock);
    braid_loader_times times = loader->times;
    pthread_mutex_unlock(&loader->lock);
    return times;
}
