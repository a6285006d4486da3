/*
 * Every network against the state of a PyTorch module of the same network: tests/golden/names.txt has, for each
 * description, the number of parameters, the number of tensors and a hash of all names, formats and shapes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "braid.h"

#define LINE 160

static int compare_lines(const void *a, const void *b) { return strcmp(a, b); }

/* One line for each tensor, sorted. Returns memory for free. */
static char (*tensor_lines(const braid_net *net))[LINE] {
    int count = braid_net_tensor_count(net);
    char(*lines)[LINE] = calloc((size_t)count, LINE);
    assert_non_null(lines);
    for (int j = 0; j < count; j++) {
        braid_tensor_info info;
        assert_int_equal(braid_net_tensor(net, j, &info), BRAID_OK);
        int used = snprintf(lines[j], LINE, "%s %s [", info.name, info.dtype == BRAID_DTYPE_I64 ? "I64" : "F32");
        for (int axis = 0; axis < info.rank; axis++)
            used += snprintf(lines[j] + used, (size_t)(LINE - used), "%s%" PRId64, axis ? "," : "", info.dims[axis]);
        used += snprintf(lines[j] + used, (size_t)(LINE - used), "]\n");
        assert_true(used < LINE);
    }
    qsort(lines, (size_t)count, LINE, compare_lines);
    return lines;
}

/* FNV-1a. */
static uint64_t hash_tensors(const braid_net *net) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char(*lines)[LINE] = tensor_lines(net);
    for (int j = 0; j < braid_net_tensor_count(net); j++) {
        for (const char *c = lines[j]; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    free(lines);
    return hash;
}

static void assert_row(char *row) {
    braid_net *net = NULL;
    int64_t parameters = 0;
    int tensors = 0;
    uint64_t hash = 0;
    char *bar = strstr(row, " | ");
    assert_non_null(bar);
    *bar = 0;
    assert_int_equal(sscanf(bar + 3, "%" SCNd64 " | %d | %" SCNx64, &parameters, &tensors, &hash), 3);
    if (braid_net_from_description(row, strlen(row), &net)) fail_msg("%s: %s", row, braid_message());
    if (braid_net_parameter_count(net) != parameters)
        fail_msg("%s: expected %" PRId64 " parameters, got %" PRId64, row, parameters, braid_net_parameter_count(net));
    if (braid_net_tensor_count(net) != tensors)
        fail_msg("%s: expected %d tensors, got %d", row, tensors, braid_net_tensor_count(net));
    if (hash_tensors(net) != hash) fail_msg("%s: the names, formats or shapes of its tensors differ", row);
    braid_net_destroy(net);
}

static int is_tried(const char *name, const char *path) {
    char row[512], wanted[64];
    int found = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    snprintf(wanted, sizeof wanted, "\"kind\": \"%s\"", name);
    while (!found && fgets(row, sizeof row, file)) found = strstr(row, wanted) != NULL;
    fclose(file);
    return found;
}

static void every_state_is_that_of_the_module(void **state) {
    static const char path[] = "tests/golden/names.txt";
    char row[512];
    int count = 0;
    FILE *file = fopen(path, "r");
    (void)state;
    if (!file) fail_msg("%s is missing: run from the root of the sources", path);
    while (fgets(row, sizeof row, file)) {
        if (row[0] == '#') continue;
        assert_row(row);
        count++;
    }
    fclose(file);
    assert_true(count >= 38);
    for (int index = 0; braid_net_name(index); index++) { /* all but mlp, which has no widths of its own */
        const char *name = braid_net_name(index);
        if (strcmp(name, "mlp") != 0 && !is_tried(name, path)) fail_msg("%s has no row for %s", path, name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_is_that_of_the_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
