#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

#include "CSimulatedDisk.h"
#include "disk.h"

// The functions replace those of the C library, as in recording.c. Foundation therefore sees the simulated wall clock,
// too.

static const int64_t second = 1000000000;
static _Atomic int64_t off;

void clock_set_off(double seconds) { atomic_store(&off, (int64_t)(seconds * (double)second)); }

#if !IS_SANITIZED

int clock_gettime(clockid_t clock, struct timespec *found) {
    REAL(clock_gettime);
    int result = real(clock, found);
    if (result || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
    int64_t time = found->tv_sec * second + found->tv_nsec + atomic_load(&off);
    found->tv_sec = time / second;
    found->tv_nsec = time % second;
    return 0;
}

int gettimeofday(struct timeval *restrict found, void *restrict zone) {
    (void)zone;
    struct timespec time;
    int result = clock_gettime(CLOCK_REALTIME, &time);
    if (result) return result;
    found->tv_sec = time.tv_sec;
    found->tv_usec = time.tv_nsec / 1000;
    return 0;
}

#endif
