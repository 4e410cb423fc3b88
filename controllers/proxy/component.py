"""The loop's component: proxies of the nodes that clients use, and the requests of all clients.

Without a client it watches nothing but clients, and plans nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

import msgspec

from controllers.flags.flag import InForce
from controllers.flags.kubeproxy import MIN_SYNC_PERIOD
from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.kinds.clustersim.target import BadTarget, Target, read_target
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.log.operations import Patch
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from controllers.proxy.exchange import Absent, Exchange, Source, rules_now
from controllers.proxy.network import WATCHED, Network
from controllers.proxy.rules import Rules, Stuck
from controllers.proxy.tally import Tally
from controllers.registry.models.clustersim_v1 import ClientSpec, ClientStatus, Sticky
from controllers.registry.structs import read
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw

NAME: Final = "kube-proxy"

SYNC_MS: Final = 100
"""How long it takes a proxy to put its rules in force, in simulated milliseconds, and as long again as is drawn below
`SYNC_JITTER_MS`."""

SYNC_JITTER_MS: Final = 400
"""See `SYNC_MS`."""

TELL_MS: Final = 2_000
"""How often it is written what came of a client's requests, at most, in simulated milliseconds."""

_SEND: Final = "send"
_TELL: Final = "tell"


@dataclass(slots=True)
class _Sending:
    """One client as it sends."""

    name: str
    uid: str
    generation: int
    spec: ClientSpec
    target: Target | None
    began_ms: int
    tally: Tally = field(default_factory=Tally)
    number: int = 0
    """How many times a request was due."""
    state: str = ""
    message: str = ""
    told: tuple[object, ...] = ()
    home: str = ""
    """The node that it sends from."""
    sticky: Sticky | None = None
    """Where sessionAffinity has sent it last."""
    reminds: bool = False
    """Whether the proxy has still to be told of that: its owner is new."""

    @property
    def due_ms(self) -> int | None:
        """Return when it sends next; None: no more."""
        if self.target is None or (self.spec.count and self.tally.sent >= self.spec.count):
            return None
        return self.began_ms + ceil(1000 * self.number / self.spec.rate)

    def skip_to(self, now_ms: int) -> None:
        """Leave out what was due before."""
        self.number = max(0, ceil((now_ms - self.began_ms) * self.spec.rate / 1000))

    @property
    def news(self) -> tuple[object, ...]:
        """Return what the status tells, in short."""
        return (self.generation, self.tally.sent, self.state, self.message)


