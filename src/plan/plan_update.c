/*
 * The end of a training plan. Behind the backward segment, gradients in half precision are cast to the arena of
 * f32; the segment update takes the norm of all gradients, which decides on clipping and on skipping, and runs the
 * optimiser over all parameters in one call. On a GPU, where both segments run at once, the norm casts on its way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/memory.h"
#include "plan/plan.h"

#define CAST_ROW 64    /* elements: parameters are aligned to it */
#define HYPER_VALUES 3 /* learning rate, weight decay, active */

int plan_groups(const braid_plan *plan) { return plan->model->graph->streams + 2; }

/* ---- Gradients in half precision ----------------------------------------------------------- */

/* How many gradients come in half precision, the last of the arena. */
static int64_t count_halves(const braid_plan *plan) {
    const braid_model *m = plan->model;
    return m->half_gradients ? m->elements - m->split : 0;
}

static int norm_casts(const braid_plan *plan) {
    return plan->request.optimiser != BRAID_OPTIMISER_NONE && count_halves(plan) > 0 &&
           plan->model->context->device->backend->has_own_memory;
}

static braid_status add_cast(braid_plan *plan) {
    const braid_model *m = plan->model;
    int64_t count = count_halves(plan);
    step *s;
    if (count == 0) return BRAID_OK;
    braid_problem p = {.op = BRAID_OP_CAST,
                       .dtype = m->dtype,
                       .to = m->master,
                       .streams = 1,
                       .batch = 1, /* one image of many pixels: a GPU's blocks take some of one sample each */
                       .size = {1, count / CAST_ROW},
                       .in_channels = {CAST_ROW}};
    TRY(plan_add_step(plan, &p, BRAID_SEGMENT_BACKWARD, &s));
    if (norm_casts(plan)) s->without = BRAID_SEGMENT_UPDATE;
    s->buffers.plane[CAST_X][0] = (char *)m->half_gradients + (size_t)m->split * dtype_bytes(m->dtype);
    s->buffers.plane[CAST_Y][0] = (char *)m->gradients + (size_t)m->split * dtype_bytes(m->master);
    return BRAID_OK;
}

/* ---- Groups -------------------------------------------------------------------------------- */

/* 1 where the backward segment gives a parameter a gradient. */
static int has_gradient(const braid_plan *plan, int plane) {
    for (int t = 0; t < plan->program.tensor_count; t++) {
        const tensor *one = &plan->program.tensors[t];
        if (one->home == HOME_GRADIENT && one->plane == plane) return 1;
    }
    return 0;
}

static int64_t group_of(const braid_plan *plan, int plane) {
    const graph_plane *what = &plan->model->graph->planes[plane];
    int streams = plan->model->graph->streams;
    if (!has_gradient(plan, plane)) return plan_groups(plan);
    if (what->role == PARAMETER_STREAM && what->stream >= 0) return what->stream;
    return what->role == PARAMETER_INTEGRATION ? streams : streams + 1;
}

/* Segments in the order of the arena, neighbours of one group joined. Returns how many. */
static int64_t list_segments(const braid_plan *plan, int64_t *table) {
    const braid_model *m = plan->model;
    int64_t count = 0, at = 0;
    while (at < m->elements) {
        int next = -1; /* the parameter that begins at or behind `at` */
        for (int j = 0; j < m->graph->plane_count; j++) {
            int is_parameter = m->graph->planes[j].kind == PLANE_PARAMETER && plane_elements(&m->graph->planes[j]) > 0;
            if (is_parameter && m->offset[j] >= at && (next < 0 || m->offset[j] < m->offset[next])) next = j;
        }
        if (next < 0) break;
        int64_t group = group_of(plan, next);
        if (count == 0 || table[2 * count - 1] != group) {
            table[2 * count] = count ? m->offset[next] : 0;
            table[2 * count + 1] = group;
            count++;
        }
        at = m->offset[next] + 1;
    }
    return count;
}

