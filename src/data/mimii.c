/*
 * MIMII: folders of machines, each with normal/ and abnormal/ sounds. A sample is a window of 5 frames of the log-mel
 * spectrogram, mel-major (index = mel * 5 + frame), which is how the networks of this set were trained. Of each machine
 * the first normal sounds, as many as there are abnormal ones, and all abnormal ones are the test; the windows of the
 * other normal sounds are training and, one in ten at random, validation. Spectrograms are made when first needed and
 * kept.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/files.h"
#include "core/memory.h"
#include "data/data.h"
#include "data/lists.h"
#include "data/mel.h"
#include "data/order.h"
#include "data/wav.h"

#define N_FFT 1024
#define HOP 512
#define N_MELS 64
#define FRAMES 5
#define MAX_RATE 1000000
#define MAX_DEPTH 3 /* folders above normal/ and abnormal/ */

enum { NORMAL, ABNORMAL, CLASSES };
static const char *const class_names[CLASSES] = {"normal", "abnormal"};
static const char *const file_endings[] = {".wav", NULL};

typedef struct sound {
    char *path;
    int label;
    int64_t windows;
    float *features; /* [frames][N_MELS], NULL until first read */
} sound;

typedef struct sound_list {
    sound *sounds;
    int64_t count, room;
} sound_list;

typedef struct set_state {
    const char *root; /* as of the set */
    sound_list train, test;
    uint32_t *windows[BRAID_SPLIT_COUNT]; /* of train and val: the window among all of the training sounds */
    int64_t *first_windows;               /* of every training sound, and the end */
    mel_options options;
    mel *front_end;
    pthread_mutex_t lock; /* of the features */
} set_state;

static void forget_sounds(sound_list *list) {
    for (int64_t i = 0; i < list->count; i++) {
        memory_free(list->sounds[i].path);
        memory_free(list->sounds[i].features);
    }
    memory_free(list->sounds);
}

static void forget(braid_data *d) {
    set_state *state = d->state;
    if (!state) return;
    forget_sounds(&state->train);
    forget_sounds(&state->test);
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) memory_free(state->windows[s]);
    memory_free(state->first_windows);
    mel_destroy(state->front_end);
    pthread_mutex_destroy(&state->lock);
    memory_free(state);
}

/* ---- Folders ------------------------------------------------------------------------------ */

/* Calls `visit` for every folder down to MAX_DEPTH that holds normal/. A folder that cannot be read is a problem of the
 * scan. */
typedef braid_status machine_visit(braid_data *d, const char *machine, problems *found);

static int holds_sounds(const char *folder) {
    char *normal;
    if (files_join(folder, "normal", &normal) != BRAID_OK) return 0;
    int there = folder_exists(normal);
    memory_free(normal);
    return there;
}

static braid_status walk(braid_data *d, const char *folder, int depth, machine_visit *visit, problems *found) {
    folder_list list;
    if (holds_sounds(folder)) return visit(d, folder, found);
    if (depth == MAX_DEPTH || !folder_exists(folder)) return BRAID_OK;
    braid_status status = folder_read(d->root, folder, &list);
    if (status == BRAID_ERROR_DATA) return d->state ? problems_catch(found, folder, status) : BRAID_OK;
    for (int64_t i = 0; i < list.count && !status; i++) {
        char *path;
        status = files_join(folder, list.names[i], &path);
        if (!status) status = walk(d, path, depth + 1, visit, found);
        memory_free(path);
    }
    folder_free(&list);
    return status;
}

static braid_status note_match(braid_data *d, const char *machine, problems *found) {
    (void)d, (void)machine;
    found->count++;
    return BRAID_OK;
}

static int matches(braid_data *d) {
    problems machines = {0};
    return walk(d, d->folder, 0, note_match, &machines) == BRAID_OK && machines.count > 0;
}

static int is_wav(const char *name) {
    size_t length = strlen(name);
    return length > 4 && !strcasecmp(name + length - 4, ".wav");
}

/* ---- Sounds ------------------------------------------------------------------------------- */

/* The windows of a sound from its header. All sounds have the rate of the first. */
static braid_status count_windows(set_state *state, const char *path, const char *header, size_t bytes,
                                  size_t file_bytes, int64_t *windows) {
    wav_info info;
    *windows = 0;
    TRY(wav_look(header, bytes, file_bytes, &info));
    if (!state->options.rate) state->options.rate = info.rate;
    if (info.rate != state->options.rate)
        return fail(BRAID_ERROR_DATA, "%s: expected %d samples a second as in all other sounds, got %d", path,
                    state->options.rate, info.rate);
    *windows = mel_frames(&state->options, info.frames) - FRAMES + 1;
    if (*windows >= 1) return BRAID_OK;
    *windows = 0;
    return fail(BRAID_ERROR_DATA, "%s: expected %d frames or more, got a sound of %lld samples", path, FRAMES,
                (long long)info.frames);
}

