// LazyFile: the store's file of one rank, opened when the rank first touches it, so that ten
// thousand ranks are not ten thousand opens.
#ifndef NACRE_FILE_LAZY_FILE_H_
#define NACRE_FILE_LAZY_FILE_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "collective/files/file_source.h"
#include "store/store.h"

namespace nacre::file {

/// Thread-safe.
class LazyFile final : public collective::FileSource {
 public:
  LazyFile(store::Store& store, std::string path, store::OpenOptions options)
      : store_(store), path_(std::move(path)), options_(std::move(options)) {}

  /// Opens now, with what only the rank that makes the file asks for. Rank 0, at open.
  [[nodiscard]] Result<store::StoreFile*> create(const store::OpenOptions& options);
  /// The file that rank 0 opened, and what it found out of its file system: a later open does not
  /// ask again, and fails where it finds another file.
  void expect(const store::FileIdentity& identity, const store::FileSystemFacts& facts) {
    identity_ = identity;
    options_.facts = facts;
  }
  /// Before the file is used: its layout may end before it does (layout/growing_layout.h).
  void expect_growth();

  /// Opens on first need. ErrorClass::file when the name has come to stand for another file since
  /// the open.
  [[nodiscard]] Result<store::StoreFile*> file() override;
  /// The file where this rank has it open already, else nullptr.
  [[nodiscard]] store::StoreFile* if_open();
  /// Closes, if it was opened.
  [[nodiscard]] Status close();

 private:
  store::Store& store_;
  std::string path_;
  store::OpenOptions options_;
  store::FileIdentity identity_;
  bool grows_ = false;
  std::mutex mutex_;
  std::unique_ptr<store::StoreFile> file_;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_LAZY_FILE_H_
