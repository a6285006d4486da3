/*
 * What a trainer keeps in its folder: two generations of last.safetensors (everything that the run needs to go on)
 * and of best.safetensors (the same, at the best epoch), metrics.jsonl and TensorBoard's event files
 * (trainer_record.c). The row of an epoch is on the disk before the checkpoint that has it behind it; rows behind a
 * checkpoint are dropped on resuming.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/json.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

#define BEST "best.safetensors"
#define METRICS "metrics.jsonl"
#define NOTE_BYTES 1024
#define SAVE_TRIES 3
#define FOLDER_TRIES 10

/* ---- The folder --------------------------------------------------------------------------- */

/* A folder that cannot be written to is found out before anything is computed. Leaves no file. */
static braid_status try_to_write(const braid_trainer *t) {
    files_output out;
    TRY(files_output_begin(&out, t->last.newest));
    braid_status status = files_output_write(&out, 0, "", 1);
    braid_status ended = files_output_end(&out, status ? status : BRAID_ERROR_DISK); /* as one that is not wanted */
    return status ? ended : BRAID_OK;
}

/* Two runs in one folder would tear each other's files. */
static braid_status lock_folder(braid_trainer *t) {
    braid_status status = files_lock_folder(&t->lock, t->options.folder);
    return status == BRAID_ERROR_ARGUMENT
               ? fail(status,
                      "%.200s: expected a folder that no run is at work in, got one whose run has not ended; "
                      "wait for it, stop it, or take another folder",
                      t->options.folder)
               : status;
}

/* Makes the folder and locks it. One that is removed in between, as by another run that made it and was refused, is
 * made again: a lock on what has no name keeps nobody out. */
static braid_status take_folder(braid_trainer *t) {
    const char *folder = t->options.folder;
    const fail_kept kept = fail_keep();
    for (int tries = 0; tries < FOLDER_TRIES; tries++) {
        TRY(files_make_folder(folder, &t->made_folders));
        braid_status status = lock_folder(t);
        bool is_there = status ? access(folder, F_OK) == 0 : files_lock_is_of(&t->lock, folder);
        if (is_there && status == BRAID_OK) fail_put_back(&kept);
        if (is_there) return status;
        files_unlock(&t->lock);
    }
    struct stat info;
    if (lstat(folder, &info) == 0 && S_ISLNK(info.st_mode))
        return fail(BRAID_ERROR_DISK, "%.200s: expected a folder, got a link that leads nowhere", folder);
    return fail(BRAID_ERROR_DISK, "%.200s: expected a folder that stays, got one that somebody removed %d times",
                folder, FOLDER_TRIES);
}

braid_status trainer_check_folder(const braid_trainer *t) {
    if (!t->options.folder || files_lock_is_of(&t->lock, t->options.folder)) return BRAID_OK;
    return fail(BRAID_ERROR_DISK,
                "%.200s: expected the folder that the run began in, got %s: it was moved or removed while the run was "
                "at work; nothing is saved; give what was moved its name back, and go on from its last checkpoint with "
                "--resume",
                t->options.folder, access(t->options.folder, F_OK) == 0 ? "another" : "none");
}

int braid_trainer_has_folder(const braid_trainer *t) {
    return t && t->options.folder && files_lock_is_of(&t->lock, t->options.folder);
}

/* Moments that the optimiser will have; those of a model that has them already count, too. */
static int moments_of(const braid_trainer *t) {
    const braid_plan_request *s = &t->options.step;
    int is_sgd = s->optimiser == BRAID_OPTIMISER_SGD, is_rmsprop = s->optimiser == BRAID_OPTIMISER_RMSPROP;
    int wanted = is_sgd || is_rmsprop ? is_rmsprop + (s->momentum > 0) : 2;
    int there = (t->model->m != NULL) + (t->model->v != NULL);
    return wanted > there ? wanted : there;
}

static bool has_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

/* A run keeps two generations of its last epoch and of its best, and writes one more beside them. A disk without room
 * for those of them that are not there yet is found out before anything is computed or written. */
static braid_status need_room_for_run(const braid_trainer *t) {
    const char *const kept[] = {t->last.newest, t->last.previous, t->best_files.newest, t->best_files.previous};
    size_t bytes = checkpoint_bytes(t->model, moments_of(t)), room = bytes / 10 + bytes;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!has_bytes(kept[i]) && !size_add(room, bytes, &room))
            return fail(BRAID_ERROR_MEMORY, "checkpoint: expected a size that fits in 64 bits");
    return files_need_room(t->options.folder, room, "the checkpoints of a run");
}

static braid_status need_room_for_save(const braid_trainer *t) {
    size_t bytes = checkpoint_bytes(t->model, moments_of(t));
    return files_need_room(t->options.folder, bytes / 10 + bytes, "a checkpoint");
}

