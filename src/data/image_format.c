/*
 * What a file that is no image of ours is, by its first bytes, and which tool makes one of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "data/image_format.h"

static const struct {
    const char *bytes;
    size_t count, at;
    const char *name, *tool;
} formats[] = {{"II*\0", 4, 0, "TIFF", "gdal_translate -of PNG, or convert"},
               {"MM\0*", 4, 0, "TIFF", "gdal_translate -of PNG, or convert"},
               {"\x76\x2f\x31\x01", 4, 0, "OpenEXR", "numpy.save of what OpenEXR or OpenCV reads"},
               {"WEBP", 4, 8, "WebP", "dwebp, or convert"},
               {"BM", 2, 0, "BMP", "convert"},
               {"GIF8", 4, 0, "GIF", "convert"},
               {"ftyp", 4, 4, "HEIF or AVIF", "heif-convert"},
               {"P5", 2, 0, "PGM", "convert"},
               {"P6", 2, 0, "PPM", "convert"},
               {"Pf", 2, 0, "PFM", "numpy.save of what OpenCV reads"},
               {"\x89HDF", 4, 0, "HDF5", "numpy.save of what h5py reads"},
               {"PK\x03\x04", 4, 0, "a zip archive or npz", "numpy.save of each array"},
               {"MATLAB", 6, 0, "MATLAB", "numpy.save of what scipy.io.loadmat reads"}};

braid_status image_refuse_format(const void *data, size_t bytes) {
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        if (bytes >= formats[f].at + formats[f].count &&
            !memcmp((const char *)data + formats[f].at, formats[f].bytes, formats[f].count))
            return fail(BRAID_ERROR_DATA, "expected PNG, JPEG or npy, got %s; to make one: %s", formats[f].name,
                        formats[f].tool);
    return fail(BRAID_ERROR_DATA, "expected PNG, JPEG or npy, got a file of %zu bytes that begins like none of them",
                bytes);
}
