"""Which measurements a tune makes: words for the worker (tools/tune)."""

from __future__ import annotations

import dataclasses

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
STRIPE_UNIT = 64 * KIB  # Lustre's
CALL_SIZES = [4 * KIB << doubling for doubling in range(15)]  # 4 KiB to 64 MiB
NODE_STEP = 2  # all ranks of a node are measured with every other size
FAR_BYTES = 4 * MIB
LINE_BYTES = 64  # a piece of a strided copy: a cache line
FIRST_OST = 1  # in a plain layout, Lustre takes a first OST of 0 for "any"
OPENS = 50
CACHED_CALLS = 1024
SMALL_BYTES = 4 * KIB
SMALL_CALLS = 64
TURNS = 32
UPLINKS_MAX = 16  # more uplinks are looked for in powers of two only


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a tune runs. `osts`: 0 if the file system does not stripe."""

    ranks: int
    nodes: int
    ranks_per_node: int
    osts: int
    volume: int  # bytes of a measurement, at most
    stripe_size: int = MIB  # the default of the file system


def word(name: str, **values: int | str) -> str:
    return ":".join([name, *(f"{key}={value}" for key, value in values.items())])


def call_word(place: Place, write: bool, size: int, ranks: int = 1) -> str:
    """Calls of `ranks` processes of a node, of `size` bytes each, each process to a file of its own on all OSTs."""
    numbers = {"stripes": place.osts, "stripe_size": 64 * KIB} if place.osts else {}
    if ranks > 1:
        numbers["ranks"] = ranks
    total = min(max(size * 64, MIB), place.volume // 4) // ranks
    return word("transfer", write=int(write), size=size, bytes=max(size, total), **numbers)


def call_sizes(place: Place, ranks: int = 1) -> list[int]:
    sizes = [size for size in CALL_SIZES if size * ranks <= place.volume]
    return sizes if ranks == 1 else sizes[::NODE_STEP]


def message_word(far: bool) -> str:
    return word("message", far=int(far), count=200)


def ring_word() -> str:
    return word("ring", size=FAR_BYTES, count=5)


def copy_word(ranks: int, piece: int = MIB) -> str:
    return word("copy", ranks=ranks, piece=piece)


def open_word() -> str:
    return word("open", count=OPENS)


def cached_word(write: bool) -> str:
    """Calls with few bytes, which stay in the cache of the node."""
    values = {"sync": 0} if write else {"cached": 1}
    return word("transfer", write=int(write), size=LINE_BYTES, bytes=LINE_BYTES * CACHED_CALLS, **values)


def sharing_word(place: Place, shared: bool) -> str:
    """All ranks of a node, to one file or to a file each."""
    return word("transfer", size=MIB, bytes=place.volume // 8, ranks=place.ranks_per_node, shared=int(shared))


def collective_word(place: Place, write: bool, piece: int, **values: int | str) -> str:
    """One collective call of all ranks on one file. `piece`: the ranks have pieces of this many bytes in turn; 0: each
    rank has a contiguous part of the file. `values`: keys that begin with "hint." are hints of the file."""
    share = max(min(place.volume // place.ranks, GIB), STRIPE_UNIT)
    share -= share % (piece or STRIPE_UNIT)
    if place.osts:
        values = {"stripes": collective_stripes(place), "stripe_size": place.stripe_size, **values}
    return word("collective", write=int(write), bytes=share, piece=piece or share, **values)


def collective_stripes(place: Place) -> int:
    """The OSTs of a collective file: twice as many ranks as OSTs can share them, and each node has one, if there are
    as many."""
    return min(place.osts, max(place.ranks // 2, place.nodes))


def _shared_bytes(place: Place, nodes: int) -> int:
    """The least that each of `nodes` nodes writes to one OST: more than it has in flight. Otherwise an OST that serves
    requests in their order is done with the first nodes before it has served the last, and too few nodes meet there."""
    return min(place.volume // 8, place.volume // nodes)


def ost_word(place: Place, nodes: int, stripes: int = 1, step: int = 0, write: bool = True) -> str:
    """One rank of each of `nodes` nodes, to a file of its own on `stripes` OSTs, `step` OSTs further for each node."""
    total = min(place.volume * stripes // 4, place.volume)
    if not step:
        total = max(total // nodes, _shared_bytes(place, nodes) if write else 0)
    total = max(total, MIB)
    numbers = {
        "stripes": stripes,
        "step": step,
        "first": FIRST_OST % place.osts,
        "osts": place.osts,
        "stripe_size": 64 * KIB,
    }
    if not write:
        numbers["write"] = 0
    return word("transfer", size=MIB, bytes=total, nodes=nodes, **numbers)


def readers(place: Place) -> list[int]:
    """Numbers of nodes that read from one OST."""
    return [place.nodes // 2, place.nodes] if place.nodes >= 4 else []


def ost_bytes(place: Place) -> int:
    """The most bytes that a measurement writes to one OST."""
    shared = max(place.volume // 4, place.nodes * _shared_bytes(place, place.nodes))
    return max(shared, place.volume // collective_stripes(place))


def small_word(place: Place, direct: bool, again: bool) -> str:
    """Small writes of one process to one OST. `direct`: they wait for it. `again`: to the same bytes, whose lock the
    node has; otherwise each write needs a lock of its own, unless locks are wide."""
    numbers = {"stripes": 1, "first": FIRST_OST % place.osts, "osts": place.osts, "stripe_size": MIB, "sync": 0}
    total = SMALL_BYTES * SMALL_CALLS
    return word("transfer", size=SMALL_BYTES, bytes=total, direct=int(direct), again=int(again), **numbers)


def turns_word(place: Place, writes: bool = True) -> str:
    """Two nodes write in turn to one object. Without `writes`, they only pass the turn on."""
    numbers = {"stripes": 1, "first": FIRST_OST % place.osts, "osts": place.osts, "stripe_size": MIB}
    return word("turns", count=TURNS, writes=int(writes), **numbers)


@dataclasses.dataclass(frozen=True)
class UplinkGroup:
    """The nodes that share an uplink, if nodes are assigned to `uplinks` uplinks in turn."""

    uplinks: int
    nodes: int
    stripes: int  # OSTs of each node

    def word(self, place: Place) -> str:
        numbers = {"stripes": self.stripes, "step": self.stripes, "first": FIRST_OST % place.osts, "osts": place.osts}
        total = max(place.volume // 2 // self.nodes, MIB)
        return word(
            "transfer", size=MIB, bytes=total, nodes=self.nodes, distance=self.uplinks, stripe_size=64 * KIB, **numbers
        )


def uplink_groups(place: Place) -> list[UplinkGroup]:
    """Those of two nodes or more, the largest number of uplinks first."""
    counts = set(range(1, UPLINKS_MAX + 1)) | set(doublings(place.nodes))
    groups = []
    for count in sorted((count for count in counts if count < place.nodes), reverse=True):
        nodes = min(-(-place.nodes // count), place.osts - FIRST_OST)
        if nodes > 1:
            stripes = (place.osts - FIRST_OST) // nodes
            groups.append(UplinkGroup(count, nodes, 1 << (stripes.bit_length() - 1)))
    return groups


def doublings(most: int) -> list[int]:
    """1, 2, 4 and so on, and `most`."""
    found = [1 << power for power in range(most.bit_length()) if 1 << power <= most]
    return found if most in found else [*found, most]


def adding_counts(place: Place) -> list[int]:
    """Numbers of nodes that each have an OST of their own. OST 0 cannot be named."""
    return doublings(max(min(place.nodes, place.osts - FIRST_OST), 1))


def server_steps(place: Place) -> list[int]:
    """Numbers of servers that can be told apart: OSTs that far from each other share a server."""
    counts = range(place.osts // 2, 1, -1)
    return [servers for servers in counts if place.osts % servers == 0 and place.osts // servers <= place.nodes]


def on_nodes(place: Place) -> list[str]:
    """What messages, copies and calls cost, whatever the servers."""
    words = [message_word(False), message_word(True), ring_word()]
    words += [copy_word(1), copy_word(place.ranks_per_node), copy_word(1, LINE_BYTES)]
    return words + [cached_word(write) for write in (True, False)]


def measurements(place: Place) -> list[str]:
    """All, the quick ones first: where OSTs are slow, the time may not be enough for the curves of calls."""
    words = [*on_nodes(place), open_word()]
    return words + (striped(place) if place.osts else []) + calls(place)


def calls(place: Place) -> list[str]:
    """The curves of one process and of a node by size of call."""
    words = [call_word(place, write, size) for write in (True, False) for size in call_sizes(place)]
    if place.ranks_per_node > 1:
        words += [sharing_word(place, shared) for shared in (False, True)]
        sizes = call_sizes(place, place.ranks_per_node)
        words += [call_word(place, write, size, place.ranks_per_node) for write in (True, False) for size in sizes]
    return words


def striped(place: Place) -> list[str]:
    """What OSTs, servers, links and locks do."""
    words = [ost_word(place, 1)]
    words += [ost_word(place, nodes, write=False) for nodes in readers(place)]
    words += [small_word(place, *how) for how in ((True, True), (False, True), (False, False))]
    words += [ost_word(place, 1, stripes) for stripes in doublings(place.osts)]
    for servers in server_steps(place):
        words.append(ost_word(place, place.osts // servers, step=servers))
    words += [ost_word(place, nodes, step=1) for nodes in adding_counts(place)]
    if place.nodes > 1:
        words += [turns_word(place, writes) for writes in (True, False)]
        words += [ost_word(place, nodes) for nodes in doublings(place.nodes)[1:]]  # takes longest
        words += [group.word(place) for group in uplink_groups(place)]
    return words
