/*
 * The options that several verbs share, the other names by which options are known, and what is told of an option: all
 * of it once, for the parser, help, man pages, completion and docs/cli_reference.md.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli.h"

#define COMMON(member) offsetof(common_options, member)
#define NETWORK(member) (sizeof(common_options) + offsetof(network_options, member))
_Static_assert(sizeof(common_options) % _Alignof(network_options) == 0,
               "network_options lies right after common_options");

static const option own_heading[] = {OPTION_GROUP("Options"), {0}};
static const option network_list[] = {
    OPTION_GROUP("Network"),
    {"batch", 0, OPTION_COUNT, "B", "2; of rows 256", "samples at a time", NETWORK(batch)},
    {"size", 0, OPTION_TEXT, "HxW", "208x272; lenet86: 86x86", "height and width of the images", NETWORK(size)},
    {"dtype", 0, OPTION_CHOICE, "f32|bf16|f16|f64|tf32", "f32",
     "number format of compute; tf32 is f32 whose products may round", NETWORK(dtype)},
    {"streams", 0, OPTION_TEXT, "N|NAME,...", "3", "input streams of a linet, or names of those of a linet or mcresnet",
     NETWORK(streams)},
    {"channels", 0, OPTION_TEXT, "C,C,...", "3,1,1,...", "channels of every input stream", NETWORK(channels)},
    {"classes", 0, OPTION_COUNT, "K", "15; lenet86: 10", "classes", NETWORK(classes)},
    {"width", 0, OPTION_REAL, "F", "1", "factor on all channels of a linet or mcresnet", NETWORK(width)},
    {"dropout", 0, OPTION_SHARE, "P", "0", "rate of dropout before the classifier", NETWORK(dropout)},
    {"zero-init", 0, OPTION_FLAG, NULL, NULL, "every residual block begins as its shortcut", NETWORK(zero_init)},
    {"dilate", 0, OPTION_TEXT, "A,B,C", "0,0,0", "1 where dilation replaces the stride of layer2, 3, 4",
     NETWORK(dilate)},
    {"init", 0, OPTION_TEXT, "head|seed", "head", "how a linet begins", NETWORK(init)},
    {"fusion", 0, OPTION_CHOICE, "concat|weighted|gated", "concat", "how an mcresnet joins its streams",
     NETWORK(fusion)},
    {"layers", 0, OPTION_TEXT, "C,...,K", OPTION_REQUIRED, "widths of an mlp, from its input to its output",
     NETWORK(layers)},
    {"seed", 0, OPTION_SEED, "S", "0", "of the initial parameters", NETWORK(seed)},
    {0}};
static const option context_list[] = {
    OPTION_GROUP("Device and kernels"),
    {"device", 0, OPTION_TEXT, "auto|cpu|cuda:N", "$BRAID_DEVICE, else auto",
     "where to run; auto: a GPU if there is one", COMMON(device)},
    {"threads", 0, OPTION_COUNT, "N", "$OMP_NUM_THREADS, else all cores", "threads of the CPU", COMMON(threads)},
    {"repro", 0, OPTION_CHOICE, "run|threads", "run",
     "bit for bit the same from run to run, or at any number of threads", COMMON(repro)},
    {"cache-dir", 0, OPTION_TEXT, "DIR", "$BRAID_CACHE_DIR, else the user's cache folder",
     "folder of the measured choices; \"\" keeps none", COMMON(cache_dir)},
    {"disable", 0, OPTION_TEXT, "LIST", "$BRAID_DISABLE, else none", "candidates to leave out, such as onednn,openblas",
     COMMON(disable)},
    {0}};
static const option output_heading[] = {OPTION_GROUP("Output"), {0}};
static const option format_list[] = {
    {"output", 'o', OPTION_CHOICE, "table|csv|json|md", "table", "format of what is printed", COMMON(format)}, {0}};
static const option talk_list[] = {
    {"quiet", 'q', OPTION_FLAG, NULL, NULL, "no progress on standard error", COMMON(quiet)}, {0}};
static const option detail_list[] = {{"verbose", 'v', OPTION_FLAG, NULL, NULL, "more detail", COMMON(verbose)}, {0}};
static const option help_list[] = {{"help", 'h', OPTION_FLAG, NULL, NULL, "this text", COMMON(help)}, {0}};

void options_each(const verb *v, void (*visit)(const option *o, void *user), void *user) {
    int begins = v->options && v->options->name && v->options->kind != OPTION_HEADING;
    const option *const lists[] = {begins ? own_heading : NULL,
                                   v->options,
                                   v->common & COMMON_NETWORK ? network_list : NULL,
                                   v->common & COMMON_CONTEXT ? context_list : NULL,
                                   output_heading,
                                   v->common & COMMON_FORMAT ? format_list : NULL,
                                   v->common & COMMON_TALK ? talk_list : NULL,
                                   v->common & COMMON_DETAIL ? detail_list : NULL,
                                   help_list};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const option *o = lists[i]; o && o->name; o++) visit(o, user);
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* What people type who come from elsewhere, and the option that it means, in every verb that has it. */
static const struct {
    const char *alias, *name;
} aliases[] = {{"lr", "rate"},
               {"learning-rate", "rate"},
               {"wd", "weight-decay"},
               {"optimizer", "optimiser"},
               {"batch-size", "batch"},
               {"epoch", "epochs"},
               {"workers", "readers"},
               {"num-workers", "readers"},
               {"label-smoothing", "smoothing"},
               {"clip-norm", "clip"},
               {"image-size", "size"},
               {"num-classes", "classes"},
               {"precision", "dtype"},
               {"dataset", "data"},
               {"top-k", "top"},
               {"format", "output"}};
