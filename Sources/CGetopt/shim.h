#include <getopt.h>

// getopt's state is in global variables, which Swift 6 does not let be touched; these are called on the main thread only.

static inline int roster_getopt_index(void) { return optind; }
static inline int roster_getopt_refused(void) { return optopt; }
static inline const char *roster_getopt_argument(void) { return optarg; }

/// Begins anew; 0 makes glibc forget the last command line too.
static inline void roster_getopt_reset(void) { opterr = 0; optind = 0; optarg = 0; }
