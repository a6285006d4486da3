/*
 * The model of a disk. It goes through the log call by call and keeps two pictures of the same files: what programs see
 * (names and data in memory) and what is on the disk. After each call a part of what is not on the disk yet may get
 * there, and when the power goes a last part of it. What then is on the disk is written as files and folders, as a
 * check of the file system (fsck) leaves them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/rng.h"

#define SECTOR ((size_t)512)
#define PAGE ((size_t)4096)
#define MOST_NAMES 1024
#define MOST_NODES 1024
#define MOST_CHANGES 4096
#define MOST_FDS 1024 /* as in the log */
#define NOBODY (-1)
#define ROOT 0
#define OFTEN 0.3 /* of a disk that lies at times */

enum { DIRTY = 1, STORED = 2 }; /* a sector that is to be brought; one that was brought at least once */

/* A file or a folder. */
typedef struct node {
    bool is_folder, is_known; /* the disk has its inode */
    bool is_dirty;            /* it, or its length, is to be brought */
    int names, touched;       /* ext4: the changes of names up to this one have to do with it */
    size_t bytes, disk_bytes, room;
    char *cache, *disk;
    unsigned char *sectors;
} node;

typedef struct name {
    const char *path;
    int node, disk_node;
    bool is_dirty;
} name;

/* ext4: a change that waits in the journal. */
typedef struct change {
    int name, node;
    bool goes_on; /* the next one belongs to it */
} change;

/* How much of what is not on the disk gets there. */
typedef struct share {
    double names, lengths, data;
} share;

typedef struct disk {
    disk_cut cut;
    rng numbers;
    node nodes[MOST_NODES];
    name names[MOST_NAMES];
    change changes[MOST_CHANGES];
    int fds[MOST_FDS];
    int node_count, name_count, change_count, committed;
} disk;

static void give_up(const char *why) {
    fprintf(stderr, "disk: %s\n", why);
    abort();
}

static bool happens(disk *d, double chance) { return chance > 0 && (chance >= 1 || rng_uniform(&d->numbers) < chance); }

/* None, a half or all. */
static double draw_share(disk *d) { return (double)rng_between(&d->numbers, 0, 2) / 2; }

/* ---- Files in memory ----------------------------------------------------------------------- */

static size_t sectors_of(size_t bytes) { return (bytes + SECTOR - 1) / SECTOR; }

static void *grow(void *memory, size_t used, size_t room) {
    char *larger = realloc(memory, room);
    if (!larger) give_up("no memory");
    memset(larger + used, 0, room - used);
    return larger;
}

static void need_room(node *n, size_t bytes) {
    if (bytes <= n->room) return;
    size_t room = (bytes + PAGE - 1) / PAGE * PAGE * 2;
    n->cache = grow(n->cache, n->room, room);
    n->disk = grow(n->disk, n->room, room);
    n->sectors = grow(n->sectors, n->room / SECTOR, room / SECTOR);
    n->room = room;
}

static int new_node(disk *d, bool is_folder) {
    if (d->node_count == MOST_NODES) give_up("too many files");
    d->nodes[d->node_count] = (node){.is_folder = is_folder, .is_dirty = true};
    return d->node_count++;
}

/* The system writes whole pages. */
static void write_node(node *n, size_t offset, const char *data, size_t bytes) {
    need_room(n, offset + bytes);
    if (bytes) memcpy(n->cache + offset, data, bytes);
    if (offset + bytes > n->bytes) n->bytes = offset + bytes;
    size_t end = (offset + bytes + PAGE - 1) / PAGE * PAGE;
    for (size_t s = offset / PAGE * PAGE / SECTOR; s < sectors_of(n->bytes) && s < end / SECTOR; s++)
        n->sectors[s] |= DIRTY;
    n->is_dirty = true;
}

/* ---- Names in memory ----------------------------------------------------------------------- */

