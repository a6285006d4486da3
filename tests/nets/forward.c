/*
 * The graphs of the networks against PyTorch: every case of tests/golden is run forward in f64, node by node, each op
 * planned alone. Nothing is fused and no memory is shared, so that a wrong graph is told apart from a wrong plan.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/memory.h"
#include "core/safetensors.h"
#include "tests/support/given_net.h"

#define FOLDER "tests/golden/"
#define BOUND 1e-12 /* of the largest value */
#define FEWEST 30   /* cases of the folder */

/* A plane in memory: pixels or rows in f64, a mask, a counter. */
typedef struct memory {
    void *data;
    int64_t batch, size[2];
    int64_t elements;
} memory;

typedef struct forward {
    const char *name;
    braid_context *context;
    braid_net *net;
    safetensors *found, *weights, *inputs;
    json_t *description;
    int64_t batch;
    braid_phase phase;
    int has_mask;
    memory *planes;
} forward;

static void must(const forward *f, braid_status status, const char *what) {
    if (status) fail_msg("%s: %s: %s", f->name, what, braid_message());
}

static void make_room(const forward *f, memory *m, int64_t elements) {
    m->elements = elements;
    must(f, braid_memory_create(f->context, (size_t)elements * sizeof(double), &m->data), "memory");
}

/* ---- Given --------------------------------------------------------------------------------- */

/* All numbers of a tensor as doubles; the caller frees them. */
static double *read_numbers(const forward *f, const safetensors *file, const char *name, int64_t *count) {
    const safetensors_entry *entry = safetensors_find(file, name);
    if (!entry) fail_msg("%s: expected a tensor %s, got none", f->name, name);
    *count = 1;
    for (int axis = 0; axis < entry->rank; axis++) *count *= entry->dims[axis];
    double *numbers = calloc((size_t)*count + 1, sizeof *numbers);
    void *raw = calloc((size_t)*count + 1, 8);
    assert_true(numbers && raw);
    must(f, safetensors_read(file, entry, raw), name);
    for (int64_t j = 0; j < *count; j++) {
        switch (entry->dtype) {
            case BRAID_DTYPE_F64: numbers[j] = ((double *)raw)[j]; break;
            case BRAID_DTYPE_I64: numbers[j] = (double)((int64_t *)raw)[j]; break;
            case BRAID_DTYPE_U8: numbers[j] = ((uint8_t *)raw)[j]; break;
            default: numbers[j] = ((float *)raw)[j]; break;
        }
    }
    free(raw);
    return numbers;
}

/* [outer][c][inner] as files have it to [outer][inner][c] as it lies in memory. */
static void channels_last(const double *from, double *to, int64_t outer, int64_t c, int64_t inner) {
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < inner; i++) {
            for (int64_t k = 0; k < c; k++) to[(o * inner + i) * c + k] = from[(o * c + k) * inner + i];
        }
    }
}

static void load_tensor(const forward *f, const graph_plane *plane, memory *m) {
    int64_t count = 0;
    double *numbers = read_numbers(f, f->weights, plane->name, &count);
    make_room(f, m, count);
    m->batch = plane->rank > 1 ? plane->dims[0] : 1;
    m->size[0] = m->size[1] = 1;
    if (plane->is_counter)
        *(int64_t *)m->data = (int64_t)numbers[0];
    else if (plane->rank == 4)
        channels_last(numbers, m->data, plane->dims[0], plane->dims[1], plane->dims[2] * plane->dims[3]);
    else
        memcpy(m->data, numbers, (size_t)count * sizeof *numbers);
    free(numbers);
}

static void load_input(const forward *f, const graph_plane *plane, memory *m) {
    const safetensors_entry *entry = safetensors_find(f->inputs, plane->name);
    int64_t count = 0;
    double *numbers = read_numbers(f, f->inputs, plane->name, &count);
    make_room(f, m, count);
    assert_int_equal(entry->rank, plane->is_image ? 4 : 2);
    assert_int_equal(entry->dims[1], plane->channels);
    m->batch = entry->dims[0];
    for (int axis = 0; axis < 2; axis++) m->size[axis] = plane->is_image ? entry->dims[2 + axis] : 1;
    channels_last(numbers, m->data, m->batch, plane->channels, m->size[0] * m->size[1]);
    free(numbers);
}

