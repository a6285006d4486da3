/*
 * Each property runs a problem and a second one derived from it (some of its planes, some of its samples),
 * copies the inputs across and compares the outputs that both have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/stream_properties.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/threads.h"
#include "tests/support/rig.h"

#define MAX_SAMPLES 512

/* Which planes and samples of a problem another one has. */
typedef struct selection {
    int planes, plane[BRAID_MAX_PLANES];
    int by_sample; /* 0: all samples */
    int unmasked;  /* 1: the other problem has no mask */
    int64_t samples, sample[MAX_SAMPLES];
} selection;

static selection select_all(const braid_problem *p) {
    selection all = {.planes = p->streams};
    for (int i = 0; i < BRAID_MAX_PLANES; i++) all.plane[i] = i; /* operands may have one plane more than streams */
    return all;
}

/* The problem that is left. */
static braid_problem selected_problem(const braid_problem *p, const selection *s) {
    braid_problem q = *p;
    q.streams = s->planes;
    if (s->by_sample) q.batch = s->samples;
    if (s->unmasked) q.mask = 0;
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        int from = i < s->planes ? s->plane[i] : BRAID_MAX_PLANES;
        q.in_channels[i] = i < s->planes ? p->in_channels[from] : 0;
        q.out_channels[i] = i < s->planes ? p->out_channels[from] : 0;
        q.in_pitch[i] = i < s->planes ? p->in_pitch[from] : 0;
        q.out_pitch[i] = i < s->planes ? p->out_pitch[from] : 0;
    }
    return q;
}

/* The plane of `a` behind plane i of the selected problem. An operand with one plane serves all streams. */
static int source_plane(const rig *a, const selection *s, int slot, int i) {
    return op_of(&a->problem)->planes(&a->problem, slot) == 1 ? 0 : s->plane[i];
}

static int is_mask(const rig *r, int slot) { return op_of(&r->problem)->operands[slot].fill == FILL_MASK; }

static void copy_mask(const rig *a, rig *b, const selection *s, int slot, int i) {
    const uint32_t *from = rig_plane(a, slot, source_plane(a, s, slot, i));
    uint32_t *to = rig_plane(b, slot, i);
    memset(to, 0, b->layout.plane_bytes[slot][i]);
    for (int64_t j = 0; j < b->problem.batch; j++) {
        if (mask_blanks(from, s->by_sample ? s->sample[j] : j)) to[j >> 5] |= 1u << (j & 31);
    }
}

static void copy_inputs(const rig *a, rig *b, const selection *s) {
    const braid_problem *p = &b->problem;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_is_input(op_role(p, slot)) && i < op_of(p)->planes(p, slot); i++) {
            unsigned char *to = rig_plane(b, slot, i), *from = rig_plane(a, slot, source_plane(a, s, slot, i));
            if (is_mask(b, slot)) {
                copy_mask(a, b, s, slot, i);
            } else if (s->by_sample && rig_has_samples(p, slot)) {
                size_t bytes = rig_sample_bytes(b, slot, i);
                for (int64_t j = 0; j < s->samples; j++) {
                    memcpy(to + (size_t)j * bytes, from + (size_t)s->sample[j] * bytes, bytes);
                }
            } else {
                memcpy(to, from, b->layout.plane_bytes[slot][i]);
            }
        }
    }
}

/* Compares plane i of an output with its source: its samples, or all of it. */
static int same_plane(const rig *a, const rig *b, const selection *s, int slot, int i) {
    const unsigned char *is = rig_plane(b, slot, i), *was = rig_plane(a, slot, source_plane(a, s, slot, i));
    if (!s->by_sample || !rig_has_samples(&b->problem, slot))
        return memcmp(is, was, b->layout.plane_bytes[slot][i]) == 0;
    size_t bytes = rig_sample_bytes(b, slot, i);
    for (int64_t j = 0; j < s->samples; j++) {
        if (memcmp(is + (size_t)j * bytes, was + (size_t)s->sample[j] * bytes, bytes) != 0) return 0;
    }
    return 1;
}