static int find_name(disk *d, const char *path) {
    for (int i = 0; i < d->name_count; i++)
        if (strcmp(d->names[i].path, path) == 0) return i;
    if (d->name_count == MOST_NAMES) give_up("too many names");
    d->names[d->name_count] = (name){path, NOBODY, NOBODY, false};
    return d->name_count++;
}

static int node_at(disk *d, const char *path) {
    if (strcmp(path, ".") == 0) return ROOT;
    return d->names[find_name(d, path)].node;
}

static size_t parent_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* The folder that a name is in. */
static int parent_of(disk *d, const char *path) {
    size_t bytes = parent_bytes(path);
    for (int i = 0; i < d->name_count && bytes; i++)
        if (strlen(d->names[i].path) == bytes && strncmp(d->names[i].path, path, bytes) == 0) return d->names[i].node;
    return ROOT;
}

/* Gives a name another file, or none. */
static void set_name(disk *d, const char *path, int to, bool goes_on) {
    int i = find_name(d, path), old = d->names[i].node;
    if (d->change_count == MOST_CHANGES) give_up("too many changes of names");
    d->changes[d->change_count++] = (change){i, to, goes_on};
    d->names[i].node = to;
    d->names[i].is_dirty = true;
    int folder = parent_of(d, path);
    d->nodes[folder].touched = d->change_count;
    if (old != NOBODY) {
        d->nodes[old].touched = d->change_count;
        d->nodes[old].names--;
    }
    if (to == NOBODY) return;
    d->nodes[to].touched = d->change_count;
    d->nodes[to].names++;
}

static void rename_to(disk *d, const char *from, const char *to) {
    int moved = node_at(d, from);
    if (moved == node_at(d, to)) return; /* two names of one file both stay */
    set_name(d, to, moved, true);
    set_name(d, from, NOBODY, false);
    d->nodes[moved].touched = d->change_count;
}

/* ---- To the disk --------------------------------------------------------------------------- */

static void bring_name(name *n) {
    n->disk_node = n->node;
    n->is_dirty = false;
}

static void bring_length(node *n) {
    n->is_known = true;
    n->disk_bytes = n->bytes;
    n->is_dirty = false;
}

static void bring_sector(node *n, size_t s) {
    memcpy(n->disk + s * SECTOR, n->cache + s * SECTOR, SECTOR);
    n->sectors[s] = STORED;
}

/* The journal's changes up to one. */
static void commit(disk *d, int count) {
    while (count > 0 && count < d->change_count && d->changes[count - 1].goes_on) count++;
    for (; d->committed < count; d->committed++) {
        const change *c = &d->changes[d->committed];
        d->names[c->name].disk_node = c->node;
        if (c->node != NOBODY) d->nodes[c->node].is_known = true;
    }
}

static void bring_names(disk *d, double chance) {
    if (d->cut.kind == DISK_EXT4 && chance >= 1) commit(d, d->change_count);
    if (d->cut.kind == DISK_EXT4 && happens(d, chance))
        commit(d, (int)rng_between(&d->numbers, d->committed, d->change_count));
    for (int i = 0; i < d->name_count && d->cut.kind == DISK_EXT2; i++)
        if (d->names[i].is_dirty && happens(d, chance)) bring_name(&d->names[i]);
}

static void bring_some(disk *d, share s) {
    bring_names(d, s.names);
    for (int i = 0; i < d->node_count; i++) {
        node *n = &d->nodes[i];
        if (n->is_dirty && happens(d, s.lengths)) bring_length(n);
        for (size_t k = 0; k < sectors_of(n->bytes) && s.data > 0; k++)
            if ((n->sectors[k] & DIRTY) && happens(d, s.data)) bring_sector(n, k);
    }
}

static void sync_node(disk *d, int which) {
    node *n = &d->nodes[which];
    for (size_t k = 0; k < sectors_of(n->bytes); k++)
        if (n->sectors[k] & DIRTY) bring_sector(n, k);
    bring_length(n);
    if (d->cut.kind == DISK_EXT4 && n->touched > d->committed) commit(d, n->touched);
    for (int i = 0; i < d->name_count && d->cut.kind == DISK_EXT2 && n->is_folder; i++)
        if (d->names[i].is_dirty && parent_of(d, d->names[i].path) == which) bring_name(&d->names[i]);
}

