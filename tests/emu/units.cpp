/*
 * The units of sm_90 that work on their own: barriers in shared memory, the copy engine and the matrix units.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/emu/builtins.h"
#include "tests/emu/emu.h"
#include "tests/emu/scheduler.h"
#include "tests/emu/tensor.h"

extern "C" {
#include "core/dtype.h"
}

namespace {

/* A barrier in shared memory. */
struct phase_barrier {
    uint32_t arrivals, missing, phase;
    int64_t bytes; /* that copies have still to bring */
};

struct load {
    emu_tensor tensor;
    uint32_t to, barrier;
    int at[5], offset[2];
    emu_place place;
};

struct store {
    emu_tensor tensor;
    uint32_t from;
    int at[5];
    emu_place place;
};

/* What a thread asked for, group by group; the last group is open. */
template <class work> struct groups {
    std::deque<std::vector<work>> closed;
    std::vector<work> open;
};

std::map<uint32_t, phase_barrier> barriers;
std::deque<load> loads;
groups<store> stores[EMU_MAX_THREADS];
groups<emu_product> products[EMU_MAX_THREADS];

/* A product, computed once for the 16 rows that a warp holds. */
struct warp_product {
    uint64_t a, b;
    int columns;
    float at[16][256];
};
struct warp_products {
    unsigned long first; /* number of the first product that is kept */
    std::deque<warp_product> kept;
};
warp_products computed[EMU_MAX_THREADS / 32];
bool used;                               /* something of all this, by the running block */
unsigned long finished[EMU_MAX_THREADS]; /* products of each thread */

phase_barrier &find_barrier(uint32_t address, emu_place at) {
    const auto found = barriers.find(address);
    if (found == barriers.end()) emu_fail("a barrier that was never initialised", at);
    return found->second;
}

void end_phase(phase_barrier &b) {
    if (b.missing || b.bytes) return;
    b.missing = b.arrivals;
    b.phase++;
}

bool anybody(uint32_t, uint32_t) { return true; }

bool phase_is_over(uint32_t barrier, uint32_t parity) { return (barriers[barrier].phase & 1) != parity; }

/* Calls visit(shared address, bytes in memory or NULL) for every element of a box. */
template <class visitor>
void visit_box(const emu_tensor &t, uint32_t first, const int *at, const int *offset, visitor visit) {
    const int64_t elements = emu_tensor_elements(&t);
    for (int64_t i = 0; i < elements; i++) {
        const uint32_t address = first + (uint32_t)i * (uint32_t)t.element_bytes;
        visit(emu_tensor_swizzled(&t, address), emu_tensor_at(&t, i, at, offset));
    }
}

void land(const load &l) {
    visit_box(l.tensor, l.to, l.at, l.offset, [&](uint32_t address, unsigned char *memory) {
        unsigned char *to = emu_shared(address, (uint32_t)l.tensor.element_bytes, l.place);
        if (memory)
            memcpy(to, memory, (size_t)l.tensor.element_bytes);
        else
            memset(to, 0, (size_t)l.tensor.element_bytes);
    });
    phase_barrier &b = barriers[l.barrier];
    b.bytes -= emu_tensor_elements(&l.tensor) * l.tensor.element_bytes;
    end_phase(b);
}

void finish(const store &s) {
    visit_box(s.tensor, s.from, s.at, nullptr, [&](uint32_t address, unsigned char *memory) {
        const unsigned char *from = emu_shared(address, (uint32_t)s.tensor.element_bytes, s.place);
        if (memory) memcpy(memory, from, (size_t)s.tensor.element_bytes);
    });
}

/* Finishes all closed groups but the last `left`. */
template <class work> std::vector<work> taken(groups<work> &of, int left) {
    std::vector<work> all;
    while (of.closed.size() > (size_t)left) {
        all.insert(all.end(), of.closed.front().begin(), of.closed.front().end());
        of.closed.pop_front();
    }
    return all;
}

/* ---- Matrix units ---------------------------------------------------------------------------- */

/* Every 16-bit number as a float. */
const float *floats(int is_bf16) {
    static std::vector<float> table[2];
    std::vector<float> &of = table[is_bf16 != 0];
    for (uint32_t bits = (uint32_t)of.size(); bits < 65536; bits++)
        of.push_back(is_bf16 ? f32_from_bf16((uint16_t)bits) : f32_from_f16((uint16_t)bits));
    return of.data();
}

/* Eight neighbours of an operand under the 128-byte swizzle: terms k on of row `row`, or rows on of term k where it is
 * transposed. */
