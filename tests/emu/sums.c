/*
 * Sums of parts as steps (src/plan/plan_sums.c), on the emulator: calls that leave parts of weight gradients in their
 * workspaces, and steps behind them that add those of several calls. The bits are those of calls that add their own
 * parts, the parts stay as they are until then, and none of it takes memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "core/memory.h"
#include "tests/support/trial.h"
#include "tests/emu/tests.h"

/* What makes weights without parts, or with another second stage: at these sizes the cost model would take some. */
#define OTHERS                                                                                              \
    "conv2d_bwd_weight__cuda_direct,conv2d_bwd_weight__cuda_strips,conv2d_bwd_weight__cuda_lines,"          \
    "conv2d_bwd_weight__cuda_rows_wgmma,conv2d_bwd_weight__cuda_mma,li_conv2d_bwd_weight__cuda_rows_wgmma," \
    "integrate_bwd_weight__cuda_direct,integrate_bwd_weight__cuda_mma"
#define WITH_PARTS                                                            \
    "conv2d_bwd_weight__cuda_taps_wgmma,conv2d_bwd_weight__cuda_boxes_wgmma," \
    "integrate_bwd_weight__cuda_wgmma,integrate_bwd_weight__cuda_mma"

/* Four layers with a mix each: enough pixels for many parts, few channels. */
static braid_net *four_layers(void) {
    static const char *const names[4][3] = {
        {"conv1", "mix1", "norm1"}, {"conv2", "mix2", "norm2"}, {"conv3", "mix3", "norm3"}, {"conv4", "mix4", "norm4"}};
    braid_net *net = NULL;
    OK(braid_net_create(NULL, NULL, &net));
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 8), braid_net_input(net, "depth", 16)), z = {0};
    for (int j = 0; j < 4; j++) {
        const int64_t size = j == 2 ? 1 : 3;
        x = braid_net_layer(net, names[j][0], x,
                            &(braid_problem){.op = BRAID_OP_CONV2D,
                                             .out_channels = {16, 8},
                                             .filter = {size, size},
                                             .padding = {size / 2, size / 2}});
        z = braid_net_integrate(net, names[j][1], x, z, &(braid_problem){.integrated_out = 8});
        x = braid_net_layer(net, names[j][2], braid_net_join(net, x, z), &(braid_problem){.op = BRAID_OP_BATCHNORM});
        x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
        z = braid_net_select(net, x, 2, 1);
        if (j < 3) x = braid_net_select(net, x, 0, 2);
    }
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

static trial open_net(braid_plan_request request, const char *disable) {
    const unsigned char blanked[2][3] = {{0, 1, 0}, {0, 0, 1}};
    request.batch = 3;
    request.size[0] = 24;
    request.size[1] = 26;
    trial_setup s = {
        .device = "cuda:0", .built = four_layers(), .dtype = BRAID_DTYPE_F16, .disable = disable, .request = request};
    trial t = trial_open(&s);
    trial_shake(&t, 7, 0);
    for (int i = 0; i < 2 && request.mask; i++) OK(braid_plan_set_mask(t.plan, i, blanked[i]));
    trial_feed(&t, t.plan, 3, 0);
    return t;
}

static int count_parts(const braid_plan *plan, step_part part) {
    int count = 0;
    for (int j = 0; j < plan->step_count; j++) count += plan->steps[j].part == part;
    return count;
}

/* Gradients of all parameters, as they lie. For memory_free. */
static unsigned char *read_gradients(const trial *t, size_t *bytes) {
    void *bits = NULL;
    device *d = t->context->device;
    *bytes = (size_t)t->model->elements * 2;
    OK(memory_alloc(1, *bytes, "gradients", &bits));
    OK(d->backend->download(d, bits, t->model->half_gradients, *bytes));
    return bits;
}

/* NaN everywhere, so that a gradient which is not written shows. */
static void poison_gradients(const trial *t) {
    void *bits = NULL;
    size_t bytes = (size_t)t->model->elements * 2;
    device *d = t->context->device;
    OK(memory_alloc(1, bytes, "gradients", &bits));
    memset(bits, 0xFF, bytes);
    OK(d->backend->upload(d, t->model->half_gradients, bits, bytes));
    memory_free(bits);
}

