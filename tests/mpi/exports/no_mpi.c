/* A process without MPI calls what the dispatcher exports: an error, not a crash. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    fprintf(stderr, "no_mpi: %s\n", dlerror());
    return 1;
  }
  int (*finalize)(void);
  unsigned long long (*served)(void);
  const char* (*version)(void);
  /* ISO C has no other way from an object pointer to a function pointer. */
  *(void**)&finalize = dlsym(library, "MPI_Finalize");
  *(void**)&served = dlsym(library, "nacre_calls_served");
  *(void**)&version = dlsym(library, "nacre_version");
  if (finalize == NULL || served == NULL || version == NULL) return 1;
  return finalize() != 0 && served() == 0 && version()[0] != '\0' ? 0 : 1;
}
