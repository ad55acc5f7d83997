"""From samples to the figures of a machine file (src/machine/machine.h says what each means)."""

from __future__ import annotations

import dataclasses

from nacre.tune import plan
from nacre.tune.samples import SPREAD_MAX, Figure, Samples

PLATEAU = 0.9  # a rate within 10 % of the best has reached the plateau
LOCK_SHARE = 0.3  # of the time of a write: less is no sign of a lock
DEFAULT_REQUESTS = 8  # Lustre's max_rpcs_in_flight
ALIKE = 0.25  # an OST reads as fast as it writes; what several nodes cost it is known for writes only
LIMITED = 0.85  # a sum that is further below its parts has another limit
CROWDED = 0.75  # the same, of nodes and servers that are all busy
CORE_WAIT = 1e-3  # seconds: a message that takes longer has waited for a core


@dataclasses.dataclass
class Findings:
    """Figures by name, and why others are missing."""

    figures: dict[str, Figure] = dataclasses.field(default_factory=dict)
    missing: dict[str, str] = dataclasses.field(default_factory=dict)

    def add(self, name: str, figure: Figure | None, why_not: str = "not measured in the time") -> None:
        if figure is None:
            self.missing[name] = why_not
        elif figure.spread > SPREAD_MAX:
            self.missing[name] = f"varies by {figure.spread:.0%} around {figure.value:.3g}"
        elif figure.value <= 0 and name != "locks.wide":
            self.missing[name] = "too small to measure"
        else:
            self.figures[name] = figure
            self.missing.pop(name, None)

    def add_link(self, count: tuple[str, Figure], bandwidth: tuple[str, Figure]) -> None:
        """How many links there are, or how many OSTs use one: of no use without the bandwidth of a link."""
        self.add(*count)
        self.add(*bandwidth)
        for name, other in ((count[0], bandwidth[0]), (bandwidth[0], count[0])):
            if name in self.missing and self.figures.pop(other, None):
                self.missing[other] = self.missing[name]


def find(samples: Samples, place: plan.Place) -> Findings:
    found = Findings()
    _node(found, samples, place)
    _calls(found, samples, place)
    if place.osts:
        _osts(found, samples, place)
        _reads(found, samples, place)
        _nodes(found, samples, place)
        _servers(found, samples, place)
        _uplinks(found, samples, place)
        _client(found, samples)
        _latency(found, samples, place)
        _requests(found, samples, place)
    else:
        _node_without_osts(found, samples, place)
    return found


def _scaled(figure: Figure | None, factor: float, less: float = 0.0) -> Figure | None:
    return figure and Figure(figure.value * factor - less, figure.spread)


def find_on_nodes(samples: Samples, place: plan.Place) -> Findings:
    """What does not depend on the file system's servers, from the samples of plan.on_nodes()."""
    found = Findings()
    _node(found, samples, place)
    _call_costs(found, samples)
    return found


def _node(found: Findings, samples: Samples, place: plan.Place) -> None:
    _memory(found, samples, place)
    _messages(found, samples, place)


def _memory(found: Findings, samples: Samples, place: plan.Place) -> None:
    if samples.ranks:
        found.add("nodes.cores", Figure(samples.ranks["cores"], 0.0))
    one = samples.rate(plan.copy_word(1))
    found.add("nodes.copy_bandwidth", one)
    found.add("nodes.memory_bandwidth", samples.rate(plan.copy_word(place.ranks_per_node)))
    piece = samples.each(plan.copy_word(1, plan.LINE_BYTES))
    found.add("nodes.piece_ns", one and _scaled(piece, 1e9, plan.LINE_BYTES / one.value * 1e9))


def _messages(found: Findings, samples: Samples, place: plan.Place) -> None:
    near = samples.each(plan.message_word(False))
    found.add("messages.near_ns", _scaled(near, 1e9), "one rank a node")
    if place.nodes < 2:
        for name in ("messages.far_ns", "messages.bandwidth"):
            found.missing[name] = "one node only"
    else:
        found.add("messages.far_ns", _scaled(samples.each(plan.message_word(True)), 1e9))
        found.add("messages.bandwidth", samples.rate(plan.ring_word()))
    if why_not := _core_wait(samples):
        for name in ("messages.near_ns", "messages.far_ns", "messages.bandwidth"):
            if found.figures.pop(name, None):
                found.missing[name] = why_not