/* Every call by itself, with its own sums. */
static void run_apart(const braid_plan *plan) {
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j];
        device *d = plan->model->context->device;
        if (!(s->segment & (FORWARD | BACKWARD)) || s->part == STEP_SUMS) continue;
        OK(kernel_launch(s->op->kernel->functions, &s->op->problem, d, s->op->state, &s->buffers));
    }
}

/* Launch by launch and recorded, with room for steps on the side queue and without, three runs of which the last two
 * replay. */
static void same_bits_as_apart(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        const braid_plan_request request = {.eager = way % 2, .keep_all = way / 2 ? -1 : 1, .mask = way == 0};
        trial t = open_net(request, OTHERS);
        size_t bytes;
        assert_true(count_parts(t.plan, STEP_SUMS) >= 1);
        assert_in_range(count_parts(t.plan, STEP_PARTS), 6, 8);
        poison_gradients(&t);
        run_apart(t.plan);
        unsigned char *apart = read_gradients(&t, &bytes);
        for (int turn = 0; turn < 3; turn++) {
            poison_gradients(&t);
            trial_run(t.plan, FORWARD | BACKWARD);
            unsigned char *together = read_gradients(&t, &bytes);
            assert_memory_equal(together, apart, bytes);
            memory_free(together);
        }
        memory_free(apart);
        trial_close(&t);
    }
}

/* Parameters after updates: whoever reads a gradient waits for its sums. */
static void updates_follow_the_sums(void **state) {
    uint64_t hash[2];
    (void)state;
    for (int eager = 0; eager < 2; eager++) {
        trial t =
            open_net((braid_plan_request){.eager = eager, .keep_all = 1, .optimiser = BRAID_OPTIMISER_SGD}, OTHERS);
        uint64_t begin = trial_hash(&t);
        trial_set_rates(t.plan, 1e-2, 0);
        for (int turn = 0; turn < 4; turn++) {
            poison_gradients(&t);
            trial_run(t.plan, FORWARD | BACKWARD | UPDATE);
        }
        hash[eager] = trial_hash(&t);
        assert_true(hash[eager] != begin);
        trial_close(&t);
    }
    assert_true(hash[0] == hash[1]);
}

/* 1 where a step touches memory from `begin` on. */
static int uses(const step *s, const char *begin, size_t bytes) {
    const char *workspace = s->buffers.workspace;
    if (s->op->workspace_bytes && workspace && workspace < begin + bytes && begin < workspace + s->op->workspace_bytes)
        return 1;
    for (int slot = 0; slot < op_operand_count(op_of(&s->op->problem)); slot++) {
        braid_operand_info info;
        if (op_role(&s->op->problem, slot) == ROLE_NONE) continue;
        OK(op_operand_info(&s->op->problem, slot, &info));
        for (int i = 0; i < info.planes; i++) {
            const char *plane = s->buffers.plane[slot][i];
            if (plane && plane < begin + bytes && begin < plane + info.bytes[i]) return 1;
        }
    }
    return 0;
}

/* The step that adds the parts of step j. */
static int sums_of(const braid_plan *plan, int j) {
    for (int k = j + 1; k < plan->step_count; k++) {
        if (plan->steps[k].part == STEP_SUMS && plan->steps[k].group == plan->steps[j].group) return k;
    }
    fail_msg("nobody adds the parts of step %d", j);
    return 0;
}

/* Groups of two calls and more, right behind their last; between parts and their sums nobody touches them. Sums wait
 * for their parts, and are on the side queue where those are. */
static void check_groups(const braid_plan *plan) {
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j], *members[PLAN_GROUP_CALLS];
        int count = plan_summed_steps(plan, s, members);
        if (s->part == STEP_PARTS) {
            int end = sums_of(plan, j);
            for (int k = j + 1; k < end; k++)
                assert_false(uses(&plan->steps[k], s->buffers.workspace, s->op->workspace_bytes));
        }
        assert_true((count > 0) == (s->part == STEP_SUMS));
        if (!count) continue;
        braid_step_info info;
        assert_true(count >= 2 && members[0] == plan->steps + s->first_part && members[count - 1] == s - 1);
        assert_true(s->depends_on > 0 && s->is_on_side == members[0]->is_on_side);
        OK(braid_plan_step(plan, j, &info));
        assert_string_equal(info.kernel, "weight_sum");
        assert_int_equal(info.natural + info.race->count, 0);
    }
}

