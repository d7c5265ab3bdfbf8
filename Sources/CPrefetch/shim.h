#include <stddef.h>

/// Has memory that is about to be read or written brought near, while the processor goes on. Any address will do, and none.
static inline void roster_prefetch(const void *address) { __builtin_prefetch(address, 1); }