void read_eight(float *to, int step, uint64_t word, int transposed, int is_bf16, int row, int k, emu_place at) {
    const uint32_t begin = (uint32_t)(word & 0x3FFF) << 4, leading = (uint32_t)(word >> 16 & 0x3FFF) << 4,
                   stride = (uint32_t)(word >> 32 & 0x3FFF) << 4;
    const unsigned r = (unsigned)row, c = (unsigned)k;
    uint32_t address = begin;
    if (transposed)
        address += r / 64 * leading + c / 8 * stride + c % 8 * 128 + r % 64 * 2;
    else
        address += r / 8 * stride + r % 8 * 128 + c * 2;
    uint16_t bits[8];
    memcpy(bits, emu_shared(address ^ ((address >> 7 & 7) << 4), 16, at), 16);
    const float *table = floats(is_bf16);
    for (int i = 0; i < 8; i++) to[i * step] = table[bits[i]];
}

/* to[16][256] = rows `first` to first + count of an operand, term by term. */
void read_operand(float (*to)[256], uint64_t word, int transposed, int is_bf16, int first, int count, emu_place at) {
    for (int row = 0; row < count; row += transposed ? 8 : 1) {
        for (int k = 0; k < 16; k += transposed ? 1 : 8)
            read_eight(&to[k][row], transposed ? 1 : 256, word, transposed, is_bf16, first + row, k, at);
    }
}

void compute(warp_product &made, const emu_product &p, emu_place at) {
    static float left[16][256], right[16][256];
    read_operand(left, p.a, p.transposed_a, p.is_bf16, (int)(threadIdx.x / 32 % 4) * 16, 16, at);
    read_operand(right, p.b, p.transposed_b, p.is_bf16, 0, p.columns, at);
    for (int row = 0; row < 16; row++) {
        for (int column = 0; column < p.columns; column += 8) {
            float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
            for (int k = 0; k < 16; k++) {
                for (int j = 0; j < 8; j++) sum[j] += left[k][row] * right[k][column + j];
            }
            memcpy(&made.at[row][column], sum, sizeof sum);
        }
    }
}

/* Product number `index` of the running thread's warp. */
const warp_product &find_product(unsigned long index, const emu_product &p, emu_place at) {
    warp_products &of = computed[threadIdx.x / 32];
    if (index < of.first + of.kept.size()) {
        const warp_product &found = of.kept[index - of.first];
        if (found.a != p.a || found.b != p.b || found.columns != p.columns)
            emu_fail("lanes of one warp that ask for different products", at);
        return found;
    }
    of.kept.emplace_back();
    warp_product &made = of.kept.back();
    made.a = p.a;
    made.b = p.b;
    made.columns = p.columns;
    compute(made, p, at);
    return made;
}

/* Forgets the products that all lanes of the warp have added. */
void forget(unsigned warp) {
    unsigned long least = finished[warp * 32];
    for (unsigned lane = 1; lane < 32; lane++) {
        if (finished[warp * 32 + lane] < least) least = finished[warp * 32 + lane];
    }
    warp_products &of = computed[warp];
    for (; of.first < least && !of.kept.empty(); of.first++) of.kept.pop_front();
}

void multiply(const emu_product &p, emu_place at) {
    const unsigned lane = threadIdx.x % 32;
    const warp_product &of = find_product(finished[threadIdx.x], p, at);
    for (int j = 0; j < p.columns / 2; j++) {
        const float sum = of.at[lane / 4 + (unsigned)(j % 4 / 2) * 8][j / 4 * 8 + (int)(lane % 4) * 2 + j % 2];
        p.sum[j] = p.add ? p.sum[j] + sum : sum;
    }
    finished[threadIdx.x]++;
}

} // namespace

/* ---- Barriers in shared memory ---------------------------------------------------------------- */

void emu_phase_init(uint32_t barrier, uint32_t arrivals, emu_place at) {
    if (barrier % 8) emu_fail("a barrier that is not at a multiple of 8", at);
    if (arrivals == 0) emu_fail("a barrier of no arrivals", at);
    memset(emu_shared(barrier, 8, at), 0, 8);
    used = true;
    barriers[barrier] = {arrivals, arrivals, 0, 0};
}

void emu_phase_arrive(uint32_t barrier, uint32_t bytes, emu_place at) {
    phase_barrier &b = find_barrier(barrier, at);
    if (b.missing == 0) emu_fail("an arrival too many at a barrier", at);
    b.bytes += bytes;
    b.missing--;
    end_phase(b);
}

