#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSimulatedDisk.h"
#include "disk.h"

// Design note. The linker gives the functions at the end, which have names of the C library, to the whole program:
// libsqlite3 and Foundation use them, too, and no write is missed. They call the C library's functions. A VFS of SQLite
// would miss the files of external values. The `-shm` file is shared memory and not recorded, because a power failure
// can leave anything in it.

struct node *disk_nodes;
int disk_node_count;
struct operation *disk_operations;
long disk_operation_count;
char disk_root[4096];

static int node_room;
static long operation_room;
static long *marks;
static long mark_count, mark_room;

static volatile int is_recording;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

enum { descriptor_count = 65536, no_node = -1 };
/// Node number plus one of each descriptor; 0 if none.
static int descriptor_nodes[descriptor_count];

int disk_is_available(void) { return !IS_SANITIZED; }

// MARK: Recording

int disk_new_node(int is_folder) {
    if (disk_node_count == node_room) {
        node_room = node_room ? node_room * 2 : 64;
        disk_nodes = realloc(disk_nodes, sizeof *disk_nodes * node_room);
    }
    memset(&disk_nodes[disk_node_count], 0, sizeof *disk_nodes);
    disk_nodes[disk_node_count].is_folder = is_folder;
    return disk_node_count++;
}

static struct operation *append(int kind, int node) {
    if (disk_operation_count == operation_room) {
        operation_room = operation_room ? operation_room * 2 : 1024;
        disk_operations = realloc(disk_operations, sizeof *disk_operations * operation_room);
    }
    struct operation *operation = &disk_operations[disk_operation_count++];
    memset(operation, 0, sizeof *operation);
    operation->kind = kind;
    operation->node = node;
    return operation;
}

static int is_below(const char *path) {
    size_t length = strlen(disk_root);
    return strncmp(path, disk_root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int is_left_out(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

/// Returns the node at a path, or -1. Sets `folder` to the node of its folder and `name` to the last path component.
static int find(const char *path, int *folder, const char **name) {
    int node = 0;
    const char *rest = path + strlen(disk_root);
    *folder = no_node;
    *name = "";
    while (*rest == '/') rest++;
    while (*rest) {
        size_t length = strcspn(rest, "/");
        char part[256];
        if (node < 0 || length >= sizeof part) return *folder = no_node;
        memcpy(part, rest, length);
        part[length] = 0;
        *folder = node;
        *name = rest;
        node = entries_find(&disk_nodes[node].now_entries, part);
        rest += length;
        while (*rest == '/') rest++;
    }
    return node;
}

static void scan(const char *path, int node) {
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *item; (item = readdir(folder));) {
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, "..") || is_left_out(item->d_name)) continue;
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, item->d_name);
        struct stat facts;
        if (lstat(child, &facts) != 0) continue;
        int made = disk_new_node(S_ISDIR(facts.st_mode));
        entries_set(&disk_nodes[node].base_entries, item->d_name, made);
        if (S_ISDIR(facts.st_mode)) {
            scan(child, made);
        } else {
            bytes_resize(&disk_nodes[made].base, facts.st_size);
            FILE *file = fopen(child, "rb");
            if (!file) continue;
            if (fread(disk_nodes[made].base.at, 1, facts.st_size, file) != (size_t)facts.st_size) abort();
            fclose(file);
        }
    }
    closedir(folder);
    entries_copy(&disk_nodes[node].now_entries, &disk_nodes[node].base_entries);
}

void disk_begin(const char *folder) {
    pthread_mutex_lock(&gate);
    disk_forget();
    mark_count = 0;
    memset(descriptor_nodes, 0, sizeof descriptor_nodes);
    snprintf(disk_root, sizeof disk_root, "%s", folder);
    disk_new_node(1);
    scan(folder, 0);
    is_recording = 1;
    pthread_mutex_unlock(&gate);
}

void disk_mark(void) {
    pthread_mutex_lock(&gate);
    if (mark_count == mark_room) {
        mark_room = mark_room ? mark_room * 2 : 64;
        marks = realloc(marks, sizeof *marks * mark_room);
    }
    marks[mark_count++] = disk_operation_count;
    pthread_mutex_unlock(&gate);
}

