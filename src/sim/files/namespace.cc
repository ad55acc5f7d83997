#include "sim/files/namespace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/checked_cast.h"
#include "plan/layout/lov_codec.h"
#include "sim/lustre/errno_result.h"

namespace nacre::sim {
namespace {

constexpr const char* layout_name = "lustre.lov";
constexpr const char* layout_add_name = "lustre.lov.add";
constexpr const char* layout_delete_name = "lustre.lov.del";
constexpr std::size_t name_bytes_max = 255;
constexpr blksize_t block_bytes = 4 << 20;  // as Lustre reports it, for every stripe size
constexpr std::int64_t sector_bytes = 512;

timespec now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

}  // namespace

struct Namespace::Inode {
  Inode(Striping& striping, InodeNumber inode_number)
      : number(inode_number),
        data(striping, inode_number),
        locks(striping.timing),
        whole_file_locks(striping.timing) {}

  InodeNumber number;
  mode_t mode = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  nlink_t links = 0;
  std::uint64_t lookups = 0;
  std::uint64_t opens = 0;
  std::map<std::int32_t, std::int64_t> writers;  // number of opens for writing, by node; never 0
  timespec accessed{};
  timespec modified{};
  timespec changed{};
  std::string target;                          // of a symbolic link
  std::map<std::string, InodeNumber> entries;  // of a directory
  InodeNumber parent = 0;  // directory in which it was created or to which it was moved
  std::optional<plan::Layout> default_layout;  // of a directory
  std::map<std::string, std::vector<std::byte>> attributes;
  StripedFile data;
  RangeLocks locks;
  RangeLocks whole_file_locks;