void emu_phase_wait(uint32_t barrier, uint32_t parity, emu_place at) {
    (void)find_barrier(barrier, at);
    if (!phase_is_over(barrier, parity))
        emu_suspend_until(phase_is_over, barrier, parity, parity ? "phase 1 of a barrier" : "phase 0 of a barrier", at);
}

/* ---- The copy engine -------------------------------------------------------------------------- */

void emu_load(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int rank, const int *at, const int *offset,
              emu_place place) {
    load l = {};
    if (!emu_tensor_read(&l.tensor, map) || l.tensor.rank != rank || l.tensor.is_im2col != (offset != nullptr))
        emu_fail("a load by a tensor map of another kind", place);
    if (to % 128) emu_fail("a load to an address that is not a multiple of 128", place);
    (void)find_barrier(barrier, place);
    l.to = to;
    l.barrier = barrier;
    l.place = place;
    memcpy(l.at, at, (size_t)rank * sizeof *at);
    if (offset) memcpy(l.offset, offset, sizeof l.offset);
    const uint32_t bytes = (uint32_t)(emu_tensor_elements(&l.tensor) * l.tensor.element_bytes);
    memset(emu_shared(to, bytes, place), emu_poison, bytes);
    loads.push_back(l);
}

void emu_store(const cuda_tensor_map *map, uint32_t from, int rank, const int *at, emu_place place) {
    store s = {};
    if (!emu_tensor_read(&s.tensor, map) || s.tensor.rank != rank || s.tensor.is_im2col)
        emu_fail("a store by a tensor map of another kind", place);
    const uint32_t piece = 16u / s.tensor.element_bytes; /* a store moves 16 bytes or none, as an H200 showed */
    s.tensor.size[0] = (s.tensor.size[0] + piece - 1) / piece * piece;
    if (from % 128) emu_fail("a store from an address that is not a multiple of 128", place);
    s.from = from;
    s.place = place;
    memcpy(s.at, at, (size_t)rank * sizeof *at);
    stores[threadIdx.x].open.push_back(s);
    used = true;
}

void emu_store_commit(void) {
    stores[threadIdx.x].closed.push_back(stores[threadIdx.x].open);
    stores[threadIdx.x].open.clear();
}

void emu_store_wait(int left) {
    for (const store &s : taken(stores[threadIdx.x], left)) finish(s);
}

/* ---- The matrix units, seen by a kernel --------------------------------------------------------- */

void emu_wgmma(const emu_product &product, emu_place at) {
    if ((product.a >> 62) != 1 || (product.b >> 62) != 1) emu_fail("a matrix without the 128-byte swizzle", at);
    products[threadIdx.x].open.push_back(product);
    used = true;
}

void emu_wgmma_commit(void) {
    products[threadIdx.x].closed.push_back(products[threadIdx.x].open);
    products[threadIdx.x].open.clear();
}

void emu_wgmma_wait(int left, emu_place at) {
    emu_suspend_until(anybody, 0, 0, "its turn", at); /* others may break what the products read, if they can */
    for (const emu_product &p : taken(products[threadIdx.x], left)) multiply(p, at);
    forget(threadIdx.x / 32);
    emu_warp_meet(at);
}

/* ---- Seen by the scheduler ---------------------------------------------------------------------- */

void emu_units_reset(void) {
    if (!used) return;
    used = false;
    barriers.clear();
    loads.clear();
    for (unsigned t = 0; t < EMU_MAX_THREADS; t++) {
        stores[t] = {};
        products[t] = {};
        finished[t] = 0;
    }
    for (warp_products &of : computed) of = {};
}

bool emu_units_go_on(bool newest) {
    if (loads.empty()) return false;
    const load l = newest ? loads.back() : loads.front();
    if (newest)
        loads.pop_back();
    else
        loads.pop_front();
    land(l);
    return true;
}

std::string emu_units_leftover(void) {
    if (!used) return "";
    if (!loads.empty()) return "the block ended before a load had landed";
    for (const auto &b : barriers) {
        if (b.second.bytes) return "a barrier was told of bytes that no load brought";
    }
    for (unsigned t = 0; t < EMU_MAX_THREADS; t++) {
        const std::string thread = "thread " + std::to_string(t) + " ended before it waited for its ";
        if (!stores[t].open.empty() || !stores[t].closed.empty()) return thread + "stores";
        if (!products[t].open.empty() || !products[t].closed.empty()) return thread + "products";
    }
    return "";
}
