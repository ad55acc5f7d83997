#include "collective/agreement/parcels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::collective {
namespace {

struct Label {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::int32_t size = 0;
};

/// A parcel on its way.
struct Item {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::vector<std::byte> bytes;
};

void append(const Item& item, std::vector<std::byte>& out) {
  const Label label{item.source, item.destination,
                    checked_cast<std::int32_t>(std::ssize(item.bytes))};
  const auto head = std::as_bytes(std::span(&label, 1));
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), item.bytes.begin(), item.bytes.end());
}

void unpack_items(std::span<const std::byte> in, std::vector<Item>& items) {
  while (!in.empty()) {
    Label label;
    std::memcpy(&label, in.data(), sizeof label);
    in = in.subspan(sizeof label);
    const auto bytes = in.first(checked_cast<std::size_t>(label.size));
    items.push_back({label.source, label.destination, {bytes.begin(), bytes.end()}});
    in = in.subspan(bytes.size());
  }
}

/// Moves out of `items` those that go on by `distance`, as bytes.
std::vector<std::byte> extract_forwarded(std::vector<Item>& items, const Transport& transport,
                                         int distance) {
  const auto stays = [&](const Item& item) {
    const int left = (item.destination - transport.rank() + transport.size()) % transport.size();
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
    items.push_back({transport.rank(), parcel.rank, std::move(parcel.bytes)});
  }
  std::vector<MessageId> messages;
  for (int distance = 1; distance < size; distance *= 2) {
    const int to = (transport.rank() + distance) % size;
    const int from = (transport.rank() - distance + size) % size;
    const std::vector<std::byte> out = extract_forwarded(items, transport, distance);
    const auto out_size = checked_cast<std::uint32_t>(out.size());
    std::uint32_t in_size = 0;
    messages.push_back(transport.receive(from, std::as_writable_bytes(std::span(&in_size, 1))));
    messages.push_back(transport.send(to, std::as_bytes(std::span(&out_size, 1))));
    co_await AllOf{messages};
    std::vector<std::byte> in(in_size);
    if (!in.empty()) messages.push_back(transport.receive(from, in));
    if (!out.empty()) messages.push_back(transport.send(to, out));
    co_await AllOf{messages};
    unpack_items(in, items);
  }
  const auto by_source = [](const Item& a, const Item& b) { return a.source < b.source; };
  std::stable_sort(items.begin(), items.end(), by_source);
  std::vector<Parcel> incoming;
  incoming.reserve(items.size());
  for (Item& item : items) incoming.push_back({item.source, std::move(item.bytes)});
  co_return incoming;
}

}  // namespace nacre::collective