class Traffic:
    """`Component` of all proxies and clients."""

    resources = frozenset({CLIENTS, *WATCHED})

    def __init__(self, flags: InForce) -> None:
        """Begin with empty memory. `flags` are those in force."""
        self._flags = flags
        self._clients = Informers((CLIENTS,), identity=NAME)
        self._clients[CLIENTS].add_handler(self._note)
        self._noted: dict[str, Document | None] = {}
        self._sending: dict[str, _Sending] = {}
        self._network: Network | None = None
        self._rules: dict[str, Rules] = {}
        self._will_tell = False

    @property
    def informers(self) -> Informers | None:
        """Return its copies of what it watches; None while no client needs the rules."""
        return None if self._network is None else self._network.informers

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Go on with every client from what its status tells."""
        self._clients.start(tick)
        self._follow(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take up new clients, and what has changed around them."""
        own = [row for row in rows if row.resource == CLIENTS]
        if own:
            self._clients.observe(own)
        network = self._network
        if network is not None:
            network.unix_ms = tick.epoch_ms + tick.now_ms
            network.informers.observe([row for row in rows if row.resource != CLIENTS])
            self._catch_up(network, tick)
        if own:
            self._follow(tick)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._clients.observe_gone(tick)
        if self._network is not None:
            self._network.informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A status that was refused belongs to a client that is gone; the next one tells all of it again."""

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """Send, tell, bring rules up to date, or list again."""
        network = self._network
        if timer == RELIST_TIMER:
            self._clients.relist(tick)
            if network is not None:
                network.informers.relist(tick)
                self._catch_up(network, tick)
            self._follow(tick)
        elif network is None:
            return
        elif timer == _SEND:
            self._send(network, tick)
        elif timer == _TELL:
            self._tell(tick)
        elif isinstance(timer, tuple):
            step, node = timer
            self._sync(network, step, node, tick)

    def proxies(self) -> list[Document]:
        """Return the rules of the proxies that clients use, in order of their nodes."""
        return [self._rules[node].told() for node in sorted(self._rules)]

    # -- clients ------------------------------------------------------------------------------------------------

    def _note(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        self._noted[document["metadata"]["name"]] = new

    def _follow(self, tick: Tick) -> None:
        noted, self._noted = self._noted, {}
        for name, document in noted.items():
            known = self._sending.get(name)
            if document is None:
                self._sending.pop(name, None)
            elif known is None or (known.uid, known.generation) != _version(document):
                self._sending[name] = _begun(document, tick.now_ms)
        if not self._sending:
            if self._network is not None:
                self._rest(tick)
            return
        if self._network is None:
            self._wake(tick)
        if noted:
            self._plan(tick)

    def _wake(self, tick: Tick) -> None:
        """There is a client: look at the cluster."""
        network = self._network = Network(self._flags)
        network.unix_ms = tick.epoch_ms + tick.now_ms
        network.informers.start(tick)
        network.listed = True
        network.changed.clear()

    def _rest(self, tick: Tick) -> None:
        """There is no client any more."""
        for node in self._rules:
            tick.cancel(("begin", node))
            tick.cancel(("apply", node))
        for timer in (_SEND, _TELL):
            tick.cancel(timer)
        self._network = None
        self._rules = {}

    def _plan(self, tick: Tick) -> None:
        due = [at_ms for one in self._sending.values() if (at_ms := one.due_ms) is not None]
        if due:
            tick.plan(_SEND, max(tick.now_ms, min(due)))
        if any(one.news != one.told for one in self._sending.values()) and not self._will_tell:
            self._will_tell = True
            tick.plan(_TELL, -(-(tick.now_ms + 1) // TELL_MS) * TELL_MS)

    def _tell(self, tick: Tick) -> None:
        self._will_tell = False
        for one in self._sending.values():
            if one.news != one.told:
                one.told = one.news
                patch = {"metadata": {"uid": one.uid}, "status": _status(one)}
                tick.emit(Patch(CLIENTS, "", one.name, patch, "merge", "status"))

    # -- requests -----------------------------------------------------------------------------------------------

    def _send(self, network: Network, tick: Tick) -> None:
        network.unix_ms = tick.epoch_ms + tick.now_ms
        exchange = Exchange(network, self._rules_of)
        for one in self._sending.values():
            while (due_ms := one.due_ms) is not None and due_ms <= tick.now_ms:
                one.number += 1
                self._send_one(one, exchange, tick)
        self._plan(tick)

    def _send_one(self, one: _Sending, exchange: Exchange, tick: Tick) -> None:
        assert one.target is not None, "a client without a target has nothing due"
        source = exchange.source(one.spec.source, one.spec.namespace, one.home)
        if isinstance(source, Absent):
            one.state, one.message = "Waiting", source.message
            return
        one.home = source.node
        if not source.address:
            host = 2 + draw(tick.seed, "client-address", one.uid, below=250)
            source = source._replace(address=f"10.255.255.{host}")
        if one.reminds and one.sticky is not None:
            stuck = self._rules_of(one.sticky.via).stuck
            stuck.setdefault((one.sticky.port, source.address), Stuck(one.sticky.place, one.sticky.at_ms))
            one.reminds = False

        def choose(purpose: str, below: int) -> int:
            return draw(tick.seed, f"client/{purpose}", one.uid, one.number, below=below)

        record = exchange.send(source, one.target, choose)
        one.tally.add(tick.now_ms, record, round(1000 * one.spec.timeout))
        one.state, one.message = ("Done" if one.due_ms is None else "Sending"), ""
        if record.via:
            one.sticky = _sticky_of(self._rules_of(record.via), source, tick.now_ms)

    # -- rules --------------------------------------------------------------------------------------------------

    def _rules_of(self, node: str) -> Rules:
        """Return the rules of a node's proxy; of one that nobody has used yet, as they are in force now."""
        network = self._network
        assert network is not None, "requests are sent while there are clients"
        known = self._rules.get(node)
        if known is None:
            known = self._rules[node] = rules_now(network, node)
        return known

    def _catch_up(self, network: Network, tick: Tick) -> None:
        """Let every proxy know which Services have changed, and plan its look at them."""
        changed, network.changed = network.changed, {}
        for rules in self._rules.values():
            rules.pending.update(changed)
            if rules.pending and rules.syncing is None and network.is_synced(rules.node):
                began_ms = rules.began_ms
                due_ms = tick.now_ms if began_ms is None else max(tick.now_ms, began_ms + self._flags[MIN_SYNC_PERIOD])
                tick.plan(("begin", rules.node), due_ms)

    def _sync(self, network: Network, step: str, node: str, tick: Tick) -> None:
        rules = self._rules[node]
        network.unix_ms = tick.epoch_ms + tick.now_ms
        if not network.is_synced(node):
            # What it had begun is lost with it, and looked at anew when it is back.
            rules.pending.update(dict.fromkeys(rules.syncing or ()))
            rules.syncing = None
        elif step == "begin":
            rules.began_ms, rules.zone = tick.now_ms, network.zone(node)
            rules.syncing = {key: network.ports(key) for key in rules.pending}
            rules.pending.clear()
            takes_ms = SYNC_MS + draw(tick.seed, "proxy-sync", node, tick.now_ms, below=SYNC_JITTER_MS)
            tick.plan(("apply", node), tick.now_ms + takes_ms)
        elif rules.syncing is not None:
            rules.apply(rules.syncing)
            rules.syncing = None
            self._catch_up(network, tick)


