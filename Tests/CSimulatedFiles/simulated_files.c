#include "CSimulatedFiles.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One operation that is not synced. */
typedef struct Pending {
    sqlite3_int64 offset; /* -1: a truncation to `count` bytes */
    sqlite3_int64 count;
    unsigned char *bytes;
    struct Pending *next;
} Pending;

/* What is known of one path. */
typedef struct Disk {
    char *path;
    unsigned char *bytes; /* as it was synced last */
    sqlite3_int64 size;
    Pending *first, *last;
    int exists;
    struct Disk *next;
} Disk;

typedef struct File {
    sqlite3_file base;
    Disk *disk; /* NULL where it is not watched */
    sqlite3_file *real;
} File;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs own_vfs;
static char folder[1024];
static Disk *disks;
static long operations, calls[SIMULATED_KINDS], fail_after = -1;
static int fail_kind = -1, fail_error, did_fail;
static void (*on_operation)(void *);
static void *on_operation_context;

static int failing(int kind) {
    calls[kind]++;
    if (kind != fail_kind || fail_after < 0) return 0;
    if (fail_after-- > 0) return 0;
    did_fail = 1;
    return 1;
}

static void note_operation(void) {
    operations++;
    if (on_operation) {
        void (*action)(void *) = on_operation;
        on_operation = NULL; /* not from within itself */
        action(on_operation_context);
        on_operation = action;
    }
}

static Disk *disk_of(const char *path) {
    if (!path || strncmp(path, folder, strlen(folder)) != 0) return NULL;
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return NULL;
    for (Disk *disk = disks; disk; disk = disk->next)
        if (strcmp(disk->path, path) == 0) return disk;
    Disk *disk = calloc(1, sizeof(Disk));
    disk->path = strdup(path);
    disk->next = disks;
    disks = disk;
    /* What was there before is on the disk. */
    FILE *file = fopen(path, "rb");
    if (file) {
        fseek(file, 0, SEEK_END);
        disk->size = ftell(file);
        rewind(file);
        disk->bytes = malloc(disk->size ? disk->size : 1);
        disk->size = (sqlite3_int64)fread(disk->bytes, 1, disk->size, file);
        fclose(file);
    }
    return disk;
}

static void apply(unsigned char **bytes, sqlite3_int64 *size, const Pending *pending, sqlite3_int64 from, sqlite3_int64 to) {
    if (pending->offset < 0) {
        if (pending->count < *size) *size = pending->count;
        return;
    }
    sqlite3_int64 end = pending->offset + to;
    if (end > *size) {
        *bytes = realloc(*bytes, end ? end : 1);
        memset(*bytes + *size, 0, end - *size);
        *size = end;
    }
    memcpy(*bytes + pending->offset + from, pending->bytes + from, to - from);
}

static void forget(Disk *disk) {
    for (Pending *pending = disk->first; pending;) {
        Pending *next = pending->next;
        free(pending->bytes);
        free(pending);
        pending = next;
    }
    disk->first = disk->last = NULL;
}

static void add_pending(Disk *disk, sqlite3_int64 offset, sqlite3_int64 count, const void *bytes) {
    Pending *pending = calloc(1, sizeof(Pending));
    pending->offset = offset;
    pending->count = count;
    if (bytes) {
        pending->bytes = malloc(count ? count : 1);
        memcpy(pending->bytes, bytes, count);
    }
    if (disk->last) disk->last->next = pending; else disk->first = pending;
    disk->last = pending;
}

