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
#include "data/image.h"

#define MAX_SCANS 100
#define BLOCKS_PER_BYTE 8 /* at most: the mean of an 8x8 block takes a bit at least */
#define BLOCK_PIXELS 64

typedef struct jpeg_job {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    size_t bytes;
    image *image;
    int no_memory;
    char reason[JMSG_LENGTH_MAX];
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

static void on_progress(j_common_ptr any) {
    jpeg_job *job = any->client_data;
    if (job->jpeg.input_scan_number > MAX_SCANS) refuse(job, "more than 100 scans");
}

static void check_header(jpeg_job *job) {
    struct jpeg_decompress_struct *jpeg = &job->jpeg;
    if (image_check_size("JPEG", jpeg->image_height, jpeg->image_width)) refuse(job, "too many pixels");
    int64_t pixels = (int64_t)jpeg->image_height * jpeg->image_width;
    if (pixels / BLOCK_PIXELS / BLOCKS_PER_BYTE > (int64_t)job->bytes)
        refuse(job, "more pixels in the header than the file can hold");
    if (jpeg->arith_code) refuse(job, "arithmetic coding is not supported");
    if (jpeg->num_components != 1 && jpeg->num_components != 3) refuse(job, "expected grey or colour");
    jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

static int read_image(jpeg_job *job, const void *data) {
    struct jpeg_decompress_struct *jpeg = &job->jpeg;
    image *i = job->image;
    if (setjmp(job->back)) return 0;
    jpeg_create_decompress(jpeg);
    jpeg->progress = &job->progress;
    jpeg_mem_src(jpeg, data, (unsigned long)job->bytes);
    jpeg_read_header(jpeg, TRUE);
    check_header(job);
    jpeg_start_decompress(jpeg);
    *i = (image){
        .height = jpeg->output_height, .width = jpeg->output_width, .channels = jpeg->output_components, .bits = 8};
    size_t row_bytes = (size_t)(i->width * i->channels);
    if (memory_alloc((size_t)i->height, row_bytes, "an image", &i->pixels)) {
        job->no_memory = 1;
        refuse(job, "no memory");
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = (JSAMPROW)i->pixels + jpeg->output_scanline * row_bytes;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return 1;
}

braid_status jpeg_decode(const void *data, size_t bytes, image *out) {
    jpeg_job job = {.bytes = bytes, .image = out, .progress.progress_monitor = on_progress};
    *out = (image){0};
    if (bytes == 0) return fail(BRAID_ERROR_DATA, "JPEG: expected an image, got an empty file");
    job.jpeg.err = jpeg_std_error(&job.errors);
    job.jpeg.client_data = &job;
    job.errors.error_exit = on_error;
    job.errors.emit_message = on_message;
    job.errors.output_message = on_output;
    int done = read_image(&job, data);
    size_t left = job.jpeg.src ? job.jpeg.src->bytes_in_buffer : 0;
    jpeg_destroy_decompress(&job.jpeg);
    if (done) return BRAID_OK;
    image_free(out);
    if (job.no_memory) return fail(BRAID_ERROR_MEMORY, "no memory to read a JPEG image");
    return fail(BRAID_ERROR_DATA, "JPEG: %s (at byte %zu of %zu)", job.reason, left < bytes ? bytes - left : bytes,
                bytes);
}
