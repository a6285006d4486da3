/*
 * JPEG by libjpeg-turbo. As in png.c, all that has to be cleaned up outlives the jump. A file of a thousand scans, or
 * one whose header promises more blocks than its bytes can hold, is refused before it costs time or memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "data/exif.h"
#include "data/image.h"
#include "data/limits.h"

#define MAX_SCANS 100
#define BLOCKS_PER_BYTE 8 /* at most: the mean of an 8x8 block takes a bit at least */
#define BLOCK_PIXELS 64
#define EXIF_MARKER (JPEG_APP0 + 1)
#define EXIF_MAX_BYTES 65535

typedef struct jpeg_job {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    size_t bytes;
    image *image;
    int no_memory, orientation;
    braid_status status; /* of a limit that was passed */
    char reason[JMSG_LENGTH_MAX + 256];
} jpeg_job;

static void on_error(j_common_ptr any) {
    jpeg_job *job = any->client_data;
    any->err->format_message(any, job->reason);
    longjmp(job->back, 1);
}

/* Level -1 is a warning: damaged data that libjpeg would paper over. Others are remarks. */
static void on_message(j_common_ptr any, int level) {
    if (level < 0) on_error(any);
}

static void on_output(j_common_ptr any) { (void)any; }

static void refuse(jpeg_job *job, const char *reason) {
    snprintf(job->reason, sizeof job->reason, "%s", reason);
    longjmp(job->back, 1);
}

/* Leaves where a call of the limits has failed. */
static void keep_limits(jpeg_job *job, braid_status status) {
    job->status = status;
    if (status) refuse(job, fail_message());
}

/* Comes with every row of blocks of every scan. */
static void on_progress(j_common_ptr any) {
    jpeg_job *job = any->client_data;
    if (job->jpeg.input_scan_number > MAX_SCANS) refuse(job, "more than 100 scans");
    keep_limits(job, limits_work((size_t)job->jpeg.image_width * DCTSIZE));
}

static void check_header(jpeg_job *job) {
    struct jpeg_decompress_struct *jpeg = &job->jpeg;
    keep_limits(job, image_check_size("image", jpeg->image_height, jpeg->image_width));
    int64_t pixels = (int64_t)jpeg->image_height * jpeg->image_width;
    if (pixels / BLOCK_PIXELS / BLOCKS_PER_BYTE > (int64_t)job->bytes)
        refuse(job, "more pixels in the header than the file can hold");
    if (jpeg->arith_code) refuse(job, "arithmetic coding is not supported");
    if (jpeg->num_components == 4) refuse(job, "expected grey or RGB, got CMYK: convert IN -colorspace sRGB OUT.jpg");
    if (jpeg->num_components != 1 && jpeg->num_components != 3) refuse(job, "expected grey or colour");
    jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

/* The pixels; of a file with several scans also the coefficients of all blocks, of two bytes. */
static size_t memory_of(jpeg_job *job) {
    struct jpeg_decompress_struct *jpeg = &job->jpeg;
    size_t values = (size_t)jpeg->image_height * jpeg->image_width * (size_t)jpeg->num_components;
    return jpeg_has_multiple_scans(jpeg) ? 3 * values : values;
}

static int read_image(jpeg_job *job, const void *data) {
    struct jpeg_decompress_struct *jpeg = &job->jpeg;
    image *i = job->image;
    if (setjmp(job->back)) return 0;
    jpeg_create_decompress(jpeg);
    jpeg->progress = &job->progress;
    jpeg_mem_src(jpeg, data, (unsigned long)job->bytes);
    jpeg_save_markers(jpeg, EXIF_MARKER, EXIF_MAX_BYTES);
    jpeg_read_header(jpeg, TRUE);
    check_header(job);
    keep_limits(job, image_take(i, memory_of(job)));
    job->orientation = 1;
    for (jpeg_saved_marker_ptr m = jpeg->marker_list; m && job->orientation == 1; m = m->next)
        job->orientation = exif_orientation(m->data, m->data_length);
    jpeg_start_decompress(jpeg);
    i->height = jpeg->output_height;
    i->width = jpeg->output_width;
    i->channels = jpeg->output_components;
    i->bits = 8;
    size_t row_bytes = (size_t)(i->width * i->channels);
    if (memory_alloc((size_t)i->height, row_bytes, "an image", &i->pixels)) {
        job->no_memory = 1;
        refuse(job, "no memory");
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = (JSAMPROW)i->pixels + jpeg->output_scanline * row_bytes;
        jpeg_read_scanlines(jpeg, &row, 1);
        keep_limits(job, limits_work(row_bytes));
    }
    jpeg_finish_decompress(jpeg);
    return 1;
}

braid_status jpeg_decode(const void *data, size_t bytes, image *out) {
    jpeg_job job = {.bytes = bytes, .image = out, .progress.progress_monitor = on_progress};
    *out = (image){0};
    if (bytes == 0) return fail(BRAID_ERROR_DATA, "JPEG: expected an image, got an empty file");
    TRY(limits_begin_file(bytes));
    job.jpeg.err = jpeg_std_error(&job.errors);
    job.jpeg.client_data = &job;
    job.errors.error_exit = on_error;
    job.errors.emit_message = on_message;
    job.errors.output_message = on_output;
    int done = read_image(&job, data);
    size_t left = job.jpeg.src ? job.jpeg.src->bytes_in_buffer : 0;
    jpeg_destroy_decompress(&job.jpeg);
    braid_status turned = done ? exif_turn(out, job.orientation) : BRAID_OK;
    if (done && !turned) return BRAID_OK;
    image_free(out);
    if (turned) return turned;
    if (job.no_memory) return fail(BRAID_ERROR_MEMORY, "no memory to read a JPEG image");
    return fail(job.status ? job.status : BRAID_ERROR_DATA, "JPEG: %s (at byte %zu of %zu)", job.reason,
                left < bytes ? bytes - left : bytes, bytes);
}
