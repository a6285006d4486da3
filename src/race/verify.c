/*
 * Checking kernels against the reference.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/blocks.h"
#include "core/dtype.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "ops/problem.h"
#include "race/tolerance.h"

#define MIN_SAMPLES 1024               /* of all outputs together, where there are as many */
#define FEW_SAMPLES 2                  /* of a check of what was checked before */
#define ONCE_TERMS 1.0e5               /* of such a check: a millisecond */
#define OUTPUT_TERMS 20                /* that an output costs beside its terms */
#define WHOLE_TERMS 4.0e7              /* outputs times terms up to which a problem is compared whole */
#define POISON_BYTES ((size_t)4 << 20) /* of a workspace that the host sends */
#define SAMPLED_TERMS 1.0e7            /* the same of the samples of a larger one */

/* ---- Choosing the outputs to compare ------------------------------------------------------- */

typedef struct output_plane {
    int slot, plane;
    int64_t elements;
} output_plane;

static int list_outputs(const braid_problem *p, output_plane *planes, int64_t *total) {
    const op_info *o = op_of(p);
    int count = 0;
    *total = 0;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        for (int i = 0; op_is_output(op_role(p, slot)) && i < o->planes(p, slot); i++) {
            plane_shape s;
            int64_t elements = 1;
            o->shape(p, slot, i, &s);
            for (int axis = 0; axis < s.rank; axis++) elements *= s.dims[axis];
            planes[count++] = (output_plane){slot, i, elements};
            *total += elements;
        }
    }
    return count;
}

/* The samples of one plane: all its elements, or `count` of them, the two ends and random ones. */
typedef struct plane_choice {
    output_plane from;
    int64_t count;
    uint64_t seed;
    truth_sample *samples;
} plane_choice;

#define CHOSEN_AT_ONCE 4096

static void choose_part(void *context, int64_t part) {
    const plane_choice *c = context;
    int64_t end = (part + 1) * CHOSEN_AT_ONCE < c->count ? (part + 1) * CHOSEN_AT_ONCE : c->count;
    for (int64_t j = part * CHOSEN_AT_ONCE; j < end; j++) {
        rng r = {.seed = c->seed,
                 .stream = 1000u + (uint64_t)(c->from.slot * BRAID_MAX_PLANES + c->from.plane),
                 .index = 2 * (uint64_t)j};
        int64_t index = j, last = c->from.elements - 1;
        if (c->count < c->from.elements) index = j == 0 ? 0 : j == 1 ? last : rng_between(&r, 0, last);
        c->samples[j] = (truth_sample){.slot = c->from.slot, .plane = c->from.plane, .index = index};
    }
}

static int64_t choose_plane(const output_plane *o, int64_t wanted, uint64_t seed, truth_sample *out) {
    plane_choice c = {*o, wanted < o->elements ? wanted : o->elements, seed, out};
    threads_for((c.count + CHOSEN_AT_ONCE - 1) / CHOSEN_AT_ONCE, choose_part, &c);
    return c.count;
}

static braid_status choose_samples(verifier *v, uint64_t seed) {
    output_plane planes[OP_MAX_OPERANDS * BRAID_MAX_PLANES];
    int64_t total;
    int count = list_outputs(&v->problem, planes, &total);
    double terms = (double)op_work(&v->problem);
    int64_t wanted =
        (double)total * terms <= WHOLE_TERMS ? total : (int64_t)(SAMPLED_TERMS / terms) / (count ? count : 1);
    if (wanted * count < MIN_SAMPLES) wanted = MIN_SAMPLES / count + 1;
    int64_t most = 0;
    for (int j = 0; j < count; j++) most += wanted < planes[j].elements ? wanted : planes[j].elements;
    TRY(memory_alloc((size_t)most, sizeof *v->samples, "reference samples", (void **)&v->samples));
    for (int j = 0; j < count; j++)
        v->sample_count += choose_plane(&planes[j], wanted, seed, v->samples + v->sample_count);
    return BRAID_OK;
}

/* ---- The truth ---------------------------------------------------------------------------- */

#define PART_OPERATIONS 20000 /* of the reference: enough to be worth a thread */
#define MOST_PER_PART 4096

