#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSimulatedDisk.h"
#include "disk.h"

// The state after a power failure. A sync writes everything before it. Of the operations since, the disk has written
// any sectors, in any order, each in any of its versions. File sizes and folder entries are written separately, in
// their order. New parts of a file that were not written contain zeros or old data.

// MARK: Bytes and entries

static void bytes_reserve(struct bytes *bytes, long size) {
    if (size <= bytes->room) return;
    long room = size > 2 * bytes->room ? size : 2 * bytes->room;
    bytes->at = realloc(bytes->at, room);
    bytes->room = room;
}

void bytes_resize(struct bytes *bytes, long size) {
    bytes_reserve(bytes, size);
    if (size > bytes->size) memset(bytes->at + bytes->size, 0, size - bytes->size);
    bytes->size = size;
}

void bytes_write(struct bytes *bytes, long offset, const unsigned char *from, long size) {
    if (offset + size > bytes->size) bytes_resize(bytes, offset + size);
    memcpy(bytes->at + offset, from, size);
}

static void bytes_copy(struct bytes *to, const struct bytes *from) {
    bytes_resize(to, from->size);
    if (from->size) memcpy(to->at, from->at, from->size);
}

int entries_find(const struct entries *entries, const char *name) {
    for (int i = 0; i < entries->count; i++)
        if (!strcmp(entries->at[i].name, name)) return entries->at[i].node;
    return -1;
}

void entries_remove(struct entries *entries, const char *name) {
    for (int i = 0; i < entries->count; i++) {
        if (strcmp(entries->at[i].name, name)) continue;
        free(entries->at[i].name);
        entries->at[i] = entries->at[--entries->count];
        return;
    }
}

void entries_set(struct entries *entries, const char *name, int node) {
    entries_remove(entries, name);
    if (entries->count == entries->room) {
        entries->room = entries->room ? entries->room * 2 : 8;
        entries->at = realloc(entries->at, sizeof *entries->at * entries->room);
    }
    entries->at[entries->count++] = (struct entry){strdup(name), node};
}

static void entries_clear(struct entries *entries) {
    for (int i = 0; i < entries->count; i++) free(entries->at[i].name);
    entries->count = 0;
}

void entries_copy(struct entries *to, const struct entries *from) {
    entries_clear(to);
    for (int i = 0; i < from->count; i++) entries_set(to, from->at[i].name, from->at[i].node);
}

static void entries_apply(struct entries *entries, const struct operation *operation) {
    if (operation->kind == op_link) entries_set(entries, operation->name, operation->target);
    if (operation->kind == op_unlink) entries_remove(entries, operation->name);
    if (operation->kind == op_rename) {
        entries_remove(entries, operation->name);
        entries_set(entries, operation->other, operation->target);
    }
}

// MARK: Playing back

static long position;

static void reset(void) {
    for (int i = 0; i < disk_node_count; i++) {
        struct node *node = &disk_nodes[i];
        bytes_copy(&node->kept, &node->base);
        bytes_copy(&node->now, &node->base);
        entries_copy(&node->kept_entries, &node->base_entries);
        entries_copy(&node->now_entries, &node->base_entries);
        node->pending_count = 0;
    }
    position = 0;
}

void disk_forget(void) {
    for (int i = 0; i < disk_node_count; i++) {
        struct node *node = &disk_nodes[i];
        free(node->base.at);
        free(node->kept.at);
        free(node->now.at);
        struct entries *lists[] = {&node->base_entries, &node->kept_entries, &node->now_entries};
        for (int list = 0; list < 3; list++) {
            entries_clear(lists[list]);
            free(lists[list]->at);
        }
        free(node->pending);
    }
    for (long i = 0; i < disk_operation_count; i++) {
        free(disk_operations[i].bytes);
        free(disk_operations[i].name);
        free(disk_operations[i].other);
    }
    disk_node_count = 0;
    disk_operation_count = 0;
    position = -1;
}

static void file_apply(struct bytes *bytes, const struct operation *operation) {
    if (operation->kind == op_write) bytes_write(bytes, operation->offset, operation->bytes, operation->size);
    if (operation->kind == op_truncate) bytes_resize(bytes, operation->offset);
}

