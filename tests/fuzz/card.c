/*
 * Fuzz target: the card of a set, which model files carry along. What is read can be used to open files with; what is
 * refused is told in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "braid_lab.h"
#include "core/memory.h"
#include "core/status.h"
#include "tests/support/mutate.h"

#define MOST_TEXT 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const char *const words[] = {"rgb=/nosuch/0.png", "depth=/nosuch/0.png"};
    char text[MOST_TEXT];
    braid_data *set = NULL;
    size_t length = bytes < sizeof text ? bytes : sizeof text - 1;
    memcpy(text, data, length);
    text[length] = 0;
    for (int count = 1; count <= 2; count++) {
        braid_status status = braid_data_open_files(text, &(braid_data_files){.words = words, .count = count}, &set);
        MUTATE_MUST(status == BRAID_OK || *fail_message());
        const braid_data_info *info = braid_data_describe(set);
        if (info) {
            MUTATE_MUST(info->streams >= 1 && info->streams <= BRAID_MAX_STREAMS && info->classes >= 0);
            for (int i = 0; i < info->streams; i++) MUTATE_MUST(info->channels[i] >= 1);
        }
        braid_data_destroy(set);
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#define RGB "{\"bits\":8,\"channels\":3,\"mean\":[0.5,0.25,1],\"name\":\"rgb\",\"std\":[0.25,0.5,1e-6]}"
#define DEPTH "{\"bits\":16,\"channels\":1,\"mean\":[0.25],\"name\":\"depth\",\"std\":[0.125]}"
#define SAMPLES ",\"samples\":{\"test\":[9,1],\"train\":[45,4294967295],\"val\":[9,0]}"
static const char *const seeds[] = {
    "{\"classes\":[\"bathroom\",\"a \\\"]\"],\"kind\":\"sunrgbd\",\"resize\":false" SAMPLES
    ",\"size\":[24,32],\"streams\":[" RGB "," DEPTH "]}",
    "{\"classes\":[\"dress\"],\"kind\":\"fmnist86\"" SAMPLES
    ",\"size\":[86,86],\"streams\":[{\"channels\":1,\"mean\":[0],\"name\":\"rgb\",\"std\":[0.00392156862745098]}]}",
    "{\"classes\":[\"normal\",\"abnormal\"],\"frames\":5,\"kind\":\"mimii\",\"mels\":64,\"rate\":16000" SAMPLES
    ",\"size\":[1,1],\"streams\":[{\"channels\":320,\"name\":\"rgb\"}]}",
    "{}", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 40000); }
#endif