static braid_status look_at_sound(set_state *state, const char *path, int64_t *windows) {
    files_input in;
    void *header = NULL;
    TRY(files_input_open_within(&in, state->root, path, BRAID_ERROR_DATA));
    size_t bytes = in.bytes < WAV_HEADER_BYTES ? in.bytes : WAV_HEADER_BYTES;
    braid_status status = memory_alloc(bytes, 1, "the header of a sound", &header);
    if (!status) status = files_input_read(&in, 0, header, bytes);
    if (!status) status = count_windows(state, path, header, bytes, in.bytes, windows);
    memory_free(header);
    files_input_close(&in);
    return status;
}

static braid_status add_path(set_state *state, sound_list *list, const char *path, int label, problems *found) {
    if (list->count == list->room) {
        void *larger;
        int64_t wanted = list->room ? 2 * list->room : 64;
        TRY(memory_calloc((size_t)wanted, sizeof *list->sounds, "sounds", &larger));
        if (list->count) memcpy(larger, list->sounds, (size_t)list->count * sizeof *list->sounds);
        memory_free(list->sounds);
        list->sounds = larger;
        list->room = wanted;
    }
    sound *s = &list->sounds[list->count];
    *s = (sound){.label = label};
    TRY(memory_copy_text(path, &s->path));
    list->count++;
    return problems_catch(found, s->path, look_at_sound(state, s->path, &s->windows));
}

static braid_status add_sound(set_state *state, sound_list *list, const char *folder, const char *name, int label,
                              problems *found) {
    char *path;
    TRY(files_join(folder, name, &path));
    braid_status status = add_path(state, list, path, label, found);
    memory_free(path);
    return status;
}

static braid_status keep_sounds(folder_list *list) {
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++) {
        if (is_wav(list->names[i]))
            list->names[kept++] = list->names[i];
        else
            memory_free(list->names[i]);
    }
    list->count = kept;
    return BRAID_OK;
}

static braid_status add_machine_lists(set_state *state, const char *normal_folder, const char *abnormal_folder,
                                      const folder_list *normal, const folder_list *abnormal, problems *found) {
    for (int64_t i = 0; i < normal->count; i++)
        TRY(add_sound(state, i < abnormal->count ? &state->test : &state->train, normal_folder, normal->names[i],
                      NORMAL, found));
    for (int64_t i = 0; i < abnormal->count; i++)
        TRY(add_sound(state, &state->test, abnormal_folder, abnormal->names[i], ABNORMAL, found));
    if (normal->count == 0) return problems_add(found, normal_folder, "expected .wav files, got none");
    return BRAID_OK;
}

static braid_status add_machine(braid_data *d, const char *machine, problems *found) {
    char *folders[CLASSES] = {NULL, NULL};
    folder_list lists[CLASSES] = {{0}, {0}};
    braid_status status = BRAID_OK;
    for (int c = 0; c < CLASSES && !status; c++) {
        status = files_join(machine, class_names[c], &folders[c]);
        if (!status) status = problems_catch(found, folders[c], folder_read(d->root, folders[c], &lists[c]));
        if (!status) status = keep_sounds(&lists[c]);
    }
    if (!status) status = add_machine_lists(d->state, folders[0], folders[1], &lists[0], &lists[1], found);
    for (int c = 0; c < CLASSES; c++) {
        memory_free(folders[c]);
        folder_free(&lists[c]);
    }
    return status;
}

/* ---- Splits ------------------------------------------------------------------------------- */

static braid_status sum_windows(const sound_list *list, int64_t **firsts) {
    void *memory;
    TRY(memory_alloc((size_t)list->count + 1, sizeof **firsts, "windows of sounds", &memory));
    *firsts = memory;
    (*firsts)[0] = 0;
    for (int64_t i = 0; i < list->count; i++) (*firsts)[i + 1] = (*firsts)[i] + list->sounds[i].windows;
    return BRAID_OK;
}

static braid_status make_test(braid_data *d) {
    set_state *state = d->state;
    data_split *split = &d->split[BRAID_SPLIT_TEST];
    void *memory;
    TRY(sum_windows(&state->test, &split->first_samples));
    int64_t samples = split->first_samples[state->test.count];
    TRY(memory_alloc((size_t)samples, sizeof *split->labels, "labels", &memory));
    split->labels = memory;
    for (int64_t i = 0; i < state->test.count; i++)
        for (int64_t k = split->first_samples[i]; k < split->first_samples[i + 1]; k++)
            split->labels[k] = state->test.sounds[i].label;
    d->info.samples[BRAID_SPLIT_TEST] = samples;
    d->info.files[BRAID_SPLIT_TEST] = state->test.count;
    return BRAID_OK;
}

