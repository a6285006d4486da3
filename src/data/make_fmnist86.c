/*
 * A synthetic Fashion-MNIST at 86x86: ten garments as polygons, turned, scaled, shifted and sheared a little, bright on
 * black with a faint weave. In IDX files as the real set.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "data/idx.h"
#include "data/make.h"

#define SIDE 86
#define PIXELS ((size_t)(SIDE * SIDE))
#define CLASSES 10
#define MAX_POINTS 14
#define MAX_POLYGONS 4

typedef struct polygon {
    int points;
    int cut;                  /* 1: black again */
    int8_t at[MAX_POINTS][2]; /* x to the right, y down, 0 to 100 */
} polygon;

typedef struct garment {
    int polygons;
    polygon polygon[MAX_POLYGONS];
} garment;

/* clang-format off */
static const garment garments[CLASSES] = {
    /* t_shirt: short sleeves */
    {1, {{12, 0, {{32, 16}, {44, 21}, {56, 21}, {68, 16}, {92, 30}, {84, 44}, {70, 37},
                  {70, 86}, {30, 86}, {30, 37}, {16, 44}, {8, 30}}}}},
    /* trouser: two legs */
    {1, {{7, 0, {{34, 8}, {66, 8}, {72, 94}, {56, 94}, {50, 34}, {44, 94}, {28, 94}}}}},
    /* pullover: long sleeves, round neck */
    {1, {{14, 0, {{33, 14}, {44, 18}, {56, 18}, {67, 14}, {84, 26}, {94, 82}, {81, 84}, {71, 40},
                  {70, 86}, {30, 86}, {29, 40}, {19, 84}, {6, 82}, {16, 26}}}}},
    /* dress: narrow at the top, wide at the hem */
    {1, {{8, 0, {{40, 6}, {45, 16}, {55, 16}, {60, 6}, {62, 42}, {78, 94}, {22, 94}, {38, 42}}}}},
    /* coat: long, open at the front */
    {2, {{14, 0, {{34, 6}, {44, 10}, {56, 10}, {66, 6}, {82, 18}, {92, 68}, {80, 70}, {72, 34},
                  {76, 96}, {24, 96}, {28, 34}, {20, 70}, {8, 68}, {18, 18}}},
         {4, 1, {{47, 10}, {53, 10}, {56, 96}, {44, 96}}}}},
    /* sandal: a sole and two straps */
    {3, {{5, 0, {{6, 74}, {60, 66}, {94, 52}, {95, 64}, {8, 82}}},
         {4, 0, {{16, 74}, {30, 44}, {37, 46}, {26, 74}}},
         {4, 0, {{62, 66}, {74, 34}, {82, 36}, {72, 64}}}}},
    /* shirt: sleeves to the elbow, a deep collar, a row of buttons */
    {3, {{14, 0, {{36, 8}, {44, 12}, {56, 12}, {64, 8}, {86, 22}, {88, 54}, {74, 54}, {69, 36},
                  {69, 90}, {31, 90}, {31, 36}, {26, 54}, {12, 54}, {14, 22}}},
         {3, 1, {{42, 8}, {58, 8}, {50, 36}}},
         {4, 1, {{49, 42}, {52, 42}, {52, 88}, {49, 88}}}}},
    /* sneaker: low */
    {2, {{8, 0, {{6, 52}, {22, 44}, {30, 54}, {52, 48}, {74, 60}, {95, 66}, {95, 78}, {6, 78}}},
         {4, 1, {{6, 70}, {95, 72}, {95, 74}, {6, 72}}}}},
    /* bag: a box with a handle */
    {3, {{4, 0, {{14, 44}, {86, 44}, {92, 88}, {8, 88}}},
         {4, 0, {{28, 14}, {72, 14}, {72, 44}, {28, 44}}},
         {4, 1, {{36, 22}, {64, 22}, {64, 44}, {36, 44}}}}},
    /* ankle_boot: a high shaft */
    {2, {{7, 0, {{24, 10}, {58, 10}, {58, 48}, {92, 66}, {94, 84}, {22, 84}, {26, 50}}},
         {4, 0, {{22, 84}, {44, 84}, {44, 92}, {22, 92}}}}},
};
/* clang-format on */

