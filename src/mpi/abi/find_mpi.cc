#include "mpi/abi/find_mpi.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
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

constexpr const char* marker_name = "PMPI_Comm_rank";

/// The file names of the loaded objects that may be the MPI, in load order, null-terminated.
struct Names {
  char* text = nullptr;
  size_t size = 0;
  bool failed = false;
};

/// Collects names only: dl_iterate_phdr holds the loader's lock, so dlopen has to wait.
int collect_name(dl_phdr_info* info, size_t /*size*/, void* argument) {
  if (!may_define(*info, marker_name)) return 0;
  auto* names = static_cast<Names*>(argument);
  const size_t length = strlen(info->dlpi_name) + 1;
  auto* grown = static_cast<char*>(realloc(names->text, names->size + length));
  if (grown == nullptr) {
    names->failed = true;
    return 1;
  }
  memcpy(grown + names->size, info->dlpi_name, length);
  names->text = grown;
  names->size += length;
  return 0;
}

const void* object_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

Abi abi_of(void* handle) {
  using AbiVersion = int (*)(int*, int*);
  if (void* found = dlsym(handle, "PMPI_Abi_get_version")) {
    int major = -1;
    int minor = -1;
    if (reinterpret_cast<AbiVersion>(found)(&major, &minor) == 0 && major > 0) return Abi::standard;
  }
  if (dlsym(handle, "ompi_mpi_comm_world") != nullptr) return Abi::openmpi;
  if (dlsym(handle, "MPIR_Dup_fn") != nullptr) return Abi::mpich;
  return Abi::unknown;
}

/// The MPI in the object `name`, if any; "" is the main program.
LoadedMpi examine(const char* name) {
  const bool main_program = *name == '\0';
  void* handle = dlopen(main_program ? nullptr : name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  // dlsym also searches the object's dependencies, which are examined by themselves: compares the
  // link map of the object that defines the marker.
  const void* marker = dlsym(handle, marker_name);
  Dl_info info;
  link_map* definer = nullptr;
  link_map* self = nullptr;
  const bool defines =
      marker != nullptr &&
      dladdr1(marker, &info, reinterpret_cast<void**>(&definer), RTLD_DL_LINKMAP) != 0 &&
      dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&self)) == 0 && definer == self;
  if (!defines) {
    dlclose(handle);
    return {};
  }
  return {abi_of(handle), handle, main_program, info.dli_fbase};
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

LoadedMpi find_mpi() {
  Names names;
  dl_iterate_phdr(collect_name, &names);
  LoadedMpi best;
  for (size_t at = 0; at < names.size; at += strlen(names.text + at) + 1) {
    const LoadedMpi candidate = examine(names.text + at);
    const bool better = candidate.abi == Abi::standard && best.abi != Abi::standard;
    if (best.abi == Abi::none || better) best = candidate;
  }
  free(names.text);
  return best;
}

void* mpi_symbol(const void* mpi, const char* symbol) {
  const auto* loaded = static_cast<const LoadedMpi*>(mpi);
  void* found = dlsym(loaded->handle, symbol);
  // The main program's handle searches the global scope, Nacre's libraries included.
  if (found != nullptr && loaded->main_program && object_of(found) != loaded->base) return nullptr;
  return found;
}

void* mpi_data(const void* mpi, const char* symbol) {
  if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
  return mpi_symbol(mpi, symbol);
}

}  // namespace nacre::mpi