  [[nodiscard]] bool is_directory() const { return S_ISDIR(mode); }
  void touch() { modified = changed = now(); }
};

Namespace::Namespace(const Machine& machine, ObjectStore objects, Timing& timing)
    : striping_(machine, std::move(objects), timing) {
  auto root = std::make_shared<Inode>(striping_, next_number_++);
  root->mode = S_IFDIR | 01777;
  root->links = 2;
  root->parent = root_number;
  root->accessed = now();
  root->touch();
  inodes_.emplace(root_number, std::move(root));
}

Namespace::~Namespace() = default;

// ---- lookups ----

Namespace::Pointer Namespace::find(InodeNumber number) const { return inodes_.at(number); }

Result<Namespace::Pointer> Namespace::find_directory(InodeNumber number) const {
  const auto found = inodes_.find(number);
  if (found == inodes_.end()) return refused(ENOENT);
  if (!found->second->is_directory()) return refused(ENOTDIR);
  return found->second;
}

Result<Namespace::Pointer> Namespace::find_in(InodeNumber directory,
                                              const std::string& name) const {
  Result<Pointer> parent = find_directory(directory);
  if (!parent) return parent;
  const auto entry = (*parent)->entries.find(name);
  if (entry == (*parent)->entries.end()) return refused(ENOENT);
  return find(entry->second);
}

struct stat Namespace::describe(const Inode& inode) const {
  struct stat about {};
  about.st_ino = inode.number;
  about.st_mode = inode.mode;
  about.st_nlink = inode.links;
  about.st_uid = inode.uid;
  about.st_gid = inode.gid;
  about.st_blksize = block_bytes;
  about.st_atim = inode.accessed;
  about.st_mtim = inode.modified;
  about.st_ctim = inode.changed;
  about.st_size = S_ISLNK(inode.mode) ? checked_cast<off_t>(inode.target.size()) : 0;
  if (S_ISREG(inode.mode)) about.st_size = inode.data.size();
  about.st_blocks = (about.st_size + sector_bytes - 1) / sector_bytes;
  return about;
}

Result<struct stat> Namespace::count_lookup(Result<Pointer> found) {
  if (!found) return std::move(found).error();
  ++(*found)->lookups;
  return describe(**found);
}

Result<struct stat> Namespace::lookup(InodeNumber directory, const std::string& name) {
  const std::lock_guard guard(mutex_);
  return count_lookup(find_in(directory, name));
}

void Namespace::forget(InodeNumber number, std::uint64_t lookups) {
  const std::lock_guard guard(mutex_);
  const auto found = inodes_.find(number);
  if (found == inodes_.end()) return;
  const Pointer inode = found->second;
  inode->lookups -= std::min(inode->lookups, lookups);
  drop_if_unused(inode);
}

void Namespace::drop_if_unused(const Pointer& inode) {
  if (inode->links > 0 || inode->opens > 0) return;
  // Kernels may forget the inode much later: delete its data now. If that fails, the destructor of
  // StripedFile deletes them.
  static_cast<void>(inode->data.resize(0));
  if (inode->lookups == 0) inodes_.erase(inode->number);
}

void Namespace::drop_name(const Pointer& inode) {
  inode->links -= inode->is_directory() ? 2 : 1;
  inode->changed = now();
  drop_if_unused(inode);
}

// ---- creating and removing ----

Result<Namespace::Pointer> Namespace::add(InodeNumber directory, const std::string& name,
                                          const Maker& maker) {
  if (name.size() > name_bytes_max) return refused(ENAMETOOLONG);
  Result<Pointer> parent = find_directory(directory);
  if (!parent) return parent;
  if ((*parent)->entries.contains(name)) return refused(EEXIST);
  if ((*parent)->links == 0) return refused(ENOENT);
  auto inode = std::make_shared<Inode>(striping_, next_number_++);
  inode->mode = maker.mode;
  inode->uid = maker.uid;
  inode->gid = ((*parent)->mode & S_ISGID) != 0 ? (*parent)->gid : maker.gid;
  inode->links = inode->is_directory() ? 2 : 1;
  inode->parent = directory;
  inode->accessed = now();
  inode->touch();
  if (inode->is_directory()) {
    // The root's default layout is not copied: default_for() looks it up for each new file.
    if (directory != root_number) inode->default_layout = (*parent)->default_layout;
    ++(*parent)->links;
  }
  (*parent)->entries.emplace(name, inode->number);
  (*parent)->touch();
  inodes_.emplace(inode->number, inode);
  return inode;
}

Result<struct stat> Namespace::make(InodeNumber directory, const std::string& name,
                                    const Maker& maker) {
  const std::lock_guard guard(mutex_);
  return count_lookup(add(directory, name, maker));
}

Result<struct stat> Namespace::make_symlink(InodeNumber directory, const std::string& name,
                                            const std::string& target, const Maker& maker) {
  const std::lock_guard guard(mutex_);
  Result<Pointer> made = add(directory, name, {maker.uid, maker.gid, S_IFLNK | 0777});
  if (made) (*made)->target = target;
  return count_lookup(std::move(made));
}

Result<struct stat> Namespace::link(InodeNumber number, InodeNumber directory,
                                    const std::string& name) {
  const std::lock_guard guard(mutex_);
  const Result<Pointer> parent = find_directory(directory);
  if (!parent) return parent.error();
  const Pointer inode = find(number);
  if (inode->is_directory()) return refused(EPERM);
  if (!(*parent)->entries.emplace(name, number).second) return refused(EEXIST);
  (*parent)->touch();
  ++inode->links;
  inode->changed = now();
  return count_lookup(inode);
}

Result<std::string> Namespace::target_of(InodeNumber number) {
  const std::lock_guard guard(mutex_);
  return find(number)->target;
}

Status Namespace::remove(InodeNumber directory, const std::string& name, bool directories) {
  const std::lock_guard guard(mutex_);
  const Result<Pointer> found = find_in(directory, name);
  if (!found) return found.error();
  const Pointer& inode = *found;
  if (inode->is_directory() != directories) return refused(directories ? ENOTDIR : EISDIR);
  if (!inode->entries.empty()) return refused(ENOTEMPTY);
  const Pointer parent = find(directory);
  parent->entries.erase(name);
  parent->touch();
  if (directories) --parent->links;
  drop_name(inode);
  return {};
}

bool Namespace::is_below(InodeNumber directory, const Inode& ancestor) const {
  for (InodeNumber at = directory;; at = find(at)->parent) {
    if (at == ancestor.number) return true;
    if (at == root_number) return false;
  }
}

Status Namespace::rename(const Move& move) {
  const std::lock_guard guard(mutex_);
  const Result<Pointer> found = find_in(move.from_directory, move.from);
  if (!found) return found.error();
  const Result<Pointer> to = find_directory(move.to_directory);
  if (!to) return to.error();
  const Pointer& inode = *found;
  if (inode->is_directory() && is_below(move.to_directory, *inode)) return refused(EINVAL);
  if (const Result<Pointer> there = find_in(move.to_directory, move.to)) {
    const Pointer& replaced = *there;
    if (!move.replaces) return refused(EEXIST);
    if (replaced == inode) return {};
    if (replaced->is_directory() != inode->is_directory()) {
      return refused(replaced->is_directory() ? EISDIR : ENOTDIR);
    }
    if (!replaced->entries.empty()) return refused(ENOTEMPTY);
    if (replaced->is_directory()) --(*to)->links;
    drop_name(replaced);
  }
  const Pointer from = find(move.from_directory);
  from->entries.erase(move.from);
  (*to)->entries.insert_or_assign(move.to, inode->number);
  if (inode->is_directory()) {
    --from->links;
    ++(*to)->links;
  }
  inode->parent = move.to_directory;
  inode->changed = now();
  from->touch();
  (*to)->touch();
  return {};
}

Result<std::vector<Entry>> Namespace::list(InodeNumber directory) {
  const std::lock_guard guard(mutex_);
  const Result<Pointer> found = find_directory(directory);
  if (!found) return found.error();
  std::vector<Entry> entries{{".", directory, S_IFDIR}, {"..", (*found)->parent, S_IFDIR}};
  for (const auto& [name, number] : (*found)->entries) {
    entries.push_back({name, number, find(number)->mode});
  }
  return entries;
}

// ---- attributes ----

Result<struct stat> Namespace::attributes(InodeNumber number) {
  const std::lock_guard guard(mutex_);
  return describe(*find(number));
}

Result<struct stat> Namespace::change(InodeNumber number, const AttributeChange& change) {
  const std::lock_guard guard(mutex_);
  Inode& inode = *find(number);
  if (change.size) {
    if (!S_ISREG(inode.mode)) return refused(EINVAL);
    if (Status resized = inode.data.resize(*change.size); !resized) {
      return std::move(resized).error();
    }
    inode.touch();
  }
  if (change.mode) inode.mode = (inode.mode & S_IFMT) | (*change.mode & ~S_IFMT);
  inode.uid = change.uid.value_or(inode.uid);
  inode.gid = change.gid.value_or(inode.gid);
  inode.accessed = change.accessed.value_or(inode.accessed);
  inode.modified = change.modified.value_or(inode.modified);
  inode.changed = now();
  return describe(inode);
}

Status Namespace::set_layout(Inode& inode, std::span<const std::byte> blob, std::int32_t node) {
  if (blob.empty()) return {};
  Result<plan::Layout> asked = layout_in(blob);
  if (!asked) return std::move(asked).error();
  // A default layout must be valid for the files that are created in the directory.
  const Result<plan::Layout> possible = layout_for_file(*asked, striping_.defaults);
  if (!possible) return possible.error();
  if (S_ISREG(inode.mode)) return inode.data.set_layout(*std::move(asked), node);
  if (!inode.is_directory()) return refused(EINVAL);
  inode.default_layout = *std::move(asked);
  return {};
}

Status Namespace::set_attribute(InodeNumber number, const std::string& name,
                                std::span<const std::byte> value, std::int32_t node) {
  const std::lock_guard guard(mutex_);
  Inode& inode = *find(number);
  inode.changed = now();
  if (name == layout_name) return set_layout(inode, value, node);
  if (name == layout_add_name || name == layout_delete_name) {
    const Result<plan::Layout> components = layout_in(value);
    if (!components) return components.error();
    if (!S_ISREG(inode.mode)) return refused(EINVAL);
    return name == layout_add_name ? inode.data.add_components(*components)
                                   : inode.data.delete_components(*components);
  }
  inode.attributes[name].assign(value.begin(), value.end());
  return {};
}

Result<std::vector<std::byte>> Namespace::attribute(InodeNumber number, const std::string& name,
                                                    std::int32_t node) {
  const std::lock_guard guard(mutex_);
  Inode& inode = *find(number);
  if (name == layout_name) {
    if (S_ISREG(inode.mode)) return inode.data.layout(node);
    const std::optional<plan::Layout>& inherited =
        inode.default_layout ? inode.default_layout : find(root_number)->default_layout;
    if (!inherited) return refused(ENODATA);
    return plan::encode_lov(*inherited);
  }
  const auto found = inode.attributes.find(name);
  if (found == inode.attributes.end()) return refused(ENODATA);
  return found->second;
}

Result<std::vector<std::string>> Namespace::attribute_names(InodeNumber number) {
  const std::lock_guard guard(mutex_);
  Inode& inode = *find(number);
  std::vector<std::string> names;
  const bool has_layout =
      S_ISREG(inode.mode) ? inode.data.has_layout() : inode.default_layout.has_value();
  if (has_layout) names.emplace_back(layout_name);
  for (const auto& [name, value] : inode.attributes) names.push_back(name);
  return names;
}

Status Namespace::remove_attribute(InodeNumber number, const std::string& name) {
  const std::lock_guard guard(mutex_);
  Inode& inode = *find(number);
  if (name == layout_name) {
    if (!inode.is_directory() || !inode.default_layout) return refused(ENODATA);
    inode.default_layout.reset();
    return {};
  }
  return inode.attributes.erase(name) == 1 ? Status() : refused(ENODATA);
}

// ---- data ----

Status Namespace::open(InodeNumber number, const Opening& opening) {
  const std::lock_guard guard(mutex_);
  Inode& inode = *find(number);
  if (inode.links == 0 && inode.opens == 0) return refused(ESTALE);
  ++inode.opens;
  inode.data.locks().note_open(opening.node);
  if (opening.writes) ++inode.writers[opening.node];
  return {};
}

bool Namespace::is_written_on(InodeNumber number, std::int32_t node) {
  const std::lock_guard guard(mutex_);
  return find(number)->writers.contains(node);
}

void Namespace::close(InodeNumber number, const Opening& opening) {
  const std::lock_guard guard(mutex_);
  const Pointer inode = find(number);
  --inode->opens;
  inode->data.locks().note_close(opening.node);
  if (opening.writes && --inode->writers[opening.node] == 0) inode->writers.erase(opening.node);
  drop_if_unused(inode);
}

Result<std::shared_ptr<StripedFile>> Namespace::data(InodeNumber number) {
  const std::lock_guard guard(mutex_);
  const auto found = inodes_.find(number);
  if (found == inodes_.end()) return refused(ENOENT);
  const Pointer& inode = found->second;
  if (inode->is_directory()) return refused(EISDIR);
  if (!S_ISREG(inode->mode)) return refused(EINVAL);
  return std::shared_ptr<StripedFile>(inode, &inode->data);
}

plan::Layout Namespace::default_for(const Inode& file) const {
  for (const InodeNumber directory : {file.parent, root_number}) {
    const auto found = inodes_.find(directory);
    if (found != inodes_.end() && found->second->default_layout) {
      return *found->second->default_layout;
    }
  }
  return plan::plain_layout({});
}

Status Namespace::give_layout(InodeNumber number, bool one_stripe) {
  const std::lock_guard guard(mutex_);
  Inode& inode = *find(number);
  if (!S_ISREG(inode.mode) || inode.data.has_layout()) return {};
  return inode.data.set_layout(one_stripe ? plan::plain_layout({.stripe_count = 1})
                                          : default_for(inode));
}

void Namespace::mark_modified(InodeNumber number) {
  const std::lock_guard guard(mutex_);
  find(number)->touch();
}

RangeLocks& Namespace::locks(InodeNumber number) {
  const std::lock_guard guard(mutex_);
  return find(number)->locks;
}

RangeLocks& Namespace::whole_file_locks(InodeNumber number) {
  const std::lock_guard guard(mutex_);
  return find(number)->whole_file_locks;
}

Status Namespace::order(const FaultOrder& order) { return striping_.order(order); }

std::uint64_t Namespace::file_count() {
  const std::lock_guard guard(mutex_);
  return inodes_.size();
}

}  // namespace nacre::sim
