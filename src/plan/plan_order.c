/*
 * The order of a plan's steps. Two steps of which one writes memory that the other touches keep their order; all others
 * may run side by side. In a recording those that only make gradients of parameters, which nobody needs before the
 * update, are put on the side queue: they fill the places that the steps behind them leave free. Products among them
 * begin beside a step that waits for memory, and their kernels leave some multiprocessors to it. Such a step is joined
 * before the first step that touches memory of its own, by the addresses of the placed plan, whatever placed them.
 *
 * SPDX-License-Identifier: MIT
 */

#include "core/memory.h"
#include "core/sizes.h"
#include "plan/plan.h"

/* A piece of memory that a step reads or writes. */
typedef struct range {
    const char *begin, *end;
    int written;
} range;

#define MAX_RANGES (OP_MAX_OPERANDS * BRAID_MAX_PLANES + 1)

_Static_assert(PLAN_GROUP_CALLS + PLAN_GROUP_PLANES <= MAX_RANGES, "a step that adds parts has no more");

int step_touches(const step *s, step_part part, int slot) {
    operand_role role = op_role(&s->op->problem, slot);
    if (role == ROLE_NONE) return 0;
    if (part == STEP_PACK) return (s->op->kernel->functions->pack_reads & KERNEL_SLOT(slot)) != 0;
    if (part == STEP_PARTS) return !op_is_output(role);
    return part != STEP_SUMS || op_is_output(role);
}

static int list_planes(const step *s, step_part part, range *out) {
    const braid_problem *p = &s->op->problem;
    int count = 0;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        braid_operand_info info;
        if (!step_touches(s, part, slot) || op_operand_info(p, slot, &info) != BRAID_OK) continue;
        for (int i = 0; i < info.planes; i++) {
            const char *begin = s->buffers.plane[slot][i];
            out[count++] = (range){begin, begin + info.bytes[i], op_is_output(op_role(p, slot))};
        }
    }
    if (s->op->workspace_bytes) {
        const char *begin = s->buffers.workspace;
        out[count++] = (range){begin, begin + s->op->workspace_bytes, part != STEP_SUMS};
    }
    return count;
}

static int list_ranges(const braid_plan *plan, const step *s, range *out) {
    const step *members[PLAN_GROUP_CALLS];
    int count = 0, calls = plan_summed_steps(plan, s, members);
    if (s->part != STEP_SUMS) return list_planes(s, s->part, out);
    for (int j = 0; j < calls; j++) count += list_planes(members[j], STEP_SUMS, out + count);
    return count;
}

/* 1 where one of the two must wait for the other. */
static int conflict(const range *a, int a_count, const range *b, int b_count) {
    for (int j = 0; j < a_count; j++) {
        for (int k = 0; k < b_count; k++) {
            if ((a[j].written || b[k].written) && a[j].begin < b[k].end && b[k].begin < a[j].end) return 1;
        }
    }
    return 0;
}

/* behind[j] has a bit for every step that j waits for, directly or through others. */
static void find_step(braid_plan *plan, int j, uint64_t *behind, size_t words) {
    range mine[MAX_RANGES], other[MAX_RANGES];
    int count = list_ranges(plan, &plan->steps[j], mine);
    uint64_t *row = behind + (size_t)j * words;
    plan->steps[j].depends_on = 0;
    for (int i = j - 1; i >= 0; i--) {
        if (row[i / 64] >> (i % 64) & 1) continue;
        if (!conflict(mine, count, other, list_ranges(plan, &plan->steps[i], other))) continue;
        plan->steps[j].depends_on++;
        for (size_t w = 0; w < words; w++) row[w] |= behind[(size_t)i * words + w];
        row[i / 64] |= UINT64_C(1) << (i % 64);
    }
}

braid_status plan_find_dependencies(braid_plan *plan) {
    uint64_t *behind = NULL;
    size_t words = (size_t)plan->step_count / 64 + 1, row_bytes;
    TRY(size_array(words, sizeof *behind, "dependencies", &row_bytes));
    TRY(memory_calloc((size_t)plan->step_count + 1, row_bytes, "dependencies", (void **)&behind));
    for (int j = 0; j < plan->step_count; j++) find_step(plan, j, behind, words);
    memory_free(behind);
    return BRAID_OK;
}

/* ---- steps on the side queue --------------------------------------------------------------------------- */

#define LAG 6         /* calls that one on the side queue may end later */
#define PRODUCT 150.0 /* operations for each byte, of steps that wait for matrix units and not for memory */

/* Kernels leave room for others wherever a recording of such a plan might put them on the side queue, also in one that
 * runs launch by launch and where memory has become short since: all have the same bits. A plan that makes activations
 * again has nothing on the side queue, and its kernels take the whole device. */
braid_status plan_put_on_side(braid_plan *plan) {
    program *p = &plan->program;
    const backend *b = plan->model->context->device->backend;
    int has_branch = b->side_begin && p->options.keep_all;
    int has_room = has_branch && !plan->request.eager && plan_may_keep_all(plan);
    for (int j = 0; j < p->call_count && has_branch; j++) {
        step *s = &plan->steps[j];
        if (s->segment != BRAID_SEGMENT_BACKWARD || kernel_kind(s->op->kernel) != BRAID_KIND_OWN ||
            !program_ends_in_gradients(p, j, j + LAG + 1))
            continue;
        TRY(op_narrow(s->op));
        s->is_on_side = has_room;
        p->calls[j].lag = s->is_on_side ? LAG : 0;
    }
    return BRAID_OK;
}

static void find_joins(braid_plan *plan) {
    range mine[MAX_RANGES], other[MAX_RANGES];
    int joined = -1;
    for (int j = 0; j < plan->step_count; j++) {
        step *s = &plan->steps[j];
        s->joins = -1;
        if (s->is_on_side) continue;
        int count = list_ranges(plan, s, mine);
        for (int i = j - 1; i > joined && s->joins < 0; i--) {
            const step *before = &plan->steps[i];
            if (before->is_on_side && conflict(mine, count, other, list_ranges(plan, before, other))) s->joins = i;
        }
        if (s->joins > joined && !s->without && !s->with) joined = s->joins; /* by a step that always runs */
    }
}

static int is_product(const step *s) {
    const braid_problem *p = &s->op->problem;
    return s->part != STEP_SUMS && op_of(p)->flops(p) > PRODUCT * op_bytes(p);
}

/* The step in front of which step i, which is on the side queue, begins, no earlier than in front of `first`. A product
 * is kept back until one of the steps behind it has had the matrix units and the next waits for memory instead, or for
 * it. */
static int find_begin(const braid_plan *plan, int i, int first) {
    const int is_kept_back = is_product(&plan->steps[i]);
    int had_product = 0, j = i + 1;
    for (; j < plan->step_count; j++) {
        const step *s = &plan->steps[j];
        if (s->is_on_side) continue;
        if (s->joins >= i || (j >= first && (!is_kept_back || (had_product && !is_product(s))))) break;
        had_product |= is_product(s);
    }
    return j;
}

void plan_find_joins(braid_plan *plan) {
    int begin = 0;
    find_joins(plan);
    for (int j = 0; j < plan->step_count; j++) {
        if (plan->steps[j].is_on_side) plan->steps[j].begins = begin = find_begin(plan, j, begin);
    }
}