static unsigned long long random_state;
static unsigned long long next_random(void) {
    unsigned long long z = (random_state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

int simulated_files_crash(const char *target, unsigned long long seed) {
    random_state = seed;
    for (Disk *disk = disks; disk; disk = disk->next) {
        char path[2048];
        const char *name = strrchr(disk->path, '/');
        snprintf(path, sizeof path, "%s/%s", target, name ? name + 1 : disk->path);
        if (!disk->exists) { remove(path); continue; }
        sqlite3_int64 size = disk->size;
        unsigned char *bytes = malloc(size ? size : 1);
        memcpy(bytes, disk->bytes, size);
        int count = 0;
        for (Pending *pending = disk->first; pending; pending = pending->next) count++;
        Pending **order = malloc(sizeof(Pending *) * (count ? count : 1));
        count = 0;
        for (Pending *pending = disk->first; pending; pending = pending->next) order[count++] = pending;
        /* How the disk behaves this time: it keeps the order up to some point, or anything may be there or not. */
        int mode = (int)(next_random() % 4);
        int kept = count ? (int)(next_random() % (count + 1)) : 0;
        if (mode == 3)
            for (int i = count - 1; i > 0; i--) {
                int j = (int)(next_random() % (i + 1));
                /* Writes of one place keep their order: a disk has one content there. */
                Pending *a = order[i], *b = order[j];
                if (a->offset < 0 || b->offset < 0) continue;
                order[i] = b; order[j] = a;
            }
        for (int i = 0; i < count; i++) {
            Pending *pending = order[i];
            if (mode == 0 && i >= kept) break;
            if (mode >= 2 && next_random() % 2) continue;
            if (pending->offset < 0 || mode != 1 || i < kept) {
                apply(&bytes, &size, pending, 0, pending->count);
            } else { /* torn: some sectors of it */
                for (sqlite3_int64 from = 0; from < pending->count; from += 512) {
                    sqlite3_int64 to = from + 512 < pending->count ? from + 512 : pending->count;
                    if (next_random() % 2) apply(&bytes, &size, pending, from, to);
                }
                break;
            }
        }
        free(order);
        FILE *file = fopen(path, "wb");
        if (!file) { free(bytes); return -1; }
        size_t written = fwrite(bytes, 1, size, file);
        int failed = fclose(file) != 0 || written != (size_t)size;
        free(bytes);
        if (failed) return -1;
        char index[2100];
        snprintf(index, sizeof index, "%s-shm", path);
        remove(index);
    }
    return 0;
}

/* MARK: Methods of files */

#define REAL(file) (((File *)(file))->real)
#define METHODS(file) (REAL(file)->pMethods)

static int file_close(sqlite3_file *file) {
    int result = METHODS(file)->xClose(REAL(file));
    sqlite3_free(REAL(file));
    return result;
}
static int file_read(sqlite3_file *file, void *to, int count, sqlite3_int64 offset) {
    if (((File *)file)->disk && failing(SIMULATED_READ)) return fail_error;
    return METHODS(file)->xRead(REAL(file), to, count, offset);
}
static int file_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 offset) {
    Disk *disk = ((File *)file)->disk;
    if (disk) {
        note_operation();
        if (failing(SIMULATED_WRITE)) return fail_error;
    }
    int result = METHODS(file)->xWrite(REAL(file), from, count, offset);
    if (disk && result == SQLITE_OK) add_pending(disk, offset, count, from);
    return result;
}
static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    Disk *disk = ((File *)file)->disk;
    if (disk) {
        note_operation();
        if (failing(SIMULATED_TRUNCATE)) return fail_error;
    }
    int result = METHODS(file)->xTruncate(REAL(file), size);
    if (disk && result == SQLITE_OK) add_pending(disk, -1, size, NULL);
    return result;
}
static int file_sync(sqlite3_file *file, int flags) {
    Disk *disk = ((File *)file)->disk;
    if (disk) {
        note_operation();
        if (failing(SIMULATED_SYNC)) return fail_error;
        for (Pending *pending = disk->first; pending; pending = pending->next)
            apply(&disk->bytes, &disk->size, pending, 0, pending->count);
        forget(disk);
        return SQLITE_OK; /* the real disk is not what is tested */
    }
    return METHODS(file)->xSync(REAL(file), flags);
}
static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    if (((File *)file)->disk && failing(SIMULATED_SIZE)) return fail_error;
    return METHODS(file)->xFileSize(REAL(file), size);
}
static int file_lock(sqlite3_file *file, int level) {
    if (((File *)file)->disk && failing(SIMULATED_LOCK)) return fail_error;
    return METHODS(file)->xLock(REAL(file), level);
}
static int file_unlock(sqlite3_file *file, int level) { return METHODS(file)->xUnlock(REAL(file), level); }
static int file_check_lock(sqlite3_file *file, int *out) { return METHODS(file)->xCheckReservedLock(REAL(file), out); }
static int file_control(sqlite3_file *file, int op, void *arg) { return METHODS(file)->xFileControl(REAL(file), op, arg); }
static int file_sector(sqlite3_file *file) { return METHODS(file)->xSectorSize(REAL(file)); }
/* A disk that promises nothing. */
static int file_device(sqlite3_file *file) { (void)file; return 0; }
static int file_map(sqlite3_file *file, int region, int size, int extend, void volatile **out) {
    if (((File *)file)->disk && failing(SIMULATED_SHARED_MAP)) return fail_error;
    return METHODS(file)->xShmMap(REAL(file), region, size, extend, out);
}
static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags) {
    if (((File *)file)->disk && (flags & SQLITE_SHM_LOCK) && failing(SIMULATED_SHARED_LOCK)) return fail_error;
    return METHODS(file)->xShmLock(REAL(file), offset, n, flags);
}
static void file_barrier(sqlite3_file *file) { METHODS(file)->xShmBarrier(REAL(file)); }
static int file_unmap(sqlite3_file *file, int remove) { return METHODS(file)->xShmUnmap(REAL(file), remove); }