void disk_end(void) {
    pthread_mutex_lock(&gate);
    is_recording = 0;
    pthread_mutex_unlock(&gate);
}

long disk_length(void) { return disk_operation_count; }

long disk_marked_before(long position) {
    long found = 0;
    for (long i = 0; i < mark_count && marks[i] <= position; i++) found = marks[i];
    return found;
}

// MARK: The C library's functions
#if !IS_SANITIZED

static int node_of(int descriptor) {
    return is_recording && descriptor >= 0 && descriptor < descriptor_count ? descriptor_nodes[descriptor] - 1 : no_node;
}

static void set_node(int descriptor, int node) {
    if (descriptor >= 0 && descriptor < descriptor_count) descriptor_nodes[descriptor] = node + 1;
}

/// Returns 1 if a call from outside SQLite has to fail.
static int fails(const char *path, const char *name) {
    if (!faults_root[0] || faults_depth > 0) return 0;
    if (path && strncmp(path, faults_root, strlen(faults_root)) != 0) return 0;
    if (!faults_outside(name)) return 0;
    errno = EIO;
    return 1;
}

/// The same for a call with a descriptor.
static int fails_at(int descriptor, const char *name) {
    if (!faults_root[0] || faults_depth > 0) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return fails(path, name);
}

static void did_open(const char *path, int flags, int descriptor, int existed) {
    if (descriptor < 0) return;
    if (!is_below(path) || is_left_out(path)) return set_node(descriptor, no_node);
    int folder;
    const char *name;
    int node = find(path, &folder, &name);
    if (node < 0 && (flags & O_CREAT) && folder >= 0) {
        node = disk_new_node(0);
        struct operation *operation = append(op_link, folder);
        operation->name = strdup(name);
        operation->target = node;
        entries_set(&disk_nodes[folder].now_entries, name, node);
    } else if (node >= 0 && existed && (flags & O_TRUNC)) {
        append(op_truncate, node);
    }
    set_node(descriptor, node);
}

#define OPEN(function) \
    int function(const char *path, int flags, ...) { \
        REAL(function); \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = va_arg(list, mode_t); \
        va_end(list); \
        if ((flags & O_ACCMODE) != O_RDONLY && fails(path, "open")) return -1; \
        if (!is_recording) return real(path, flags, mode); \
        pthread_mutex_lock(&gate); \
        int existed = access(path, F_OK) == 0; \
        int descriptor = real(path, flags, mode); \
        int code = errno; \
        did_open(path, flags, descriptor, existed); \
        pthread_mutex_unlock(&gate); \
        errno = code; \
        return descriptor; \
    }

OPEN(open)
OPEN(open64)

int close(int descriptor) {
    REAL(close);
    if (is_recording) set_node(descriptor, no_node);
    return real(descriptor);
}

static void did_write(int node, const void *bytes, long size, long offset) {
    if (size <= 0) return;
    struct operation *operation = append(op_write, node);
    operation->offset = offset;
    operation->size = size;
    operation->bytes = malloc(size);
    memcpy(operation->bytes, bytes, size);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    REAL(write);
    if (fails_at(descriptor, "write")) return -1;
    int node = node_of(descriptor);
    if (node < 0) return real(descriptor, bytes, size);
    pthread_mutex_lock(&gate);
    ssize_t written = real(descriptor, bytes, size);
    int code = errno;
    if (written > 0) did_write(node, bytes, written, lseek(descriptor, 0, SEEK_CUR) - written);
    pthread_mutex_unlock(&gate);
    errno = code;
    return written;
}

#define PWRITE(function, offset_type) \
    ssize_t function(int descriptor, const void *bytes, size_t size, offset_type offset) { \
        REAL(function); \
        if (fails_at(descriptor, "write")) return -1; \
        int node = node_of(descriptor); \
        if (node < 0) return real(descriptor, bytes, size, offset); \
        pthread_mutex_lock(&gate); \
        ssize_t written = real(descriptor, bytes, size, offset); \
        int code = errno; \
        did_write(node, bytes, written, offset); \
        pthread_mutex_unlock(&gate); \
        errno = code; \
        return written; \
    }

PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

