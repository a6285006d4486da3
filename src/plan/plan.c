/*
 * Plans of networks: created from a model and a request. Everything that allocates happens here; plan_run.c runs them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/plan.h"

#include <string.h>

#include "core/dtype.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "ops/problem.h"

/* ---- Ops ----------------------------------------------------------------------------------- */

/* The op of a problem, made where the plan has none of it yet. */
static braid_status find_op(braid_plan *plan, const braid_problem *problem, braid_op **op) {
    for (int j = 0; j < plan->op_count; j++) {
        if (!problem_same(&plan->ops[j]->problem, problem)) continue;
        *op = plan->ops[j];
        return BRAID_OK;
    }
    TRY(memory_grow((void **)&plan->ops, (size_t)plan->op_count, &plan->op_room, sizeof *plan->ops, "plan"));
    TRY(braid_op_create(plan->model->context, problem, op));
    (*op)->is_brief = 1;
    plan->ops[plan->op_count++] = *op;
    return BRAID_OK;
}

braid_status plan_add_step(braid_plan *plan, const braid_problem *problem, braid_segment segment, step **made) {
    braid_problem checked = *problem;
    int known = plan->op_count;
    step s = {.segment = segment, .depends_on = -1};
    TRY(braid_problem_check(&checked));
    TRY(find_op(plan, &checked, &s.op));
    if (known < plan->op_count) TRY(plan_choose_kernels(plan, known));
    TRY(memory_grow((void **)&plan->steps, (size_t)plan->step_count, &plan->step_room, sizeof *plan->steps, "plan"));
    if (s.op->workspace_bytes > plan->workspace_bytes) plan->workspace_bytes = s.op->workspace_bytes;
    plan->steps[plan->step_count] = s;
    *made = &plan->steps[plan->step_count++];
    return BRAID_OK;
}

/* ---- Memory -------------------------------------------------------------------------------- */

void *plan_address(const braid_plan *plan, int index) {
    const tensor *t = &plan->program.tensors[index];
    if (t->home == HOME_MODEL) return model_address(plan->model, t->plane, t->shape.dtype);
    if (t->home == HOME_GRADIENT) return model_gradient_address(plan->model, t->plane, t->shape.dtype);
    if (t->home == HOME_METRICS)
        return model_metric(plan->model, index == plan->program.loss      ? METRIC_LOSS
                                         : index == plan->program.correct ? METRIC_CORRECT
                                                                          : METRIC_LOSS_SCALE);
    return plan->arena + plan->program.tensors[t->root].offset;
}

static void bind_step(const braid_plan *plan, int j, step *s) {
    const call *c = &plan->program.calls[j];
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (op_role(&c->problem, slot) == ROLE_NONE) continue;
        for (int i = 0; i < o->planes(&c->problem, slot); i++)
            s->buffers.plane[slot][i] = plan_address(plan, c->tensor[slot][i]);
    }
    s->buffers.workspace = s->op->workspace_bytes ? plan->arena + plan->workspace_offset[j] : NULL;
}

braid_status plan_place(braid_plan *plan) {
    program *p = &plan->program;
    size_t *bytes = NULL;
    if (!plan->workspace_offset)
        TRY(memory_calloc((size_t)p->call_count, sizeof *bytes, "plan", (void **)&plan->workspace_offset));
    TRY(memory_calloc((size_t)p->call_count, sizeof *bytes, "plan", (void **)&bytes));
    for (int j = 0; j < p->call_count; j++) bytes[j] = plan->steps[j].op->workspace_bytes;
    braid_status status = program_place(p, bytes, plan->workspace_offset);
    memory_free(bytes);
    return status;
}

/* Takes the memory from the device, once everything is placed. */
static braid_status take_memory(braid_plan *plan) {
    program *p = &plan->program;
    device *d = plan->model->context->device;
    TRY(plan_fits(plan));
    TRY(d->backend->alloc(d, p->arena_bytes, (void **)&plan->arena));
    for (int j = 0; j < p->call_count; j++) bind_step(plan, j, &plan->steps[j]);
    return BRAID_OK;
}