/* Samples are cut into parts, by the work behind one of them. */
typedef struct sample_range {
    int64_t begin, end;
} sample_range;

static int64_t samples_per_part(const verifier *v) {
    int64_t each = PART_OPERATIONS / (op_work(&v->problem) + 1) + 1;
    return each < MOST_PER_PART ? each : MOST_PER_PART;
}

static int64_t part_count(const verifier *v) {
    return (v->sample_count + samples_per_part(v) - 1) / samples_per_part(v);
}

static sample_range range_of(const verifier *v, int64_t part) {
    int64_t each = samples_per_part(v), end = (part + 1) * each;
    return (sample_range){part * each, end < v->sample_count ? end : v->sample_count};
}

typedef struct truth_work {
    const verifier *v;
    const buffers *inputs;
    ref_at at;
    int derived; /* 1: outputs that follow from another one as it is stored, else the others */
} truth_work;

static void truth_part(void *context, int64_t part) {
    const truth_work *w = context;
    const sample_range range = range_of(w->v, part);
    for (int64_t j = range.begin; j < range.end; j++) {
        truth_sample *s = &w->v->samples[j];
        if (op_is_derived(op_of(&w->v->problem), s->slot) != w->derived) continue;
        s->expected = w->at(&w->v->problem, w->inputs, s->slot, s->plane, s->index);
        s->tile_magnitude = s->expected.magnitude;
    }
}

/* The outputs that follow from the inputs, or (derived) also from one that a kernel has stored. */
static braid_status compute_truth(verifier *v, int derived) {
    buffers inputs;
    void *memory = NULL;
    double *stored = NULL;
    braid_problem wide = v->problem;
    const int slot = op_of(&v->problem)->stored;
    if (derived && !slot) return BRAID_OK;
    braid_status status = image_truth(&wide, &v->layout, v->before, &inputs, &memory);
    if (status == BRAID_OK && derived) status = image_widen(&v->problem, &v->layout, v->after, slot, &inputs, &stored);
    if (status == BRAID_OK) {
        truth_work work = {v, &inputs, ref_at_f64(v->problem.op, v->problem.pass), derived};
        threads_for(part_count(v), truth_part, &work);
    }
    memory_free(stored);
    memory_free(memory);
    return status;
}

static void tile_part(void *context, int64_t part) {
    const truth_work *w = context;
    const sample_range range = range_of(w->v, part);
    for (int64_t j = range.begin; j < range.end; j++) {
        truth_sample *s = &w->v->samples[j];
        if (ref_is_tiled(&w->v->problem, s->slot))
            s->tile_magnitude = tile_magnitude_f64(&w->v->problem, w->inputs, s->slot, s->plane, s->index);
    }
}

/* The magnitudes that Winograd's tiles mix, for all samples. */
static braid_status measure_tiles(verifier *v) {
    buffers inputs;
    void *memory = NULL;
    TRY(image_truth(&v->problem, &v->layout, v->before, &inputs, &memory));
    truth_work work = {.v = v, .inputs = &inputs};
    threads_for(part_count(v), tile_part, &work);
    memory_free(memory);
    v->tiles_are_measured = 1;
    return BRAID_OK;
}

/* ---- The verifier ------------------------------------------------------------------------- */

/* The filled block in the device's memory, from where every run takes it; the host's own where that is the same. */
static braid_status keep_fresh(verifier *v) {
    const backend *b = v->device->backend;
    if (b == &backend_cpu) return BRAID_OK;
    TRY(b->alloc(v->device, v->layout.bytes, &v->fresh));
    return b->upload(v->device, v->fresh, v->before, v->layout.bytes);
}

