#include "collective/agreement/parcels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/bytes_of.h"
#include "base/checked_cast.h"

namespace nacre::collective {
namespace {

struct Label {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::int32_t size = 0;
};

/// A parcel in transit.
struct Item {
  Label label;
  std::vector<std::byte> bytes;
};

void append(const Item& item, std::vector<std::byte>& out) {
  const auto head = std::as_bytes(std::span(&item.label, 1));
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), item.bytes.begin(), item.bytes.end());
}

void unpack_items(std::span<const std::byte> in, std::vector<Item>& items) {
  while (!in.empty()) {
    Label label;
    std::memcpy(&label, in.data(), sizeof label);
    in = in.subspan(sizeof label);
    const auto bytes = in.first(checked_cast<std::size_t>(label.size));
    items.push_back({label, {bytes.begin(), bytes.end()}});
    in = in.subspan(bytes.size());
  }
}

/// Removes from `items` those that travel by `distance` and returns them as bytes.
std::vector<std::byte> extract_forwarded(std::vector<Item>& items, const Transport& transport,
                                         int distance) {
  const auto stays = [&](const Item& item) {
    const int left =
        (item.label.destination - transport.rank() + transport.size()) % transport.size();
    return (left & distance) == 0;
  };
  const auto travellers = std::stable_partition(items.begin(), items.end(), stays);
  std::vector<std::byte> bytes;
  for (auto item = travellers; item != items.end(); ++item) append(*item, bytes);
  items.erase(travellers, items.end());
  return bytes;
}

}  // namespace

Task<std::vector<Parcel>> deliver(Transport& transport, std::vector<Parcel> outgoing) {
  const int size = transport.size();
  std::vector<Item> items;
  items.reserve(outgoing.size());
  for (Parcel& parcel : outgoing) {
    const auto bytes = checked_cast<std::int32_t>(std::ssize(parcel.bytes));
    items.push_back({{transport.rank(), parcel.rank, bytes}, std::move(parcel.bytes)});
  }
  std::vector<MessageId> messages;
  for (int distance = 1; distance < size; distance *= 2) {
    const int to = (transport.rank() + distance) % size;
    const int from = (transport.rank() - distance + size) % size;
    const std::vector<std::byte> out = extract_forwarded(items, transport, distance);
    auto out_size = checked_cast<std::uint32_t>(out.size());
    std::uint32_t in_size = 0;
    messages.push_back(transport.receive(from, bytes_of(in_size)));
    messages.push_back(transport.send(to, bytes_of(out_size)));
    co_await AllOf{messages};
    std::vector<std::byte> in(in_size);
    if (!in.empty()) messages.push_back(transport.receive(from, in));
    if (!out.empty()) messages.push_back(transport.send(to, out));
    co_await AllOf{messages};
    unpack_items(in, items);
  }
  std::ranges::stable_sort(items, {}, [](const Item& item) { return item.label.source; });
  std::vector<Parcel> incoming;
  incoming.reserve(items.size());
  for (Item& item : items) incoming.push_back({item.label.source, std::move(item.bytes)});
  co_return incoming;
}

}  // namespace nacre::collective