/* A new run writes over no best epoch and no metrics of one whose last checkpoint is gone. *over: it begins again what
 * one began that came to no checkpoint. */
static braid_status refuse_remains(const braid_trainer *t, const char *metrics, bool *over) {
    const char *folder = t->options.folder;
    const char *best = has_bytes(t->best_files.newest) ? t->best_files.newest : t->best_files.previous;
    *over = has_bytes(metrics);
    if (has_bytes(best))
        return fail(BRAID_ERROR_ARGUMENT,
                    "%.200s: expected a folder without a run, got one with %s and no " TRAINER_LAST
                    "; resume it, take another folder, or type: rm -f %.200s/best*.safetensors %.200s/" METRICS,
                    folder, strrchr(best, '/') + 1, folder, folder);
    if (*over && !history_is_first_row(metrics))
        return fail(BRAID_ERROR_ARGUMENT,
                    "%.200s: expected a folder without a run, got one with " METRICS " and no " TRAINER_LAST
                    "; take another folder, or type: rm -f %.200s/" METRICS,
                    folder, folder);
    return BRAID_OK;
}

braid_status trainer_open(braid_trainer *t) {
    const char *folder = t->options.folder;
    char *path = NULL;
    bool over = false;
    if (folder) {
        TRY(take_folder(t));
        TRY(generations_open(&t->last, folder, TRAINER_LAST, checkpoint_check, NULL));
        TRY(generations_open(&t->best_files, folder, BEST, checkpoint_check, NULL));
        TRY(need_room_for_run(t));
    }
    TRY(t->options.resume ? trainer_resume(t) : trainer_begin(t));
    if (!folder) return BRAID_OK;
    TRY(try_to_write(t));
    TRY(files_join(folder, METRICS, &path));
    history_place place = {t->at.epoch, t->options.resume ? t->at.step : -1};
    t->saved = (history_place){t->at.epoch, t->at.step};
    t->made_metrics = access(path, F_OK) != 0;
    braid_status status = t->options.resume ? BRAID_OK : refuse_remains(t, path, &over);
    if (!status) status = history_open(&t->history, path, place);
    memory_free(path);
    /* of an epoch that has begun, what was told of its end will be told again */
    int64_t first_event = t->options.resume ? t->at.step + (t->at.train.batches == 0) : over;
    if (!status) status = events_open(&t->events, folder, first_event, events_now());
    return status;
}

static bool has_checkpoint(const braid_trainer *t) {
    const char *const paths[] = {t->last.newest, t->last.previous, t->best_files.newest, t->best_files.previous};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], F_OK) == 0 || errno != ENOENT) return true;
    return false;
}

/* Of a run that ended before its first save: metrics without a row, if it made them, and its events. */
static void remove_remains(const braid_trainer *t) {
    const char *metrics = t->history.path;
    struct stat info;
    const fail_kept kept = fail_keep();
    if (t->options.resume || !metrics || has_checkpoint(t)) return;
    bool is_there = stat(metrics, &info) == 0;
    if (is_there && info.st_size > 0) return;
    braid_status status = is_there && t->made_metrics ? files_remove(metrics) : BRAID_OK;
    if (t->events.path && files_remove(t->events.path) != BRAID_OK) status = BRAID_ERROR_DISK;
    if (status) fail_put_back(&kept); /* then they stay */
}

void trainer_close(braid_trainer *t) {
    bool is_ours = t->lock.held && files_lock_is_of(&t->lock, t->options.folder); /* else another run may be at work */
    if (is_ours) remove_remains(t);
    generations_close(&t->last);
    generations_close(&t->best_files);
    history_close(&t->history);
    events_close(&t->events);
    if (is_ours) files_unmake_folder(t->options.folder, t->made_folders); /* one with anything in it stays */
    files_unlock(&t->lock);
    memory_free(t->schedule_given);
}

/* ---- Saving ------------------------------------------------------------------------------- */

typedef struct saving {
    const braid_trainer *trainer;
    braid_model *model;
    const json_t *state;
    generations *files;
    history *history;
} saving;

static braid_status put(const char *path, void *user) {
    const saving *s = user;
    return checkpoint_save(s->model, path, s->state);
}

static void pause_for(int ms) {
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0) continue;
}

/* A disk that refuses is asked again: on a network it may be back in a moment. */
static braid_status retry(const braid_trainer *t, braid_status (*act)(void *user), void *user) {
    braid_status status = BRAID_ERROR_DISK;
    const fail_kept kept = fail_keep();
    for (int tries = 0; tries < SAVE_TRIES && status == BRAID_ERROR_DISK; tries++) {
        if (tries > 0) pause_for(t->pause_ms << (tries - 1));
        status = act(user);
    }
    if (status == BRAID_OK) fail_put_back(&kept);
    return status;
}

