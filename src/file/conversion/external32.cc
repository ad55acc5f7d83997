#include "file/conversion/external32.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "base/checked_cast.h"
#include "collective/rounds/scratch.h"

namespace nacre::file {
namespace {

class External32Converter final : public Converter {
 public:
  explicit External32Converter(plan::TypeSignature signature) : signature_(std::move(signature)) {}

  Result<std::int64_t> file_bytes(std::int64_t native_bytes) override {
    if (signature_.native_size() == 0) return 0;
    const auto bytes =
        checked_multiply(native_bytes / signature_.native_size(), signature_.file_size());
    if (!bytes) return Error{ErrorClass::count, 0, "the data in external32 exceeds 64 bits"};
    return *bytes;
  }

  Status to_file(const plan::MemoryAccess& memory, std::span<std::byte> file) override {
    return in_batches(file.size(), [&](const Batch& batch, std::span<std::byte> packed) -> Status {
      plan::pack(memory, batch.native_offset, packed);
      return plan::to_external32(signature_, batch.count, packed,
                                 file.subspan(batch.file_offset, batch.file_bytes));
    });
  }

  plan::StreamPart whole_part(std::int64_t file_bytes) override {
    return plan::whole_elements(signature_, file_bytes);
  }

  Status from_file(const plan::MemoryAccess& memory, std::span<const std::byte> file) override {
    const auto convert = [&](const Batch& batch, std::span<std::byte> packed) -> Status {
      Status done = plan::from_external32(
          signature_, batch.count, file.subspan(batch.file_offset, batch.file_bytes), packed);
      if (done) plan::unpack(memory, batch.native_offset, packed);
      return done;
    };
    if (Status done = in_batches(file.size(), convert); !done) return done;
    return last_part_from_file(memory, file);
  }

 private:
  // Small enough to stay in the cache between packing and converting.
  static constexpr std::int64_t batch_bytes = 256 << 10;
  static constexpr std::string_view purpose = "to convert data in external32";

  /// Whole elements that go through the packed buffer at once.
  struct Batch {
    std::int64_t count;
    std::int64_t native_offset;
    std::size_t file_offset;
    std::size_t file_bytes;
  };

  template <class Action>
  Status in_batches(std::size_t file_size, Action action) {
    const std::int64_t in_file = signature_.file_size();
    const std::int64_t native = signature_.native_size();
    if (in_file == 0 || native == 0) return {};
    const std::int64_t elements = static_cast<std::int64_t>(file_size) / in_file;
    const std::int64_t count_max = std::max<std::int64_t>(batch_bytes / native, 1);
    collective::Scratch scratch;
    Result<std::span<std::byte>> packed =
        scratch.try_take(std::min(elements, count_max) * native, purpose);
    if (!packed) return std::move(packed).error();
    for (std::int64_t first = 0; first < elements; first += count_max) {
      const std::int64_t count = std::min(count_max, elements - first);
      const Batch batch{count, first * native, static_cast<std::size_t>(first * in_file),
                        static_cast<std::size_t>(count * in_file)};
      const auto bytes = static_cast<std::size_t>(count * native);
      if (Status done = action(batch, packed->first(bytes)); !done) return done;
    }
    return {};
  }

  /// Converts the part of the last element that a read up to the end of the file returned.
  Status last_part_from_file(const plan::MemoryAccess& memory, std::span<const std::byte> file) {
    const std::int64_t in_file = signature_.file_size();
    if (in_file == 0) return {};
    const std::int64_t elements = std::ssize(file) / in_file;
    const plan::TypeSignature part = signature_.beginning(std::ssize(file) % in_file);
    if (part.file_size() == 0) return {};
    collective::Scratch scratch;
    Result<std::span<std::byte>> packed = scratch.try_take(part.native_size(), purpose);
    if (!packed) return std::move(packed).error();
    const auto begin = static_cast<std::size_t>(elements * in_file);
    const auto bytes = static_cast<std::size_t>(part.file_size());
    Status done = plan::from_external32(part, 1, file.subspan(begin, bytes), *packed);
    if (done) plan::unpack(memory, elements * signature_.native_size(), *packed);
    return done;
  }

  plan::TypeSignature signature_;
};

}  // namespace

std::shared_ptr<Converter> external32_converter(plan::TypeSignature signature) {
  return std::make_shared<External32Converter>(std::move(signature));
}

}  // namespace nacre::file
