/* Calls dlopen on behalf of all libraries, as UCX does: to the C library, it is the caller of each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

__attribute__((visibility("default"))) void* dlopen(const char* name, int flags) {
  void* (*next)(const char*, int);
  *(void**)&next = dlsym(RTLD_NEXT, "dlopen");
  void* volatile loaded = next(name, flags); /* not a tail call */
  return loaded;
}
