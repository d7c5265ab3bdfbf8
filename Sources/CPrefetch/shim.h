/// Has memory that is about to be written brought near, while the processor goes on. Any address will do.
static inline void roster_prefetch(const void *address) { __builtin_prefetch(address, 1); }
