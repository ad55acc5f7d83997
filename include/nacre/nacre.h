/* Nacre's public C interface: few functions, for tools and for programs that want to know that they
 * run on Nacre. None is needed to use it. All are thread-safe and local. */
#ifndef NACRE_NACRE_H_
#define NACRE_NACRE_H_

#include <stddef.h>

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

/* What the xattr lustre.lov of a file, `size` bytes, says of its layout, as YAML with the keys of
 * `lfs getstripe -y`. Writes at most text_size bytes into `text`, a final 0 among them, and returns
 * how many there are to be. 0: it is no layout, and `text` says why. */
NACRE_API size_t nacre_layout_yaml(const void* lov, size_t size, char* text, size_t text_size);

#ifdef __cplusplus
}
#endif

#endif /* NACRE_NACRE_H_ */
