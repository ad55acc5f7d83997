/* Nacre's public C interface: few functions, for tools and for programs that want to know that they
 * run on Nacre. None is needed to use it. All are thread-safe and local. */
#ifndef NACRE_NACRE_H_
#define NACRE_NACRE_H_

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NACRE_API __attribute__((visibility("default")))
#else
#define NACRE_API
#endif

/* "0.1.0"; static storage. */
NACRE_API const char* nacre_version(void);

/* MPI-IO calls on files of Nacre's that this process has made so far. */
NACRE_API unsigned long long nacre_calls_served(void);

/* Every hint and variable with type, default and meaning, as one JSON array; static storage. */
NACRE_API const char* nacre_hints_json(void);

#ifdef __cplusplus
}
#endif

#endif /* NACRE_NACRE_H_ */
