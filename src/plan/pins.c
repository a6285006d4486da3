/*
 * Choices of plans, saved and taken again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/pins.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "race/choices.h"

static braid_status add(json_t *object, const braid_problem *p, const kernel *k) {
    char text[BRAID_PROBLEM_TEXT];
    TRY(braid_problem_print(p, text, sizeof text));
    if (json_object_set_new(object, text, json_string(k->name)) != 0)
        return fail(BRAID_ERROR_MEMORY, "plan: no memory for the chosen kernels");
    return BRAID_OK;
}

/* What the steps of a chain are done by, as far as that was chosen; the rest follows from the cost model. */
static braid_status add_steps(json_t *object, braid_context *context, const braid_problem *p) {
    op_chain c = {0};
    if (op_of(p)->chain(p, &c)) return BRAID_OK;
    for (int j = 0; j < c.count; j++) {
        TRY(braid_problem_check(&c.steps[j].problem));
        const kernel *k = choices_find(context, &c.steps[j].problem);
        if (k) TRY(add(object, &c.steps[j].problem, k));
    }
    return BRAID_OK;
}

braid_status op_choices(const braid_op *op, json_t *object) {
    if (!op->kernel) return BRAID_OK;
    TRY(add(object, &op->problem, op->kernel));
    return kernel_kind(op->kernel) == BRAID_KIND_CHAIN ? add_steps(object, op->context, &op->problem) : BRAID_OK;
}

braid_status plan_choices(const braid_plan *plan, json_t *object) {
    for (int j = 0; j < plan->op_count; j++) TRY(op_choices(plan->ops[j], object));
    return BRAID_OK;
}

braid_status model_keep_choices(braid_model *model, const braid_plan *plan) {
    if (!model->choices) model->choices = json_object();
    if (!model->choices) return fail(BRAID_ERROR_MEMORY, "model: no memory for the chosen kernels");
    return plan_choices(plan, model->choices);
}

/* The kernel of a choice where it can do its problem here; NULL: it cannot. One for which there is no memory fails,
 * since with another the bits would be others. */
static braid_status able_kernel(const braid_context *context, const char *text, const char *name, braid_problem *p,
                                const kernel **able) {
    const kernel *k = name ? kernel_find(name) : NULL; /* NULL: a checkpoint has something else in its place */
    *able = NULL;
    if (!k || braid_problem_parse(text, p) != BRAID_OK || k->op != p->op || k->pass != p->pass) return BRAID_OK;
    if (!kernel_runs_on(k, context->device)) return BRAID_OK;
    const refusal refused = kernel_refusal(k, p, context->device);
    if (refused.kind == REFUSAL_NO_MEMORY) return fail(BRAID_ERROR_MEMORY, "kernel %s: %s", name, refused.text);
    if (!refused.kind) *able = k;
    return BRAID_OK;
}

braid_status model_pin_choices(braid_model *model, const json_t *object, int *missing) {
    const char *text;
    json_t *value, *copy = json_copy((json_t *)object);
    if (!copy) return fail(BRAID_ERROR_MEMORY, "model: no memory for the chosen kernels");
    model_forget_choices(model);
    model->choices = copy;
    *missing = 0;
    json_object_foreach(copy, text, value) {
        braid_problem p;
        const kernel *k;
        TRY(able_kernel(model->context, text, json_string_value(value), &p, &k));
        if (k)
            choices_remember(model->context, &p, k); /* for chains */
        else
            ++*missing;
    }
    return BRAID_OK;
}

/* Where the batch stands in the text of a problem, ":b16"; its end where it has none. */
static const char *batch_field(const char *text) {
    const char *at = strchr(text, ':');
    while (at && !(at[1] == 'b' && at[2] >= '0' && at[2] <= '9')) at = strchr(at + 1, ':');
    return at ? at : text + strlen(text);
}

/* 1 where two texts are the same but for their batch. */
static int same_but_batch(const char *a, const char *b) {
    const char *x = batch_field(a), *y = batch_field(b);
    if (!*x || !*y || x - a != y - b || strncmp(a, b, (size_t)(x - a)) != 0) return 0;
    return strcmp(x + 1 + strcspn(x + 1, ":"), y + 1 + strcspn(y + 1, ":")) == 0;
}

/* What the nearest batch of the same problem has; of two as near, the smaller one. */
static const char *nearest_choice(json_t *choices, const char *wanted) {
    const char *text, *found = NULL;
    json_t *value;
    long long batch = strtoll(batch_field(wanted) + 2, NULL, 10), best = 0;
    json_object_foreach(choices, text, value) {
        if (!same_but_batch(text, wanted)) continue;
        long long one = strtoll(batch_field(text) + 2, NULL, 10), far = llabs(one - batch), near = llabs(best - batch);
        if (found && (far > near || (far == near && one > best))) continue;
        best = one;
        found = json_string_value(value);
    }
    return found;
}

const char *model_choice(const braid_model *model, const braid_problem *p) {
    char text[BRAID_PROBLEM_TEXT];
    if (!model->choices || braid_problem_print(p, text, sizeof text) != BRAID_OK) return NULL;
    const char *exact = json_string_value(json_object_get(model->choices, text));
    return exact || !*batch_field(text) ? exact : nearest_choice(model->choices, text);
}

braid_status choose_pinned(const braid_model *model, braid_op *op, const braid_plan_options *options) {
    braid_plan_options pinned = *options;
    const fail_kept kept = fail_keep();
    pinned.kernel = options->kernel ? NULL : model_choice(model, &op->problem);
    if (!pinned.kernel) return op_choose(op, options);
    braid_status status = op_choose(op, &pinned);
    if (status != BRAID_ERROR_ARGUMENT) return status;
    log_write(LOG_PLAN, "%s of the checkpoint cannot be taken, one is chosen anew: %s", pinned.kernel, fail_message());
    fail_put_back(&kept);
    return op_choose(op, options);
}