def _core_wait(samples: Samples) -> str:
    """Why figures with messages in them are wrong: ranks waited for cores. Empty if they did not."""
    messages = [samples.each(plan.message_word(far)) for far in (False, True)]
    longest = max((one.value for one in messages if one), default=0.0)
    return f"a message took {longest * 1e3:.1f} ms, because ranks waited for a core" if longest > CORE_WAIT else ""


def call_curve(samples: Samples, place: plan.Place, write: bool, ranks: int = 1) -> dict[int, Figure]:
    """Bytes per second of `ranks` processes of a node by size of call. k is read from the curve of one process."""
    sizes = plan.call_sizes(place, ranks)
    curve = {size: samples.rate(plan.call_word(place, write, size, ranks)) for size in sizes}
    return {size: figure for size, figure in curve.items() if figure}


def _calls(found: Findings, samples: Samples, place: plan.Place) -> None:
    for write, name in ((True, "write"), (False, "read")):
        curve = call_curve(samples, place, write)
        best = max(curve.values(), key=lambda figure: figure.value, default=None)
        found.add(f"clients.{name}_bandwidth", best)
        if best is None or f"clients.{name}_bandwidth" not in found.figures:
            found.missing[f"clients.{name}_saturation"] = "the bandwidth is not known"
            continue
        k = min(size for size, figure in curve.items() if figure.value >= PLATEAU * best.value)
        found.add(f"clients.{name}_saturation", Figure(k, curve[k].spread))
    _call_costs(found, samples)
    found.add("opens.us", _scaled(samples.each(plan.open_word()), 1e6))
    apart, together = (samples.rate(plan.sharing_word(place, shared)) for shared in (False, True))
    alone = found.figures.get("clients.write_bandwidth")
    if apart and together and alone and apart.value > 1.3 * alone.value:
        turns = together.value < 1.1 * alone.value
        found.figures["clients.one_writer"] = Figure(int(turns), max(apart.spread, together.spread))
    else:
        found.missing["clients.one_writer"] = (
            "several ranks of a node write no more than one, to files of their own too"
        )


def _call_costs(found: Findings, samples: Samples) -> None:
    for write, name in ((True, "write"), (False, "read")):
        found.add(f"clients.{name}_call_ns", _scaled(samples.each(plan.cached_word(write)), 1e9))


def load_rate(samples: Samples, place: plan.Place, word: str) -> Figure | None:
    """Bytes per second of writes to OSTs. The time that the last request waits for its OST is no part of it."""
    direct, cached = (samples.each(plan.small_word(place, direct, again=True)) for direct in (True, False))
    return samples.rate(word, max(direct.value - cached.value, 0.0) if direct and cached else 0.0)


def _osts(found: Findings, samples: Samples, place: plan.Place) -> None:
    """One OST with 1, 2, 4, .. nodes: the time of a byte is (1 + client_cost * (nodes - 1)) / bandwidth.

    One node may be too slow for an OST; the figures of several nodes then say so, and the line goes through these.
    """
    found.add("osts.count", Figure(place.osts, 0.0))
    rates = {nodes: load_rate(samples, place, plan.ost_word(place, nodes)) for nodes in plan.doublings(place.nodes)}
    points = {nodes: 1 / figure.value for nodes, figure in rates.items() if figure}
    spread = max((figure.spread for figure in rates.values() if figure), default=0.0)
    if len(points) >= 3:
        slope, start = _line({nodes: time for nodes, time in points.items() if nodes > 1})
        if 1 in points and points[1] <= 1.1 * (start + slope):
            slope, start = _line(points)
        bandwidth = 1 / (start + slope)
        found.add("osts.bandwidth", Figure(bandwidth, spread))
        found.add("osts.client_cost", Figure(round(slope * bandwidth, 4), spread), "nodes add up on one OST")
        return
    found.add("osts.bandwidth", rates.get(1))
    found.missing["osts.client_cost"] = "needs 4 nodes or more"


