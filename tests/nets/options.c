/*
 * Tests of networks in general: the list, the JSON that describes a network and comes back as the same network, and
 * descriptions that are refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "core/rng.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"

static void the_list_is_whole(void **state) {
    static const char *const some[] = {"linet18",    "linet34",    "linet50",    "linet101",    "linet152",
                                       "mcresnet18", "mcresnet34", "mcresnet50", "mcresnet101", "mcresnet152"};
    int count = 0;
    (void)state;
    for (; braid_net_name(count); count++) {
        assert_true(strlen(braid_net_summary(count)) > 10);
        for (int j = 0; j < count; j++) assert_string_not_equal(braid_net_name(count), braid_net_name(j));
    }
    assert_true(count >= 10);
    for (size_t j = 0; j < sizeof some / sizeof *some; j++) assert_string_equal(braid_net_name((int)j), some[j]);
    assert_null(braid_net_summary(count));
    assert_null(braid_net_name(-1));
}

static void bad_calls(void **state) {
    braid_net *net = NULL;
    braid_tensor_info info;
    (void)state;
    assert_refused(braid_net_create("linet19", NULL, &net), BRAID_ERROR_ARGUMENT, "net|name|linet19");
    assert_refused(braid_net_create("linet18", NULL, NULL), BRAID_ERROR_ARGUMENT, "net|NULL");
    assert_refused(braid_net_create(NULL, &(braid_net_options){0}, &net), BRAID_ERROR_ARGUMENT, "net|no options");
    assert_refused(braid_net_from_description("{}", 2, NULL), BRAID_ERROR_ARGUMENT, "net|NULL");
    assert_refused(braid_net_check(NULL), BRAID_ERROR_ARGUMENT, "net|NULL");
    assert_null(braid_net_describe(NULL));
    assert_int_equal(braid_net_tensor_count(NULL), 0);
    assert_int_equal(braid_net_parameter_count(NULL), 0);
    assert_int_equal(braid_net_stream_count(NULL), 0);
    assert_null(braid_net_stream(NULL, 0, NULL));
    assert_int_equal(braid_net_output_channels(NULL), 0);
    net = given_net("mcresnet18", NULL);
    assert_refused(braid_net_tensor(net, 222, &info), BRAID_ERROR_ARGUMENT, "net|0 to 221|222");
    assert_refused(braid_net_tensor(net, -1, &info), BRAID_ERROR_ARGUMENT, "net|-1");
    assert_refused(braid_net_tensor(net, 0, NULL), BRAID_ERROR_ARGUMENT, "net|NULL");
    assert_refused(braid_net_tensor(NULL, 0, &info), BRAID_ERROR_ARGUMENT, "net|NULL");
    braid_net_destroy(net);
    braid_net_destroy(NULL);
    net = given_net(NULL, NULL);
    assert_null(braid_net_describe(net));
    assert_int_equal(braid_net_output_channels(net), 0);
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "net|input");
    braid_net_destroy(net);
}

static void description_is_this_text(void **state) {
    (void)state;
    braid_net *net = given_net("linet50", &(braid_net_options){.streams = 2,
                                                               .channels = {3, 2},
                                                               .classes = 19,
                                                               .width = 0.1,
                                                               .dropout = 0.5,
                                                               .zero_init_residual = 1,
                                                               .dilate = {0, 0, 1},
                                                               .init = "seed"});
    assert_string_equal(braid_net_describe(net),
                        "{\"channels\":[3,2],\"classes\":19,\"dilate\":[false,false,true],\"dropout\":0.5,"
                        "\"init\":\"seed\",\"kind\":\"linet50\",\"streams\":2,\"width\":0.10000000000000001,"
                        "\"zero_init_residual\":true}");
    braid_net_destroy(net);
    net = given_net("mcresnet18", &(braid_net_options){.fusion = BRAID_FUSION_GATED});
    assert_string_equal(braid_net_describe(net),
                        "{\"channels\":[3,1],\"classes\":15,\"dropout\":0.0,\"fusion\":\"gated\","
                        "\"kind\":\"mcresnet18\",\"width\":1.0,\"zero_init_residual\":false}");
    braid_net_destroy(net);
}

/* Streams have the names that were given; the usual ones are no part of a description. */
static void streams_have_names(void **state) {
    const braid_net_options own = {.streams = 2, .stream_names = {"rgb", "w\xc3\xa4rme"}};
    braid_net *net = given_net("linet18", &own), *usual = given_net("linet18", &(braid_net_options){.streams = 2});
    (void)state;
    assert_string_equal(braid_net_stream(net, 0, NULL), "rgb");
    assert_string_equal(braid_net_stream(net, 1, NULL), "w\xc3\xa4rme");
    assert_non_null(strstr(braid_net_describe(net), ",\"stream_names\":[\"rgb\",\"w\xc3\xa4rme\"],\"streams\":2,"));
    braid_net_destroy(net);
    net = given_net("linet18", &(braid_net_options){.streams = 2, .stream_names = {"rgb", "depth"}});
    assert_string_equal(braid_net_describe(net), braid_net_describe(usual));
    braid_net_destroy(net);
    braid_net_destroy(usual);
    net = given_net("mcresnet18", &(braid_net_options){.stream_names = {"lidar", "rgb"}});
    assert_string_equal(braid_net_stream(net, 0, NULL), "lidar");
    assert_string_equal(braid_net_stream(net, 1, NULL), "rgb");
    braid_net_destroy(net);
}

