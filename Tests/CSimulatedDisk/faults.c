#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CSimulatedDisk.h"
#include "disk.h"

// A VFS that passes every call to SQLite's `unix` VFS and can make one of them, or all from one on, fail.

_Thread_local int faults_depth;
char faults_root[4096];

static _Atomic unsigned armed_kinds;
static _Atomic long calls, hits, failing_call;
static _Atomic int failing_lasts;
static uint64_t failing_seed;
static char first_fault[256];

void faults_arm(const char *folder, unsigned kinds, long nth, int lasts, uint64_t seed) {
    armed_kinds = 0;
    calls = 0;
    hits = 0;
    failing_call = nth;
    failing_lasts = lasts;
    failing_seed = seed;
    first_fault[0] = 0;
    snprintf(faults_root, sizeof faults_root, "%s", kinds & fault_outside ? folder : "");
    armed_kinds = kinds;
}

long faults_disarm(void) {
    armed_kinds = 0;
    faults_root[0] = 0;
    return calls;
}

long faults_hits(void) { return hits; }
const char *faults_first(void) { return first_fault; }

/// Counts a call. Returns 1 if it has to fail.
static int fails(unsigned kind, const char *name, const char *what) {
    if (!(armed_kinds & kind)) return 0;
    long call = ++calls;
    if (failing_call == 0 || call < failing_call || (call > failing_call && !failing_lasts)) return 0;
    if (hits++ == 0) snprintf(first_fault, sizeof first_fault, "call %ld, %s %s", call, name, what);
    return 1;
}

int faults_outside(const char *name) { return fails(fault_outside, name, "of the framework's own"); }

// MARK: Files

struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real;
    const char *what;
};

static sqlite3_file *real_of(sqlite3_file *file) { return ((struct faulty_file *)file)->real; }
static const char *what_of(sqlite3_file *file) { return ((struct faulty_file *)file)->what; }

#define CALL(type, expression) \
    faults_depth++; \
    type result = expression; \
    faults_depth--; \
    return result

static int file_close(sqlite3_file *file) {
    CALL(int, real_of(file)->pMethods->xClose(real_of(file)));
}

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    if (fails(fault_read, "read", what_of(file))) return SQLITE_IOERR_READ;
    CALL(int, real_of(file)->pMethods->xRead(real_of(file), bytes, size, offset));
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    if (fails(fault_write, "write", what_of(file))) {
        // A disk that fails or is full may have written a part.
        if (failing_seed & 1) {
            faults_depth++;
            real_of(file)->pMethods->xWrite(real_of(file), bytes, size / 2, offset);
            faults_depth--;
        }
        return failing_seed & 2 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    CALL(int, real_of(file)->pMethods->xWrite(real_of(file), bytes, size, offset));
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (fails(fault_truncate, "truncate", what_of(file))) return SQLITE_IOERR_TRUNCATE;
    CALL(int, real_of(file)->pMethods->xTruncate(real_of(file), size));
}

static int file_sync(sqlite3_file *file, int flags) {
    if (fails(fault_sync, "sync", what_of(file))) return SQLITE_IOERR_FSYNC;
    CALL(int, real_of(file)->pMethods->xSync(real_of(file), flags));
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    if (fails(fault_size, "size", what_of(file))) return SQLITE_IOERR_FSTAT;
    CALL(int, real_of(file)->pMethods->xFileSize(real_of(file), size));
}

static int file_lock(sqlite3_file *file, int level) {
    if (fails(fault_lock, "lock", what_of(file))) return SQLITE_IOERR_LOCK;
    CALL(int, real_of(file)->pMethods->xLock(real_of(file), level));
}

static int file_unlock(sqlite3_file *file, int level) {
    CALL(int, real_of(file)->pMethods->xUnlock(real_of(file), level));
}

static int file_check_reserved(sqlite3_file *file, int *found) {
    if (fails(fault_lock, "look at the lock of", what_of(file))) return SQLITE_IOERR_CHECKRESERVEDLOCK;
    CALL(int, real_of(file)->pMethods->xCheckReservedLock(real_of(file), found));
}

static int file_control(sqlite3_file *file, int request, void *argument) {
    CALL(int, real_of(file)->pMethods->xFileControl(real_of(file), request, argument));
}