braid_status verifier_create(const braid_problem *p, device *d, image_mode mode, uint64_t seed, verifier *out) {
    *out = (verifier){.problem = *p, .device = d, .mode = mode};
    braid_status status = image_lay(p, &out->layout);
    if (status == BRAID_OK)
        status = memory_alloc_device(out->layout.bytes, "operands of a check", (void **)&out->before);
    if (status == BRAID_OK)
        status = memory_alloc_device(out->layout.bytes, "operands of a check", (void **)&out->after);
    if (status == BRAID_OK)
        status = memory_alloc_device(out->layout.bytes, "operands of a check", (void **)&out->again);
    if (status == BRAID_OK) status = d->backend->alloc(d, out->layout.bytes, &out->on_device);
    if (status == BRAID_OK) status = choose_samples(out, seed);
    if (status == BRAID_OK) {
        image_fill(p, &out->layout, mode, seed, out->before);
        status = compute_truth(out, 0);
    }
    if (status == BRAID_OK) status = keep_fresh(out);
    if (status != BRAID_OK) verifier_destroy(out);
    return status;
}

void verifier_destroy(verifier *v) {
    memory_free(v->before);
    memory_free(v->after);
    memory_free(v->again);
    memory_free(v->samples);
    if (v->on_device) v->device->backend->free(v->device, v->on_device);
    if (v->fresh) v->device->backend->free(v->device, v->fresh);
    *v = (verifier){0};
}

__attribute__((format(printf, 2, 3))) static void blame(verdict *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    real_format_list(out->failure, sizeof out->failure, format, arguments);
    va_end(arguments);
}

/* Poisons what a kernel may not read before it wrote it. Needs v->again. */
static braid_status poison(verifier *v, void *workspace, size_t bytes) {
    const backend *b = v->device->backend;
    size_t first = v->layout.bytes < POISON_BYTES ? v->layout.bytes : POISON_BYTES;
    if (first > bytes) first = bytes;
    memset(v->again, POISON_BYTE, first);
    TRY(b->upload(v->device, workspace, v->again, first));
    for (size_t done = first; done && done < bytes; done *= 2)
        TRY(b->copy(v->device, (char *)workspace + done, workspace, done < bytes - done ? done : bytes - done));
    return BRAID_OK;
}

/* Runs a kernel on the filled block and a poisoned workspace. */
static braid_status run_once(verifier *v, const kernel *k, void *state, void *workspace, size_t workspace_bytes,
                             verdict *out) {
    const backend *b = v->device->backend;
    const fail_kept kept = fail_keep();
    buffers bound;
    TRY(v->fresh ? b->copy(v->device, v->on_device, v->fresh, v->layout.bytes)
                 : b->upload(v->device, v->on_device, v->before, v->layout.bytes));
    TRY(poison(v, workspace, workspace_bytes));
    image_buffers(&v->problem, &v->layout, v->on_device, &bound);
    bound.workspace = workspace;
    braid_status status = kernel_launch(k->functions, &v->problem, v->device, state, &bound);
    if (status == BRAID_OK) return BRAID_OK;
    blame(out, "failed: %s", braid_message());
    out->lacks_memory = status == BRAID_ERROR_MEMORY;
    fail_put_back(&kept);
    return BRAID_OK;
}

/* Compares the outputs of a second run with those of the first. */
static braid_status compare_runs(verifier *v, verdict *out) {
    const backend *b = v->device->backend;
    output_plane planes[OP_MAX_OPERANDS * BRAID_MAX_PLANES];
    int64_t total;
    int count = list_outputs(&v->problem, planes, &total);
    for (int j = 0; j < count && !out->failure[0]; j++) {
        size_t at = v->layout.offset[planes[j].slot][planes[j].plane];
        size_t bytes = v->layout.plane_bytes[planes[j].slot][planes[j].plane];
        TRY(b->download(v->device, v->again + at, (char *)v->on_device + at, bytes));
        if (!block_same(v->after + at, v->again + at, bytes)) blame(out, "gave other bits when run again");
    }
    return BRAID_OK;
}

static void where(const verifier *v, const truth_sample *s, char *text, size_t size) {
    plane_shape shape;
    op_of(&v->problem)->shape(&v->problem, s->slot, s->plane, &shape);
    int used = snprintf(text, size, "%s of stream %d at", op_operand_name(&v->problem, s->slot), s->plane);
    int64_t rest = s->index, at[4] = {0};
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        at[axis] = rest % shape.dims[axis];
        rest /= shape.dims[axis];
    }
    for (int axis = 0; axis < shape.rank && used > 0 && (size_t)used < size; axis++) {
        used += snprintf(text + used, size - (size_t)used, "[%lld]", (long long)at[axis]);
    }
}

