/*
 * PNG by libpng. libpng leaves through longjmp: everything that has to be cleaned up is in one struct that outlives
 * the jump, and one function sets it. Ancillary chunks are skipped unread (colour profiles are a known source of
 * warnings), critical ones are checked to the last byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "data/image.h"
#include "data/limits.h"

#define MAX_CHUNK_BYTES (8 << 20)
#define MAX_CHUNKS 128
#define MAX_INFLATION 1040 /* of zlib: 1032, and some for the row filters and the last bytes */
#define COMPRESSION 3      /* of what is written: fast */

typedef struct png_job {
    png_structp png;
    png_infop info;
    const unsigned char *data; /* what is read */
    size_t bytes, used;
    image *image;
    unsigned char *written; /* what was written */
    size_t written_bytes, written_room;
    int no_memory;
    braid_status status; /* of a limit that was passed; its reason is the message of this thread */
    char reason[256];
} png_job;

static png_voidp allocate(png_structp png, png_alloc_size_t bytes) {
    png_job *job = png_get_mem_ptr(png);
    void *memory = NULL;
    if (memory_alloc(bytes, 1, "a PNG image", &memory) != BRAID_OK) job->no_memory = 1;
    return memory;
}

static void release(png_structp png, png_voidp memory) {
    (void)png;
    memory_free(memory);
}

static void on_error(png_structp png, png_const_charp reason) {
    png_job *job = png_get_error_ptr(png);
    snprintf(job->reason, sizeof job->reason, "%s", reason);
    png_longjmp(png, 1);
}

/* But not from within zlib, which would leave its own memory behind: it fails by itself when it gets none. */
static void on_warning(png_structp png, png_const_charp reason) {
    const png_job *job = png_get_error_ptr(png);
    if (!job->no_memory) png_error(png, reason);
}

/* Leaves where a call of the limits has failed. */
static void keep_limits(png_job *job, braid_status status) {
    job->status = status;
    if (status) png_error(job->png, fail_message());
}

/* A few compressed bytes may be thousands of pixels. */
static void read_bytes(png_structp png, png_bytep out, size_t bytes) {
    png_job *job = png_get_io_ptr(png);
    keep_limits(job, limits_work(bytes * MAX_INFLATION));
    if (bytes > job->bytes - job->used) png_error(png, "the file ends too early");
    memcpy(out, job->data + job->used, bytes);
    job->used += bytes;
}

static braid_status failure(const png_job *job) {
    if (job->no_memory) return fail(BRAID_ERROR_MEMORY, "no memory to read a PNG image");
    return fail(job->status ? job->status : BRAID_ERROR_DATA, "PNG: %s (at byte %zu of %zu)", job->reason, job->used,
                job->bytes);
}

/* The rows may not be more than the file can hold: a lie in the header is refused before it costs memory. */
static void check_header(png_job *job) {
    int64_t height = png_get_image_height(job->png, job->info), width = png_get_image_width(job->png, job->info);
    keep_limits(job, image_check_size("image", height, width));
    size_t raw, most;
    if (!size_mul(png_get_rowbytes(job->png, job->info), (size_t)height, &raw) ||
        !size_mul(job->bytes, MAX_INFLATION, &most) || raw > most)
        png_error(job->png, "more pixels in the header than the file can hold");
}

