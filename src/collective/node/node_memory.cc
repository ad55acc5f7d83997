#include "collective/node/node_memory.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/bytes_of.h"
#include "store/memory/shared_memory.h"

namespace nacre::collective {
namespace {

const char* const purpose = "share memory between the ranks of a node by";

/// Sent by the lowest rank of a node to the other ranks.
struct Announcement {
  store::SharedMemoryAddress address;
  std::uint64_t made = 0;  ///< 1: the memory exists
};

/// The first word of the memory until all ranks have mapped it.
constexpr std::uint64_t mark_of(std::uint64_t id) { return ~id; }

std::optional<store::SharedMemory> make_marked(Transport& transport, store::SharedMemory::Kind kind,
                                               std::int64_t bytes, Announcement& announcement) {
  const std::uint64_t id = store::random_id();
  Result<store::SharedMemory> made = transport.create_shared_memory(kind, id, bytes, purpose);
  if (!made) return std::nullopt;
  announcement = {made->address(), 1};
  const std::uint64_t mark = mark_of(id);
  std::memcpy(made->bytes().data(), &mark, sizeof mark);
  return *std::move(made);
}

std::optional<store::SharedMemory> find_marked(Transport& transport, std::int64_t bytes,
                                               const Announcement& from) {
  if (from.made == 0) return std::nullopt;
  Result<store::SharedMemory> found = transport.attach_shared_memory(from.address, bytes, purpose);
  if (!found) return std::nullopt;
  std::uint64_t mark = 0;
  std::memcpy(&mark, found->bytes().data(), sizeof mark);
  if (mark != mark_of(from.address.id)) return std::nullopt;
  return *std::move(found);
}

Task<std::optional<store::SharedMemory>> share(Transport& transport,
                                               std::span<const int> node_ranks,
                                               store::SharedMemory::Kind kind, std::int64_t bytes) {
  Announcement announcement;
  std::optional<store::SharedMemory> memory;
  std::byte all_have_it{0};
  std::vector<MessageId> messages;
  const std::span<const int> others = node_ranks.subspan(1);
  if (transport.rank() == node_ranks.front()) {
    memory = make_marked(transport, kind, bytes, announcement);
    for (const int mate : others) messages.push_back(transport.send(mate, bytes_of(announcement)));
    std::vector<std::byte> replies(others.size());
    for (std::size_t i = 0; i < others.size(); ++i) {
      messages.push_back(transport.receive(others[i], bytes_of(replies[i])));
    }
    co_await AllOf{messages};
    all_have_it = std::byte{1};
    for (const std::byte reply : replies) all_have_it &= reply;
    if (memory) {
      store::SharedMemory::forget(announcement.address.id);
      std::memset(memory->bytes().data(), 0, sizeof(std::uint64_t));
    }
    for (const int mate : others) messages.push_back(transport.send(mate, bytes_of(all_have_it)));
    co_await AllOf{messages};
  } else {
    messages.push_back(transport.receive(node_ranks.front(), bytes_of(announcement)));
    co_await AllOf{messages};
    memory = find_marked(transport, bytes, announcement);
    std::byte reply = memory ? std::byte{1} : std::byte{0};
    messages.push_back(transport.send(node_ranks.front(), bytes_of(reply)));
    messages.push_back(transport.receive(node_ranks.front(), bytes_of(all_have_it)));
    co_await AllOf{messages};
  }
  if (all_have_it == std::byte{0}) memory.reset();
  co_return memory;
}

}  // namespace

Task<std::optional<store::SharedMemory>> share_memory(Transport& transport,
                                                      std::span<const int> node_ranks,
                                                      std::int64_t bytes) {
  using Kind = store::SharedMemory::Kind;
  for (const Kind kind : {Kind::unnamed, Kind::named}) {
    std::optional<store::SharedMemory> memory = co_await share(transport, node_ranks, kind, bytes);
    if (memory) co_return memory;
  }
  co_return std::nullopt;
}

}  // namespace nacre::collective