def _reads(found: Findings, samples: Samples, place: plan.Place) -> None:
    """All nodes read from one OST, and half of them. The OST limits both if, less what several nodes cost, both are
    as fast."""
    written, cost = (found.figures.get(f"osts.{name}") for name in ("bandwidth", "client_cost"))
    rates = {nodes: samples.rate(plan.ost_word(place, nodes, write=False)) for nodes in plan.readers(place)}
    alone = [_scaled(rate, 1 + (cost.value if cost else 0.0) * (nodes - 1)) for nodes, rate in rates.items() if rate]
    if len(alone) < 2 or written is None:
        found.missing["osts.read_bandwidth"] = "not measured in the time" if rates else "needs 4 nodes or more"
        return
    half, every = alone
    if min(half.value, every.value) < LIMITED * max(half.value, every.value):
        found.missing["osts.read_bandwidth"] = "the readers, not the OST, limited the reads"
    elif abs(every.value - written.value) <= ALIKE * written.value:
        found.missing["osts.read_bandwidth"] = "OSTs read as fast as they write"
    else:
        found.add("osts.read_bandwidth", every)


def _line(points: dict[int, float]) -> tuple[float, float]:
    """Slope and start of the line of least squares."""
    mean_x, mean_y = sum(points) / len(points), sum(points.values()) / len(points)
    square = sum((x - mean_x) ** 2 for x in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points.items()) / square if square else 0.0
    return slope, mean_y - slope * mean_x


def _nodes(found: Findings, samples: Samples, place: plan.Place) -> None:
    """One node to 1, 2, 4, .. OSTs: its own limit is where more OSTs add nothing."""
    by_osts = {osts: load_rate(samples, place, plan.ost_word(place, 1, osts)) for osts in plan.doublings(place.osts)}
    rates = [figure for figure in by_osts.values() if figure]
    if place.osts == 1:
        found.missing["nodes.bandwidth"] = "one OST only"
        return
    if len(rates) < len(by_osts):
        found.add("nodes.bandwidth", None)
        return
    best = max(rates, key=lambda figure: figure.value)
    flat = rates[-1].value < rates[-2].value / PLATEAU
    found.add("nodes.bandwidth", best if flat else None, "one node reaches more with each further OST")


def _node_without_osts(found: Findings, samples: Samples, place: plan.Place) -> None:
    """What all ranks of a node reach together, each with a file of its own, if it is less than the sum of them."""
    if place.nodes == 1 or place.ranks_per_node == 1:
        found.missing["nodes.bandwidth"] = "one node only" if place.nodes == 1 else "one rank a node"
        return
    curves = [call_curve(samples, place, write, place.ranks_per_node) for write in (True, False)]
    rates = [figure for curve in curves for figure in curve.values()]
    alone = [found.figures.get(f"clients.{name}_bandwidth") for name in ("write", "read")]
    if not rates or None in alone:
        found.add("nodes.bandwidth", None)
        return
    best = max(rates, key=lambda figure: figure.value)
    of_one = max(figure.value for figure in alone if figure)
    is_limit = best.value < LIMITED * place.ranks_per_node * of_one
    found.add("nodes.bandwidth", best if is_limit else None, "a node reaches more with each further rank")


def _servers(found: Findings, samples: Samples, place: plan.Place) -> None:
    """OSTs of one server, each written by a node of its own: fewer bytes than the OSTs give one by one."""
    alone = load_rate(samples, place, plan.ost_word(place, 1))
    why_not = f"no OSTs that {place.nodes} nodes could load together share a limit"
    for servers in plan.server_steps(place):
        each = place.osts // servers
        together = load_rate(samples, place, plan.ost_word(place, each, step=servers))
        if alone is None or together is None:
            why_not = "not measured in the time"
            break
        if together.value < LIMITED * each * alone.value:
            found.add_link(("servers.osts_each", Figure(each, together.spread)), ("servers.bandwidth", together))
            return
    found.missing["servers.osts_each"] = found.missing["servers.bandwidth"] = why_not