static braid_status make_segments(braid_plan *plan) {
    device *d = plan->model->context->device;
    int64_t *table = NULL;
    TRY(memory_calloc((size_t)plan->model->graph->plane_count + 1, 2 * sizeof *table, "segments", (void **)&table));
    plan->segment_count = list_segments(plan, table);
    size_t bytes = (size_t)plan->segment_count * 2 * sizeof *table;
    braid_status status = d->backend->alloc(d, bytes, &plan->segments);
    if (!status) status = d->backend->upload(d, plan->segments, table, bytes);
    memory_free(table);
    return status;
}

/* Bytes of the rates of one group, in the dtype of the arena. */
static size_t rates_row(const braid_plan *plan) { return HYPER_VALUES * dtype_bytes(plan->model->master); }

braid_status braid_plan_set_rates(braid_plan *plan, int group, const braid_rates *rates) {
    if (!plan || !rates) return fail(BRAID_ERROR_ARGUMENT, "braid_plan_set_rates: expected a plan and rates, got NULL");
    if (!plan->hyper)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_set_rates: expected a plan with an optimiser, got one without");
    if (group < 0 || group >= plan_groups(plan)) {
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_set_rates: expected a group from 0 to %d, got %d",
                    plan_groups(plan) - 1, group);
    }
    TRY(context_enter(plan->model->context, "braid_plan_set_rates"));
    const double row[HYPER_VALUES] = {rates->learning_rate, rates->weight_decay, rates->active != 0};
    dtype_from_f64((char *)plan->rates + (size_t)group * rates_row(plan), plan->model->master, row, HYPER_VALUES);
    plan->rates_changed = 1;
    return BRAID_OK;
}

braid_status plan_send_rates(braid_plan *plan) {
    device *d = plan->model->context->device;
    if (!plan->rates_changed) return BRAID_OK;
    TRY(d->backend->upload(d, plan->hyper, plan->rates, (size_t)(plan_groups(plan) + 1) * rates_row(plan)));
    plan->rates_changed = 0;
    return BRAID_OK;
}

int braid_plan_group_count(const braid_plan *plan) { return plan && plan->hyper ? plan_groups(plan) : 0; }

/* ---- The optimiser ------------------------------------------------------------------------- */

/* The norm of gradients of which the last `halves` are cast on the way. */
static braid_status add_norm(braid_plan *plan, int64_t halves, step **made) {
    const braid_model *m = plan->model;
    braid_problem p = {.op = BRAID_OP_CLIP_NORM,
                       .dtype = m->dtype,
                       .streams = 1,
                       .in_channels = {m->elements},
                       .integrated_in = halves,
                       .limit = plan->request.clip_norm};
    TRY(plan_add_step(plan, &p, BRAID_SEGMENT_UPDATE, made));
    step *s = *made;
    s->buffers.plane[CLIP_NORM_G][0] = m->gradients;
    if (halves) {
        s->buffers.plane[CLIP_NORM_H][0] = (char *)m->half_gradients + (size_t)m->split * dtype_bytes(m->dtype);
        s->buffers.plane[CLIP_NORM_Y][0] = (char *)m->gradients + (size_t)m->split * dtype_bytes(m->master);
    }
    s->buffers.plane[CLIP_NORM_LOSS][0] = model_metric(m, METRIC_LOSS);
    s->buffers.plane[CLIP_NORM_LOSS_SCALE][0] = model_metric(m, METRIC_LOSS_SCALE);
    s->buffers.plane[CLIP_NORM_SCALING][0] = model_metric(m, METRIC_SCALING);
    s->buffers.plane[CLIP_NORM_NORM][0] = model_metric(m, METRIC_NORM);
    s->buffers.plane[CLIP_NORM_SCALE][0] = model_metric(m, METRIC_SCALE);
    s->buffers.plane[CLIP_NORM_STEP][0] = m->step;
    return BRAID_OK;
}

