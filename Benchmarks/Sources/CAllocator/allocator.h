// What Swift's Glibc leaves out: how much memory malloc has handed out.
#include <malloc.h>