static void load_mask(const forward *f, const graph_plane *plane, memory *m) {
    int64_t count = 0, words = mask_words(f->batch);
    make_room(f, m, words);
    memset(m->data, 0, (size_t)words * sizeof(uint32_t));
    if (plane->stream < 0 || !f->has_mask) return;
    double *blanked = read_numbers(f, f->found, "mask", &count);
    for (int64_t b = 0; b < f->batch; b++) {
        if (blanked[plane->stream * f->batch + b] != 0) ((uint32_t *)m->data)[b / 32] |= UINT32_C(1) << b % 32;
    }
    free(blanked);
}

static void load(const forward *f) {
    for (int j = 0; j < f->net->graph.plane_count; j++) {
        const graph_plane *plane = &f->net->graph.planes[j];
        if (plane->kind == PLANE_INPUT) load_input(f, plane, &f->planes[j]);
        if (plane->kind == PLANE_MASK) load_mask(f, plane, &f->planes[j]);
        if (net_is_tensor(plane)) load_tensor(f, plane, &f->planes[j]);
    }
}

/* ---- Run ----------------------------------------------------------------------------------- */

static void run_view(const forward *f, const graph_node *n) {
    const memory *x = &f->planes[n->plane[0][0]];
    memory *y = &f->planes[n->plane[1][0]];
    int64_t channels = f->net->graph.planes[n->plane[1][0]].channels;
    if (x->elements % channels)
        fail_msg("%s: a view of %lld in rows of %lld", f->name, (long long)x->elements, (long long)channels);
    make_room(f, y, x->elements);
    memcpy(y->data, x->data, (size_t)x->elements * sizeof(double));
    y->batch = x->elements / channels;
    y->size[0] = y->size[1] = 1;
}

static braid_problem complete(const forward *f, const graph_node *n) {
    braid_problem p = n->problem;
    const memory *like = &f->planes[n->like];
    const uint64_t fields = op_find(p.op)->fields;
    p.dtype = BRAID_DTYPE_F64;
    p.batch = like->batch;
    if (fields & FIELD_BIT(hw))
        memcpy(p.size, like->size, sizeof p.size);
    else
        p.batch *= like->size[0] * like->size[1];
    for (int slot = 0; slot < op_operand_count(op_find(p.op)); slot++) {
        if (op_find(p.op)->operands[slot].fill == FILL_MASK) p.mask = f->has_mask && n->plane[slot][0] >= 0;
    }
    if (fields & FIELD_BIT(phase)) p.phase = f->phase;
    if (fields & FIELD_BIT(to)) p.to = BRAID_DTYPE_F64;
    return p;
}

/* Memory for what an op gives. */
static void make_output(const forward *f, const braid_operand_info *info, int i, memory *m) {
    int64_t elements = 1;
    for (int axis = 0; axis < info->rank; axis++) elements *= info->dims[i][axis];
    assert_int_equal(info->pitch[i], info->dims[i][info->rank - 1]);
    make_room(f, m, elements);
    m->batch = info->dims[i][0];
    for (int axis = 0; axis < 2; axis++) m->size[axis] = info->rank == 4 ? info->dims[i][1 + axis] : 1;
}

static void run_node(const forward *f, const graph_node *n) {
    braid_problem problem = complete(f, n);
    braid_operand operands[OP_MAX_OPERANDS] = {0};
    braid_op *op = NULL;
    if (f->phase == BRAID_PHASE_EVAL && problem.op == BRAID_OP_BN_STATS) return;
    must(f, braid_op_create(f->context, &problem, &op), braid_op_id_name(problem.op));
    const braid_problem *p = braid_op_problem(op);
    int count = 0;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        braid_operand_info info;
        if (op_role(p, slot) == ROLE_NONE) continue;
        must(f, op_operand_info(p, slot, &info), "operand");
        operands[count].name = op_operand_name(p, slot);
        for (int i = 0; i < info.planes; i++) {
            int plane = n->plane[slot][i];
            if (plane < 0) fail_msg("%s: %s lacks %s of stream %d", f->name, op_of(p)->name, info.name, i);
            if (!f->planes[plane].data) make_output(f, &info, i, &f->planes[plane]);
            operands[count].plane[i] = f->planes[plane].data;
        }
        count++;
    }
    must(f, braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE}), op_of(p)->name);
    must(f, braid_op_run(op, operands, count), op_of(p)->name);
    braid_op_destroy(op);
}

