/*
 * The state of every network against tests/golden/names.txt, which was written from PyTorch's: how many parameters
 * and entries it has, and a hash of all names, dtypes and shapes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/given_net.h"

#define NAMES "tests/golden/names.txt"
#define LINE 512
#define FEWEST 30 /* networks of the file */

static int compare_lines(const void *a, const void *b) { return strcmp(a, b); }

/* FNV-1a over the sorted lines "name dtype [dims]". */
static uint64_t hash_state(const braid_net *net) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int count = braid_net_tensor_count(net);
    char(*lines)[LINE] = calloc((size_t)count, sizeof *lines);
    assert_non_null(lines);
    for (int j = 0; j < count; j++) {
        braid_tensor_info info;
        assert_int_equal(braid_net_tensor(net, j, &info), BRAID_OK);
        int used = snprintf(lines[j], LINE, "%s %s [", info.name, info.dtype == BRAID_DTYPE_I64 ? "I64" : "F32");
        for (int axis = 0; axis < info.rank; axis++)
            used +=
                snprintf(lines[j] + used, LINE - (size_t)used, "%s%lld", axis ? "," : "", (long long)info.dims[axis]);
        snprintf(lines[j] + used, LINE - (size_t)used, "]\n");
    }
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    for (int j = 0; j < count; j++) {
        for (const char *at = lines[j]; *at; at++) hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    free(lines);
    return hash;
}

/* A row "description | parameters | entries | hash". */
static void compare_row(char *row) {
    long long parameters = 0;
    int entries = 0;
    unsigned long long hash = 0;
    braid_net *net = NULL;
    char *bar = strchr(row, '|');
    assert_non_null(bar);
    assert_int_equal(sscanf(bar, "| %lld | %d | %llx", &parameters, &entries, &hash), 3);
    if (braid_net_from_description(row, (size_t)(bar - row), &net)) fail_msg("%s: %s", row, braid_message());
    if (braid_net_parameter_count(net) != parameters || braid_net_tensor_count(net) != entries ||
        hash_state(net) != hash)
        fail_msg("expected %s, got %lld parameters, %d entries, hash %016llx", row,
                 (long long)braid_net_parameter_count(net), braid_net_tensor_count(net),
                 (unsigned long long)hash_state(net));
    braid_net_destroy(net);
}

static void states_are_those_of_pytorch(void **state) {
    (void)state;
    char row[LINE];
    int rows = 0;
    FILE *file = fopen(NAMES, "r");
    assert_non_null(file);
    while (fgets(row, sizeof row, file)) {
        if (row[0] == '#' || row[0] == '\n') continue;
        compare_row(row);
        rows++;
    }
    fclose(file);
    assert_true(rows >= FEWEST);
    assert_int_equal(memory_live(), 0);
}

/* Every network has a name of its own, a summary, and a description that makes it again. */
static void descriptions_make_networks_again(void **state) {
    (void)state;
    for (int j = 0; braid_net_name(j); j++) {
        braid_net_options options = {0};
        if (strcmp(braid_net_name(j), "mlp") == 0) options.layers[0] = 3, options.layers[1] = 2;
        braid_net *net = given_net(braid_net_name(j), &options), *again = NULL;
        const char *text = braid_net_describe(net);
        assert_non_null(text);
        assert_true(strlen(braid_net_summary(j)) > 10);
        assert_int_equal(braid_net_from_description(text, strlen(text), &again), BRAID_OK);
        assert_string_equal(braid_net_describe(again), text);
        assert_true(hash_state(net) == hash_state(again));
        braid_net_destroy(net);
        braid_net_destroy(again);
        for (int k = 0; k < j; k++) assert_string_not_equal(braid_net_name(j), braid_net_name(k));
    }
    assert_null(braid_net_summary(-1));
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_those_of_pytorch),
        cmocka_unit_test(descriptions_make_networks_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