#define ALIASES (sizeof aliases / sizeof aliases[0])

typedef struct lookup {
    const char *name;
    size_t length;
    char letter;
    const option *found;
} lookup;

/* 1 where so many bytes spell a name; _ is as good as -. */
static int spells(const char *typed, size_t length, const char *name) {
    for (size_t j = 0; j < length; j++)
        if ((typed[j] == '_' ? '-' : typed[j]) != name[j]) return 0;
    return name[length] == 0;
}

static void look(const option *o, void *user) {
    lookup *l = user;
    if (o->kind == OPTION_HEADING) return;
    if (l->letter ? o->letter == l->letter : spells(l->name, l->length, o->name)) l->found = o;
}

const option *option_find(const verb *v, const char *name, size_t length, char letter) {
    lookup l = {.name = name, .length = length, .letter = letter};
    options_each(v, look, &l);
    for (size_t i = 0; i < ALIASES && !l.found && !letter; i++) {
        if (!spells(name, length, aliases[i].alias)) continue;
        l.name = aliases[i].name;
        l.length = strlen(l.name);
        options_each(v, look, &l);
    }
    return l.found;
}

void option_aliases(const verb *v, const option *o, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < ALIASES && used < size; i++) {
        const char *alias = aliases[i].alias;
        if (o->kind == OPTION_HEADING || option_find(v, alias, strlen(alias), 0) != o) continue;
        used += (size_t)snprintf(text + used, size - used, "%s--%s", used ? ", " : "", alias);
    }
}

/* ---- Words ---------------------------------------------------------------------------------- */

const char *option_normal(const verb *v, const option *o, char *room, size_t size) {
    size_t length = strlen(o->name);
    for (const char *at = v->normals; at && *at; at += strcspn(at, "|"), at += *at == '|') {
        if (strncmp(at, o->name, length) != 0 || at[length] != '=') continue;
        snprintf(room, size, "%.*s", (int)(strcspn(at, "|") - length - 1), at + length + 1);
        return room;
    }
    return o->normal;
}

void option_describe(const verb *v, const option *o, char *text, size_t size) {
    char names[128], room[128];
    const char *normal = option_normal(v, o, room, sizeof room);
    int is_required = normal && !strncmp(normal, OPTION_REQUIRED, strlen(OPTION_REQUIRED));
    option_aliases(v, o, names, sizeof names);
    snprintf(text, size, "%s%s%s%s%s%s%s", o->help, normal || names[0] ? " (" : "",
             normal && !is_required ? "default: " : "", normal ? normal : "", normal && names[0] ? "; " : "",
             names[0] ? "also " : "", names);
    if (normal || names[0]) strncat(text, ")", size - strlen(text) - 1);
}