static void names_of_streams_are_told_apart(void **state) {
    static const char *const bad[] = {"a,b",  "a=b",  "a/b",  "a\"b",        "a\\b",
                                      "a\tb", "\x7f", "\xff", "integration", "shared"};
    braid_net *net = NULL;
    (void)state;
    for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
        braid_net_options o = {.streams = 2, .stream_names = {"rgb"}};
        memcpy(o.stream_names[1], bad[j], strlen(bad[j]));
        assert_refused(braid_net_create("linet18", &o, &net), BRAID_ERROR_ARGUMENT, "linet18|stream_names|UTF-8");
    }
    braid_net_options o = {.streams = 2, .stream_names = {"rgb"}};
    assert_refused(braid_net_create("linet18", &o, &net), BRAID_ERROR_ARGUMENT, "stream_names|2|none for stream 1");
    memset(o.stream_names[1], 'a', BRAID_STREAM_NAME);
    assert_refused(braid_net_create("linet18", &o, &net), BRAID_ERROR_ARGUMENT, "stream_names|1 to 31 letters");
    o = (braid_net_options){.streams = 1, .stream_names = {"rgb", "ir"}};
    assert_refused(braid_net_create("linet18", &o, &net), BRAID_ERROR_ARGUMENT, "stream_names|1|one for stream 1");
    o = (braid_net_options){.streams = 2, .stream_names = {"ir", "ir"}};
    assert_refused(braid_net_create("linet18", &o, &net), BRAID_ERROR_ARGUMENT, "every name once|ir");
    o = (braid_net_options){.streams = 2, .stream_names = {"ir", "labels"}};
    assert_refused(braid_net_create("linet18", &o, &net), BRAID_ERROR_ARGUMENT, "no other tensor|labels");
    o = (braid_net_options){.stream_names = {"ir"}};
    assert_refused(braid_net_create("lenet86", &o, &net), BRAID_ERROR_ARGUMENT, "lenet86|stream_names");
}

static void assert_same_plane(const graph_plane *a, const graph_plane *b) {
    assert_string_equal(a->name, b->name);
    assert_true(a->kind == b->kind && a->stream == b->stream && a->channels == b->channels && a->rank == b->rank);
    assert_true(a->role == b->role && a->init.kind == b->init.kind && a->init.value == b->init.value);
    assert_memory_equal(a->dims, b->dims, sizeof a->dims);
}

static void assert_same_node(const graph_node *a, const graph_node *b) {
    const braid_problem *p = &a->problem, *q = &b->problem;
    assert_true(p->op == q->op && p->rate == q->rate && p->fusion == q->fusion && p->streams == q->streams);
    assert_true(p->stride[0] == q->stride[0] && p->padding[0] == q->padding[0] && p->dilation[0] == q->dilation[0]);
    assert_memory_equal(a->plane, b->plane, sizeof a->plane);
}

/* The network of a description is the described one: same text, same planes, same nodes. */
static void assert_comes_back(const braid_net *net) {
    const char *text = braid_net_describe(net);
    braid_net *back = NULL;
    assert_non_null(text);
    if (braid_net_from_description(text, strlen(text), &back)) fail_msg("%s: %s", text, braid_message());
    assert_string_equal(braid_net_describe(back), text);
    assert_ptr_equal(back->kind, net->kind);
    assert_int_equal(back->graph.plane_count, net->graph.plane_count);
    assert_int_equal(back->graph.node_count, net->graph.node_count);
    for (int j = 0; j < net->graph.plane_count; j++) assert_same_plane(&back->graph.planes[j], &net->graph.planes[j]);
    for (int j = 0; j < net->graph.node_count; j++) assert_same_node(&back->graph.nodes[j], &net->graph.nodes[j]);
    braid_net_destroy(back);
}