/* A page that could not be written counts as written. */
static void fail_to_sync(disk *d, node *n) {
    double lost = d->cut.everything ? 0 : draw_share(d);
    for (size_t k = 0; k < sectors_of(n->bytes); k++)
        if (happens(d, lost)) n->sectors[k] &= (unsigned char)~DIRTY;
}

static bool is_a_lie(disk *d, const node *n) {
    switch (d->cut.lies) {
        case DISK_LIES_AT_TIMES: return happens(d, OFTEN);
        case DISK_LIES_OF_FILES: return !n->is_folder;
        case DISK_LIES_OF_FOLDERS: return n->is_folder;
        default: return false;
    }
}

/* ---- Calls --------------------------------------------------------------------------------- */

static void make(disk *d, const disk_call *call, bool is_folder) {
    int made = new_node(d, is_folder);
    set_name(d, call->path, made, false);
}

/* What was there before lies on the disk. */
static void find(disk *d, const disk_call *call) {
    make(d, call, !call->data);
    node *n = &d->nodes[d->node_count - 1];
    if (call->data) write_node(n, 0, call->data, call->bytes);
    bring_some(d, (share){1, 1, 1});
}

static void open_at(disk *d, const disk_call *call) {
    if (call->is_new) make(d, call, false);
    d->fds[call->fd] = node_at(d, call->path);
}

static void sync_fd(disk *d, const disk_call *call) {
    node *n = &d->nodes[d->fds[call->fd]];
    if (call->failed)
        fail_to_sync(d, n);
    else if (!is_a_lie(d, n))
        sync_node(d, d->fds[call->fd]);
}

static void apply(disk *d, const disk_call *call) {
    switch (call->kind) {
        case DISK_FOUND: find(d, call); break;
        case DISK_OPEN: open_at(d, call); break;
        case DISK_WRITE: write_node(&d->nodes[d->fds[call->fd]], (size_t)call->number, call->data, call->bytes); break;
        case DISK_SYNC: sync_fd(d, call); break;
        case DISK_RENAME: rename_to(d, call->path, call->to); break;
        case DISK_LINK: set_name(d, call->to, node_at(d, call->path), false); break;
        case DISK_UNLINK: set_name(d, call->path, NOBODY, false); break;
        case DISK_MKDIR: make(d, call, true); break;
        default: break;
    }
}

/* ---- What is left -------------------------------------------------------------------------- */

/* What another file has, or had, at this place; else what a new disk has. */
static void fill_from_another(disk *d, size_t offset, char *data, size_t bytes) {
    const node *other = &d->nodes[rng_between(&d->numbers, 0, d->node_count - 1)];
    memset(data, 0, bytes);
    if (offset + bytes <= other->room) memcpy(data, other->cache + offset, bytes);
}

/* Writes the data of a file that has no name in this tree yet. */
static void write_file(disk *d, const node *n, const char *path, bool is_reused) {
    char data[SECTOR];
    bool is_stale = d->cut.kind == DISK_EXT2 && happens(d, 0.5);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) give_up(path);
    for (size_t at = 0; at < n->disk_bytes; at += SECTOR) {
        size_t bytes = n->disk_bytes - at < SECTOR ? n->disk_bytes - at : SECTOR;
        bool is_stored = n->sectors[at / SECTOR] & STORED;
        memset(data, 0, sizeof data);
        if (is_stored) memcpy(data, n->disk + at, bytes);
        if (is_reused || (!is_stored && is_stale)) fill_from_another(d, at, data, bytes);
        if (write(fd, data, bytes) != (ssize_t)bytes) give_up(path);
    }
    close(fd);
}

/* ext2: a file without a name in memory is removed, or another has its sectors, or neither happened yet. */
enum { AS_IT_WAS, REMOVED, REUSED };