static int file_sector_size(sqlite3_file *file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); }
static int file_facts(sqlite3_file *file) { return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file)); }

static int file_map(sqlite3_file *file, int region, int size, int extends, void volatile **place) {
    if (fails(fault_memory_map, "map", what_of(file))) return failing_seed & 1 ? SQLITE_IOERR_SHMMAP : SQLITE_IOERR_SHMSIZE;
    CALL(int, real_of(file)->pMethods->xShmMap(real_of(file), region, size, extends, place));
}

static int file_map_lock(sqlite3_file *file, int offset, int count, int flags) {
    // Unlocking never fails.
    if ((flags & SQLITE_SHM_LOCK) && fails(fault_lock, "lock in the index of", what_of(file))) return SQLITE_IOERR_SHMLOCK;
    CALL(int, real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags));
}

static void file_map_barrier(sqlite3_file *file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); }

static int file_unmap(sqlite3_file *file, int deletes) {
    CALL(int, real_of(file)->pMethods->xShmUnmap(real_of(file), deletes));
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **place) {
    CALL(int, real_of(file)->pMethods->xFetch(real_of(file), offset, size, place));
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *place) {
    CALL(int, real_of(file)->pMethods->xUnfetch(real_of(file), offset, place));
}

static const sqlite3_io_methods methods = {
    3, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock,
    file_check_reserved, file_control, file_sector_size, file_facts, file_map, file_map_lock, file_map_barrier,
    file_unmap, file_fetch, file_unfetch,
};

// MARK: The file system

static sqlite3_vfs *real_vfs;
static sqlite3_vfs faulty;

static const char *what_is(int flags) {
    if (flags & SQLITE_OPEN_MAIN_DB) return "the database";
    if (flags & SQLITE_OPEN_WAL) return "the log";
    if (flags & SQLITE_OPEN_MAIN_JOURNAL) return "the journal";
    return "a temporary file";
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *got) {
    (void)vfs;
    struct faulty_file *opened = (struct faulty_file *)file;
    memset(opened, 0, sizeof *opened);
    if (fails(fault_open, "open", what_is(flags))) return SQLITE_CANTOPEN;
    opened->real = (sqlite3_file *)(opened + 1);
    opened->what = what_is(flags);
    faults_depth++;
    int result = real_vfs->xOpen(real_vfs, path, opened->real, flags, got);
    faults_depth--;
    if (opened->real->pMethods) opened->base.pMethods = &methods;
    return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    (void)vfs;
    if (fails(fault_delete, "delete", path)) return SQLITE_IOERR_DELETE;
    CALL(int, real_vfs->xDelete(real_vfs, path, syncs));
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result_of) {
    (void)vfs;
    if (fails(fault_access, "look for", path)) return SQLITE_IOERR_ACCESS;
    CALL(int, real_vfs->xAccess(real_vfs, path, flags, result_of));
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int room, char *out) {
    (void)vfs;
    return real_vfs->xFullPathname(real_vfs, path, room, out);
}

// MARK: Allocations

static sqlite3_mem_methods real_memory;

static void *memory_allocate(int size) {
    return fails(fault_allocation, "allocation", "") ? NULL : real_memory.xMalloc(size);
}
static void *memory_reallocate(void *old, int size) {
    return fails(fault_allocation, "reallocation", "") ? NULL : real_memory.xRealloc(old, size);
}

int faults_install(void) {
    int result = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
    if (result) return result;
    sqlite3_mem_methods memory = real_memory;
    memory.xMalloc = memory_allocate;
    memory.xRealloc = memory_reallocate;
    result = sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    if (result) return result;
    real_vfs = sqlite3_vfs_find("unix");
    if (!real_vfs) return SQLITE_ERROR;
    faulty = *real_vfs;
    faulty.zName = "faulty";
    faulty.pNext = NULL;
    faulty.szOsFile = (int)sizeof(struct faulty_file) + real_vfs->szOsFile;
    faulty.xOpen = vfs_open;
    faulty.xDelete = vfs_delete;
    faulty.xAccess = vfs_access;
    faulty.xFullPathname = vfs_full_path;
    return sqlite3_vfs_register(&faulty, 1);
}