static void step(long index) {
    const struct operation *operation = &disk_operations[index];
    struct node *node = &disk_nodes[operation->node];
    if (operation->kind == op_sync) {
        for (long i = 0; i < node->pending_count; i++) {
            const struct operation *done = &disk_operations[node->pending[i]];
            if (node->is_folder) entries_apply(&node->kept_entries, done);
            else file_apply(&node->kept, done);
        }
        node->pending_count = 0;
        return;
    }
    if (node->is_folder) entries_apply(&node->now_entries, operation);
    else file_apply(&node->now, operation);
    if (node->pending_count == node->pending_room) {
        node->pending_room = node->pending_room ? node->pending_room * 2 : 16;
        node->pending = realloc(node->pending, sizeof *node->pending * node->pending_room);
    }
    node->pending[node->pending_count++] = index;
}

void disk_seek(long wanted) {
    if (position < 0 || wanted < position) reset();
    while (position < wanted) step(position++);
}

/// A name of a node, for reports and to interpret its operations.
static const char *name_of(int wanted) {
    for (long i = 0; i < disk_operation_count; i++)
        if (disk_operations[i].kind == op_link && disk_operations[i].target == wanted) return disk_operations[i].name;
    for (int i = 0; i < disk_node_count; i++)
        for (int j = 0; j < disk_nodes[i].base_entries.count; j++)
            if (disk_nodes[i].base_entries.at[j].node == wanted) return disk_nodes[i].base_entries.at[j].name;
    return wanted == 0 ? "." : "?";
}

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && !strcmp(text + length - wanted, end);
}

const char *disk_operation(long at) {
    static char text[512];
    static const char *const kinds[] = {"write", "truncate", "sync", "link", "unlink", "rename"};
    if (at <= 0 || at > disk_operation_count) return "nothing";
    const struct operation *operation = &disk_operations[at - 1];
    snprintf(
        text, sizeof text, "%s %s %s at %ld, %ld bytes", kinds[operation->kind], name_of(operation->node),
        operation->name ? operation->name : "", operation->offset, operation->size);
    return text;
}

int disk_may_commit(long at) {
    if (at <= 0) return 1;
    const struct operation *operation = &disk_operations[at - 1];
    if (operation->kind == op_sync) return 0;
    if (operation->kind != op_write) return 1;
    const char *name = name_of(operation->node);
    if (ends_with(name, "-journal")) return operation->offset == 0;
    if (!ends_with(name, "-wal")) return 0;
    // A log frame whose header has the size of the database ends a transaction. Its page is the next write.
    if (at < 2 || operation->size < 512) return 0;
    for (long i = at - 2; i >= 0 && i >= at - 4; i--) {
        const struct operation *header = &disk_operations[i];
        if (header->node != operation->node || header->kind != op_write || header->size != 24) continue;
        return (header->bytes[4] | header->bytes[5] | header->bytes[6] | header->bytes[7]) != 0;
    }
    return 1;
}

// MARK: The state after a crash

static uint64_t dice;

