#include "mpi/abi/object_symbols.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

namespace nacre::mpi {
namespace {

using Address = ElfW(Addr);

struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* gnu_hash = nullptr;
};

/// The dynamic linker makes most entries of a dynamic section addresses; where the section is
/// read-only (the vDSO, some processors) they stay relative to the object.
template <class T>
const T* at(const dl_phdr_info& info, Address entry) {
  const Address address = entry < info.dlpi_addr ? info.dlpi_addr + entry : entry;
  return reinterpret_cast<const T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

Tables tables_of(const dl_phdr_info& info) {
  Tables tables;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + header.p_vaddr);  // NOLINT
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) tables.symbols = at<ElfW(Sym)>(info, entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) tables.names = at<char>(info, entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = at<uint32_t>(info, entry->d_un.d_ptr);
    }
  }
  return tables;
}

/// DT_GNU_HASH: four numbers, a Bloom filter of words, buckets, and the hashes of the symbols from
/// `first` on, bucket by bucket; the last of a bucket has its lowest bit set.
struct GnuHash {
  explicit GnuHash(const uint32_t* table)
      : bucket_count(table[0]), first(table[1]), filter_words(table[2]), filter_shift(table[3]) {
    filter = reinterpret_cast<const Address*>(table + 4);
    buckets = reinterpret_cast<const uint32_t*>(filter + filter_words);
    hashes = buckets + bucket_count;
  }

  [[nodiscard]] bool may_have(uint32_t hash) const {
    constexpr uint32_t word_bits = 8 * sizeof(Address);
    const Address word = filter[(hash / word_bits) % filter_words];
    const Address mask =
        (Address{1} << (hash % word_bits)) | (Address{1} << ((hash >> filter_shift) % word_bits));
    return (word & mask) == mask;
  }

  uint32_t bucket_count;
  uint32_t first;
  uint32_t filter_words;
  uint32_t filter_shift;
  const Address* filter;
  const uint32_t* buckets;
  const uint32_t* hashes;
};

uint32_t gnu_hash_of(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

}  // namespace

bool may_define(const dl_phdr_info& info, const char* symbol) {
  const Tables tables = tables_of(info);
  if (tables.symbols == nullptr || tables.names == nullptr) return false;
  if (tables.gnu_hash == nullptr) return true;
  const GnuHash table(tables.gnu_hash);
  const uint32_t hash = gnu_hash_of(symbol);
  if (table.bucket_count == 0 || !table.may_have(hash)) return false;
  uint32_t index = table.buckets[hash % table.bucket_count];
  if (index < table.first) return false;
  for (;; ++index) {
    const uint32_t found = table.hashes[index - table.first];
    const ElfW(Sym)& candidate = tables.symbols[index];
    const bool is_it = (found | 1U) == (hash | 1U) && candidate.st_shndx != SHN_UNDEF &&
                       strcmp(tables.names + candidate.st_name, symbol) == 0;
    if (is_it) return true;
    if ((found & 1U) != 0) return false;
  }
}

}  // namespace nacre::mpi