static const sqlite3_io_methods methods = {
    2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock, file_check_lock,
    file_control, file_sector, file_device, file_map, file_shm_lock, file_barrier, file_unmap, NULL, NULL,
};

/* MARK: Methods of the file system */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    File *own = (File *)file;
    own->base.pMethods = NULL;
    Disk *disk = disk_of(name);
    if (disk && failing(SIMULATED_OPEN)) return fail_error;
    own->real = sqlite3_malloc(real_vfs->szOsFile);
    if (!own->real) return SQLITE_NOMEM;
    memset(own->real, 0, real_vfs->szOsFile);
    int result = real_vfs->xOpen(real_vfs, name, own->real, flags, out);
    if (result != SQLITE_OK) {
        sqlite3_free(own->real);
        return result;
    }
    if (disk) disk->exists = 1;
    own->disk = disk;
    own->base.pMethods = &methods;
    return SQLITE_OK;
}
static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    Disk *disk = disk_of(name);
    if (disk) {
        note_operation();
        if (failing(SIMULATED_DELETE)) return fail_error;
    }
    int result = real_vfs->xDelete(real_vfs, name, sync);
    if (disk && result == SQLITE_OK) {
        disk->exists = 0;
        disk->size = 0;
        forget(disk);
    }
    return result;
}

int simulated_files_begin(const char *path) {
    snprintf(folder, sizeof folder, "%s", path);
    real_vfs = sqlite3_vfs_find("unix");
    if (!real_vfs) return SQLITE_ERROR;
    own_vfs = *real_vfs;
    own_vfs.zName = "simulated";
    own_vfs.szOsFile = sizeof(File);
    own_vfs.xOpen = vfs_open;
    own_vfs.xDelete = vfs_delete;
    return sqlite3_vfs_register(&own_vfs, 1);
}

long simulated_files_operations(void) { return operations; }

void simulated_files_fail(int kind, long after, int error) {
    memset(calls, 0, sizeof calls);
    fail_kind = kind;
    fail_after = after;
    fail_error = error;
    did_fail = 0;
}

int simulated_files_failed(void) { return did_fail; }
long simulated_files_calls(int kind) { return kind >= 0 && kind < SIMULATED_KINDS ? calls[kind] : 0; }

void simulated_files_on_operation(void (*action)(void *), void *context) {
    on_operation = action;
    on_operation_context = context;
}
