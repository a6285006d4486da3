/*
 * Fuzz target: the reader of descriptions. Any text is refused in words or gives a network; its own description
 * gives the same one, and its sizes can be told.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "braid.h"
#include "tests/support/mutate.h"

static void must_be_sound(const braid_net *net) {
    const char *text = braid_net_describe(net);
    braid_net *back = NULL;
    braid_tensor_info info;
    int count = braid_net_tensor_count(net);
    MUTATE_MUST(text && braid_net_from_description(text, strlen(text), &back) == BRAID_OK);
    MUTATE_MUST(strcmp(braid_net_describe(back), text) == 0);
    MUTATE_MUST(braid_net_tensor_count(back) == count && braid_net_parameter_count(net) > 0);
    MUTATE_MUST(braid_net_tensor(net, count - 1, &info) == BRAID_OK);
    braid_net_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    braid_net *net = NULL;
    braid_status status = braid_net_from_description((const char *)data, bytes, &net);
    if (status == BRAID_OK)
        must_be_sound(net);
    else
        MUTATE_MUST(status == BRAID_ERROR_MODEL && !net && strstr(braid_message(), "expected"));
    braid_net_destroy(net);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "{\"channels\":[3,1,1],\"classes\":15,\"dropout\":0.5,\"init\":\"seed\",\"kind\":\"linet18\",\"streams\":3,"
    "\"width\":0.5,\"zero_init_residual\":true}",
    "{\"channels\":[3],\"dilate\":[false,true,true],\"kind\":\"linet50\",\"streams\":1}",
    "{\"channels\":[3,1],\"classes\":15,\"dropout\":0,\"fusion\":\"gated\",\"kind\":\"mcresnet18\",\"width\":1.0,"
    "\"zero_init_residual\":false}",
    "{\"kind\":\"mcresnet18\",\"fusion\":\"weighted\",\"width\":1e-1}",
    "{\"kind\":\"lenet86\",\"classes\":10}",
    "{\"kind\":\"mlp\",\"layers\":[784,256,10]}",
    "{\"kind\":\"ssae\"}",
    NULL,
};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 100000); }
#endif