/* Zeros in what must hold a value before the first run: masks, labels, inputs; ones in the weights of classes. */
static braid_status fill_kept(braid_plan *plan) {
    device *d = plan->model->context->device;
    program *p = &plan->program;
    for (int t = 0; t < p->tensor_count; t++) {
        const tensor *one = &p->tensors[t];
        int is_mine = one->is_kept && one->home == HOME_PLACED && one->root == t;
        if (!is_mine || !one->bytes || one->bytes > plan->staging_bytes) continue;
        memset(plan->staging, 0, one->bytes);
        for (int64_t c = 0; t == p->weights && c < one->shape.dims[0]; c++)
            dtype_store(plan->staging, one->shape.dtype, c, 1);
        TRY(d->backend->upload(d, plan_address(plan, t), plan->staging, one->bytes));
    }
    return BRAID_OK;
}

static braid_status make_staging(braid_plan *plan) {
    for (int t = 0; t < plan->program.tensor_count; t++) {
        const tensor *one = &plan->program.tensors[t];
        if (one->is_kept && one->bytes > plan->staging_bytes) plan->staging_bytes = one->bytes;
    }
    return memory_alloc_device(plan->staging_bytes, "staging memory", &plan->staging);
}

/* ---- Life ---------------------------------------------------------------------------------- */

static program_options options_of(const braid_model *model, const braid_plan_request *r) {
    program_options o = {.phase = r->phase,
                         .dtype = model->dtype,
                         .tf32 = model->tf32,
                         .batch = r->batch ? r->batch : 1,
                         .size = {r->size[0], r->size[1]},
                         .mask = r->mask,
                         .loss = r->loss,
                         .smoothing = r->smoothing,
                         .alpha = r->alpha,
                         .gamma = r->gamma,
                         .class_weights = r->class_weights,
                         .keep_all = r->keep_all > 0,
                         .pays = plan_fusing_pays,
                         .user = model->context};
    if (r->phase == BRAID_PHASE_TRAIN && r->loss == BRAID_LOSS_NONE)
        o.loss = model->graph->target_is_input ? BRAID_LOSS_MSE : BRAID_LOSS_CROSS_ENTROPY;
    return o;
}

static braid_status check_request(const braid_plan_request *r) {
    if ((unsigned)r->phase >= BRAID_PHASE_COUNT || (unsigned)r->loss >= BRAID_LOSS_COUNT ||
        (unsigned)r->optimiser >= BRAID_OPTIMISER_COUNT)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_plan_create: expected a phase, a loss and an optimiser of their lists");
    if (r->phase == BRAID_PHASE_EVAL && r->optimiser != BRAID_OPTIMISER_NONE)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_create: expected no optimiser with phase eval; use train");
    return options_check(&r->choice, "braid_plan_create");
}

/* What a loss cannot take in is refused, not left out. */
static braid_status check_loss(const program_options *o, int target_is_input) {
    if (target_is_input && (o->loss == BRAID_LOSS_CROSS_ENTROPY || o->loss == BRAID_LOSS_FOCAL))
        return fail(BRAID_ERROR_ARGUMENT, "loss: expected mse for a network that makes its input again, got %s",
                    o->loss == BRAID_LOSS_FOCAL ? "focal" : "cross entropy");
    const char *given = o->class_weights ? "class weights" : o->smoothing > 0 ? "label smoothing" : NULL;
    if (!given || o->loss == BRAID_LOSS_CROSS_ENTROPY || o->loss == BRAID_LOSS_NONE) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "loss: expected cross entropy with %s, got %s", given,
                o->loss == BRAID_LOSS_FOCAL ? "focal" : "mse");
}

/* The program. To keep what the backward pass reads takes memory, to make it again takes time: where nothing is said,
 * memory decides. What is fused, and with it last bits, follows from that: a run of training keeps to its first
 * answer. */