static int is_inside(const polygon *p, double x, double y) {
    int inside = 0;
    for (int i = 0, j = p->points - 1; i < p->points; j = i++) {
        double xi = p->at[i][0], yi = p->at[i][1], xj = p->at[j][0], yj = p->at[j][1];
        if ((yi > y) != (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi) inside = !inside;
    }
    return inside;
}

static int is_cloth(const garment *g, double x, double y) {
    int cloth = 0;
    for (int i = 0; i < g->polygons; i++)
        if (is_inside(&g->polygon[i], x, y)) cloth = !g->polygon[i].cut;
    return cloth;
}

static void paint(uint8_t *out, rng r, int label) {
    double turn = draw_between(&r, -0.1, 0.1), scale = draw_between(&r, 0.9, 1.15), shear = draw_between(&r, -0.1, 0.1);
    double shift_x = draw_between(&r, -6, 6), shift_y = draw_between(&r, -5, 5), mirror = rng_u32(&r) & 1 ? -1 : 1;
    double light = draw_between(&r, 120, 235), weave = draw_between(&r, 0.3, 1.2), angle = draw_between(&r, 0, 3);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double u = mirror * ((x + 0.5) * 100 / SIDE - 50 - shift_x) * scale;
            double v = ((y + 0.5) * 100 / SIDE - 50 - shift_y) * scale;
            double at_x = 50 + cos(turn) * u - sin(turn) * v + shear * v, at_y = 50 + sin(turn) * u + cos(turn) * v;
            double noise = draw_noise(&r);
            double value = light + 12 * sin(weave * (u * cos(angle) + v * sin(angle))) + 6 * noise;
            if (!is_cloth(&garments[label], at_x, at_y)) value = 0;
            *out++ = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
}

static braid_status write_labels(const maker *m, const char *name, const int32_t *labels, int64_t count) {
    void *memory;
    TRY(memory_alloc((size_t)count + IDX_MAX_HEADER, 1, "labels", &memory));
    uint8_t *file = memory;
    size_t header = idx_write_header(file, 1, &count);
    for (int64_t i = 0; i < count; i++) file[header + (size_t)i] = (uint8_t)labels[i];
    braid_status status = maker_write(m, name, file, header + (size_t)count);
    memory_free(memory);
    return status;
}

static braid_status write_images(maker *m, const char *name, braid_split split, const int32_t *labels) {
    void *memory;
    int64_t count = m->counts[split];
    size_t bytes;
    TRY(size_array((size_t)count, PIXELS, "images", &bytes));
    TRY(memory_alloc(bytes + IDX_MAX_HEADER, 1, "images", &memory));
    uint8_t *file = memory;
    size_t header = idx_write_header(file, 3, (int64_t[]){count, SIDE, SIDE});
    braid_status status = BRAID_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        status = maker_step(m, name);
        paint(file + header + (size_t)i * PIXELS, maker_rng(m, split, i), labels[i]);
    }
    if (!status) status = maker_write(m, name, file, header + bytes);
    memory_free(memory);
    return status;
}

static braid_status make_split(maker *m, braid_split split, const char *images, const char *labels_name) {
    int32_t *labels;
    TRY(maker_labels(m, split, CLASSES, &labels));
    braid_status status = write_images(m, images, split, labels);
    if (!status) status = write_labels(m, labels_name, labels, m->counts[split]);
    memory_free(labels);
    return status;
}

braid_status make_fmnist86(maker *m) {
    const int64_t *size = m->options->size;
    if ((size[0] && size[0] != SIDE) || (size[1] && size[1] != SIDE))
        return fail(BRAID_ERROR_ARGUMENT, "size: expected 86x86, the only size of fmnist86, got %lldx%lld",
                    (long long)size[0], (long long)size[1]);
    m->total = m->counts[BRAID_SPLIT_TRAIN] + m->counts[BRAID_SPLIT_TEST]; /* the set has no third split */
    TRY(make_split(m, BRAID_SPLIT_TRAIN, "train-86-images-idx3-ubyte", "train-86-labels-idx1-ubyte"));
    return make_split(m, BRAID_SPLIT_TEST, "t10k-86-images-idx3-ubyte", "t10k-86-labels-idx1-ubyte");
}