static void parts_stay_until_they_are_added(void **state) {
    (void)state;
    for (int way = 0; way < 2; way++) {
        trial t = open_net((braid_plan_request){.eager = way, .keep_all = 1}, OTHERS);
        check_groups(t.plan);
        trial_close(&t);
    }
}

/* The memory of a plan whose calls add their own parts. */
static size_t bytes_apart(braid_plan *plan) {
    program *p = &plan->program;
    size_t *bytes = NULL, *offsets = NULL;
    int count = 0;
    OK(memory_calloc((size_t)p->call_count, sizeof *bytes, "bytes", (void **)&bytes));
    OK(memory_calloc((size_t)p->call_count, sizeof *offsets, "offsets", (void **)&offsets));
    for (int j = 0; j < plan->step_count && count < p->call_count; j++) {
        if (plan->steps[j].part != STEP_SUMS) bytes[count++] = plan->steps[j].op->workspace_bytes;
    }
    for (int j = 0; j < p->call_count; j++) p->calls[j].holds = 0;
    OK(program_place(p, bytes, offsets));
    memory_free(bytes);
    memory_free(offsets);
    return p->arena_bytes;
}

/* All parts of a LINet wait where there is room, and take no more memory than there was. */
static void groups_take_no_memory(void **state) {
    const trial_setup s = {.device = "cuda:0",
                           .kind = "linet18",
                           .net = {.streams = 2, .width = 0.5, .classes = 5},
                           .dtype = BRAID_DTYPE_F16,
                           .request = {.batch = 6, .size = {208, 272}}};
    (void)state;
    trial t = trial_open(&s);
    const size_t together = t.plan->program.arena_bytes;
    check_groups(t.plan);
    const int sums = count_parts(t.plan, STEP_SUMS), parts = count_parts(t.plan, STEP_PARTS);
    assert_true(sums >= 2 && parts >= 3 * sums);
    assert_true(together > (size_t)64 << 20);
    assert_true(together <= bytes_apart(t.plan));
    trial_close(&t);
}

static int planes_of(const step *s) {
    return s->op->kernel->functions->sums(&s->op->problem, s->op->state, NULL, NULL);
}

/* No group has more planes than one launch adds, though memory would allow it. */
static void a_launch_takes_so_many_planes(void **state) {
    const trial_setup s = {.device = "cuda:0",
                           .kind = "linet18",
                           .net = {.streams = 2, .width = 1.0 / 8, .classes = 5},
                           .dtype = BRAID_DTYPE_F16,
                           .disable = "integrate_bwd_weight__cuda_wgmma,integrate_bwd_weight__cuda_direct",
                           .request = {.batch = 3, .size = {49, 67}}};
    int all = 0;
    (void)state;
    trial t = trial_open(&s);
    for (int j = 0; j < t.plan->step_count; j++) {
        const step *members[PLAN_GROUP_CALLS];
        int planes = 0, count = plan_summed_steps(t.plan, &t.plan->steps[j], members);
        for (int k = 0; k < count; k++) planes += planes_of(members[k]);
        if (count) assert_in_range(planes, 2, members[0]->op->kernel->functions->adder->most);
        all += planes;
    }
    assert_true(all >= 50 && count_parts(t.plan, STEP_SUMS) == 2);
    trial_close(&t);
}

/* Kernels without parts have no such steps. */
static void other_kernels_add_nothing(void **state) {
    (void)state;
    trial t = open_net((braid_plan_request){0}, WITH_PARTS);
    assert_int_equal(count_parts(t.plan, STEP_SUMS) + count_parts(t.plan, STEP_PARTS), 0);
    trial_close(&t);
}

int emu_sums(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_as_apart),
                                       cmocka_unit_test(updates_follow_the_sums),
                                       cmocka_unit_test(a_launch_takes_so_many_planes),
                                       cmocka_unit_test(parts_stay_until_they_are_added),
                                       cmocka_unit_test(groups_take_no_memory),
                                       cmocka_unit_test(other_kernels_add_nothing)};
    return cmocka_run_group_tests_name("emu/sums", tests, NULL, NULL);
}