static braid_status build_program(braid_plan *plan, const program_options *options) {
    const graph *g = plan->model->graph;
    program_options o = *options;
    int is_open = !plan->request.keep_all && plan->model->context->device->backend->has_own_memory;
    if (!is_open || o.phase != BRAID_PHASE_TRAIN) return program_build(g, &o, &plan->program);
    o.keep_all = 1;
    TRY(program_build(g, &o, &plan->program));
    if (plan_may_keep_all(plan)) return BRAID_OK;
    program_free(&plan->program);
    return program_build(g, options, &plan->program);
}

static void log_program(const program *p) {
    const program_options *o = &p->options;
    if (o->phase == BRAID_PHASE_TRAIN)
        log_write(LOG_PLAN, "plan of batch %lld: activations are %s", (long long)o->batch,
                  o->keep_all ? "kept" : "recomputed");
}

static braid_status build(braid_plan *plan) {
    program *p = &plan->program;
    program_options o = options_of(plan->model, &plan->request);
    TRY(check_loss(&o, plan->model->graph->target_is_input));
    TRY(build_program(plan, &o));
    log_program(p);
    for (int j = 0; j < p->call_count; j++) {
        step s = {.segment = p->calls[j].segment,
                  .natural = p->calls[j].natural,
                  .made_again = p->calls[j].made_again,
                  .depends_on = -1};
        TRY(find_op(plan, &p->calls[j].problem, &s.op));
        TRY(memory_grow((void **)&plan->steps, (size_t)plan->step_count, &plan->step_room, sizeof *plan->steps,
                        "plan"));
        plan->steps[plan->step_count++] = s;
    }
    TRY(plan_fits_without_workspace(plan));
    TRY(plan_choose_kernels(plan, 0));
    if (o.phase == BRAID_PHASE_TRAIN) TRY(model_need_training(plan->model, 0, 0));
    TRY(plan_put_on_side(plan));
    plan_keep_packs(plan);
    TRY(plan_group_sums(plan));
    TRY(take_memory(plan));
    if (o.phase == BRAID_PHASE_TRAIN) TRY(plan_add_update(plan));
    TRY(plan_split_packs(plan));
    TRY(plan_add_sums(plan));
    TRY(plan_find_dependencies(plan));
    plan_find_joins(plan);
    TRY(make_staging(plan));
    TRY(fill_kept(plan));
    return plan_load(plan);
}

braid_status braid_plan_create(braid_model *model, const braid_plan_request *request, braid_plan **plan) {
    const braid_plan_request defaults = {0}, *r = request ? request : &defaults;
    braid_plan *made = NULL;
    if (!plan) return fail(BRAID_ERROR_ARGUMENT, "braid_plan_create: expected a place for the plan, got NULL");
    *plan = NULL;
    if (!model) return fail(BRAID_ERROR_ARGUMENT, "braid_plan_create: expected a model, got NULL");
    TRY(context_enter(model->context, "braid_plan_create"));
    TRY(check_request(r));
    TRY(memory_calloc(1, sizeof *made, "plan", (void **)&made));
    made->model = model;
    made->request = *r;
    made->packed_of = -1;
    model->plans++;
    braid_status status = build(made);
    if (status)
        braid_plan_destroy(made);
    else
        *plan = made;
    return status;
}

void braid_plan_destroy(braid_plan *plan) {
    if (!plan) return;
    device *d = plan->model->context->device;
    int entered = context_enter(plan->model->context, "braid_plan_destroy") == BRAID_OK;
    void *all[] = {plan->arena, plan->workspace, plan->hyper, plan->segments};
    for (size_t j = 0; j < sizeof all / sizeof all[0]; j++) {
        if (all[j] && entered) d->backend->free(d, all[j]);
    }
    for (int j = 0; j < PLAN_RECORDINGS; j++) {
        if (plan->recorded[j]) d->backend->forget(d, plan->recorded[j]);
    }
    for (int j = 0; j < plan->op_count; j++) braid_op_destroy(plan->ops[j]);
    memory_free(plan->ops);
    memory_free(plan->steps);
    memory_free(plan->workspace_offset);
    memory_free(plan->staging);
    memory_free(plan->rates);
    program_free(&plan->program);
    if (plan->model->turned_by == plan) plan->model->turned_by = NULL;
    plan->model->plans--;
    memory_free(plan);
}
