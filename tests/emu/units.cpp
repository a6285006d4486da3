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

/* Compiled twice where the compiler can choose at the start; both give the same bits. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define EMU_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define EMU_WIDE
#endif

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

/* What a thread asked for, in order: groups that were closed, by their ends, and behind them the open one. */
template <class work> struct groups {
    std::vector<work> all;
    std::vector<size_t> ends;
    void close() { ends.push_back(all.size()); }
    void clear() {
        all.clear();
        ends.clear();
    }
    /* How much is in the closed groups but the last `left`. */
    size_t due(int left) const { return ends.size() > (size_t)left ? ends[ends.size() - (size_t)left - 1] : 0; }
    /* Forgets the first `count`, which are whole groups. */
    void forget(size_t count) {
        size_t gone = 0;
        while (gone < ends.size() && ends[gone] <= count) gone++;
        ends.erase(ends.begin(), ends.begin() + (std::ptrdiff_t)gone);
        for (size_t &end : ends) end -= count;
        all.erase(all.begin(), all.begin() + (std::ptrdiff_t)count);
    }
};

std::map<uint32_t, phase_barrier> barriers;
std::deque<load> loads;
groups<store> stores[EMU_MAX_THREADS];
groups<emu_product> products[EMU_MAX_THREADS];
bool used; /* something of all this, by the running block */

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

/* The pieces of 16 bytes of a box: visit(shared address, memory of the first element, first and last + 1 of the
 * elements that are inside of the tensor). */
template <class visitor>
void visit_box(const emu_tensor &t, uint32_t first, const int *at, const int *offset, visitor visit) {
    const int64_t rows = emu_tensor_rows(&t), piece = 16 / t.element_bytes;
    for (int64_t row = 0; row < rows; row++) {
        unsigned char *memory = emu_tensor_row(&t, row, at, offset);
        for (int64_t i = 0; i < t.box[0]; i += piece) {
            const int64_t before = -(at[0] + i), inside = (int64_t)t.size[0] - (at[0] + i);
            const int64_t from = !memory || before > piece ? piece : before > 0 ? before : 0;
            const int64_t to = !memory || inside < from ? from : inside < piece ? inside : piece;
            const uint32_t address = first + (uint32_t)((row * t.box[0] + i) * t.element_bytes);
            visit(emu_tensor_swizzled(&t, address), memory + i * t.element_bytes, (size_t)from, (size_t)to);
        }
    }
}

void land(const load &l) {
    const size_t bytes = l.tensor.element_bytes;
    visit_box(l.tensor, l.to, l.at, l.offset, [&](uint32_t address, unsigned char *memory, size_t from, size_t to) {
        unsigned char *piece = emu_shared(address, 16, l.place);
        if (to - from < 16 / bytes) memset(piece, 0, 16);
        if (to > from) memcpy(piece + from * bytes, memory + from * bytes, (to - from) * bytes);
    });
    phase_barrier &b = barriers[l.barrier];
    b.bytes -= emu_tensor_bytes(&l.tensor);
    end_phase(b);
}

void finish(const store &s) {
    const size_t bytes = s.tensor.element_bytes;
    visit_box(s.tensor, s.from, s.at, nullptr, [&](uint32_t address, unsigned char *memory, size_t from, size_t to) {
        const unsigned char *piece = emu_shared(address, 16, s.place);
        if (to > from) memcpy(memory + from * bytes, piece + from * bytes, (to - from) * bytes);
    });
}

/* ---- Matrix units ---------------------------------------------------------------------------- */

/* Eight neighbours of an operand under the 128-byte swizzle: terms k on of row `row`, or rows on of term k where it is
 * transposed. */
void read_eight(float *to, int step, uint64_t word, int transposed, const float *values, int row, int k, emu_place at) {
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
    for (int i = 0; i < 8; i++) to[i * step] = values[bits[i]];
}

/* to[16][256] = rows `first` to first + count of an operand, term by term. */
void read_operand(float (*to)[256], uint64_t word, int transposed, int is_bf16, int first, int count, emu_place at) {
    const float *values = is_bf16 ? emu_bf16_values : emu_f16_values;
    for (int row = 0; row < count; row += transposed ? 8 : 1) {
        for (int k = 0; k < 16; k += transposed ? 1 : 8)
            read_eight(&to[k][row], transposed ? 1 : 256, word, transposed, values, first + row, k, at);
    }
}

/* to[16][256] = the 16 rows of an operand that the lanes of a warp hold in registers, term by term. */
void read_held(float (*to)[256], const emu_product *const *lanes) {
    const float *values = lanes[0]->is_bf16 ? emu_bf16_values : emu_f16_values;
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < 8; i++) { /* half i % 2 of word i / 2 */
            const unsigned row = lane / 4 + i / 2 % 2 * 8, k = lane % 4 * 2 + i / 4 * 8 + i % 2;
            to[k][row] = values[lanes[lane]->words[i / 2] >> i % 2 * 16 & 0xFFFF];
        }
    }
}

typedef float eight_floats __attribute__((vector_size(32)));

/* sum[16][256] += the products of left[k][row] and right[k][column], which are added up first. */
EMU_WIDE void add_product(float (*sum)[256], const float (*left)[256], const float (*right)[256], int columns) {
    for (int at = 0; at < columns / 8 * 4; at++) { /* four rows by eight columns */
        const int row = at % 4 * 4, column = at / 4 * 8;
        eight_floats product[4] = {};
        for (int k = 0; k < 16; k++) {
            eight_floats terms;
            memcpy(&terms, &right[k][column], sizeof terms);
            for (int i = 0; i < 4; i++) product[i] += left[k][row + i] * terms;
        }
        for (int i = 0; i < 4; i++) {
            eight_floats whole;
            memcpy(&whole, &sum[row + i][column], sizeof whole);
            whole += product[i];
            memcpy(&sum[row + i][column], &whole, sizeof whole);
        }
    }
}

