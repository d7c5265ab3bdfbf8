#ifndef CSIMULATEDFILES_H
#define CSIMULATEDFILES_H

/* A file system under SQLite that remembers what is not on the disk yet, and that fails on request. Tests only.
 *
 * After simulated_files_begin() all databases of the process go through it. Files whose path begins with `folder` are watched: what
 * was written to them and not synced may be lost, torn or come in another order when the power fails. One thread at a time.
 */

/* Registers the file system as the default one. Returns 0, or SQLite's error. */
int simulated_files_begin(const char *folder);

/* How many operations (writes, truncations, syncs) on watched files there were. */
long simulated_files_operations(void);

/* Writes what a disk may hold if the power fails now into the folder `target`, which must be there: each file as it was synced last,
 * with some of the later writes, whole or in parts of 512 bytes, chosen by `seed`. The index of a log is never on the disk.
 * Returns 0, or -1 where a file cannot be written. */
int simulated_files_crash(const char *target, unsigned long long seed);

/* Kinds of calls that can fail. */
enum {
    SIMULATED_READ = 0, SIMULATED_WRITE, SIMULATED_TRUNCATE, SIMULATED_SYNC, SIMULATED_LOCK, SIMULATED_OPEN, SIMULATED_DELETE,
    SIMULATED_SIZE, SIMULATED_SHARED_MAP, SIMULATED_SHARED_LOCK, SIMULATED_KINDS
};

/* Lets the call of that kind fail that comes after `after` others; with `error`, a result code of SQLite's. Negative: none. */
void simulated_files_fail(int kind, long after, int error);

/* Whether the call that was to fail did. */
int simulated_files_failed(void);

/* How many calls of a kind there were since the last simulated_files_fail(). */
long simulated_files_calls(int kind);

/* Calls `action` before each operation on a watched file, between two calls of SQLite's; NULL for none. */
void simulated_files_on_operation(void (*action)(void *), void *context);

#endif
