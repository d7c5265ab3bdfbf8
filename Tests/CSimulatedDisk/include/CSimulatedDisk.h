#pragma once
#include <stdint.h>

// A disk whose power can fail, for tests alone.
//
// All writes below a folder are written down on their way to the real files: those of SQLite, and those that the framework makes
// itself. Afterwards the states that a power failure could have left are made from what was written down, as often as wanted:
// what was synced is there, and of the rest each sector has any of the contents that it had since.
//
// The program that uses it has its own `open`, `write`, `fsync` and the like (see recording.c), so it is never linked into the
// program of the tests, but into one of its own.

/// Whether writes can be seen: not under a sanitizer, which has its own `open` and `write`.
int disk_is_available(void);

// MARK: Writing down

/// Takes all below the folder for synced, and writes down what is written there from now on. `folder` is its real path.
void disk_begin(const char *folder);
/// The program was told now that all it did before is saved.
void disk_mark(void);
/// Ends writing down.
void disk_end(void);

// MARK: Afterwards

/// How many operations were written down.
long disk_length(void);
/// How many operations came before the last mark at or before `position`; 0 where there is none.
long disk_marked_before(long position);
/// Whether a transaction may have come to its end by the operation before `position`.
int disk_may_commit(long position);
/// Goes to the moment after so many operations. Going on is cheap, going back begins anew.
void disk_seek(long position);
/// Makes a folder as the running program saw it at that moment. What was there goes.
void disk_write_whole(const char *folder);
/// Makes a folder as a power failure at that moment may have left it.
void disk_write_crashed(const char *folder, uint64_t seed);
/// What the last call chose, for reports.
const char *disk_choice(void);
/// The operation before `position` in words.
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
    /// Allocations of SQLite's.
    fault_allocation = 1024,
    /// Writing calls below the folder that do not come from SQLite.
    fault_outside = 2048,
};

/// Makes the VFS `faulty`, which hands everything to `unix`, the one that SQLite takes where none is named, and its allocations
/// ones that can fail. Call it before anything uses SQLite. Returns 0, or a result code of SQLite's.
int faults_install(void);
/// The `nth` of the calls of these kinds from now on fails; with `lasts` so do all after it. 0 only counts.
void faults_arm(const char *folder, unsigned kinds, long nth, int lasts, uint64_t seed);
/// Nothing fails any more. Returns how many calls of the kinds there were.
long faults_disarm(void);
/// How many calls failed since `faults_arm`.
long faults_hits(void);
/// The first call that failed, in words.
const char *faults_first(void);

// MARK: The clock

/// Sets the wall clock of the program so many seconds off the machine's. Clocks that only measure go on.
void clock_set_off(double seconds);

// MARK: Looking

/// Looks at a store through plain SQLite: its integrity check, the files of external values, and a digest of all its rows (0 for a
/// file without tables or none at all). Returns 0; 1 with a text for what is wrong.
int look_at_store(const char *path, uint64_t *digest, char *text, int room);
/// Bytes that `look_at_store` knows to be whole: their length and a sum stand in them. `size` is at least 24.
void fill_value(unsigned char *bytes, long size, uint64_t seed);
/// Whether bytes are those of `fill_value`.
int value_is_whole(const unsigned char *bytes, long size);