/* All outputs; those without samples only where `sums`. */
static outcome compare_outputs(trial *t, const rig *a, const rig *b, const selection *s, int sums) {
    const braid_problem *p = &b->problem;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        if (!op_is_output(op_role(p, slot)) || (!sums && !rig_has_samples(p, slot))) continue;
        for (int i = 0; i < op_of(p)->planes(p, slot); i++) {
            if (!same_plane(a, b, s, slot, i)) {
                return broken(t, "other bits in %s of stream %d", op_operand_name(p, slot), s->plane[i]);
            }
        }
    }
    return HELD;
}

/* Runs the selected problem on inputs of `a` and compares. */
static outcome check_selection(trial *t, const rig *inputs, const rig *a, const selection *s, int sums) {
    rig b = {0};
    braid_problem q = selected_problem(t->problem, s);
    if (kernel_refuses(t->kernel, &q, t->device)) return NOT_HERE;
    if (rig_create(&b, &q, t->device, t->kernel, IMAGE_REAL, t->seed)) return could_not_run(t);
    copy_inputs(inputs, &b, s);
    outcome found = rig_run(&b) ? could_not_run(t) : compare_outputs(t, a, &b, s, sums);
    rig_destroy(&b);
    return found;
}

/* A chain takes other kernels for other problems. */
static int is_ours(const trial *t) { return t->kernel->vendor == NULL && t->kernel->backend != KERNEL_CHAIN; }

/* Two rigs of the trial's problem, filled alike; the first has run. */
static outcome run_first(trial *t, image_mode mode, rig *inputs, rig *a) {
    *inputs = *a = (rig){0};
    if (rig_create(inputs, t->problem, t->device, t->kernel, mode, t->seed)) return could_not_run(t);
    if (rig_create(a, t->problem, t->device, t->kernel, mode, t->seed)) return could_not_run(t);
    return rig_run(a) ? could_not_run(t) : HELD;
}

static outcome finish(rig *inputs, rig *a, outcome found) {
    rig_destroy(inputs);
    rig_destroy(a);
    return found;
}

/* True where every stream is treated alike: what one gets does not follow from its place. */
static int streams_are_alike(const braid_problem *p) { return !p->each && !p->given && !p->skip; }

/* ---- Streams ------------------------------------------------------------------------------- */

outcome streams_permute(trial *t) {
    rig inputs, a;
    int n = t->problem->streams;
    if (n < 2 || !streams_are_alike(t->problem) || !is_ours(t)) return NOT_HERE;
    selection turned = select_all(t->problem);
    for (int i = 0; i < n; i++) turned.plane[i] = (i + 1) % n;
    outcome found = run_first(t, IMAGE_REAL, &inputs, &a);
    if (found == HELD) found = check_selection(t, &inputs, &a, &turned, 1);
    return finish(&inputs, &a, found);
}

outcome streams_stand_alone(trial *t) {
    rig inputs, a;
    if (t->problem->streams < 2 || !streams_are_alike(t->problem) || !is_ours(t)) return NOT_HERE;
    outcome found = run_first(t, IMAGE_REAL, &inputs, &a);
    for (int i = 0; i < t->problem->streams && found == HELD; i++) {
        selection one = {.planes = 1, .plane = {i}};
        found = check_selection(t, &inputs, &a, &one, 1);
    }
    return finish(&inputs, &a, found);
}

/* Fills all floating inputs of a stream with NaN. */
static void poison_stream(rig *r, int stream) {
    const braid_problem *p = &r->problem;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        plane_shape s;
        if (!op_is_input(op_role(p, slot)) || op_of(p)->planes(p, slot) < p->streams) continue;
        rig_shape(r, slot, stream, &s);
        if (dtype_is_compute(s.dtype))
            memset(rig_plane(r, slot, stream), POISON_BYTE, r->layout.plane_bytes[slot][stream]);
    }
}

outcome streams_do_not_leak(trial *t) {
    rig b, a;
    int n = t->problem->streams, sick = (int)(t->seed % (uint64_t)n);
    if (n < 2 || t->problem->given || t->problem->skip) return NOT_HERE; /* outputs begin with other streams */
    selection all = select_all(t->problem);
    outcome found = run_first(t, IMAGE_REAL, &b, &a);
    if (found == HELD) {
        poison_stream(&b, sick);
        if (rig_run(&b)) found = could_not_run(t);
    }
    const op_info *o = op_of(t->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        for (int i = 0; op_is_output(op_role(t->problem, slot)) && i < o->planes(t->problem, slot); i++) {
            int shared = o->planes(t->problem, slot) < n;
            if (found != HELD || (i == sick && !shared)) continue;
            if (!same_plane(&a, &b, &all, slot, i)) {
                found =
                    broken(t, "NaN in stream %d reached %s of stream %d", sick, op_operand_name(t->problem, slot), i);
            }
        }
    }
    return finish(&b, &a, found);
}