static braid_status add_norms(braid_plan *plan) {
    step *s;
    TRY(add_norm(plan, 0, &s));
    if (!norm_casts(plan)) return BRAID_OK;
    s->without = BRAID_SEGMENT_BACKWARD;
    TRY(add_norm(plan, count_halves(plan), &s));
    s->with = BRAID_SEGMENT_BACKWARD;
    return BRAID_OK;
}

static braid_problem optimiser_problem(const braid_plan *plan) {
    static const braid_op_id ops[] = {[BRAID_OPTIMISER_SGD] = BRAID_OP_SGD,
                                      [BRAID_OPTIMISER_ADAM] = BRAID_OP_ADAM,
                                      [BRAID_OPTIMISER_ADAMW] = BRAID_OP_ADAMW,
                                      [BRAID_OPTIMISER_RMSPROP] = BRAID_OP_RMSPROP};
    braid_problem p = {.op = ops[plan->request.optimiser],
                       .dtype = plan->model->dtype,
                       .streams = 1,
                       .in_channels = {plan->model->elements},
                       .groups = plan_groups(plan) + 1,
                       .segments = plan->segment_count};
    if (op_find(p.op)->fields & FIELD_BIT(mom)) p.momentum = plan->request.momentum;
    if (op_find(p.op)->fields & FIELD_BIT(nest)) p.nesterov = plan->request.nesterov;
    return p;
}

static braid_status add_optimiser(braid_plan *plan, const braid_problem *problem) {
    const braid_model *m = plan->model;
    step *s;
    TRY(plan_add_step(plan, problem, BRAID_SEGMENT_UPDATE, &s));
    s->buffers.plane[UPDATE_W][0] = m->weights;
    s->buffers.plane[UPDATE_G][0] = m->gradients;
    s->buffers.plane[UPDATE_M][0] = m->m;
    s->buffers.plane[UPDATE_V][0] = m->v;
    s->buffers.plane[UPDATE_SEGMENTS][0] = plan->segments;
    s->buffers.plane[UPDATE_HYPER][0] = plan->hyper;
    s->buffers.plane[UPDATE_STEP][0] = m->step;
    s->buffers.plane[UPDATE_SCALE][0] = model_metric(m, METRIC_SCALE);
    s->buffers.plane[UPDATE_HALF][0] = m->half;
    return BRAID_OK;
}

/* Rates of nothing at all in every group, so that a forgotten call changes nothing. */
static braid_status make_rates(braid_plan *plan) {
    device *d = plan->model->context->device;
    size_t groups = (size_t)plan_groups(plan) + 1;
    TRY(memory_calloc(groups, rates_row(plan), "rates", &plan->rates));
    plan->rates_changed = 1;
    return d->backend->alloc(d, groups * rates_row(plan), &plan->hyper);
}

/* The workspace of the steps behind the program, which run one after the other. */
static braid_status give_workspace(braid_plan *plan) {
    device *d = plan->model->context->device;
    if (plan->workspace_bytes) TRY(d->backend->alloc(d, plan->workspace_bytes, &plan->workspace));
    for (int j = plan->program.call_count; j < plan->step_count; j++)
        plan->steps[j].buffers.workspace = plan->workspace;
    return BRAID_OK;
}

braid_status plan_add_update(braid_plan *plan) {
    TRY(add_cast(plan));
    if (plan->request.optimiser != BRAID_OPTIMISER_NONE) {
        braid_problem p = {0};
        TRY(make_segments(plan));
        TRY(make_rates(plan));
        p = optimiser_problem(plan);
        TRY(braid_problem_check(&p));
        TRY(model_need_training(plan->model, op_of(&p)->planes(&p, UPDATE_M), op_of(&p)->planes(&p, UPDATE_V)));
        TRY(add_norms(plan));
        TRY(add_optimiser(plan, &p));
    }
    return give_workspace(plan);
}
