/*
 * What a plan tells of itself: its steps, what each waits for, its memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "plan/plan.h"

int braid_plan_step_count(const braid_plan *plan) { return plan ? plan->step_count : 0; }

/* Seconds of the chosen kernel, as measured. */
static double seconds_of(const braid_op *op) {
    return op->race.winner < 0 ? 0 : op->race.racers[op->race.winner].median;
}

braid_status braid_plan_step(const braid_plan *plan, int index, braid_step_info *info) {
    if (!plan || !info) return fail(BRAID_ERROR_ARGUMENT, "braid_plan_step: expected a plan and a place, got NULL");
    if (index < 0 || index >= plan->step_count)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_step: expected a step from 0 to %d, got %d", plan->step_count - 1,
                    index);
    const step *s = &plan->steps[index];
    *info = (braid_step_info){.problem = &s->op->problem,
                              .race = &s->op->seen,
                              .kernel = s->op->kernel->name,
                              .segment = s->segment,
                              .natural = s->natural,
                              .made_again = s->made_again,
                              .depends_on = s->depends_on,
                              .seconds = seconds_of(s->op),
                              .launches = s->queued.kernels + s->queued.copies + s->queued.zeros,
                              .layout_copies = s->queued.rearranging};
    return BRAID_OK;
}

void braid_plan_memory_use(const braid_plan *plan, braid_plan_memory *use) {
    if (!plan || !use) return;
    *use = (braid_plan_memory){.arena_bytes = plan->program.arena_bytes,
                               .sum_bytes = plan->program.sum_bytes,
                               .model_bytes = model_bytes(plan->model),
                               .training_bytes = model_training_bytes(plan->model)};
}

/* ---- Dependencies -------------------------------------------------------------------------- */

/* A piece of memory that a step reads or writes. */
typedef struct range {
    const char *begin, *end;
    int written;
} range;

#define MAX_RANGES (OP_MAX_OPERANDS * BRAID_MAX_PLANES + 1)

static int list_ranges(const step *s, range *out) {
    const braid_problem *p = &s->op->problem;
    const op_info *o = op_of(p);
    int count = 0;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        braid_operand_info info;
        operand_role role = op_role(p, slot);
        if (role == ROLE_NONE || op_operand_info(p, slot, &info) != BRAID_OK) continue;
        for (int i = 0; i < info.planes; i++) {
            const char *begin = s->buffers.plane[slot][i];
            out[count++] = (range){begin, begin + info.bytes[i], op_is_output(role)};
        }
    }
    if (s->op->workspace_bytes) {
        const char *begin = s->buffers.workspace;
        out[count++] = (range){begin, begin + s->op->workspace_bytes, 1};
    }
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
    int count = list_ranges(&plan->steps[j], mine);
    uint64_t *row = behind + (size_t)j * words;
    plan->steps[j].depends_on = 0;
    for (int i = j - 1; i >= 0; i--) {
        if (row[i / 64] >> (i % 64) & 1) continue;
        if (!conflict(mine, count, other, list_ranges(&plan->steps[i], other))) continue;
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