def _latency(found: Findings, samples: Samples, place: plan.Place) -> None:
    """A write that waits for its OST takes its latency longer than one that does not; a write that needs a lock takes a
    message to the lock server and one back longer."""
    direct, cached, locking = (
        samples.each(plan.small_word(place, *how)) for how in ((True, True), (False, True), (False, False))
    )
    passed = [found.figures.get(f"{part}.bandwidth") for part in ("osts", "nodes", "servers", "uplinks")]
    transfer = sum(plan.SMALL_BYTES / bandwidth.value for bandwidth in passed if bandwidth)
    waiting = direct and cached and _difference(direct, cached, transfer)
    found.add("osts.latency_us", _scaled(waiting, 1e6), "O_DIRECT is refused, or was not measured in the time")
    _locks(found, samples, place, (direct, cached, locking))


def _locks(
    found: Findings, samples: Samples, place: plan.Place, small: tuple[Figure | None, Figure | None, Figure | None]
) -> None:
    """`small`: small writes with O_DIRECT, to the cache, and to the cache with a new lock for each. The first write
    under a wide lock needs a lock too, so narrow locks are found only where the locks are known not to be wide."""
    direct, cached, locking = small
    lock, why_not = _wide_lock(samples, place, direct)
    wide = bool(lock)
    if not lock and not why_not:
        lock = _narrow_lock(locking, cached)
        why_not = "small writes show no locks"
    if lock:
        found.add("locks.latency_us", lock)
        found.add("locks.wide", Figure(int(wide), lock.spread))
    else:
        found.missing["locks.latency_us"] = found.missing["locks.wide"] = why_not


def _narrow_lock(locking: Figure | None, cached: Figure | None) -> Figure | None:
    """Microseconds of a message. A write that needs a lock of its own takes a message to the lock server and one back
    longer."""
    lock = locking and cached and _difference(locking, cached)
    if not lock or lock.spread > SPREAD_MAX or lock.value <= LOCK_SHARE * cached.value:
        return None
    return _scaled(lock, 1e6 / 2)


def _wide_lock(samples: Samples, place: plan.Place, direct: Figure | None) -> tuple[Figure | None, str]:
    """Microseconds of a message, if locks are wide; otherwise why it is not known whether they are, empty if they are
    narrow.

    Two nodes that write in turn take a wide lock from each other: a message to the server, one to the holder and both
    back, and the holder writes back its page.
    """
    turn, passed_on = (samples.each(plan.turns_word(place, writes)) for writes in (True, False))
    if place.nodes < 2:
        return None, "one node only: two nodes that write in turn show whether locks are wide"
    if not direct:
        return None, "O_DIRECT is refused, or was not measured in the time"
    if not turn or not passed_on:
        return None, "not measured in the time"
    taken = _difference(_difference(turn, passed_on), direct)
    noise = sum(one.spread * one.value for one in (turn, passed_on, direct))
    least = LOCK_SHARE * direct.value
    if taken.value + noise <= least:
        return None, ""
    if taken.value <= least or taken.spread > SPREAD_MAX:
        return None, f"writes of two nodes in turn, less a write with O_DIRECT, vary by {noise * 1e3:.2g} ms"
    return _scaled(taken, 1e6 / 4), ""


def _uplinks(found: Findings, samples: Samples, place: plan.Place) -> None:
    """Nodes at equal distances that together write less than the sum of what they write alone. Of the groups that
    write as little as the first such group, the one with the most nodes has all nodes of the uplink."""
    groups = plan.uplink_groups(place)
    limited: dict[int, Figure] = {}
    for group in groups:
        alone = load_rate(samples, place, plan.ost_word(place, 1, group.stripes))
        together = load_rate(samples, place, group.word(place))
        if alone is None or together is None:
            found.missing["uplinks.count"] = found.missing["uplinks.bandwidth"] = "not measured in the time"
            return
        servers = _bandwidth_of_servers(found, place, group)
        if together.value < _least_without_uplink(group.nodes * alone.value, servers):
            limited[group.uplinks] = together
    if not limited:
        found.missing["uplinks.count"] = found.missing["uplinks.bandwidth"] = (
            f"no nodes of {place.nodes} that could load a link together share one"
        )
        return
    lowest = min(figure.value for figure in limited.values())
    count = min(uplinks for uplinks, figure in limited.items() if figure.value <= lowest / LIMITED)
    found.add_link(("uplinks.count", Figure(count, limited[count].spread)), ("uplinks.bandwidth", limited[count]))
    if "uplinks.count" in found.figures:
        _leave_out_what_the_uplink_limits(found)