/* The error of one sample as a share of its bound; above 1 fails. */
static double judge_sample(const verifier *v, const kernel *k, const truth_sample *s, double *got) {
    plane_shape shape;
    op_of(&v->problem)->shape(&v->problem, s->slot, s->plane, &shape);
    const unsigned char *plane = v->after + v->layout.offset[s->slot][s->plane];
    int64_t at = ref_offset(&shape, s->index);
    *got = dtype_load(plane, shape.dtype, at);
    if (v->mode == IMAGE_EXACT) {
        return dtype_round(shape.dtype, s->expected.value) == *got ? 0 : INFINITY;
    }
    const double mixed = k->flags & KERNEL_WINOGRAD ? s->tile_magnitude : s->expected.magnitude;
    if (mixed == 0) return s->expected.value == *got ? 0 : INFINITY;
    double error = fabs(*got - s->expected.value);
    double bound = tolerance_bound(&v->problem, k, s->slot, s->expected, mixed);
    if (isinf(*got)) { /* right where the format has no number for what may have been meant */
        double farthest = s->expected.value + copysign(bound, *got);
        return dtype_round(shape.dtype, farthest) == *got ? 0 : INFINITY;
    }
    return isfinite(error) ? error / bound : INFINITY;
}

static int has_relu(const braid_problem *p) {
    return (op_of(p)->fields & FIELD_BIT(act)) && p->activation == BRAID_ACTIVATION_RELU;
}

void verify_count_zeros(const braid_problem *p, const truth_sample *s, verify_zeros *count) {
    int is_zero = s->expected.value == 0;
    if (s->expected.magnitude == 0) return;
    if (is_zero && p->pass == BRAID_PASS_FWD && has_relu(p)) return;
    count->with_terms++;
    count->zeros += is_zero;
}

int verify_mistrusts(const verify_zeros *count) {
    return count->with_terms > 16 && (double)count->zeros > TOLERANCE_ZERO_SHARE * (double)count->with_terms;
}

/* What one part of the samples shows. */
typedef struct comparison {
    double max_err;
    verify_zeros zeros;
    int64_t wrong; /* the first sample that is; -1: none */
} comparison;

typedef struct compare_work {
    const verifier *v;
    const kernel *k;
    comparison *parts;
} compare_work;

static void compare_part(void *context, int64_t part) {
    const compare_work *w = context;
    const sample_range range = range_of(w->v, part);
    comparison c = {.wrong = -1};
    for (int64_t j = range.begin; j < range.end; j++) {
        const truth_sample *s = &w->v->samples[j];
        double got, error = judge_sample(w->v, w->k, s, &got);
        verify_count_zeros(&w->v->problem, s, &c.zeros);
        if (error > c.max_err) c.max_err = error;
        if (error > 1 && c.wrong < 0) c.wrong = j;
    }
    w->parts[part] = c;
}

static void add_comparison(comparison *sum, const comparison *c) {
    sum->zeros.zeros += c->zeros.zeros;
    sum->zeros.with_terms += c->zeros.with_terms;
    if (c->max_err > sum->max_err) sum->max_err = c->max_err;
    if (sum->wrong < 0) sum->wrong = c->wrong;
}

static void blame_sample(const verifier *v, const kernel *k, const truth_sample *s, verdict *out) {
    char place[96];
    double got;
    (void)judge_sample(v, k, s, &got);
    where(v, s, place, sizeof place);
    blame(out, "wrong %s mode: %s expected %.9g, got %.9g", v->mode == IMAGE_EXACT ? "in exact" : "in real", place,
          s->expected.value, got);
}

static braid_status compare(const verifier *v, const kernel *k, verdict *out) {
    const int64_t parts = part_count(v);
    compare_work w = {.v = v, .k = k};
    comparison all = {.wrong = -1};
    TRY(memory_alloc((size_t)parts, sizeof *w.parts, "comparisons", (void **)&w.parts));
    threads_for(parts, compare_part, &w);
    for (int64_t j = 0; j < parts; j++) add_comparison(&all, &w.parts[j]);
    memory_free(w.parts);
    out->compared += v->sample_count;
    if (all.max_err > out->max_err) out->max_err = all.max_err;
    if (all.wrong >= 0)
        blame_sample(v, k, &v->samples[all.wrong], out);
    else if (verify_mistrusts(&all.zeros))
        blame(out, "mistrusted: %lld of %lld expected outputs are zero", (long long)all.zeros.zeros,
              (long long)all.zeros.with_terms);
    return BRAID_OK;
}

