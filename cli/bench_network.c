/*
 * Times of whole networks: warm-up, then one sample for each run, the median and its 95 % interval by order
 * statistics. Inputs are random numbers. The row has the keys of every other row of bench.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_network.h"

#include <math.h>
#include <stdlib.h>

#include "plan_report.h"

#define DEFAULT_SECONDS 5.0
#define WARM_RUNS 3
#define WARM_SECONDS 0.5
#define LEAST_SAMPLES 5
#define MOST_SAMPLES 200
#define SAMPLE_SECONDS 2e-3 /* shorter runs are timed several at a time */

static const braid_column row_columns[] = {
    {.key = "problem", .title = "network"},
    {.key = "kernel", .title = "kernel"},
    {.key = "kind", .title = "kind"},
    {.key = "device"},
    {.key = "dtype"},
    {.key = "median_ms", .title = "ms", .cell = BRAID_CELL_NUMBER},
    {.key = "low_ms", .title = "low", .cell = BRAID_CELL_NUMBER},
    {.key = "high_ms", .title = "high", .cell = BRAID_CELL_NUMBER},
    {.key = "gflops", .title = "GFLOP/s", .cell = BRAID_CELL_NUMBER},
    {.key = "gbs", .cell = BRAID_CELL_NUMBER},
    {.key = "roofline", .cell = BRAID_CELL_PERCENT},
    {.key = "ratio", .cell = BRAID_CELL_RATIO},
    {.key = "ratio_low", .cell = BRAID_CELL_RATIO},
    {.key = "ratio_high", .cell = BRAID_CELL_RATIO},
    {.key = "baseline"},
    {.key = "verdict"},
    {.key = "max_err", .cell = BRAID_CELL_NUMBER},
    {.key = "layout_copy_bytes", .cell = BRAID_CELL_BYTES},
    {.key = "buffers"},
    {.key = "load"},
};
#define ROW_COLUMNS ((int)(sizeof row_columns / sizeof row_columns[0]))

typedef struct timing {
    double samples[MOST_SAMPLES];
    int count;
} timing;

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Seconds of one run, from `runs` of them. */
static braid_status time_runs(braid_plan *plan, unsigned segments, int runs, double *seconds) {
    braid_status status = braid_plan_time(plan, segments, runs, seconds);
    *seconds /= runs;
    return status;
}

static braid_status time_plan(braid_plan *plan, unsigned segments, double seconds, timing *t) {
    double start = clock_s(), each = 0;
    braid_status status = BRAID_OK;
    for (int i = 0; !status && (i < WARM_RUNS || (clock_s() < start + WARM_SECONDS && i < 100)); i++)
        status = time_runs(plan, segments, 1, &each);
    int runs = each > 0 && each < SAMPLE_SECONDS ? (int)ceil(SAMPLE_SECONDS / each) : 1;
    t->count = 0;
    for (start = clock_s(); !status && t->count < MOST_SAMPLES && !interrupted(); t->count++) {
        if (t->count >= LEAST_SAMPLES && clock_s() > start + seconds) break;
        status = time_runs(plan, segments, runs, &t->samples[t->count]);
    }
    qsort(t->samples, (size_t)t->count, sizeof *t->samples, by_size);
    return status;
}