/* The windows of the training sounds that a mask marks with `mark`, in order: a sound's samples stay together. */
static braid_status choose_windows(braid_data *d, braid_split to, const uint8_t *mask, int mark, int64_t count) {
    set_state *state = d->state;
    data_split *split = &d->split[to];
    void *windows, *labels, *firsts;
    int64_t used = 0;
    TRY(memory_alloc((size_t)count, sizeof(uint32_t), "windows", &windows));
    state->windows[to] = windows;
    TRY(memory_calloc((size_t)count, sizeof *split->labels, "labels", &labels)); /* all normal */
    split->labels = labels;
    TRY(memory_alloc((size_t)state->train.count + 1, sizeof *split->first_samples, "samples of sounds", &firsts));
    split->first_samples = firsts;
    for (int64_t i = 0; i < state->train.count; i++) {
        split->first_samples[i] = used;
        for (int64_t w = state->first_windows[i]; w < state->first_windows[i + 1]; w++)
            if (mask[w] == mark) state->windows[to][used++] = (uint32_t)w;
    }
    split->first_samples[state->train.count] = used;
    d->info.samples[to] = used;
    d->info.files[to] = used ? state->train.count : 0;
    return BRAID_OK;
}

static braid_status split_training(braid_data *d, int64_t total, uint8_t *mask) {
    int64_t validation;
    TRY(order_hold_out(mask, total, &validation));
    TRY(choose_windows(d, BRAID_SPLIT_TRAIN, mask, 0, total - validation));
    return choose_windows(d, BRAID_SPLIT_VAL, mask, 1, validation);
}

static braid_status make_training(braid_data *d) {
    set_state *state = d->state;
    void *mask;
    TRY(sum_windows(&state->train, &state->first_windows));
    int64_t total = state->first_windows[state->train.count];
    if (total > UINT32_MAX) return fail(BRAID_ERROR_DATA, "%s: expected fewer than 2^32 windows", d->folder);
    TRY(memory_alloc((size_t)total, 1, "a mask", &mask));
    braid_status status = split_training(d, total, mask);
    memory_free(mask);
    return status;
}

static braid_status create_state(braid_data *d) {
    TRY(memory_calloc(1, sizeof(set_state), "a data set", &d->state));
    set_state *state = d->state;
    pthread_mutex_init(&state->lock, NULL);
    state->root = d->root;
    state->options = (mel_options){.n_fft = N_FFT, .hop = HOP, .n_mels = N_MELS};
    return BRAID_OK;
}

static braid_status scan(braid_data *d, const braid_data_options *options, problems *found) {
    TRY(create_state(d));
    set_state *state = d->state;
    if (options->size[0] || options->size[1])
        return fail(BRAID_ERROR_ARGUMENT, "size: expected none for mimii, whose samples are vectors");
    d->info.dtype = BRAID_DTYPE_F32;
    d->info.has_statistics = 1; /* a network on sounds needs none */
    d->info.streams = 1;
    d->info.size[0] = d->info.size[1] = 1;
    d->info.channels[0] = N_MELS * FRAMES;
    snprintf(d->stream_names[0], sizeof d->stream_names[0], "mel");
    d->info.classes = CLASSES;
    TRY(class_names_copy(class_names, CLASSES, &d->class_names));
    TRY(walk(d, d->folder, 0, add_machine, found));
    if (!state->options.rate) state->options.rate = 16000; /* no sound could be read: the problems say so */
    TRY(make_test(d));
    TRY(make_training(d));
    return mel_create(&state->options, &state->front_end);
}

/* ---- Samples ------------------------------------------------------------------------------ */

/* Sounds of finite numbers that are too large have a spectrum that is none. */
static braid_status check_features(const sound *s, const float *features) {
    for (int64_t i = 0; i < (s->windows + FRAMES - 1) * N_MELS; i++)
        if (!isfinite(features[i]))
            return fail(BRAID_ERROR_DATA, "%s: expected a spectrum of finite numbers, got %g in frame %lld: too loud",
                        s->path, (double)features[i], (long long)(i / N_MELS));
    return BRAID_OK;
}

