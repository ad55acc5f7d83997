/* The dispatcher's first call, which finds where to go, and the second one hand on every argument:
 * integer and vector registers and the stack. This program stands in for an MPI that Nacre refuses,
 * so that the call comes back here, to a function that takes all that a C call can take. */
#include <dlfcn.h>
#include <stdio.h>

int PMPI_Comm_rank(void) { return 0; }
int MPIR_Dup_fn(void) { return 0; }

typedef double Function(double, double, double, double, double, double, double, double, long, long,
                        long, long, long, long, long, long, long, long);

Function MPI_Probe;

double MPI_Probe(double a, double b, double c, double d, double e, double f, double g, double h,
                 long i, long j, long k, long l, long m, long n, long o, long p, long q, long r) {
  const double vectors = a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h;
  return vectors + 256. * (double)(i + 3 * j + 9 * k + 27 * l + 81 * m + 243 * n + 729 * o +
                                   2187 * p + 6561 * q + 19683 * r);
}

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    fprintf(stderr, "registers: %s\n", dlerror());
    return 1;
  }
  Function* through_slot;
  /* ISO C has no other way from an object pointer to a function pointer. */
  *(void**)&through_slot = dlsym(library, "MPI_Probe");
  if (through_slot == NULL || through_slot == MPI_Probe) return 1;
  const double right = MPI_Probe(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18);
  for (int call = 0; call < 2; ++call) {
    const double got = through_slot(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18);
    if (got != right) {
      fprintf(stderr, "registers: call %d returned %g instead of %g\n", call, got, right);
      return 1;
    }
  }
  return 0;
}