/* The magnitudes of tiles take longer than the truth, and are never less than the direct ones: they are measured where
 * those are not enough for an error of Winograd's kernels. */
static braid_status compare_measured(verifier *v, const kernel *k, verdict *out) {
    const verdict before = *out;
    TRY(compare(v, k, out));
    if (!out->failure[0] || !(k->flags & KERNEL_WINOGRAD) || v->tiles_are_measured) return BRAID_OK;
    TRY(measure_tiles(v));
    *out = before;
    return compare(v, k, out);
}

static braid_status judge_created(verifier *v, const kernel *k, void *state, size_t workspace_bytes, verdict *out) {
    void *workspace = NULL;
    braid_status status =
        workspace_bytes ? v->device->backend->alloc(v->device, workspace_bytes, &workspace) : BRAID_OK;
    if (status == BRAID_OK) status = run_once(v, k, state, workspace, workspace_bytes, out);
    if (status == BRAID_OK && !out->failure[0])
        status = v->device->backend->download(v->device, v->after, v->on_device, v->layout.bytes);
    if (status == BRAID_OK && !out->failure[0]) {
        const char *damage = image_damage(&v->problem, &v->layout, v->before, v->after);
        if (damage) blame(out, "%s", damage);
    }
    if (status == BRAID_OK && !out->failure[0]) status = compute_truth(v, 1);
    if (status == BRAID_OK && !out->failure[0]) status = compare_measured(v, k, out);
    if (status == BRAID_OK && !out->failure[0]) status = run_once(v, k, state, workspace, workspace_bytes, out);
    if (status == BRAID_OK && !out->failure[0]) status = compare_runs(v, out);
    if (workspace) v->device->backend->free(v->device, workspace);
    return status;
}

braid_status verifier_judge(verifier *v, const kernel *k, verdict *out) {
    void *state = NULL;
    size_t workspace_bytes = 0;
    const fail_kept kept = fail_keep();
    braid_status status = BRAID_OK;
    *out = (verdict){0};
    if (k->functions->create) status = k->functions->create(&v->problem, v->device, &state, &workspace_bytes);
    if (status != BRAID_OK) {
        blame(out, "could not be readied: %s", braid_message());
        out->lacks_memory = status == BRAID_ERROR_MEMORY;
        fail_put_back(&kept);
        return BRAID_OK;
    }
    status = judge_created(v, k, state, workspace_bytes, out);
    if (k->functions->destroy) k->functions->destroy(v->device, state);
    if (status == BRAID_OK && !out->failure[0] && out->compared == 0 && !op_is_empty(&v->problem))
        blame(out, "nothing was compared");
    return status;
}

static double whole_terms(const braid_problem *p) {
    output_plane planes[OP_MAX_OPERANDS * BRAID_MAX_PLANES];
    int64_t total;
    list_outputs(p, planes, &total);
    return (double)total * (double)op_work(p);
}

/* Of comparing a problem whole, in terms: an output has its own price. */
static double whole_price(const braid_problem *p) { return whole_terms(p) * (1 + OUTPUT_TERMS / (double)op_work(p)); }

int verify_shrink(const braid_problem *p, braid_problem *small) {
    char before[BRAID_PROBLEM_TEXT], after[BRAID_PROBLEM_TEXT];
    *small = *p;
    op_of(p)->shrink(small);
    while (small->batch > 1 && whole_terms(small) > WHOLE_TERMS) small->batch = (small->batch + 1) / 2;
    if (braid_problem_check(small) != BRAID_OK) *small = *p;
    if (braid_problem_print(p, before, sizeof before) || braid_problem_print(small, after, sizeof after)) return 0;
    return strcmp(before, after) != 0;
}

