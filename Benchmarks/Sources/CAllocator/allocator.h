// mallinfo2, which the Glibc module of Swift lacks.
#include <malloc.h>
