/*
 * Tests of comparisons and proofs: rows read from csv and json and from folders, ratios and groups by hand, single runs
 * that may claim little, and the sums of proofs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/run_rows.h"

#define HEAD "problem,kernel,kind,device,dtype,median_ms,low_ms,high_ms,verdict\n"

static char folder[] = "/tmp/braid_compare_XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *path_of(const char *name) {
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static run_rows parsed(const char *text, int is_json, int chosen) {
    run_rows r;
    if (run_rows_parse(text, strlen(text), is_json, chosen, &r)) fail_msg("%s", braid_lab_message());
    return r;
}

static void drop(run_rows *r) {
    run_side side = {.runs = {*r}, .count = 1};
    run_side_free(&side);
}

static void csv_rows(void **state) {
    (void)state;
    run_rows r = parsed("# a machine\n" HEAD "\"a:b\",\"k \"\"1\"\"\",own,cpu,f32,2.5,2,3,FAST chosen\n"
                        "a:b,k2,own,cpu,f32,,,,-\na:b,k3,own,cpu,f32,4,,,SLOW\r\nwords\n"
                        "a:b,k3,own,cpu,f32,5,4.5,5.5,SLOW\na:b,k4,own,cpu,f32,nan,1,1,-\n",
                        0, 0);
    assert_int_equal(r.count, 2);
    assert_string_equal(r.rows[0].kernel, "k \"1\"");
    assert_true(r.rows[0].median == 2.5 && r.rows[0].low == 2 && r.rows[0].high == 3);
    assert_string_equal(r.rows[1].kernel, "k3");
    assert_true(r.rows[1].median == 5); /* the later one counts */
    drop(&r);
    r = parsed(HEAD "a:b,k1,own,cpu,f32,2,2,2,FAST chosen\na:b,k2,own,cpu,f32,3,3,3,SLOW\n", 0, 1);
    assert_int_equal(r.count, 1);
    assert_string_equal(r.rows[0].kernel, "chosen");
    drop(&r);
}

static void json_rows(void **state) {
    static const char *const whole[] = {"[%s]", "{\"rows\":[%s],\"schema\":1}"};
    char text[512];
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, whole[i],
                 "{\"problem\":\"a:b\",\"kernel\":\"k\",\"device\":\"cpu\",\"dtype\":\"f32\",\"median_ms\":2,"
                 "\"low_ms\":1,\"high_ms\":null,\"verdict\":\"-\"},{\"problem\":7},{\"median_ms\":3}");
        run_rows r = parsed(text, 1, 0);
        assert_int_equal(r.count, 1);
        assert_true(r.rows[0].median == 2 && r.rows[0].low == 1 && r.rows[0].high == 2);
        drop(&r);
    }
    run_rows r;
    assert_int_equal(run_rows_parse("{}", 2, 1, 0, &r), BRAID_ERROR_DATA);
    assert_int_equal(run_rows_parse("[", 1, 1, 0, &r), BRAID_ERROR_DATA);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* Two rows: the first takes `first` ms, the second 10. */
static void write_run(const char *name, double first) {
    char text[512];
    snprintf(text, sizeof text, HEAD "conv:x,k,own,cpu,f32,%.9g,%.9g,%.9g,-\nlinear:x,k,own,cpu,f32,10,10,10,-\n",
             first, first, first);
    write_file(name, text);
}

static braid_compare_counts compared(const char *a, const char *b, double floor, char **rows, char **groups) {
    braid_compare *c = NULL;
    braid_table *table = NULL;
    braid_compare_counts counts = {0};
    const braid_compare_options options = {.floor = floor};
    const braid_print_options csv = {.format = BRAID_FORMAT_CSV};
    if (braid_compare_create(path_of(a), path_of(b), &options, &c)) fail_msg("%s", braid_lab_message());
    braid_compare_count(c, &counts);
    assert_int_equal(braid_compare_rows(c, &table), BRAID_OK);
    assert_int_equal(braid_table_print(table, &csv, rows), BRAID_OK);
    braid_table_destroy(table);
    assert_int_equal(braid_compare_groups(c, &table), BRAID_OK);
    assert_int_equal(braid_table_print(table, &csv, groups), BRAID_OK);
    braid_table_destroy(table);
    braid_compare_destroy(c);
    return counts;
}

static void expect(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("expected \"%s\" in:\n%s", part, text);
}

/* One run a side: 20 % more is no claim where two runs differ by 5 %, since (1.05)^5 is 1.28; 30 % is one. */
static void single_runs_claim_little(void **state) {
    static const struct {
        double b;
        int slow, fast, same, ambiguous;
    } cases[] = {{1, 0, 0, 2, 0}, {1.04, 0, 0, 2, 0}, {1.2, 0, 0, 1, 1}, {1.3, 1, 0, 1, 0}, {0.7, 0, 1, 1, 0}};
    (void)state;
    write_run("one.csv", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *rows = NULL, *groups = NULL;
        write_run("two.csv", cases[i].b);
        const braid_compare_counts n = compared("one.csv", "two.csv", 0.05, &rows, &groups);
        assert_int_equal(n.rows, 2);
        assert_true(n.slow == cases[i].slow && n.fast == cases[i].fast && n.same == cases[i].same &&
                    n.ambiguous == cases[i].ambiguous);
        braid_text_destroy(rows);
        braid_text_destroy(groups);
    }
}