/* Every network with its defaults, and with options drawn at random. */
static void every_network_comes_back(void **state) {
    rng r = {.seed = 4};
    (void)state;
    for (int index = 0; braid_net_name(index); index++) {
        unsigned has = net_kind_at(index)->has;
        for (int round = 0; round < (index < 10 ? 4 : 2); round++) {
            braid_net_options o = {0};
            if (round && has & NET_STREAMS) o.streams = (int)rng_between(&r, 1, 8);
            if (round && has & NET_CHANNELS) o.channels[0] = rng_between(&r, 1, 9);
            for (int j = 0; round > 1 && has & NET_STREAM_NAMES && j < (has & NET_STREAMS ? o.streams : 2); j++)
                snprintf(o.stream_names[j], sizeof o.stream_names[j], "%d m\xc2\xb5", j);
            if (round && has & NET_CLASSES) o.classes = rng_between(&r, 1, 1000);
            if (round && has & NET_WIDTH) o.width = (double)rng_between(&r, 16, 2000) / 1000;
            if (round && has & NET_DROPOUT) o.dropout = (double)rng_between(&r, 0, 99) / 100;
            if (round && has & NET_ZERO_INIT_RESIDUAL) o.zero_init_residual = (int)rng_between(&r, 0, 1);
            for (int j = 0; j < 3 && round && has & NET_DILATE; j++) o.dilate[j] = (int)rng_between(&r, 0, 1);
            if (round && has & NET_INIT) o.init = rng_between(&r, 0, 1) ? "head" : "seed";
            if (round && has & NET_FUSION) o.fusion = (braid_fusion)rng_between(&r, 0, 2);
            for (int j = 0; j <= round + 1 && has & NET_LAYERS; j++) o.layers[j] = rng_between(&r, 1, 50);
            if (o.layers[0]) o.classes = 0;
            braid_net *net = given_net(braid_net_name(index), &o);
            assert_comes_back(net);
            braid_net_destroy(net);
        }
    }
}

static void descriptions_may_leave_out_defaults(void **state) {
    static const char *const texts[] = {
        "{\"kind\":\"linet18\"}",
        "{\"streams\":3,\"kind\":\"linet18\"}",
        " {\"kind\":\"linet18\", \"width\":1, \"dropout\":0, \"channels\":[3,1,1], \"classes\":15} ",
    };
    (void)state;
    for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
        braid_net *net = given_net("linet18", NULL), *back = NULL;
        assert_int_equal(braid_net_from_description(texts[j], strlen(texts[j]), &back), BRAID_OK);
        assert_string_equal(braid_net_describe(back), braid_net_describe(net));
        braid_net_destroy(net);
        braid_net_destroy(back);
    }
}

