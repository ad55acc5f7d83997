// File-name prefixes, as ROMIO has them: "ufs:/scratch/x".
#ifndef NACRE_STORE_PATH_H_
#define NACRE_STORE_PATH_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace nacre::store {

/// `path` without its prefix. Pure. The rule:
/// 1. A prefix is the text before the first ':' if it is one of the words below, all lower case or
///    all upper case. Any other name ("a:b", "C:foo", "./nfs:x", "/nfs:x", "Nfs:x") is returned
///    unchanged. For a file whose name begins like a prefix, write "./nfs:x".
/// 2. ufs, nfs, xfs, lustre, gpfs, panfs, pfs, piofs, hfs, sfs, bg, bgl, bglockless: one prefix is
///    removed. Nacre detects the file system from the file.
/// 3. pvfs, pvfs2, daos, ime, zoidfs, unifyfs, quobyte, testfs, ftp, gsiftp: these need a library
///    that Nacre does not use: ErrorClass::unsupported_operation, with advice.
/// 4. A prefix without a file name: bad_file.
/// The words are those of ROMIO in MPICH 1.0 to 4.x (ad_fstype.c), and unifyfs.
[[nodiscard]] Result<std::string> strip_prefix(std::string_view path);

/// The directory part of `path`, with a slash at its end; empty if `path` has no slash.
[[nodiscard]] std::string directory_of(const std::string& path);

/// `path` as an absolute path, which stays valid if the process changes its working directory.
/// `path` itself if the working directory is unknown.
[[nodiscard]] std::string absolute_path(std::string path);

}  // namespace nacre::store

#endif  // NACRE_STORE_PATH_H_
