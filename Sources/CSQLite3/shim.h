#pragma once
#include <sqlite3.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

// What Swift cannot call or read: functions with any number of arguments, and macros that cast.

/// `SQLITE_TRANSIENT`, as which SQLite takes bytes that it has to copy.
static inline sqlite3_destructor_type sqlite3_transient_destructor(void) { return SQLITE_TRANSIENT; }

/// Leaves the write-ahead log as it is when the last connection closes, instead of copying it into the database.
static inline int sqlite3_leave_log_at_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Takes a text in double quotes in a statement for a name only.
static inline int sqlite3_refuse_quoted_texts(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

/// When a file was made, in nanoseconds; -1 where the file system does not say. (The places in what the kernel fills in are
/// part of its interface.)
static inline long long file_birth_time(const char *path) {
#ifdef SYS_statx
    unsigned char facts[256];
    unsigned int mask, nanoseconds;
    long long seconds;
    memset(facts, 0, sizeof facts);
    if (syscall(SYS_statx, -100, path, 0, 0x800u, facts) != 0) return -1;
    memcpy(&mask, facts, 4);
    if ((mask & 0x800u) == 0) return -1;
    memcpy(&seconds, facts + 80, 8);
    memcpy(&nanoseconds, facts + 88, 4);
    return seconds * 1000000000LL + nanoseconds;
#else
    return -1;
#endif
}
