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

/* The following hand out a text: they write at most text_size bytes of it into `text`, a final 0
 * among them, and return how many there are to be. 0: there is none, and `text` says why. */

/* The hints that would apply to a file of this name, a path from the root on, were it opened
 * without any of the program's own, and the machine file or class by which plans would be compared:
 * {"hints": {name: {"value": ..., "from": ...}}, "machine": ..., "notes": [...]}. */
NACRE_API size_t nacre_hints_for(const char* path, char* text, size_t text_size);

/* What the xattr lustre.lov of a file, `size` bytes, says of its layout, as YAML with the keys of
 * `lfs getstripe -y`; or the xattr ceph.file.layout or ceph.dir.layout, with its own keys. */
NACRE_API size_t nacre_layout_yaml(const void* lov, size_t size, char* text, size_t text_size);

/* How a file of `bytes` bytes in `directory` that `ranks` ranks on `nodes` nodes write or read
 * together is best striped over at most `osts` OSTs: on the first line options of `lfs setstripe`,
 * then why, a line a reason. The machine file of the directory counts, or the class "lustre" if the
 * directory is NULL or not on Lustre. Written and returned as above; 0: an argument makes no sense,
 * and `text` says which. */
NACRE_API size_t nacre_layout_advice(const char* directory, long long bytes, int nodes, int ranks,
                                     int osts, char* text, size_t text_size);

/* The value of the xattr lustre.lov that requests a layout: hexadecimal digits, two a byte.
 * `options`: options of `lfs setstripe`, for example "-c 8 -S 4m"; `osts`: the OSTs of the file
 * system. 0: an option is invalid, and `text` says which, and what is valid. */
NACRE_API size_t nacre_layout_lov(const char* options, int osts, char* text, size_t text_size);

/* What is to be set as the xattr lustre.lov.add of a file whose lustre.lov is `lov`, `size` bytes,
 * so that its layout reaches to the end of the file: hexadecimal digits, two a byte; none where it
 * does. Written and returned as above; 0: `lov` is no layout, and `text` says why. */
NACRE_API size_t nacre_layout_rest(const void* lov, size_t size, char* text, size_t text_size);

#ifdef __cplusplus
}
#endif

#endif /* NACRE_NACRE_H_ */
