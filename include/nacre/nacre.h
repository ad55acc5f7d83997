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

/* The version, MAJOR.MINOR.PATCH; static storage. */
NACRE_API const char* nacre_version(void);

/* The commit of the sources, in hexadecimal digits, with "-dirty" behind it if files differed from
 * the commit; "unknown" if the sources were built without git. Static storage. */
NACRE_API const char* nacre_commit(void);

/* MPI-IO calls on files of Nacre's that this process has made so far. */
NACRE_API unsigned long long nacre_calls_served(void);

/* Every hint and variable with type, default and meaning, as one JSON array; static storage. "used"
 * is false for a hint that Nacre accepts but that has no effect. */
NACRE_API const char* nacre_hints_json(void);

/* Each of the following functions writes a text into `text`: at most text_size bytes, including a
 * final 0. It returns the size of the whole text, including the final 0. If that is larger than
 * text_size, the text is cut: call the function again with more memory. On an error it returns 0,
 * and the text is the reason. */

/* The hints that apply to a file with this absolute path if the program passes none, and the
 * machine file or class whose figures compare plans:
 * {"hints": {name: {"value": ..., "from": ...}}, "machine": ..., "notes": [...]}. */
NACRE_API size_t nacre_hints_for(const char* path, char* text, size_t text_size);

/* The layout that the xattr lustre.lov of a file contains (`size` bytes), as YAML with the keys of
 * `lfs getstripe -y`; or that of the xattr ceph.file.layout or ceph.dir.layout, with its own keys.
 */
NACRE_API size_t nacre_layout_yaml(const void* lov, size_t size, char* text, size_t text_size);

/* The best layout, on at most `osts` OSTs, of a file of `bytes` bytes in `directory` that `ranks`
 * ranks on `nodes` nodes write or read together: on the first line options of `lfs setstripe`, then
 * one line for each reason. Uses the machine file of the directory, or the class "lustre" if the
 * directory is NULL or not on Lustre. An error if an argument is out of range. */
NACRE_API size_t nacre_layout_advice(const char* directory, long long bytes, int nodes, int ranks,
                                     int osts, char* text, size_t text_size);

/* The value of the xattr lustre.lov that requests a layout: two hexadecimal digits for each byte.
 * `options`: options of `lfs setstripe`, for example "-c 8 -S 4m"; `osts`: the OSTs of the file
 * system. An error if an option is invalid. */
NACRE_API size_t nacre_layout_lov(const char* options, int osts, char* text, size_t text_size);

/* The value of the xattr lustre.lov.add that completes the layout of a file whose lustre.lov is
 * `lov` (`size` bytes), up to the end of the file: two hexadecimal digits for each byte; empty if
 * the layout is complete. An error if `lov` is not a layout. */
NACRE_API size_t nacre_layout_rest(const void* lov, size_t size, char* text, size_t text_size);

#ifdef __cplusplus
}
#endif

#endif /* NACRE_NACRE_H_ */