/* Judges the kernels that are still right on one filled problem, and adds to their verdicts. */
static braid_status judge_all(const braid_problem *p, device *d, image_mode mode, const kernel *const *kernels,
                              int count, uint64_t seed, verdict *verdicts) {
    verifier v;
    TRY(verifier_create(p, d, mode, seed, &v));
    braid_status status = BRAID_OK;
    for (int j = 0; j < count && status == BRAID_OK; j++) {
        verdict one;
        if (verdicts[j].failure[0] || kernel_refuses(kernels[j], p, d)) continue;
        status = verifier_judge(&v, kernels[j], &one);
        verdicts[j].compared += one.compared;
        if (one.max_err > verdicts[j].max_err) verdicts[j].max_err = one.max_err;
        memcpy(verdicts[j].failure, one.failure, sizeof one.failure);
        verdicts[j].lacks_memory = one.lacks_memory;
    }
    verifier_destroy(&v);
    return status;
}

braid_status verify_small(const braid_problem *p, device *d, const kernel *const *kernels, int count, uint64_t seed,
                          verdict *verdicts) {
    braid_problem small;
    int smaller = verify_shrink(p, &small);
    for (int j = 0; j < count; j++) verdicts[j] = (verdict){0};
    if (smaller) TRY(judge_all(&small, d, IMAGE_REAL, kernels, count, seed, verdicts));
    return op_is_exact(p) ? judge_all(smaller ? &small : p, d, IMAGE_EXACT, kernels, count, seed + 1, verdicts)
                          : BRAID_OK;
}

braid_status verify_real(const braid_problem *p, device *d, const kernel *const *kernels, int count, uint64_t seed,
                         verdict *verdicts) {
    return judge_all(p, d, IMAGE_REAL, kernels, count, seed + 2, verdicts);
}

braid_status verify_kernels(const braid_problem *p, device *d, const kernel *const *kernels, int count, uint64_t seed,
                            verdict *verdicts) {
    TRY(verify_small(p, d, kernels, count, seed, verdicts));
    return verify_real(p, d, kernels, count, seed, verdicts);
}

static void halve(int64_t *n) { *n = *n > 4 ? (*n + 1) / 2 : *n; }

/* Ways to make a problem smaller; each may be refused. */
enum { HALVE_BATCH, HALVE_ROWS, HALVE_COLUMNS, HALVE_CHANNELS, HALVE_IN, HALVE_OUT, HALVE_WAYS };

static void make_smaller(braid_problem *p, int way) {
    if (way == HALVE_BATCH && p->batch > FEW_SAMPLES) p->batch = (p->batch + 1) / 2;
    if (way == HALVE_ROWS) halve(&p->size[0]);
    if (way == HALVE_COLUMNS) halve(&p->size[1]);
    for (int i = 0; i < p->streams; i++) {
        if (way == HALVE_CHANNELS || way == HALVE_IN) halve(&p->in_channels[i]);
        if (way == HALVE_CHANNELS || way == HALVE_OUT) halve(&p->out_channels[i]);
    }
}

/* Makes a problem smaller as long as the kernel can do it, in every way as often as the others. */
static void shrink_for(const kernel *k, device *d, braid_problem *p) {
    unsigned refused = 0; /* a bit for each way */
    for (int way = 0; whole_price(p) > ONCE_TERMS && refused + 1 < 1u << HALVE_WAYS; way = (way + 1) % HALVE_WAYS) {
        braid_problem smaller = *p;
        make_smaller(&smaller, way);
        if (braid_problem_check(&smaller) || problem_same(&smaller, p) || kernel_refuses(k, &smaller, d))
            refused |= 1u << way;
        else
            *p = smaller;
    }
}

braid_status verify_once(const braid_problem *p, device *d, const kernel *k, verdict *out) {
    braid_problem small;
    const fail_kept kept = fail_keep();
    (void)verify_shrink(p, &small);
    if (kernel_refuses(k, &small, d)) small = *p;
    shrink_for(k, d, &small);
    fail_put_back(&kept);
    *out = (verdict){0};
    return judge_all(&small, d, op_is_exact(p) ? IMAGE_EXACT : IMAGE_REAL, &k, 1, 1, out);
}
