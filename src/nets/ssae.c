/*
 * ssae: the spectral-shape autoencoder. A vector of D = F * M numbers is seen as F slices of M; all slices share one
 * encoder; a basis of L rows, each brought to length 1, takes the encoded slices to L numbers and, tied, back.
 *
 *   e = gelu(layernorm(x) We' + be)     rows [B*F][M] -> [B*F][S]
 *   h = e Gn'                           [B][F*S] -> [B][L], Gn: the rows of G by their lengths
 *   h = gelu(layernorm(h) Wb' + bb)     [B][L]
 *   y = (h Gn) Wd' + bd                 [B][F*S], rows [B*F][S] -> [B*F][M]
 *
 * The slices are the vector as it lies, F after F (the published weights want it so). The state has a global_decoder
 * that nothing uses and that has no gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "nets/parts.h"

typedef struct ssae_size {
    int64_t mels, frames, latent, slice; /* M, F, L, S */
} ssae_size;

/* By variant. */
static const ssae_size sizes[] = {
    {64, 5, 32, 64}, {128, 10, 128, 256}, {256, 10, 256, 512}, {512, 10, 512, 1024}, {1024, 10, 1024, 2048}};

static braid_status complete(const net_kind *kind, braid_net_options *options) {
    options->streams = 1;
    options->channels[0] = sizes[kind->variant].mels * sizes[kind->variant].frames;
    return BRAID_OK;
}

static graph_value layernorm(graph *g, const char *name, graph_value x) {
    graph_plane plane = {.kind = PLANE_PARAMETER, .stream = -1, .rank = 1, .dims = {graph_channels(g, x, 0)}};
    plane.init = (plane_init){INIT_CONSTANT, 1};
    graph_value gamma = part_tensor(g, &plane, "%s.weight", name);
    plane.init = (plane_init){INIT_CONSTANT, 0};
    return graph_layernorm(g, x, gamma, part_tensor(g, &plane, "%s.bias", name), 1e-5);
}

static graph_value matrix(graph *g, const char *name, int64_t rows, int64_t columns, double bound) {
    graph_plane plane = {
        .kind = PLANE_PARAMETER, .stream = -1, .rank = 2, .dims = {rows, columns}, .init = {INIT_UNIFORM, bound}};
    return part_tensor(g, &plane, "%s", name);
}

static void build(const net_kind *kind, const braid_net_options *options, graph *g) {
    const ssae_size *s = &sizes[kind->variant];
    const int64_t combined = s->frames * s->slice;
    (void)options;
    graph_value x = graph_input(g, "features", s->frames * s->mels, 0);
    graph_value e = layernorm(g, "slice_encoder.0", graph_view(g, x, s->mels));
    e = graph_act(g, part_linear(g, "slice_encoder.1", e, s->slice), BRAID_ACTIVATION_GELU);
    graph_value basis = matrix(g, "global_basis", s->latent, combined, sqrt(6 / (double)(s->latent + combined)));
    graph_value unit = graph_rownorm(g, basis);
    graph_value h = layernorm(g, "bottleneck_mlp.0", graph_matmul(g, graph_view(g, e, combined), unit, 1));
    h = graph_act(g, part_linear(g, "bottleneck_mlp.1", h, s->latent), BRAID_ACTIVATION_GELU);
    matrix(g, "global_decoder.weight", combined, s->latent, 1 / sqrt((double)s->latent)); /* as in the files; unused */
    graph_value r = graph_view(g, graph_matmul(g, h, unit, 0), s->slice);
    g->output = graph_view(g, part_linear(g, "slice_decoder.0", r, s->mels), s->frames * s->mels);
    g->target_is_input = 1;
}

const net_kind ssae_kinds[] = {
    {"ssae", "spectral-shape autoencoder: 5 slices of 64, basis of 32", 0, 0, complete, build},
    {"ssae-medium", "the same: 10 slices of 128, basis of 128", 1, 0, complete, build},
    {"ssae-large", "the same: 10 slices of 256, basis of 256", 2, 0, complete, build},
    {"ssae-xlarge", "the same: 10 slices of 512, basis of 512", 3, 0, complete, build},
    {"ssae-xxlarge", "the same: 10 slices of 1024, basis of 1024", 4, 0, complete, build},
    {0},
};
