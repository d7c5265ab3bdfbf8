#pragma once
#include <stdint.h>

// A simulated disk with power failures, for tests.
//
// It records all writes below a folder, of SQLite and of the framework, on their way to the real files. From the record
// it makes states that a power failure could have left. Synced data is there; each other sector has any of the contents
// that it had since the last sync.
//
// The program that uses it has its own `open`, `write`, `fsync` and so on (see recording.c). It is therefore never
// linked into the test program.

/// Returns 1 if writes can be recorded. A sanitizer has its own `open` and `write`, so the result is 0 there.
int disk_is_available(void);

// MARK: Recording

/// Starts to record the writes below `folder`, a real path. The present contents count as synced.
void disk_begin(const char *folder);
/// Records that the program now knows all its work to be saved.
void disk_mark(void);
/// Ends the recording.
void disk_end(void);

// MARK: Playback

/// Number of recorded operations.
long disk_length(void);
/// Number of operations before the last mark at or before `position`; 0 without a mark.
long disk_marked_before(long position);
/// Returns 1 if the operation before `position` may have ended a transaction.
int disk_may_commit(long position);
/// Sets the playback position to a number of operations. Going forwards is cheap; going back starts from 0.
void disk_seek(long position);
/// Replaces a folder by the state that the running program saw at the position.
void disk_write_whole(const char *folder);
/// Replaces a folder by a state that a power failure at the position may have left.
void disk_write_crashed(const char *folder, uint64_t seed);
/// Describes the choices of the last `disk_write_crashed`, for reports.
const char *disk_choice(void);
/// Describes the operation before `position`.
const char *disk_operation(long position);

// MARK: Faults

enum {
    fault_read = 1,
    fault_write = 2,
    fault_sync = 4,
    fault_truncate = 8,
    fault_lock = 16,
    fault_open = 32,
    fault_delete = 64,
    fault_access = 128,
    fault_size = 256,
    fault_memory_map = 512,
    /// Allocations by SQLite.
    fault_allocation = 1024,
    /// Writing calls below the folder from outside SQLite.
    fault_outside = 2048,
};

/// Registers the default VFS `faulty`, which calls `unix`, and replaces SQLite's allocator by one that can fail. Must
/// be called before SQLite is used. Returns 0 or a result code of SQLite.
int faults_install(void);
/// Makes the `nth` of the following calls of these kinds fail, and with `lasts` all later ones. 0 only counts.
void faults_arm(const char *folder, unsigned kinds, long nth, int lasts, uint64_t seed);
/// Ends the faults. Returns the number of calls of the kinds.
long faults_disarm(void);
/// Number of calls that failed since `faults_arm`.
long faults_hits(void);
/// Describes the first call that failed.
const char *faults_first(void);

// MARK: The clock

/// Sets the wall clock of the program off by `seconds`. Monotonic clocks are not affected.
void clock_set_off(double seconds);

// MARK: Checking

/// Checks a store with plain SQLite: its integrity and the files of external values. `digest` is that of all rows; 0
/// without a file or table. Returns 0, or 1 with the reason in `text`.
int look_at_store(const char *path, uint64_t *digest, char *text, int room);
/// Fills a value that `look_at_store` can check: it contains its length and a checksum. `size` is at least 24.
void fill_value(unsigned char *bytes, long size, uint64_t seed);
/// Returns 1 if the bytes are those of `fill_value`.
int value_is_whole(const unsigned char *bytes, long size);