/* A run.json tells the floor of its machine: with 1 % a claim needs 5.1 %. */
static void the_floor_of_the_machine(void **state) {
    static const double bs[] = {1.04, 1.06};
    char *rows = NULL, *groups = NULL;
    (void)state;
    assert_int_equal(mkdir(path_of("run"), 0700), 0);
    write_run("run/results.csv", 1);
    write_file("run/run.json", "{\"machine\":[{\"section\":\"noise\",\"name\":\"between runs\",\"value\":\"1 %\"}]}");
    for (int i = 0; i < 2; i++) {
        write_run("two.csv", bs[i]);
        const braid_compare_counts n = compared("run", "two.csv", 0, &rows, &groups);
        assert_int_equal(n.slow, i);
        braid_text_destroy(rows);
        braid_text_destroy(groups);
    }
}

/* Four runs a side, 1 % apart at most: 6 % less is found, 0 is SAME, and the means of the groups are those. */
static void several_runs_find_little(void **state) {
    static const double noise[4] = {1, 1.002, 0.998, 1.001};
    char name[64], *rows = NULL, *groups = NULL;
    (void)state;
    assert_int_equal(mkdir(path_of("old"), 0700), 0);
    assert_int_equal(mkdir(path_of("new"), 0700), 0);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "old/%d.csv", i);
        write_run(name, noise[i]);
        snprintf(name, sizeof name, "new/%d", i);
        assert_int_equal(mkdir(path_of(name), 0700), 0);
        snprintf(name, sizeof name, "new/%d/results.csv", i);
        write_run(name, 0.94 * noise[3 - i]);
    }
    const braid_compare_counts n = compared("old", "new", 0, &rows, &groups);
    assert_true(n.a_runs == 4 && n.b_runs == 4 && n.rows == 2 && n.fast == 1 && n.same == 1);
    expect(rows, "conv:x,k,1.0005,0.94047,1.063829");
    expect(groups, "conv,1,1,0,0,0,1.063829");
    expect(groups, "linear,1,0,0,1,0,1,1,1,SAME");
    expect(groups, "all,2,1,0,1,0,1.03142"); /* the root of 1 / 0.94 */
    braid_text_destroy(rows);
    braid_text_destroy(groups);
}

static void what_cannot_be_compared(void **state) {
    braid_compare *c = NULL;
    (void)state;
    write_run("one.csv", 1);
    write_file("none.csv", "problem,kernel\n");
    write_file("other.csv", HEAD "other:x,k,own,cpu,f32,1,1,1,-\n");
    assert_int_equal(braid_compare_create(path_of("one.csv"), path_of("gone.csv"), NULL, &c), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "expected a file or a folder, got nothing"));
    assert_int_equal(braid_compare_create(path_of("one.csv"), path_of("none.csv"), NULL, &c), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "expected rows of braid bench"));
    assert_int_equal(braid_compare_create(path_of("one.csv"), path_of("other.csv"), NULL, &c), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "expected rows of the same problems"));
    assert_int_equal(braid_compare_create(NULL, NULL, NULL, &c), BRAID_ERROR_ARGUMENT);
    assert_null(c);
    braid_compare_destroy(NULL);
}

/* ---- Proofs --------------------------------------------------------------------------------- */

/* Every race is a row of each planted share, and a launch of microseconds is none. */
static void proofs_count_every_race(void **state) {
    const braid_context_options options = {.device = "cpu", .threads = 1, .cache_dir = ""};
    braid_context *context = NULL;
    braid_prove *prove = NULL;
    braid_table *table = NULL;
    char *text = NULL;
    int added = -1;
    (void)state;
    assert_int_equal(braid_context_create(&options, &context), BRAID_OK);
    assert_int_equal(braid_prove_create(context, 0.01, &prove), BRAID_OK);
    assert_int_equal(braid_prove_run(prove, "linear_fwd:f32:b512:c256:k256", &added), BRAID_OK);
    assert_int_equal(added, 1);
    assert_int_equal(braid_prove_run(prove, "linear_fwd:f64:b256:c128:k256", NULL), BRAID_OK);
    assert_int_equal(braid_prove_run(prove, "not a problem", &added), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_prove_table(prove, &table), BRAID_OK);
    assert_int_equal(braid_table_rows(table), 2 * 3);
    braid_table_destroy(table);
    assert_int_equal(braid_prove_sums(prove, &table), BRAID_OK);
    assert_int_equal(braid_table_print(table, &(braid_print_options){.format = BRAID_FORMAT_CSV}, &text), BRAID_OK);
    expect(text, "planted,rows,busy,fast,slow,same,ambiguous,false_claims,found");
    expect(text, "\n0,2,");
    expect(text, "\n0.02,2,");
    expect(text, "\n0.05,2,");
    braid_text_destroy(text);
    braid_table_destroy(table);
    braid_prove_destroy(prove);
    braid_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_rows),
        cmocka_unit_test(json_rows),
        cmocka_unit_test(single_runs_claim_little),
        cmocka_unit_test(the_floor_of_the_machine),
        cmocka_unit_test(several_runs_find_little),
        cmocka_unit_test(what_cannot_be_compared),
        cmocka_unit_test(proofs_count_every_race),
    };
    return cmocka_run_group_tests_name("compare", tests, make_folder, remove_folder);
}