/* median, low, high in seconds. */
static void interval_of(const timing *t, double out[3]) {
    double reach = 0.98 * sqrt(t->count);
    int low = (int)floor(t->count / 2.0 - reach), high = (int)ceil(t->count / 2.0 + reach), half = t->count / 2;
    out[0] = t->count % 2 ? t->samples[half] : 0.5 * (t->samples[half - 1] + t->samples[half]);
    out[1] = t->samples[low < 0 ? 0 : low];
    out[2] = t->samples[high >= t->count ? t->count - 1 : high];
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static double flops_of(const braid_plan *plan, unsigned segments) {
    double flops = 0;
    for (int j = 0; j < braid_plan_step_count(plan); j++) {
        braid_step_info info;
        if (braid_plan_step(plan, j, &info) || info.is_pack) continue;
        if (info.segment & segments) flops += info.race->flops;
    }
    return flops;
}

/* "linet18_train:f32:n3:b2:hw208x272", "ssae_forward:f32:b256" */
static int print_problem(const plan_work *work, const char *name, network_run what, const char *dtype, char *text,
                         size_t room) {
    static const char *const words[] = {"train", "forward", "step"};
    braid_operand_info info;
    void *memory;
    char streams[16] = "", size[48] = "";
    int count = braid_net_stream_count(work->net);
    if (braid_plan_tensor(work->plan, braid_net_stream(work->net, 0, NULL), &info, &memory)) return -1;
    if (count > 1) snprintf(streams, sizeof streams, ":n%d", count);
    if (info.rank == 4 && info.dims[0][1] * info.dims[0][2] > 1)
        snprintf(size, sizeof size, ":hw%lldx%lld", (long long)info.dims[0][1], (long long)info.dims[0][2]);
    return snprintf(text, room, "%s_%s:%s%s:b%lld%s", name, words[what], dtype, streams, (long long)info.dims[0][0],
                    size);
}

typedef struct network_row {
    const char *problem, *device, *dtype;
    double interval[3], flops;
} network_row;

static braid_status add_row(braid_table *table, const network_row *row) {
    const char *texts[] = {row->problem, "braid_plan", braid_kind_name(BRAID_KIND_OWN), row->device, row->dtype};
    braid_status status = BRAID_OK;
    for (int i = 0; i < 5 && !status; i++) status = braid_table_add_text(table, texts[i]);
    for (int i = 0; i < 3 && !status; i++) status = braid_table_add_number(table, 1e3 * row->interval[i]);
    if (!status) status = braid_table_add_number(table, 1e-9 * row->flops / row->interval[0]);
    for (int i = 0; i < 5 && !status; i++) status = braid_table_add_number(table, NAN); /* gbs to ratio_high */
    for (int i = 0; i < 2 && !status; i++) status = braid_table_add_text(table, i ? "" : NULL);
    if (!status) status = braid_table_add_number(table, NAN);
    if (!status) status = braid_table_add_number(table, 0);
    for (int i = 0; i < 2 && !status; i++) status = braid_table_add_text(table, NULL);
    return status;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* What a network is planned with: the options, and of a run what it brings. */
typedef struct one_network {
    common_options common;
    network_options network;
} one_network;

static int time_one(const network_bench *b, const plan_wish *wish, plan_work *work, braid_table *table) {
    const double seconds = b->seconds > 0 ? b->seconds : DEFAULT_SECONDS;
    unsigned segments = BRAID_SEGMENT_FORWARD;
    char problem[160] = "", name[64];
    timing t;
    if (b->what != NETWORK_FORWARD) segments |= BRAID_SEGMENT_BACKWARD;
    if (b->what == NETWORK_STEP) segments |= BRAID_SEGMENT_UPDATE;
    braid_status status = time_plan(work->plan, segments, seconds, &t);
    if (status) return complain_braid(status);
    if (interrupted()) return 0;
    network_row row = {.problem = problem,
                       .dtype = network_dtype_name(wish->network),
                       .device = braid_context_device(work->context),
                       .flops = flops_of(work->plan, segments)};
    interval_of(&t, row.interval);
    network_kind(work->net, name, sizeof name);
    (void)print_problem(work, name, b->what, row.dtype, problem, sizeof problem);
    status = add_row(table, &row);
    return status ? complain_lab(status) : 0;
}

static int bench_one(const network_bench *b, const char *word, braid_table *table) {
    one_network own = {*b->common, *b->network};
    const plan_wish wish = {.common = &own.common,
                            .network = &own.network,
                            .phase = b->what == NETWORK_FORWARD ? BRAID_PHASE_EVAL : BRAID_PHASE_TRAIN,
                            .optimiser = b->what == NETWORK_STEP ? BRAID_OPTIMISER_ADAMW : BRAID_OPTIMISER_NONE,
                            .choice = {.all = 1}};
    plan_work work = {0};
    int code = network_take_run(b->verb, word, b->words, &own.common);
    if (!code) code = plan_work_open(word, &wish, &work);
    if (!code) code = plan_work_fill(&work);
    if (!code && !interrupted()) code = time_one(b, &wish, &work, table);
    plan_work_close(&work);
    return code;
}

int bench_networks(const network_bench *b) {
    braid_table *table = NULL;
    braid_status status = braid_table_create(row_columns, ROW_COLUMNS, &table);
    if (status) return complain_lab(status);
    int code = 0;
    for (int i = 0; i < b->words->count && !code && !interrupted(); i++) code = bench_one(b, b->words->word[i], table);
    braid_print_options options = output_options((braid_format)b->common->format);
    int printed = output_table(table, &options);
    if (!code) code = printed;
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}