static int fate_of(disk *d, const node *n) {
    bool is_freed = d->cut.kind == DISK_EXT2 && n->names == 0 && !d->cut.everything;
    return is_freed ? (int)rng_between(&d->numbers, AS_IT_WAS, REUSED) : AS_IT_WAS;
}

static bool has_parent(const char *path) {
    char parent[1024];
    size_t bytes = parent_bytes(path);
    if (bytes >= sizeof parent) give_up(path);
    memcpy(parent, path, bytes);
    parent[bytes] = 0;
    return bytes == 0 || access(parent, F_OK) == 0;
}

/* A folder has its name before what is in it. */
static void write_tree(disk *d) {
    int fates[MOST_NODES];
    const char *written[MOST_NODES] = {0};
    for (int i = 0; i < d->node_count; i++) fates[i] = fate_of(d, &d->nodes[i]);
    for (int i = 0; i < d->name_count; i++) {
        const char *path = d->names[i].path;
        int which = d->names[i].disk_node;
        if (which == NOBODY || !d->nodes[which].is_known || fates[which] == REMOVED || !has_parent(path)) continue;
        if (d->nodes[which].is_folder ? mkdir(path, 0755) != 0 : written[which] && link(written[which], path) != 0)
            give_up(path);
        if (!d->nodes[which].is_folder && !written[which])
            write_file(d, &d->nodes[which], path, fates[which] == REUSED);
        written[which] = path;
    }
}

static void release(disk *d) {
    for (int i = 0; i < d->node_count; i++) {
        free(d->nodes[i].cache);
        free(d->nodes[i].disk);
        free(d->nodes[i].sectors);
    }
    free(d);
}

uint64_t disk_write(const disk_log *log, const disk_cut *cut) {
    static const double drifts[] = {0, 0.02, 0.3};
    disk *d = calloc(1, sizeof *d);
    if (!d) give_up("no memory");
    d->cut = *cut;
    d->numbers = (rng){.seed = cut->seed};
    d->nodes[new_node(d, true)].is_known = true;
    double often = drifts[rng_between(&d->numbers, 0, 2)];
    share last = {draw_share(d), draw_share(d), draw_share(d)};
    for (int i = 0; i < cut->calls; i++) {
        apply(d, disk_log_at(log, i));
        bring_some(d, (share){often, often, often});
    }
    bring_some(d, cut->everything ? (share){1, 1, 1} : last);
    write_tree(d);
    release(d);
    return disk_tree();
}

/* ---- Trees --------------------------------------------------------------------------------- */

static uint64_t tree_sum;

/* Names that hold the number of a process and the time stand for their kind; event files hold the time. */
static int add_to_sum(const char *path, const struct stat *info, int kind, struct FTW *at) {
    static char data[1 << 20];
    const char *base = path + at->base;
    bool is_temporary = strncmp(base, ".braid.", 7) == 0, is_event = strncmp(base, "events.", 7) == 0;
    size_t bytes = is_temporary || is_event ? (size_t)at->base + 7 : strlen(path);
    uint64_t sum = XXH3_64bits(path, bytes);
    ssize_t got = 0;
    if (kind == FTW_F && !is_event) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        got = fd < 0 ? -1 : read(fd, data, sizeof data);
        if (got != (ssize_t)info->st_size) give_up(path);
        close(fd);
    }
    tree_sum += XXH3_64bits_withSeed(data, (size_t)got, sum + (uint64_t)(kind == FTW_F ? info->st_size : 0));
    return 0;
}

uint64_t disk_tree(void) {
    tree_sum = 0;
    if (nftw(".", add_to_sum, 16, FTW_PHYS) != 0) give_up("cannot read the tree");
    return tree_sum;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    return at->level == 0 ? 0 : remove(path);
}

void disk_clear(void) {
    if (nftw(".", remove_one, 16, FTW_PHYS | FTW_DEPTH) != 0) give_up("cannot empty the folder");
}
