// File-name prefixes, as ROMIO has them: "ufs:/scratch/x".
#ifndef NACRE_STORE_PATH_H_
#define NACRE_STORE_PATH_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace nacre::store {

/// `path` without its prefix. Pure. The rule:
/// 1. A prefix is what stands before the first ':' where that is one of the words below, all in
///    lower or all in upper case. Anything else ("a:b", "C:foo", "./nfs:x", "/nfs:x", "Nfs:x") is
///    an ordinary file name and comes back as it is. A file whose name begins like a prefix is
///    named "./nfs:x".
/// 2. ufs, nfs, xfs, lustre, gpfs, panfs, pfs, piofs, hfs, sfs, bg, bgl, bglockless: files that the
///    kernel serves; the prefix is taken away, once, and the file system is found out from the
///    file.
/// 3. pvfs, pvfs2, daos, ime, zoidfs, unifyfs, quobyte, testfs, ftp, gsiftp: served by a library of
///    their own, which Nacre has not: ErrorClass::unsupported_operation, and what to do instead.
/// 4. A prefix with nothing behind it: bad_file.
/// The words are ROMIO's of MPICH 1.0 to 4.x (ad_fstype.c), and unifyfs.
[[nodiscard]] Result<std::string> strip_prefix(std::string_view path);

/// The directory that a file of this name is in, a slash at its end; empty where `path` has none.
[[nodiscard]] std::string directory_of(const std::string& path);

/// `path` from the root on, so that it names the same file wherever the process goes; as it is
/// where the working directory cannot be told.
[[nodiscard]] std::string absolute_path(std::string path);

}  // namespace nacre::store

#endif  // NACRE_STORE_PATH_H_