def _least_without_uplink(nodes: float, servers: float) -> float:
    """Bytes per second below which an uplink limits nodes and servers that would pass so many. If both pass about as
    many, a node often waits for a server that serves another one (8 nodes and 8 servers, emulated ranger: 82 %)."""
    alike = LIMITED <= nodes / servers <= 1 / LIMITED
    return (CROWDED if alike else LIMITED) * min(nodes, servers)


def _leave_out_what_the_uplink_limits(found: Findings) -> None:
    """A node that loads its uplink by itself, and servers behind an uplink of all nodes."""
    uplink = found.figures["uplinks.bandwidth"].value
    limits = {"nodes.bandwidth": "one node loads its uplink by itself"}
    if found.figures["uplinks.count"].value == 1:
        limits["servers.bandwidth"] = "the uplink of all nodes passes no more"
    for name, why_not in limits.items():
        figure = found.figures.get(name)
        if figure and figure.value > LIMITED * uplink:
            del found.figures[name]
            found.missing[name] = why_not
    if "servers.bandwidth" not in found.figures and found.figures.pop("servers.osts_each", None):
        found.missing["servers.osts_each"] = found.missing["servers.bandwidth"]


def _bandwidth_of_servers(found: Findings, place: plan.Place, group: plan.UplinkGroup) -> float:
    """Of the servers that the OSTs of the group are on."""
    each, bandwidth = (found.figures.get(f"servers.{name}") for name in ("osts_each", "bandwidth"))
    if not each or not bandwidth:
        return float("inf")
    servers = place.osts // int(each.value)
    return bandwidth.value * min(servers, group.nodes * group.stripes)


def _client(found: Findings, samples: Samples) -> None:
    """What the file system's client on the first node is set to."""
    for name in ("rpc_bytes", "rpcs_in_flight", "dirty_bytes", "read_bytes"):
        value = samples.ranks.get("client", {}).get(name)
        found.add(f"nodes.{name}", Figure(value, 0.0) if value else None, "the node's client does not tell")


def _requests(found: Findings, samples: Samples, place: plan.Place) -> None:
    """A node that cannot load an OST by itself has too few bytes on the way: as many as it sends in the time of a
    request."""
    names = ("nodes.rpcs_in_flight", "nodes.rpc_bytes")
    if any(name in found.figures for name in names):
        return
    alone = load_rate(samples, place, plan.ost_word(place, 1))
    latency, bandwidth = (found.figures.get(name) for name in ("osts.latency_us", "osts.bandwidth"))
    if not alone or not latency or not bandwidth or alone.value > PLATEAU * bandwidth.value:
        for name in names:
            found.missing[name] = "one node loads an OST by itself, or was not measured"
        return
    # A request is an eighth of these bytes, because a node has DEFAULT_REQUESTS of them on the way.
    request = alone.value * latency.value * 1e-6 / (DEFAULT_REQUESTS - alone.value / bandwidth.value)
    found.add("nodes.rpcs_in_flight", Figure(DEFAULT_REQUESTS, 0.0))
    found.add("nodes.rpc_bytes", Figure(request, alone.spread + latency.spread))


def _difference(longer: Figure, shorter: Figure, less: float = 0.0) -> Figure:
    """The spread is what the spreads of both are of their difference."""
    value = longer.value - shorter.value - less
    noise = longer.spread * longer.value + shorter.spread * shorter.value
    return Figure(value, noise / value if value > 0 else 0.0)