/* The sums of a warp's 16 rows, as its lanes hold them. */
struct warp_sums {
    float at[16][256];
    int columns; /* 0: none */
    float *of[32];
};

float *place_of(warp_sums &sums, unsigned lane, int j) {
    return &sums.at[lane / 4 + (unsigned)(j % 4 / 2) * 8][j / 4 * 8 + (int)(lane % 4) * 2];
}

void take_sums(warp_sums &sums, const emu_product *const *lanes) {
    sums.columns = lanes[0]->columns;
    for (unsigned lane = 0; lane < 32; lane++) {
        sums.of[lane] = lanes[lane]->sum;
        for (int j = 0; j < sums.columns / 2; j += 2) memcpy(place_of(sums, lane, j), sums.of[lane] + j, 8);
    }
}

void give_sums(warp_sums &sums) {
    for (unsigned lane = 0; lane < 32; lane++) {
        for (int j = 0; j < sums.columns / 2; j += 2) memcpy(sums.of[lane] + j, place_of(sums, lane, j), 8);
    }
    sums.columns = 0;
}

void multiply(warp_sums &sums, const emu_product *const *lanes, emu_place at) {
    static float left[16][256], right[16][256];
    const emu_product &p = *lanes[0];
    if (sums.columns != p.columns || sums.of[0] != p.sum) {
        give_sums(sums);
        take_sums(sums, lanes);
    }
    for (unsigned lane = 0; lane < 32; lane++) {
        const emu_product &other = *lanes[lane];
        if (other.a != p.a || other.b != p.b || other.holds_a != p.holds_a || other.columns != p.columns ||
            other.add != p.add || other.sum != sums.of[lane])
            emu_fail("lanes of one warp that ask for different products", at);
    }
    if (p.holds_a)
        read_held(left, lanes);
    else
        read_operand(left, p.a, p.transposed_a, p.is_bf16, (int)(threadIdx.x / 32 % 4) * 16, 16, at);
    read_operand(right, p.b, p.transposed_b, p.is_bf16, 0, p.columns, at);
    for (int row = 0; row < 16 && !p.add; row++) memset(sums.at[row], 0, (size_t)p.columns * sizeof(float));
    add_product(sums.at, left, right, p.columns);
}

/* Computes the products of the closed groups but the last `left` of all lanes of a warp. */
void multiply_all(unsigned warp, int left, emu_place at) {
    static warp_sums sums;
    const groups<emu_product> *of = &products[warp * 32];
    const size_t count = of->due(left);
    for (unsigned lane = 1; lane < 32; lane++) {
        if (of[lane].due(left) != count) emu_fail("lanes of one warp that ask for different products", at);
    }
    sums.columns = 0;
    for (size_t i = 0; i < count; i++) {
        const emu_product *lanes[32];
        for (unsigned lane = 0; lane < 32; lane++) lanes[lane] = &of[lane].all[i];
        multiply(sums, lanes, at);
    }
    give_sums(sums);
    for (unsigned lane = 0; lane < 32; lane++) products[warp * 32 + lane].forget(count);
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
    if (at[0] * l.tensor.element_bytes % 16)
        emu_fail("a load that begins inside 16 bytes: no instruction to an H200", place);
    (void)find_barrier(barrier, place);
    l.to = to;
    l.barrier = barrier;
    l.place = place;
    memcpy(l.at, at, (size_t)rank * sizeof *at);
    if (offset) memcpy(l.offset, offset, sizeof l.offset);
    const uint32_t bytes = (uint32_t)emu_tensor_bytes(&l.tensor);
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
    if (at[0] * s.tensor.element_bytes % 16)
        emu_fail("a store that begins inside 16 bytes: no instruction to an H200", place);
    s.from = from;
    s.place = place;
    memcpy(s.at, at, (size_t)rank * sizeof *at);
    stores[threadIdx.x].all.push_back(s);
    used = true;
}

void emu_store_commit(void) { stores[threadIdx.x].close(); }

void emu_store_wait(int left) {
    groups<store> &mine = stores[threadIdx.x];
    const size_t count = mine.due(left);
    for (size_t i = 0; i < count; i++) finish(mine.all[i]);
    mine.forget(count);
}

/* ---- The matrix units, seen by a kernel --------------------------------------------------------- */

void emu_wgmma(const emu_product &product, emu_place at) {
    if ((!product.holds_a && (product.a >> 62) != 1) || (product.b >> 62) != 1)
        emu_fail("a matrix without the 128-byte swizzle", at);
    products[threadIdx.x].all.push_back(product);
    used = true;
}

void emu_wgmma_commit(void) { products[threadIdx.x].close(); }

/* The last lane to come computes for the warp; its threads hold still then, in their places. */
void emu_wgmma_wait(int left, emu_place at) {
    emu_suspend_until(anybody, 0, 0, "its turn", at); /* others may break what the products read, if they can */
    if (emu_warp_is_last()) multiply_all(threadIdx.x / 32, left, at);
    emu_warp_meet(at);
}

/* ---- Seen by the scheduler ---------------------------------------------------------------------- */

void emu_units_reset(void) {
    if (!used) return;
    used = false;
    barriers.clear();
    loads.clear();
    for (unsigned t = 0; t < EMU_MAX_THREADS; t++) {
        stores[t].clear();
        products[t].clear();
    }
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
        if (stores[t].all.empty() && products[t].all.empty()) continue;
        return "thread " + std::to_string(t) + " ended before it waited for its " +
               (products[t].all.empty() ? "stores" : "products");
    }
    return "";
}