static void bad_descriptions_are_refused(void **state) {
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "description|empty"},
        {"[]", "description|object"},
        {"null", "description|object"},
        {"{}", "description|kind|nothing"},
        {"{\"kind\":18}", "description|kind|text"},
        {"{\"kind\":\"linet19\"}", "description|linet19"},
        {"{\"kind\":\"linet18\"", "description|JSON"},
        {"{\"kind\":\"linet18\",\"kind\":\"linet34\"}", "description|JSON"},
        {"{\"kind\":\"linet18\",\"colour\":1}", "linet18|option|colour"},
        {"{\"kind\":\"linet18\",\"dilate\":[true,false,false]}", "linet18|option|dilate"},
        {"{\"kind\":\"linet18\",\"fusion\":\"concat\"}", "linet18|option|fusion"},
        {"{\"kind\":\"mcresnet18\",\"streams\":2}", "mcresnet18|option|streams"},
        {"{\"kind\":\"linet18\",\"streams\":0}", "linet18|streams"},
        {"{\"kind\":\"linet18\",\"streams\":9}", "linet18|streams"},
        {"{\"kind\":\"linet18\",\"streams\":4294967297}", "linet18|streams"},
        {"{\"kind\":\"linet18\",\"streams\":2.0}", "linet18|streams"},
        {"{\"kind\":\"linet18\",\"streams\":\"2\"}", "linet18|streams"},
        {"{\"kind\":\"linet18\",\"channels\":3}", "linet18|channels"},
        {"{\"kind\":\"linet18\",\"channels\":[]}", "linet18|channels"},
        {"{\"kind\":\"linet18\",\"channels\":[3,0,1]}", "linet18|channels"},
        {"{\"kind\":\"linet18\",\"channels\":[3,1.0,1]}", "linet18|channels"},
        {"{\"kind\":\"linet18\",\"channels\":[3,1]}", "linet18|channels|expected 3|got 2"},
        {"{\"kind\":\"linet18\",\"channels\":[3,1,1,1]}", "linet18|channels"},
        {"{\"kind\":\"linet18\",\"channels\":[1,1,1,1,1,1,1,1,1]}", "linet18|channels"},
        {"{\"kind\":\"linet18\",\"channels\":[3,1,65537]}", "linet18|channels"},
        {"{\"kind\":\"linet18\",\"stream_names\":\"rgb\"}", "linet18|stream_names"},
        {"{\"kind\":\"linet18\",\"stream_names\":[]}", "linet18|stream_names"},
        {"{\"kind\":\"linet18\",\"stream_names\":[1,2,3]}", "linet18|stream_names"},
        {"{\"kind\":\"linet18\",\"stream_names\":[\"a\",\"b\"]}", "linet18|stream_names|expected 3"},
        {"{\"kind\":\"linet18\",\"stream_names\":[\"a\",\"b\",\"\"]}", "linet18|stream_names"},
        {"{\"kind\":\"linet18\",\"stream_names\":[\"a\",\"b\",\"c\",\"d\"]}", "linet18|stream_names|expected 3"},
        {"{\"kind\":\"linet18\",\"stream_names\":[\"a\",\"b\",\"0123456789012345678901234567890123\"]}",
         "linet18|stream_names"},
        {"{\"kind\":\"linet18\",\"stream_names\":[\"a\",\"b\",\"c,d\"]}", "linet18|stream_names|c,d"},
        {"{\"kind\":\"lenet86\",\"stream_names\":[\"a\"]}", "lenet86|option|stream_names"},
        {"{\"kind\":\"linet18\",\"classes\":0}", "linet18|classes"},
        {"{\"kind\":\"linet18\",\"classes\":-9223372036854775808}", "linet18|classes"},
        {"{\"kind\":\"linet18\",\"classes\":9223372036854775807}", "linet18|classes"},
        {"{\"kind\":\"linet18\",\"width\":0}", "linet18|width"},
        {"{\"kind\":\"linet18\",\"width\":-0.5}", "linet18|width"},
        {"{\"kind\":\"linet18\",\"width\":1e308}", "linet18|width"},
        {"{\"kind\":\"linet18\",\"width\":true}", "linet18|width"},
        {"{\"kind\":\"linet18\",\"dropout\":1}", "linet18|dropout"},
        {"{\"kind\":\"linet18\",\"dropout\":null}", "linet18|dropout"},
        {"{\"kind\":\"linet18\",\"zero_init_residual\":1}", "linet18|zero_init_residual"},
        {"{\"kind\":\"linet50\",\"dilate\":[1,0,0]}", "linet50|dilate"},
        {"{\"kind\":\"linet50\",\"dilate\":[true,false]}", "linet50|dilate"},
        {"{\"kind\":\"linet50\",\"dilate\":true}", "linet50|dilate"},
        {"{\"kind\":\"linet50\",\"init\":\"tail\"}", "linet50|init"},
        {"{\"kind\":\"linet50\",\"init\":0}", "linet50|init"},
        {"{\"kind\":\"mcresnet18\",\"fusion\":\"none\"}", "mcresnet18|fusion"},
        {"{\"kind\":\"mcresnet18\",\"fusion\":2}", "mcresnet18|fusion"},
    };
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
        braid_net *net = (braid_net *)(uintptr_t)1;
        assert_refused(braid_net_from_description(rows[j].text, strlen(rows[j].text), &net), BRAID_ERROR_MODEL,
                       rows[j].words);
        assert_null(net);
    }
    char large[4100] = "{\"kind\":\"linet18\"}";
    braid_net *net = NULL;
    memset(large + strlen(large), ' ', sizeof large - strlen(large));
    assert_int_equal(braid_net_from_description(large, 4096, &net), BRAID_OK);
    braid_net_destroy(net);
    assert_refused(braid_net_from_description(large, 4097, &net), BRAID_ERROR_MODEL, "description|4096|4097");
    assert_refused(braid_net_from_description(NULL, 3, &net), BRAID_ERROR_MODEL, "description");
}

static braid_status read_back(void) {
    static const char text[] = "{\"kind\":\"linet34\",\"streams\":5}";
    braid_net *net = NULL;
    braid_status status = braid_net_from_description(text, strlen(text), &net);
    braid_net_destroy(net);
    return status;
}

static void no_memory_is_an_answer(void **state) {
    (void)state;
    assert_survives_allocations(read_back, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_whole),
        cmocka_unit_test(bad_calls),
        cmocka_unit_test(description_is_this_text),
        cmocka_unit_test(streams_have_names),
        cmocka_unit_test(names_of_streams_are_told_apart),
        cmocka_unit_test(every_network_comes_back),
        cmocka_unit_test(descriptions_may_leave_out_defaults),
        cmocka_unit_test(bad_descriptions_are_refused),
        cmocka_unit_test(no_memory_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
