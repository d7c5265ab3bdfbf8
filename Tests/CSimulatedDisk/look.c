#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSimulatedDisk.h"

// Checks a store without the framework. The only thing it knows is how rows name the files of external values.

static uint64_t mix(uint64_t sum, const unsigned char *bytes, long size) {
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15;
        sum ^= sum >> 29;
    }
    for (; size > 0; bytes++, size--) sum = (sum ^ *bytes) * 0x100000001B3;
    return sum;
}

void fill_value(unsigned char *bytes, long size, uint64_t seed) {
    uint64_t word = seed, head[2] = {(uint64_t)size, 0};
    for (long at = 16; at + 8 <= size; at += 8) {
        word = word * 6364136223846793005 + 1442695040888963407;
        memcpy(bytes + at, &word, 8);
    }
    for (long at = 16 + (size - 16) / 8 * 8; at < size; at++) bytes[at] = 7;
    head[1] = mix(head[0], bytes + 16, size - 16);
    memcpy(bytes, head, 16);
}

int value_is_whole(const unsigned char *bytes, long size) {
    uint64_t head[2];
    if (size < 24) return 0;
    memcpy(head, bytes, 16);
    return head[0] == (uint64_t)size && head[1] == mix(head[0], bytes + 16, size - 16);
}

/// Returns 1 if the file of an external value is whole or the bytes do not name a file.
static int external_is_whole(const char *path, const unsigned char *stored, int size) {
    if (size != 38 || stored[0] != 2 || stored[37] != 0 || stored[9] != '-') return 1;
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    char file[4096];
    snprintf(
        file, sizeof file, "%.*s/.%.*s_SUPPORT/_EXTERNAL_DATA/%s", (int)(slash - path), path, (int)(dot - slash - 1),
        slash + 1, (const char *)stored + 1);
    FILE *opened = fopen(file, "rb");
    if (!opened) return 0;
    struct stat facts;
    fstat(fileno(opened), &facts);
    unsigned char *bytes = malloc(facts.st_size + 1);
    long count = (long)fread(bytes, 1, facts.st_size, opened);
    fclose(opened);
    int whole = count == facts.st_size && value_is_whole(bytes, count);
    free(bytes);
    return whole;
}

static int failed(sqlite3 *database, char *text, int room, const char *doing) {
    snprintf(text, room, "SQLite, %s: %s", doing, database ? sqlite3_errmsg(database) : "no memory");
    return 1;
}

static int add_rows(sqlite3 *database, const char *path, const char *table, uint64_t *sum, char *text, int room) {
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
    sqlite3_stmt *rows = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &rows, NULL);
    sqlite3_free(sql);
    if (result) return failed(database, text, room, table);
    *sum = mix(*sum, (const unsigned char *)table, (long)strlen(table));
    int wrong = 0;
    while (!wrong && (result = sqlite3_step(rows)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            unsigned char type = (unsigned char)sqlite3_column_type(rows, i);
            *sum = mix(*sum, &type, 1);
            if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
                sqlite3_int64 integer = sqlite3_column_int64(rows, i);
                double number = sqlite3_column_double(rows, i);
                *sum = mix(*sum, (const unsigned char *)(type == SQLITE_INTEGER ? (void *)&integer : (void *)&number), 8);
            } else if (type != SQLITE_NULL) {
                const unsigned char *bytes = sqlite3_column_blob(rows, i);
                int size = sqlite3_column_bytes(rows, i);
                *sum = mix(*sum, bytes, size);
                if (type == SQLITE_BLOB && !external_is_whole(path, bytes, size)) {
                    snprintf(text, room, "the file %.37s of a row of %s is not whole", (const char *)bytes + 1, table);
                    wrong = 1;
                }
            }
        }
    }
    if (!wrong && result != SQLITE_DONE) wrong = failed(database, text, room, table);
    sqlite3_finalize(rows);
    return wrong;
}

static int look(sqlite3 *database, const char *path, uint64_t *digest, char *text, int room) {
    sqlite3_stmt *rows = NULL;
    if (sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &rows, NULL) || sqlite3_step(rows) != SQLITE_ROW) {
        sqlite3_finalize(rows);
        return failed(database, text, room, "integrity check");
    }
    const char *answer = (const char *)sqlite3_column_text(rows, 0);
    int wrong = strcmp(answer, "ok") != 0;
    if (wrong) snprintf(text, room, "integrity check: %s", answer);
    sqlite3_finalize(rows);
    if (wrong) return 1;
    uint64_t sum = 0;
    if (sqlite3_prepare_v2(
            database, "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name", -1, &rows, NULL))
        return failed(database, text, room, "tables");
    int result;
    while (!wrong && (result = sqlite3_step(rows)) == SQLITE_ROW) {
        const unsigned char *sql = sqlite3_column_text(rows, 1);
        if (sql) sum = mix(sum, sql, (long)strlen((const char *)sql));
        wrong = add_rows(database, path, (const char *)sqlite3_column_text(rows, 0), &sum, text, room);
    }
    if (!wrong && result != SQLITE_DONE) wrong = failed(database, text, room, "tables");
    sqlite3_finalize(rows);
    *digest = sum;
    return wrong;
}

int look_at_store(const char *path, uint64_t *digest, char *text, int room) {
    *digest = 0;
    text[0] = 0;
    if (access(path, F_OK) != 0) return 0;
    sqlite3 *database = NULL;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, "unix")) {
        failed(database, text, room, "open");
        sqlite3_close(database);
        return 1;
    }
    int wrong = look(database, path, digest, text, room);
    sqlite3_close(database);
    return wrong;
}
