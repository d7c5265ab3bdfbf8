#pragma once
#include <stdint.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/// Defines `real`, the C library's function that this program replaces.
#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

// The record that recording.c makes and crash.c plays back.

enum { op_write, op_truncate, op_sync, op_link, op_unlink, op_rename };

struct operation {
    int kind;
    /// The node of the file, or of the folder whose entry changes.
    int node;
    /// The offset of a write; the new size of a truncation.
    long offset;
    long size;
    unsigned char *bytes;
    /// The changed entry, and its new name if it is renamed.
    char *name, *other;
    /// The node of the entry.
    int target;
};

struct bytes {
    unsigned char *at;
    long size, room;
};

struct entry {
    char *name;
    int node;
};

struct entries {
    struct entry *at;
    int count, room;
};

/// A file or a folder in three states: at the beginning, as synced, and as the program sees it.
struct node {
    int is_folder;
    struct bytes base, kept, now;
    struct entries base_entries, kept_entries, now_entries;
    /// The operations since the last sync.
    long *pending;
    long pending_count, pending_room;
};

extern struct node *disk_nodes;
extern int disk_node_count;
extern struct operation *disk_operations;
extern long disk_operation_count;
extern char disk_root[];

int disk_new_node(int is_folder);
void entries_set(struct entries *entries, const char *name, int node);
void entries_remove(struct entries *entries, const char *name);
int entries_find(const struct entries *entries, const char *name);
void entries_copy(struct entries *to, const struct entries *from);
void bytes_write(struct bytes *bytes, long offset, const unsigned char *from, long size);
void bytes_resize(struct bytes *bytes, long size);
void disk_forget(void);

/// Returns 1 if a call from outside of SQLite has to fail. Does not set `errno`.
int faults_outside(const char *name);
/// Greater than 0 while the thread is in a call from SQLite to its VFS.
extern _Thread_local int faults_depth;
/// The folder in which calls from outside of SQLite fail; empty if none fail.
extern char faults_root[];
