#include "file/external32.h"

#include <utility>
#include <vector>

#include "base/checked_cast.h"

namespace nacre::file {
namespace {

class External32Converter final : public Converter {
 public:
  explicit External32Converter(plan::TypeSignature signature) : signature_(std::move(signature)) {}

  Result<std::int64_t> file_bytes(std::int64_t native_bytes) override {
    if (signature_.native_size() == 0) return 0;
    const auto bytes =
        checked_multiply(native_bytes / signature_.native_size(), signature_.external32_size());
    if (!bytes) return Error{ErrorClass::count, 0, "the data in external32 exceeds 64 bits"};
    return *bytes;
  }

  Status to_file(const plan::MemoryAccess& memory, std::span<std::byte> file) override {
    std::vector<std::byte> packed(static_cast<std::size_t>(memory.byte_count));
    plan::pack(memory, 0, packed);
    return plan::to_external32(signature_, elements(file.size()), packed, file);
  }

  Status from_file(const plan::MemoryAccess& memory, std::span<const std::byte> file) override {
    const std::int64_t count = elements(file.size());
    std::vector<std::byte> packed(static_cast<std::size_t>(count * signature_.native_size()));
    if (Status done = plan::from_external32(signature_, count, file, packed); !done) return done;
    plan::unpack(memory, 0, packed);
    return {};
  }

 private:
  [[nodiscard]] std::int64_t elements(std::size_t file_size) const {
    const std::int64_t size = signature_.external32_size();
    return size == 0 ? 0 : static_cast<std::int64_t>(file_size) / size;
  }

  plan::TypeSignature signature_;
};

}  // namespace

std::shared_ptr<Converter> external32_converter(plan::TypeSignature signature) {
  return std::make_shared<External32Converter>(std::move(signature));
}

}  // namespace nacre::file