// Foundation copies files with it. The copied bytes are passed to `write`, also in one call.
ssize_t sendfile(int descriptor, int source, off_t *offset, size_t size) {
    REAL(sendfile);
    if (node_of(descriptor) < 0 && !faults_root[0]) return real(descriptor, source, offset, size);
    size_t room = size < (1 << 20) ? size : (1 << 20);
    char *bytes = malloc(room ? room : 1);
    if (!bytes) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t count = offset ? pread(source, bytes, room, *offset) : read(source, bytes, room);
    if (count > 0) count = write(descriptor, bytes, count);
    int code = errno;
    if (count > 0 && offset) *offset += count;
    free(bytes);
    errno = code;
    return count;
}

#define TRUNCATE(function, offset_type) \
    int function(int descriptor, offset_type size) { \
        REAL(function); \
        if (fails_at(descriptor, "truncate")) return -1; \
        int node = node_of(descriptor); \
        if (node < 0) return real(descriptor, size); \
        pthread_mutex_lock(&gate); \
        int result = real(descriptor, size); \
        int code = errno; \
        if (result == 0) append(op_truncate, node)->offset = size; \
        pthread_mutex_unlock(&gate); \
        errno = code; \
        return result; \
    }

TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

// Syncs are recorded, not passed to the disk: no trial needs them, and thousands of runs would wear out the disk.
#define SYNC(function) \
    int function(int descriptor) { \
        REAL(function); \
        if (fails_at(descriptor, "sync")) return -1; \
        int node = node_of(descriptor); \
        if (node < 0) return faults_depth > 0 || faults_root[0] ? 0 : real(descriptor); \
        pthread_mutex_lock(&gate); \
        append(op_sync, node); \
        pthread_mutex_unlock(&gate); \
        return 0; \
    }

SYNC(fsync)
SYNC(fdatasync)

/// Records the effect of a call on the directory entry at a path.
static int change_entry(const char *path, int (*call)(const char *, mode_t), mode_t mode, int makes) {
    if (!is_recording || !is_below(path) || is_left_out(path)) return call(path, mode);
    pthread_mutex_lock(&gate);
    int result = call(path, mode);
    int code = errno, folder;
    const char *name;
    if (result == 0) {
        int node = find(path, &folder, &name);
        if (folder >= 0) {
            if (makes) node = disk_new_node(1);
            struct operation *operation = append(makes ? op_link : op_unlink, folder);
            operation->name = strdup(name);
            operation->target = node;
            if (makes) {
                entries_set(&disk_nodes[folder].now_entries, name, node);
            } else {
                entries_remove(&disk_nodes[folder].now_entries, name);
            }
        }
    }
    pthread_mutex_unlock(&gate);
    errno = code;
    return result;
}

static int call_unlink(const char *path, mode_t mode) {
    REAL(unlink);
    (void)mode;
    return real(path);
}
static int call_rmdir(const char *path, mode_t mode) {
    REAL(rmdir);
    (void)mode;
    return real(path);
}
static int call_mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return real(path, mode);
}

int unlink(const char *path) { return fails(path, "unlink") ? -1 : change_entry(path, call_unlink, 0, 0); }
int rmdir(const char *path) { return fails(path, "rmdir") ? -1 : change_entry(path, call_rmdir, 0, 0); }
int mkdir(const char *path, mode_t mode) { return fails(path, "mkdir") ? -1 : change_entry(path, call_mkdir, mode, 1); }

int rename(const char *from, const char *to) {
    REAL(rename);
    if (fails(to, "rename")) return -1;
    if (!is_recording || !is_below(from) || !is_below(to) || is_left_out(from)) return real(from, to);
    pthread_mutex_lock(&gate);
    int result = real(from, to);
    int code = errno, folder, new_folder;
    const char *name, *new_name;
    if (result == 0) {
        int node = find(from, &folder, &name);
        find(to, &new_folder, &new_name);
        // No scenario moves a file from one folder to another.
        if (folder != new_folder || folder < 0) abort();
        struct operation *operation = append(op_rename, folder);
        operation->name = strdup(name);
        operation->other = strdup(new_name);
        operation->target = node;
        entries_remove(&disk_nodes[folder].now_entries, name);
        entries_set(&disk_nodes[folder].now_entries, new_name, node);
    }
    pthread_mutex_unlock(&gate);
    errno = code;
    return result;
}

#endif