def _version(document: Document) -> tuple[str, int]:
    metadata = document["metadata"]
    return metadata["uid"], int(metadata.get("generation") or 0)


def _begun(document: Document, now_ms: int) -> _Sending:
    """Return a client at the place that its status tells of; of a new generation, at its beginning."""
    spec, status = read(document.get("spec"), ClientSpec), read(document.get("status"), ClientStatus)
    uid, generation = _version(document)
    message = ""
    try:
        target = read_target(spec.target)
    except BadTarget as wrong:
        target, message = None, str(wrong)
    name = document["metadata"]["name"]
    if status.observed_generation != generation:
        return _Sending(name, uid, generation, spec, target, now_ms, message=message)
    one = _Sending(name, uid, generation, spec, target, status.started_ms, Tally(status))
    one.state, one.message = status.state, status.message
    one.sticky = status.sticky
    one.reminds = status.sticky is not None
    one.skip_to(now_ms)
    one.told = one.news
    return one


def _sticky_of(rules: Rules, source: Source, now_ms: int) -> Sticky | None:
    """Return what a proxy has just noted of a sender; None: it notes nothing."""
    if not rules.stuck:
        return None
    (port, address), stuck = next(reversed(rules.stuck.items()))
    return (
        Sticky(via=rules.node, port=port, place=stuck.place, at_ms=now_ms)
        if address == source.address and stuck.at_ms == now_ms
        else None
    )


def _status(one: _Sending) -> Document:
    return {
        "observedGeneration": one.generation,
        "state": one.state,
        "message": one.message,
        "startedMs": one.began_ms,
        **one.tally.told(),
        "sticky": None if one.sticky is None else msgspec.to_builtins(one.sticky),
    }
