// The store of files on CephFS.
#ifndef NACRE_STORE_CEPH_CEPH_STORE_H_
#define NACRE_STORE_CEPH_CEPH_STORE_H_

#include <memory>
#include <string>

#include "store/ceph/ceph_layout.h"
#include "store/posix/posix_store.h"

namespace nacre::store {

/// A PosixStore that also sets the layouts that OpenOptions request. A client whose key may not set
/// layouts leaves new files with the default.
///
/// Through ceph-fuse, a file that processes on several nodes read and write is opened with
/// O_DIRECT: when another client takes away the right to buffer writes, ceph-fuse reads from the
/// OSDs before its own buffered bytes have reached them. With O_DIRECT it writes these bytes first.
/// FUSE needs no alignment for it.
class CephStore : public PosixStore {
 protected:
  Result<Descriptor> open_descriptor(const std::string& path, int flags,
                                     const OpenOptions& options) override;
  std::unique_ptr<StoreFile> make_file(OpenedFile opened) override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_CEPH_CEPH_STORE_H_