static uint64_t roll(void) {
    uint64_t z = (dice += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static char choice[2048];
static void note(const char *name, const char *what, long number) {
    size_t length = strlen(choice);
    snprintf(choice + length, sizeof choice - length, " %s:%s %ld;", name, what, number);
}
const char *disk_choice(void) { return choice; }

static void write_file(const char *path, const unsigned char *bytes, long size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != (size_t)size || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

static struct bytes left;

/// Applies to each sector the first n operations since the last sync, with its own n.
static void leave_sectors(const struct node *node, long sector, int leaves_garbage) {
    long greatest = node->kept.size;
    for (long i = 0; i < node->pending_count; i++) {
        const struct operation *operation = &disk_operations[node->pending[i]];
        long end = operation->offset + operation->size;
        if (end > greatest) greatest = end;
    }
    long count = greatest / sector + 1;
    long *versions = malloc(sizeof *versions * count);
    uint64_t bias = roll() % 4;
    for (long i = 0; i < count; i++) {
        uint64_t chance = roll() % 6;
        versions[i] = chance < 1 + bias ? node->pending_count : chance == 5 ? (long)(roll() % (node->pending_count + 1)) : 0;
    }
    // The buffer is longer than the file: data beyond a truncation returns if the truncation is lost.
    bytes_resize(&left, 0);
    bytes_copy(&left, &node->kept);
    bytes_resize(&left, count * sector);
    for (long i = node->kept.size / sector + 1; leaves_garbage && i < count; i++)
        if (versions[i] == 0)
            for (long byte = 0; byte < sector; byte++) left.at[i * sector + byte] = (unsigned char)roll();
    long size_version = roll() % 2 ? node->pending_count : (long)(roll() % (node->pending_count + 1));
    long size = node->kept.size, chosen = size;
    // A truncation happens as a whole or not at all. If it is lost, so are later writes beyond the cut.
    long beyond = count * sector;
    for (long i = 0; i < node->pending_count; i++) {
        const struct operation *operation = &disk_operations[node->pending[i]];
        long from = operation->offset, to = from + operation->size;
        if (operation->kind == op_truncate) {
            size = from;
            if (i < size_version) memset(left.at + from, 0, count * sector - from);
            else if (from < beyond) beyond = from;
        }
        for (long at = from; at < to && at < beyond;) {
            long index = at / sector;
            long end = (index + 1) * sector < to ? (index + 1) * sector : to;
            if (end > beyond) end = beyond;
            if (versions[index] > i) memcpy(left.at + at, operation->bytes + (at - from), end - at);
            at = end;
        }
        if (to > size) size = to;
        if (i < size_version) chosen = size;
    }
    free(versions);
    bytes_resize(&left, chosen);
}

static void leave_file(const char *path, const char *name, const struct node *node) {
    long count = node->pending_count;
    if (count == 0) return write_file(path, node->kept.at, node->kept.size);
    switch (roll() % 6) {
    case 0:
        note(name, "nothing of", count);
        return write_file(path, node->kept.at, node->kept.size);
    case 1:
        note(name, "all of", count);
        return write_file(path, node->now.at, node->now.size);
    case 2: {
        long kept = roll() % (count + 1);
        note(name, "the first", kept);
        bytes_copy(&left, &node->kept);
        for (long i = 0; i < kept; i++) file_apply(&left, &disk_operations[node->pending[i]]);
        break;
    }
    default: {
        long sector = roll() % 2 ? 512 : 4096;
        int garbage = roll() % 4 == 0;
        note(name, garbage ? "sectors and garbage" : "sectors", sector);
        leave_sectors(node, sector, garbage);
    }
    }
    write_file(path, left.at, left.size);
}

static void leave_index(const char *path, const char *name) {
    char index[4200], old[4200];
    snprintf(index, sizeof index, "%s-shm", path);
    switch (roll() % 4) {
    case 0: return;
    case 1:
        bytes_resize(&left, 0);
        bytes_resize(&left, 32768);
        break;
    case 2:
        bytes_resize(&left, 32768);
        for (long i = 0; i < left.size; i++) left.at[i] = (unsigned char)roll();
        break;
    default: {
        // The index as it was at the end of the recording, for any position.
        snprintf(old, sizeof old, "%s/%s-shm", disk_root, name);
        FILE *file = fopen(old, "rb");
        if (!file) return;
        bytes_resize(&left, 32768);
        long count = (long)fread(left.at, 1, left.size, file);
        fclose(file);
        bytes_resize(&left, count);
    }
    }
    write_file(index, left.at, left.size);
}

static void leave_folder(const char *path, int number, int crashes) {
    const struct node *node = &disk_nodes[number];
    struct entries entries = {0};
    if (!crashes || node->pending_count == 0) {
        entries_copy(&entries, &node->now_entries);
    } else {
        entries_copy(&entries, &node->kept_entries);
        uint64_t way = roll() % 4;
        long prefix = roll() % (node->pending_count + 1);
        note(name_of(number), way == 3 ? "some entries of" : "entries", way == 1 ? node->pending_count : way == 2 ? prefix : 0);
        for (long i = 0; i < node->pending_count; i++) {
            int happens = way == 1 || (way == 2 && i < prefix) || (way == 3 && roll() % 2);
            if (happens) entries_apply(&entries, &disk_operations[node->pending[i]]);
        }
    }
    if (mkdir(path, 0755) != 0) abort();
    for (int i = 0; i < entries.count; i++) {
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, entries.at[i].name);
        const struct node *target = &disk_nodes[entries.at[i].node];
        if (target->is_folder) leave_folder(child, entries.at[i].node, crashes);
        else if (crashes) leave_file(child, entries.at[i].name, target);
        else write_file(child, target->now.at, target->now.size);
        if (crashes && ends_with(child, ".sqlite")) leave_index(child, entries.at[i].name);
    }
    entries_clear(&entries);
    free(entries.at);
}

static int remove_item(const char *path, const struct stat *facts, int kind, struct FTW *place) {
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

static void write_folder(const char *path, int crashes) {
    nftw(path, remove_item, 16, FTW_DEPTH | FTW_PHYS);
    choice[0] = 0;
    leave_folder(path, 0, crashes);
}

void disk_write_whole(const char *path) { write_folder(path, 0); }

void disk_write_crashed(const char *path, uint64_t seed) {
    dice = seed;
    write_folder(path, 1);
}