/* ---- Samples ------------------------------------------------------------------------------- */

static int mask_slot(const braid_problem *p) {
    for (int slot = 0; p->mask && slot < op_operand_count(op_of(p)); slot++) {
        if (op_of(p)->operands[slot].fill == FILL_MASK) return slot;
    }
    return -1;
}

/* Calls visit on the bytes of every blanked sample of the operands whose role is as asked. */
static int each_blanked(rig *r, int (*role)(operand_role), int (*visit)(unsigned char *bytes, size_t count)) {
    const braid_problem *p = &r->problem;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        if (!role(op_role(p, slot)) || !rig_has_samples(p, slot)) continue;
        if (rig_planes(r, slot) != p->streams) continue; /* shared by all streams: no mask is its own */
        for (int i = 0; i < p->streams; i++) {
            const uint32_t *mask = rig_plane(r, mask_slot(p), i);
            size_t bytes = rig_sample_bytes(r, slot, i);
            for (int64_t j = 0; j < p->batch; j++) {
                unsigned char *sample = (unsigned char *)rig_plane(r, slot, i) + (size_t)j * bytes;
                if (mask_blanks(mask, j) && !visit(sample, bytes)) return 0;
            }
        }
    }
    return 1;
}

static int poison_bytes(unsigned char *bytes, size_t count) {
    memset(bytes, POISON_BYTE, count);
    return 1;
}

/* Plus zero in every format. */
static int are_zero(unsigned char *bytes, size_t count) {
    for (size_t j = 0; j < count; j++) {
        if (bytes[j]) return 0;
    }
    return 1;
}

outcome blanked_samples_do_not_leak(trial *t) {
    rig b, a;
    if (mask_slot(t->problem) < 0) return NOT_HERE;
    selection all = select_all(t->problem);
    outcome found = run_first(t, IMAGE_REAL, &b, &a);
    if (found == HELD) {
        each_blanked(&b, op_is_input, poison_bytes);
        if (rig_run(&b)) found = could_not_run(t);
    }
    if (found == HELD) found = compare_outputs(t, &a, &b, &all, 1);
    if (found == HELD && !each_blanked(&a, op_is_output, are_zero))
        found = broken(t, "a blanked sample has an output other than 0");
    return finish(&b, &a, found);
}

outcome active_samples_alone(trial *t) {
    rig inputs, a;
    int slot = mask_slot(t->problem);
    int exact = op_is_exact(t->problem);
    int one_by_one = t->problem->op == BRAID_OP_BN_FINALIZE || t->problem->op == BRAID_OP_BN_BWD_APPLY; /* no sums */
    if (slot < 0 || t->problem->batch > MAX_SAMPLES || (!exact && !(one_by_one && is_ours(t)))) return NOT_HERE;
    outcome found = run_first(t, exact ? IMAGE_EXACT : IMAGE_REAL, &inputs, &a);
    selection active = select_all(t->problem);
    active.by_sample = active.unmasked = 1;
    if (found == HELD) {
        const uint32_t *mask = rig_plane(&inputs, slot, 0);
        for (int64_t j = 0; j < t->problem->batch; j++) {
            if (!mask_blanks(mask, j)) active.sample[active.samples++] = j;
        }
        for (int i = 0; i < t->problem->streams; i++) {
            memcpy(rig_plane(&inputs, slot, i), mask, inputs.layout.plane_bytes[slot][i]);
            memcpy(rig_plane(&a, slot, i), mask, a.layout.plane_bytes[slot][i]);
        }
        /* the first run had one mask for each stream, and updated operands are no longer inputs */
        selection all = select_all(t->problem);
        copy_inputs(&inputs, &a, &all);
        if (rig_run(&a)) found = could_not_run(t);
    }
    if (found == HELD) found = active.samples ? check_selection(t, &inputs, &a, &active, 1) : NOT_HERE;
    return finish(&inputs, &a, found);
}

