/*
 * The table of ops and what follows from it: operands, roles, bytes, random problems.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/op.h"

#include <string.h>

#include "core/dtype.h"
#include "core/sizes.h"
#include "ops/problem.h"

#define OP_EXTERN(NAME, name) extern const op_info op_##name;
BRAID_OP_LIST(OP_EXTERN)
#undef OP_EXTERN

#define OP_ROW(NAME, name) [BRAID_OP_##NAME] = &op_##name,
static const op_info *const table[BRAID_OP_COUNT] = {BRAID_OP_LIST(OP_ROW)};
#undef OP_ROW

const op_info *op_find(braid_op_id id) { return (unsigned)id < BRAID_OP_COUNT ? table[id] : NULL; }

const op_info *op_of(const braid_problem *p) { return table[p->op]; }

int op_operand_count(const op_info *o) {
    int count = 0;
    while (count < OP_MAX_OPERANDS && o->operands[count].name) count++;
    return count;
}

const real_range *op_real_range(const op_info *o, field_id id) {
    for (const real_range *r = o->reals; r < o->reals + OP_MAX_REALS && r->high > 0; r++) {
        if (r->id == id) return r;
    }
    return NULL;
}

operand_role op_role(const braid_problem *p, int slot) {
    const op_info *o = op_of(p);
    if (o->planes(p, slot) == 0) return ROLE_NONE;
    return o->operands[slot].role[p->pass];
}

int op_is_input(operand_role role) { return role == ROLE_IN || role == ROLE_INOUT || role == ROLE_DIN; }

int op_is_output(operand_role role) { return role == ROLE_OUT || role == ROLE_INOUT || role == ROLE_DOUT; }

int op_is_used(operand_role role) { return role != ROLE_NONE; }

/* The names of gradients, made once from the operands that have a gradient role. */
static const char *gradient_name(const char *name) {
    static const char *const pairs[][2] = {{"x", "dx"},       {"y", "dy"},   {"w", "dw"},         {"bias", "dbias"},
                                           {"r", "dr"},       {"z", "dz"},   {"v", "dv"},         {"gamma", "dgamma"},
                                           {"beta", "dbeta"}, {"wz", "dwz"}, {"zbias", "dzbias"}, {"zy", "dzy"},
                                           {"loss", "dloss"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strcmp(name, pairs[i][0]) == 0) return pairs[i][1];
    }
    return name;
}

const char *op_operand_name(const braid_problem *p, int slot) {
    const operand *o = &op_of(p)->operands[slot];
    operand_role role = o->role[p->pass];
    return role == ROLE_DIN || role == ROLE_DOUT ? gradient_name(o->name) : o->name;
}

braid_status op_operand_info(const braid_problem *p, int slot, braid_operand_info *info) {
    const op_info *o = op_of(p);
    operand_role role = op_role(p, slot);
    memset(info, 0, sizeof *info);
    info->name = op_operand_name(p, slot);
    info->role = role == ROLE_INOUT ? BRAID_ROLE_INOUT : op_is_output(role) ? BRAID_ROLE_OUT : BRAID_ROLE_IN;
    info->planes = role == ROLE_NONE ? 0 : o->planes(p, slot);
    for (int i = 0; i < info->planes; i++) {
        plane_shape s;
        o->shape(p, slot, i, &s);
        info->dtype = s.dtype;
        info->rank = s.rank;
        memcpy(info->dims[i], s.dims, sizeof s.dims);
        info->pitch[i] = s.pitch;
        TRY(size_tensor(s.dims, s.rank, s.pitch, s.dtype, info->name, &info->bytes[i]));
    }
    return BRAID_OK;
}

const char *op_dtype_name(const braid_problem *p) { return p->tf32 ? "tf32" : braid_dtype_name(p->dtype); }

int op_is_derived(const op_info *o, int slot) { return o->stored > 0 && slot > o->stored; }

int op_is_empty(const braid_problem *p) { return (op_of(p)->fields & FIELD_BIT(b)) && p->batch == 0; }
int op_is_exact(const braid_problem *p) {
    const op_info *o = op_of(p);
    if (!(o->exact_passes & (1u << p->pass))) return 0;
    if ((o->fields & FIELD_BIT(act)) && p->activation != BRAID_ACTIVATION_RELU &&
        p->activation != BRAID_ACTIVATION_NONE)
        return 0;
    return !o->chain || p->dtype == BRAID_DTYPE_F32 || p->dtype == BRAID_DTYPE_F64;
}

braid_status op_check_activation(const braid_problem *p, const char *instead) {
    if (p->activation != BRAID_ACTIVATION_NONE) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected act=relu, gelu or gelu_tanh, got none%s", op_of(p)->name, instead);
}

int64_t op_work(const braid_problem *p) { return op_of(p)->work ? op_of(p)->work(p) : op_of(p)->terms(p); }

chain_step *chain_add(op_chain *c, const braid_problem *p, braid_op_id id, braid_pass pass) {
    chain_step *step = &c->steps[c->count++];
    memset(step, 0, sizeof *step);
    step->problem.op = id;
    step->problem.pass = pass;
    step->problem.dtype = p->dtype;
    for (int field_index = 0; field_index < FIELD_COUNT; field_index++) {
        const field *f = &fields[field_index];
        if (!(op_find(id)->fields & (UINT64_C(1) << field_index))) continue;
        memcpy((char *)&step->problem + f->offset, (const char *)p + f->offset, field_bytes(f->kind));
    }
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) step->place[slot] = step->last[slot] = -1;
    return step;
}

double op_bytes(const braid_problem *p) {
    double bytes = 0;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        braid_operand_info info;
        operand_role role = op_role(p, slot);
        if (role == ROLE_NONE || op_operand_info(p, slot, &info) != BRAID_OK) continue;
        for (int i = 0; i < info.planes; i++) bytes += (double)info.bytes[i] * (role == ROLE_INOUT ? 2 : 1);
    }
    return bytes;
}

int64_t mask_words(int64_t batch) { return (batch + 31) / 32; }

int64_t mask_active(const uint32_t *mask, int64_t batch) {
    int64_t active = 0;
    for (int64_t b = 0; b < batch; b++) active += !mask_blanks(mask, b);
    return active;
}
