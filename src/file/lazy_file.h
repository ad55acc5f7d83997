// LazyFile: the store's file of one rank, opened at the rank's first access. On ten thousand ranks
// only those that access the file open it.
#ifndef NACRE_FILE_LAZY_FILE_H_
#define NACRE_FILE_LAZY_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "collective/files/file_source.h"
#include "plan/layout/layout_choice.h"
#include "store/store.h"

namespace nacre::file {

/// Thread-safe.
class LazyFile final : public collective::FileSource {
 public:
  LazyFile(store::Store& store, std::string path, store::OpenOptions options)
      : store_(store), path_(std::move(path)), options_(std::move(options)) {}

  /// Opens the file now, on rank 0, with the options that create it.
  [[nodiscard]] Result<store::StoreFile*> create(const store::OpenOptions& options);
  /// Passes the identity and file system of the file that rank 0 opened. A later open skips statfs,
  /// and fails if it finds a different file.
  void expect(const store::FileIdentity& identity, const store::FileSystemFacts& facts) {
    identity_ = identity;
    options_.facts = facts;
  }
  /// The layout of the file may be incomplete (layout/growing_layout.h). `expected`: as in
  /// GrowingFile. Call before any access.
  void expect_growth(const std::optional<plan::ExpectedFile>& expected);

  /// Opens the file at the first call. ErrorClass::file if the name refers to a different file
  /// since rank 0 opened it.
  [[nodiscard]] Result<store::StoreFile*> file() override;
  /// The file if this rank has opened it, otherwise nullptr.
  [[nodiscard]] store::StoreFile* if_open();
  /// The time of the open in file(); 0: there was none.
  [[nodiscard]] std::int64_t open_nanoseconds() const { return open_nanoseconds_; }
  /// Closes the file if it is open.
  [[nodiscard]] Status close();

 private:
  [[nodiscard]] Status open();

  store::Store& store_;
  std::string path_;
  store::OpenOptions options_;
  store::FileIdentity identity_;
  bool grows_ = false;
  std::optional<plan::ExpectedFile> expected_;
  std::mutex mutex_;
  std::unique_ptr<store::StoreFile> file_;
  std::atomic<store::StoreFile*> ready_ = nullptr;  // file_, once file() has returned it
  std::int64_t open_nanoseconds_ = 0;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_LAZY_FILE_H_
