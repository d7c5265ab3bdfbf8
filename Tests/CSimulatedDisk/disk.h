#pragma once
#include <stdint.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/// The C library's function of the name that this program has one of its own for.
#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

// What recording.c writes down and crash.c plays back.

enum { op_write, op_truncate, op_sync, op_link, op_unlink, op_rename };

struct operation {
    int kind;
    /// The file, or the folder whose entry changes.
    int node;
    /// Of a write its place; of a truncation the new size.
    long offset;
    long size;
    unsigned char *bytes;
    /// The entry that changes, and the new name of a renamed one.
    char *name, *other;
    /// What the entry leads to.
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

/// A file or a folder: as it was at the beginning, as far as it is synced, and as the program sees it.
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

/// Whether the call must fail, which comes from outside of SQLite. Sets nothing.
int faults_outside(const char *name);
/// Whether the thread is within a call of SQLite's to its VFS.
extern _Thread_local int faults_depth;
/// The folder below which calls outside of SQLite fail; empty where none does.
extern char faults_root[];
