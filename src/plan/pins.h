/*
 * The kernels of a plan as JSON, problem by problem, and a model whose plans take them again: so that a run that goes
 * on from a checkpoint computes the same bits, whatever was measured or forgotten since.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_PLAN_PINS_H
#define BRAID_PLAN_PINS_H

#include <jansson.h>

#include "plan/plan.h"

/* Adds the choices of a plan to an object, {"conv2d_fwd:f32:...":"conv2d_fwd_f32__cpu_..."}; the steps of chains
 * too. */
braid_status plan_choices(const braid_plan *plan, json_t *object);

/* Plans of the model that are made from now on take these kernels; a kernel that is not there, or cannot do its problem
 * here, is chosen anew. *missing: how many of them. */
braid_status model_pin_choices(braid_model *model, const json_t *object, int *missing);

/* The same with the choices of a plan of the model, beside those that it has. */
braid_status model_keep_choices(braid_model *model, const braid_plan *plan);

/* plan_choices for a single op; and the model's kernel for a problem, else for its nearest batch; NULL: it has none. */
braid_status op_choices(const braid_op *op, json_t *object);
const char *model_choice(const braid_model *model, const braid_problem *p);

/* op_choose, with the model's kernel for the problem where it has one. */
braid_status choose_pinned(const braid_model *model, braid_op *op, const braid_plan_options *options);

#endif