/* Returns how often each row is read. */
static int ask_for_plain_pixels(png_job *job) {
    png_structp png = job->png;
    if (png_get_color_type(png, job->info) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (png_get_color_type(png, job->info) == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, job->info) < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    int has_alpha = (png_get_color_type(png, job->info) & PNG_COLOR_MASK_ALPHA) != 0;
    if (has_alpha || png_get_valid(png, job->info, PNG_INFO_tRNS)) png_set_strip_alpha(png); /* of a palette, too */
    if (png_get_bit_depth(png, job->info) == 16) png_set_swap(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, job->info);
    return passes;
}

static void allocate_image(png_job *job) {
    image *i = job->image;
    size_t row_bytes = png_get_rowbytes(job->png, job->info), all;
    i->height = png_get_image_height(job->png, job->info);
    i->width = png_get_image_width(job->png, job->info);
    i->channels = png_get_channels(job->png, job->info);
    i->bits = png_get_bit_depth(job->png, job->info);
    if (size_mul((size_t)i->height, row_bytes, &all)) keep_limits(job, image_take(i, all));
    if (memory_alloc((size_t)i->height, row_bytes, "an image", &i->pixels)) {
        job->no_memory = 1;
        png_error(job->png, "no memory");
    }
}

static void read_rows(png_job *job, int passes) {
    const image *i = job->image;
    size_t row_bytes = png_get_rowbytes(job->png, job->info);
    for (int pass = 0; pass < passes; pass++)
        for (int64_t y = 0; y < i->height; y++) {
            png_read_row(job->png, (png_bytep)i->pixels + (size_t)y * row_bytes, NULL);
            keep_limits(job, limits_work(row_bytes));
        }
}

static int read_image(png_job *job) {
    if (setjmp(png_jmpbuf(job->png))) return 0;
    png_set_read_fn(job->png, job, read_bytes);
    png_set_user_limits(job->png, IMAGE_MAX_SIDE, IMAGE_MAX_SIDE);
    png_set_chunk_malloc_max(job->png, MAX_CHUNK_BYTES);
    png_set_chunk_cache_max(job->png, MAX_CHUNKS);
    png_set_keep_unknown_chunks(job->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_crc_action(job->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_read_info(job->png, job->info);
    check_header(job);
    int passes = ask_for_plain_pixels(job);
    allocate_image(job);
    read_rows(job, passes);
    png_read_end(job->png, NULL);
    return 1;
}

braid_status png_decode(const void *data, size_t bytes, image *out) {
    png_job job = {.data = data, .bytes = bytes, .image = out, .reason = "could not begin"};
    *out = (image){0};
    TRY(limits_begin_file(bytes));
    job.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning, &job, allocate, release);
    if (job.png) job.info = png_create_info_struct(job.png);
    int done = job.png && job.info && read_image(&job);
    if (!job.png || !job.info) job.no_memory = 1;
    png_destroy_read_struct(&job.png, &job.info, NULL);
    if (done) return BRAID_OK;
    image_free(out);
    return failure(&job);
}

/* ---- Writing ------------------------------------------------------------------------------ */

static void write_bytes(png_structp png, png_bytep data, size_t bytes) {
    png_job *job = png_get_io_ptr(png);
    size_t wanted;
    if (!size_add(job->written_bytes, bytes, &wanted)) png_error(png, "too large");
    if (wanted > job->written_room) {
        void *larger;
        size_t room = 2 * wanted;
        if (memory_alloc(room, 1, "a PNG file", &larger)) png_error(png, "no memory");
        if (job->written_bytes) memcpy(larger, job->written, job->written_bytes);
        memory_free(job->written);
        job->written = larger;
        job->written_room = room;
    }
    memcpy(job->written + job->written_bytes, data, bytes);
    job->written_bytes = wanted;
}

static void flush_bytes(png_structp png) { (void)png; }

static int write_image(png_job *job) {
    const image *i = job->image;
    if (setjmp(png_jmpbuf(job->png))) return 0;
    png_set_write_fn(job->png, job, write_bytes, flush_bytes);
    png_set_compression_level(job->png, COMPRESSION);
    png_set_IHDR(job->png, job->info, (png_uint_32)i->width, (png_uint_32)i->height, i->bits,
                 i->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(job->png, job->info);
    if (i->bits == 16) png_set_swap(job->png);
    size_t row_bytes = png_get_rowbytes(job->png, job->info);
    for (int64_t y = 0; y < i->height; y++) png_write_row(job->png, (png_const_bytep)i->pixels + (size_t)y * row_bytes);
    png_write_end(job->png, NULL);
    return 1;
}

braid_status png_encode(const image *from, void **data, size_t *bytes) {
    image copy = *from;
    png_job job = {.image = &copy};
    *data = NULL;
    *bytes = 0;
    TRY(image_check_size("PNG", from->height, from->width));
    job.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning, &job, allocate, release);
    if (job.png) job.info = png_create_info_struct(job.png);
    int done = job.png && job.info && write_image(&job);
    png_destroy_write_struct(&job.png, &job.info);
    if (!done) {
        memory_free(job.written);
        return fail(BRAID_ERROR_MEMORY, "no memory to write a PNG image");
    }
    *data = job.written;
    *bytes = job.written_bytes;
    return BRAID_OK;
}
