// Informs the thread sanitizer of contended Swift Mutex locks. It sees the fast paths, which are atomic operations in
// the program, but not the slow paths in the toolchain's library, which wait with a futex. Scripts/sanitize preloads
// this library. It does nothing in a program without __tsan_acquire.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

SWIFT void lock_slow(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT bool try_lock_slow(SELF) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT void unlock_slow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

typedef SWIFT void (*lock_function)(uint32_t thread, SELF);
typedef SWIFT bool (*try_lock_function)(SELF);
typedef SWIFT void (*unlock_function)(SELF);

SWIFT void lock_slow(uint32_t thread, SELF) {
    lock_function next = (lock_function)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) {
    try_lock_function next = (try_lock_function)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
    bool taken = next(self);
    if (taken && __tsan_acquire) __tsan_acquire(self);
    return taken;
}

SWIFT void unlock_slow(SELF) {
    unlock_function next = (unlock_function)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(self);
    next(self);
}
