"""The network that containers' scripts meet while kubelets play them; without one that asks it is not there."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Final

from controllers.flags.flag import InForce
from controllers.kinds.clustersim.target import Target, is_address
from controllers.kinds.core.service_addresses import API_SERVER_ADDRESS
from controllers.kinds.core.service_names import DOMAIN
from controllers.kubelet.shell.inside import Facts
from controllers.kubelet.shell.running import Asked, Came, Meant
from controllers.kubelet.stages.answers import Answers
from controllers.log.store import Event
from controllers.loop.loop import Tick
from controllers.proxy.asking import Asking
from controllers.proxy.exchange import is_inside
from controllers.proxy.network import POLICIES, WATCHED, Network
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw

REST_MS: Final = 60_000
"""After so long without a request the cluster is no longer looked at for them, in simulated milliseconds."""


def _unknown(target: Target, asked: Asked) -> Came:
    """Return what the API server answers: kubelets do not know what it lets whom do."""
    return Came("outside", reason="ApiServer")


class ContainerWire:
    """A `controllers.kubelet.wire.Wire`."""

    resources = frozenset(WATCHED)
    deciding = frozenset({POLICIES, "namespaces"})

    def __init__(self, flags: InForce) -> None:
        """Look at nothing yet. `flags` are those in force."""
        self._flags = flags
        self._network: Network | None = None
        self._asking: Asking | None = None
        self._used_ms = 0
        self._seed = 0

    # -- what kubelets do ---------------------------------------------------------------------------------------

    def now(self, tick: Tick, facts: Facts, answers: Answers) -> ContainerWire | None:
        """Return the network of the present; None: it cannot be seen, since the API server is out of reach."""
        network = self._network
        if network is None:
            network = self._network = Network(self._flags)
            network.unix_ms = tick.epoch_ms + tick.now_ms
            network.informers.start(tick)
            network.listed = True
            network.changed.clear()
            self._asking, self._seed = None, tick.seed
        network.unix_ms, self._used_ms = tick.epoch_ms + tick.now_ms, tick.now_ms
        if network.informers.synced_ms is None:
            return None
        if self._asking is None or self._asking.answers is not answers:
            self._asking = Asking(network, facts, answers, _unknown)
        return self

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows; who has not been asked for long rests."""
        network = self._network
        if network is None:
            return
        if tick.now_ms - self._used_ms > REST_MS:
            self._network = self._asking = None
            return
        network.unix_ms = tick.epoch_ms + tick.now_ms
        network.informers.observe([row for row in rows if row.resource in WATCHED])

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        if self._network is not None:
            self._network.informers.observe_gone(tick)

    def relist(self, tick: Tick) -> None:
        """List again, where that is due."""
        if self._network is not None:
            self._network.informers.relist(tick)

    # -- what scripts ask ---------------------------------------------------------------------------------------

    def knows(self, pod: Document, host: str) -> bool:
        """Return whether a name or address is the cluster's.

        A name of two parts may be one of a Service in another namespace, one of a pod, or one of the world: where
        there is neither such a namespace nor such a Service, it is of the world.
        """
        network = self._network
        assert network is not None, "it is open while somebody asks"
        host = host.lower().rstrip(".")
        if host == "localhost" or host.startswith("127."):
            return True
        if is_address(host):
            inside = is_inside(host) or IPv4Address(host) == IPv4Address(API_SERVER_ADDRESS)
            return inside or bool(network.node_of_address(host) or network.of_address(host))
        match host.split("."):
            case [_]:
                return True
            case [_, place]:
                own = str(pod["metadata"]["namespace"])
                return network.has_namespace(place) or network.service(own, place) is not None
            case [*_, last]:
                return last == "svc" or host.endswith(f".{DOMAIN}")
            case _:
                return False

    def request(self, pod: Document, target: Target, asked: Asked, key: str) -> Came:
        """Return what comes of a request."""

        def choose(purpose: str, below: int) -> int:
            return draw(self._seed, f"container/{purpose}", key, below=below)

        return self._open.send(pod, target, choose, asked)

    def look_up(self, pod: Document, host: str) -> Meant | None:
        """Return what a name means to a pod."""
        return self._open.look_up(pod, host)

    @property
    def _open(self) -> Asking:
        assert self._asking is not None, "it is open while somebody asks"
        return self._asking
