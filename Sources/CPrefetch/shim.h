#include <stddef.h>

/// Has memory that is about to be read or written brought near, while the processor goes on. Any address will do, and none.
static inline void roster_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/// Has memory that is about to be written all over, here and there, brought near in its order first, with its pages. It must
/// be of the caller's own and stays as it is.
static inline void roster_approach(void *start, size_t length) {
    for (size_t at = 0; at < length; at += 64) {
        volatile char *byte = (volatile char *)start + at;
        *byte = *byte;
    }
}