/* Outputs without samples are sums over the batch: those of the two parts must add up to those of the whole. */
static outcome compare_sums(trial *t, const rig *whole, const rig *first, const rig *second) {
    const braid_problem *p = t->problem;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        if (!op_is_output(op_role(p, slot)) || rig_has_samples(p, slot)) continue;
        for (int i = 0; i < op_of(p)->planes(p, slot); i++) {
            for (int64_t j = 0; j < rig_elements(whole, slot, i); j++) {
                double sum = rig_get(first, slot, i, j) + rig_get(second, slot, i, j),
                       expected = rig_get(whole, slot, i, j);
                if (sum == expected) continue;
                return broken(t, "%s of stream %d: two parts of the batch give %g, the whole gives %g",
                              op_operand_name(p, slot), i, sum, expected);
            }
        }
    }
    return HELD;
}

outcome batch_splits(trial *t) {
    const braid_problem *p = t->problem;
    rig inputs, a, part[2] = {0};
    int exact = op_is_exact(p);
    if (!exact || p->batch < 2 || p->batch > MAX_SAMPLES ||
        (p->dtype != BRAID_DTYPE_F32 && p->dtype != BRAID_DTYPE_F64)) {
        return NOT_HERE;
    }
    int64_t cut = (p->batch + 1) / 2;
    outcome found = run_first(t, IMAGE_EXACT, &inputs, &a);
    for (int side = 0; side < 2 && found == HELD; side++) {
        selection s = select_all(p);
        s.by_sample = 1;
        for (int64_t j = side ? cut : 0; j < (side ? p->batch : cut); j++) s.sample[s.samples++] = j;
        braid_problem q = selected_problem(p, &s);
        if (kernel_refuses(t->kernel, &q, t->device))
            found = NOT_HERE;
        else if (rig_create(&part[side], &q, t->device, t->kernel, IMAGE_EXACT, t->seed))
            found = could_not_run(t);
        if (found != HELD) break;
        copy_inputs(&inputs, &part[side], &s);
        found = rig_run(&part[side]) ? could_not_run(t) : compare_outputs(t, &a, &part[side], &s, 0);
    }
    if (found == HELD) found = compare_sums(t, &a, &part[0], &part[1]);
    rig_destroy(&part[0]);
    rig_destroy(&part[1]);
    return finish(&inputs, &a, found);
}

outcome samples_permute(trial *t) {
    rig inputs, a;
    int64_t batch = t->problem->batch;
    if (batch < 2 || batch > MAX_SAMPLES || !is_ours(t)) return NOT_HERE;
    selection turned = select_all(t->problem);
    turned.by_sample = 1;
    for (int64_t j = 0; j < batch; j++) turned.sample[turned.samples++] = (j + 1) % batch;
    outcome found = run_first(t, IMAGE_REAL, &inputs, &a);
    if (found == HELD) found = check_selection(t, &inputs, &a, &turned, 1);
    return finish(&inputs, &a, found);
}

/* ---- Threads ------------------------------------------------------------------------------- */

outcome threads_leave_no_trace(trial *t) {
    static const int counts[] = {2, 3, 7};
    rig one = {0};
    if (t->kernel->flags & KERNEL_VARIES_WITH_THREADS || t->kernel->backend == KERNEL_CUDA) return NOT_HERE;
    if (t->kernel->backend == KERNEL_CHAIN) return NOT_HERE; /* its choice of kernels depends on the threads */
    selection all = select_all(t->problem);
    threads_set(1);
    outcome found = HELD;
    if (rig_create(&one, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed) || rig_run(&one))
        found = could_not_run(t);
    for (int j = 0; j < 3 && found == HELD; j++) {
        rig many = {0};
        threads_set(counts[j]);
        if (rig_create(&many, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed) || rig_run(&many))
            found = could_not_run(t);
        else
            found = compare_outputs(t, &one, &many, &all, 1);
        if (found == BROKEN) broken(t, "1 and %d threads give different bits", counts[j]);
        rig_destroy(&many);
    }
    threads_set(0);
    rig_destroy(&one);
    return found;
}