static braid_status save_once(void *user) {
    const saving *s = user;
    TRY(trainer_check_folder(s->trainer));
    TRY(need_room_for_save(s->trainer));
    TRY(history_sync(s->history));
    return generations_save(s->files, put, user);
}

/* Numbers that are not finite: the metrics end where the last checkpoint does. */
static braid_status refuse(braid_trainer *t) {
    char why[NOTE_BYTES];
    braid_status status = trainer_refuse_save(t);
    snprintf(why, sizeof why, "%s", fail_message());
    if (files_lock_is_of(&t->lock, t->options.folder))
        (void)!history_drop(&t->history, t->saved); /* else they are dropped when the run goes on */
    return fail(status, "%s", why);
}

braid_status trainer_prove_save(braid_trainer *t) {
    braid_status status = t->options.folder ? trainer_prove(t) : BRAID_OK;
    return status == BRAID_ERROR_DIVERGED ? refuse(t) : status;
}

static braid_status save_as(braid_trainer *t, generations *files, bool *failed) {
    saving s = {.trainer = t, .model = t->model, .files = files, .history = &t->history};
    json_t *state;
    if (!t->options.folder) return BRAID_OK;
    TRY(trainer_catch_up(t));
    TRY(trainer_prove_save(t));
    TRY(trainer_make_state(t, &state));
    s.state = state;
    braid_status status = retry(t, save_once, &s);
    json_decref(state);
    *failed = status == BRAID_ERROR_DISK;
    if (status == BRAID_ERROR_DIVERGED) return refuse(t);
    if (!status && files == &t->last) t->saved = (history_place){t->at.epoch, t->at.step};
    return status;
}

braid_status braid_trainer_save(braid_trainer *t) {
    if (!t) return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_save: expected a trainer, got NULL");
    if (!t->options.folder)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_trainer_save: expected a trainer with a folder, got one without; set braid_train_options."
                    "folder, or save the parameters with braid_model_save");
    TRY(trainer_check_whole(t, "braid_trainer_save"));
    if (t->gathered) return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_save: expected to be called between two updates");
    if (t->restored)
        return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_save: expected the model of the last step, got the best one");
    if (t->diverged)
        return fail(BRAID_ERROR_DIVERGED,
                    "braid_trainer_save: expected a run of finite numbers, got one that diverged");
    return save_as(t, &t->last, &t->last_failed);
}

/* A refusal of the disk is told, and no failure; any other is handed up, and so is that of a folder which is not the
 * run's any more: no save would come of going on. */
static braid_status go_on(braid_trainer *t, braid_status status, const fail_kept *kept) {
    char text[NOTE_BYTES];
    if (status != BRAID_ERROR_DISK || !files_lock_is_of(&t->lock, t->options.folder)) return status;
    snprintf(text, sizeof text, "not saved: %s; the run goes on and will save again", fail_message());
    trainer_tell(t, &(braid_train_event){.kind = BRAID_TRAIN_EVENT_NOTE, .text = text});
    fail_put_back(kept);
    return BRAID_OK;
}

braid_status trainer_save(braid_trainer *t) { return t->options.folder ? braid_trainer_save(t) : BRAID_OK; }

braid_status trainer_save_midway(braid_trainer *t) {
    const fail_kept kept = fail_keep();
    return go_on(t, trainer_save(t), &kept);
}

braid_status trainer_save_best(braid_trainer *t) {
    const fail_kept kept = fail_keep();
    t->best_failed = false; /* an older one that was refused is the best no more */
    return go_on(t, save_as(t, &t->best_files, &t->best_failed), &kept);
}

static braid_status sync_events(void *user) {
    braid_trainer *t = user;
    TRY(trainer_check_folder(t));
    return events_sync(&t->events);
}

braid_status trainer_settle(braid_trainer *t) {
    if (t->last_failed) TRY(braid_trainer_save(t));
    if (t->best_failed)
        return fail(BRAID_ERROR_DISK, "%s: the disk refused the best epoch; what a resumed run needs is saved",
                    t->best_files.newest);
    return t->options.folder ? retry(t, sync_events, t) : BRAID_OK;
}

braid_status trainer_restore_best(braid_trainer *t) {
    const char *path;
    bool fell_back;
    const fail_kept kept = fail_keep();
    TRY(trainer_check_folder(t));
    TRY(generations_find(&t->best_files, &path, &fell_back));
    if (fell_back) trainer_tell_and_forget(t, &kept);
    if (!path) return BRAID_OK;
    TRY(braid_model_load(t->model, path));
    t->restored = true;
    return BRAID_OK;
}