static braid_status read_sound(const set_state *state, const sound *s, float **features) {
    char *file;
    float *samples = NULL;
    size_t bytes;
    wav_info info;
    void *memory = NULL;
    *features = NULL;
    TRY(files_read_within(state->root, s->path, WAV_MAX_BYTES, BRAID_ERROR_DATA, &file, &bytes));
    braid_status status = wav_read(file, bytes, &info, &samples);
    if (status) status = fail(status, "%s: %s", s->path, fail_message());
    if (!status && mel_frames(&state->options, info.frames) - FRAMES + 1 != s->windows)
        status = fail(BRAID_ERROR_DATA, "%s: expected the length that it had when the set was opened", s->path);
    if (!status)
        status = memory_alloc((size_t)(s->windows + FRAMES - 1), N_MELS * sizeof **features, "a spectrogram", &memory);
    if (!status) {
        status = mel_run(state->front_end, samples, info.frames, memory);
        if (status) status = fail(status, "%s: WAV: %s", s->path, fail_message());
    }
    if (!status) status = check_features(s, memory);
    memory_free(samples);
    memory_free(file);
    if (status)
        memory_free(memory);
    else
        *features = memory;
    return status;
}

/* The spectrogram of a sound, made by the first who needs it; where two do at once, one of them is dropped. */
static braid_status features_of(set_state *state, sound *s, const float **features) {
    float *made;
    pthread_mutex_lock(&state->lock);
    *features = s->features;
    pthread_mutex_unlock(&state->lock);
    if (*features) return BRAID_OK;
    TRY(read_sound(state, s, &made));
    pthread_mutex_lock(&state->lock);
    float *unused = s->features ? made : NULL;
    if (!s->features) s->features = made;
    *features = s->features;
    pthread_mutex_unlock(&state->lock);
    memory_free(unused);
    return BRAID_OK;
}

/* The sound of a sample and the window in it. */
static sound *find_sound(const braid_data *d, braid_split split, int64_t sample, int64_t *window) {
    set_state *state = d->state;
    int64_t file = data_file_of(d, split, sample);
    if (split == BRAID_SPLIT_TEST) {
        *window = sample - d->split[split].first_samples[file];
        return &state->test.sounds[file];
    }
    *window = state->windows[split][sample] - state->first_windows[file];
    return &state->train.sounds[file];
}

static braid_status read_sample(const braid_data *d, braid_split split, int64_t sample, void *const *streams) {
    int64_t window;
    const float *features;
    float *out = streams[0];
    sound *s = find_sound(d, split, sample, &window);
    TRY(features_of(d->state, s, &features));
    for (int m = 0; m < N_MELS; m++)
        for (int f = 0; f < FRAMES; f++) out[m * FRAMES + f] = features[(window + f) * N_MELS + m];
    return BRAID_OK;
}

static braid_status path(const braid_data *d, braid_split split, int64_t sample, int stream, char **out) {
    int64_t window;
    (void)stream;
    return memory_copy_text(find_sound(d, split, sample, &window)->path, out);
}

static braid_status check_sounds(const set_state *state, const sound_list *list, problems *found,
                                 check_progress *progress) {
    for (int64_t i = 0; i < list->count; i++) {
        const sound *s = &list->sounds[i];
        float *features = NULL;
        TRY(check_step(progress, s->path));
        if (s->windows == 0) continue; /* noted by the scan */
        TRY(problems_catch(found, s->path, read_sound(state, s, &features)));
        memory_free(features);
    }
    return BRAID_OK;
}

static braid_status check(const braid_data *d, problems *found, check_progress *progress) {
    const set_state *state = d->state;
    progress->total = state->train.count + state->test.count;
    TRY(check_sounds(state, &state->train, found, progress));
    return check_sounds(state, &state->test, found, progress);
}

/* ---- Files --------------------------------------------------------------------------------- */

static void describe(const braid_data *d, json_t *card) {
    const set_state *state = d->state;
    json_object_set_new(card, "rate", json_integer(state->options.rate));
}

static braid_status take_files(braid_data *d, const json_t *card, int resize) {
    problems found = {0};
    int64_t rate;
    TRY(create_state(d));
    set_state *state = d->state;
    TRY(json_get_integer(card, "rate", &rate));
    if (resize) return fail(BRAID_ERROR_ARGUMENT, "resize: expected with images, got sounds");
    if (rate < 1 || rate > MAX_RATE || d->info.streams != 1 || d->info.channels[0] != N_MELS * FRAMES)
        return fail(BRAID_ERROR_DATA, "card of the data: expected a rate of 1 to %d and one stream of %d numbers",
                    MAX_RATE, N_MELS * FRAMES);
    state->options.rate = (int)rate;
    for (int64_t k = 0; k < d->files.count; k++)
        TRY(add_path(state, &state->test, d->files.stream[0].paths[k], NORMAL, &found));
    if (found.count) return fail(BRAID_ERROR_DATA, "%s", found.first);
    TRY(make_test(d));
    return mel_create(&state->options, &state->front_end);
}

const data_kind data_mimii = {.name = "mimii",
                              .endings = file_endings,
                              .matches = matches,
                              .scan = scan,
                              .read = read_sample,
                              .path = path,
                              .check = check,
                              .forget = forget,
                              .describe = describe,
                              .take_files = take_files};