/* ---- Compare ------------------------------------------------------------------------------- */

static void compare(const forward *f, const char *name, const double *got, int64_t elements) {
    int64_t count = 0;
    double *expected = read_numbers(f, f->found, name, &count), largest = 0, worst = 0;
    assert_int_equal(count, elements);
    for (int64_t j = 0; j < count; j++) {
        double difference = fabs(got[j] - expected[j]);
        largest = fmax(largest, fabs(expected[j]));
        worst = difference <= worst ? worst : difference; /* a NaN is the worst */
    }
    if (!(worst <= BOUND * largest))
        fail_msg("%s: %s differs by %g, the largest value is %g", f->name, name, worst, largest);
    free(expected);
}

/* Running statistics and counters as they are after one step. */
static void compare_states(const forward *f) {
    for (int j = 0; j < f->net->graph.plane_count; j++) {
        const graph_plane *plane = &f->net->graph.planes[j];
        char name[GRAPH_NAME + 8];
        if (plane->kind != PLANE_STATE || !net_is_tensor(plane)) continue;
        snprintf(name, sizeof name, "after.%s", plane->name);
        double counter = plane->is_counter ? (double)*(int64_t *)f->planes[j].data : 0;
        compare(f, name, plane->is_counter ? &counter : f->planes[j].data, f->planes[j].elements);
    }
}

static safetensors *open_named(const forward *f, const char *field) {
    const char *name = NULL;
    char path[512];
    safetensors *file = NULL;
    must(f, json_get_text(f->description, field, &name), field);
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    must(f, safetensors_open(path, &file), path);
    return file;
}

static void start(forward *f, const char *text) {
    const char *mode = NULL;
    char *network = NULL;
    size_t bytes = 0;
    must(f, json_read(text, strlen(text), "case", BRAID_ERROR_DATA, &f->description), "case");
    must(f, json_get_text(f->description, "mode", &mode), "mode");
    f->phase = strcmp(mode, "train") == 0 ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    f->batch = json_integer_value(json_array_get(json_object_get(f->description, "size"), 0));
    must(f, json_write(json_object_get(f->description, "network"), &network, &bytes), "network");
    must(f, braid_net_from_description(network, strlen(network), &f->net), network);
    memory_free(network);
    f->weights = open_named(f, "weights");
    f->inputs = open_named(f, "inputs");
    f->has_mask = safetensors_find(f->found, "mask") != NULL;
    f->planes = calloc((size_t)f->net->graph.plane_count, sizeof *f->planes);
    assert_non_null(f->planes);
}

static void end(forward *f) {
    for (int j = 0; j < f->net->graph.plane_count; j++) braid_memory_destroy(f->context, f->planes[j].data);
    free(f->planes);
    braid_net_destroy(f->net);
    json_decref(f->description);
    safetensors_close(f->weights);
    safetensors_close(f->inputs);
}

static void run_case(forward *f, const char *text) {
    start(f, text);
    load(f);
    const graph *g = &f->net->graph;
    for (int j = 0; j < g->node_count; j++) {
        if (g->nodes[j].is_view)
            run_view(f, &g->nodes[j]);
        else
            run_node(f, &g->nodes[j]);
    }
    const memory *y = &f->planes[g->output.plane[0]];
    compare(f, "f64.logits", y->data, y->elements);
    if (f->phase == BRAID_PHASE_TRAIN) compare_states(f);
    end(f);
}

static void graphs_equal_pytorch(void **state) {
    (void)state;
    int cases = 0;
    braid_context *context = NULL;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    assert_int_equal(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context), 0);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        if (!strstr(entry->d_name, ".safetensors")) continue;
        forward f = {.name = entry->d_name, .context = context};
        snprintf(path, sizeof path, "%s%s", FOLDER, entry->d_name);
        must(&f, safetensors_open(path, &f.found), path);
        const char *text = safetensors_metadata(f.found, "case");
        if (text) run_case(&f, text);
        cases += text != NULL;
        safetensors_close(f.found);
    }
    closedir(folder);
    braid_context_destroy(context);
    assert_true(cases >= FEWEST);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs_equal_pytorch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
