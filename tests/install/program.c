/* A user's first program in C: it must compile against an installed copy and run. SPDX-License-Identifier: MIT */
#include <braid.h>
#include <stdio.h>

int main(void) {
    braid_problem problem;
    if (braid_abi() != BRAID_ABI) return 1;
    if (braid_problem_parse("linear_fwd:f32:n2:b4:c8:k3", &problem)) return fprintf(stderr, "%s\n", braid_message()), 1;
    return problem.streams == 2 && problem.out_channels[1] == 3 ? 0 : 1;
}
