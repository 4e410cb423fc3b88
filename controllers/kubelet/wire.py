"""The cluster's network, as the kubelets that play containers' scripts need it; whoever puts them together has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from controllers.kinds.clustersim.target import Target
from controllers.kubelet.shell.inside import Facts
from controllers.kubelet.shell.running import PLAIN, Asked, Came, Meant
from controllers.kubelet.stages.answers import Answers
from controllers.log.store import Event
from controllers.loop.loop import Tick
from scheduler_core.api.document import Document

TOLD_MAX: Final = 256
"""Answers to one run of a container that are kept."""

BODY_LENGTH_MAX: Final = 4096
"""Characters of an answer's body that a played script sees; the rest is cut."""


class Network(Protocol):
    """What requests of pods come to at one moment."""

    def knows(self, pod: Document, host: str) -> bool:
        """Return whether a name or address is the cluster's: of others nothing is known."""

    def request(self, pod: Document, target: Target, asked: Asked, key: str) -> Came:
        """Return what comes of a request; `key` is what its chances are drawn by."""

    def look_up(self, pod: Document, host: str) -> Meant | None:
        """Return what a name means to a pod; None: there is no such name."""


class Wire(Protocol):
    """Hands out the network of the present, and looks at the cluster only while somebody asks for that."""

    resources: frozenset[str]
    """What it watches while it looks."""
    deciding: frozenset[str]
    """Those among them whose change may let through what was refused before, whatever Service it went to."""

    def now(self, tick: Tick, facts: Facts, answers: Answers) -> Network | None:
        """Return the network of the present; None: it cannot be seen, since the API server is out of reach."""

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows, of whatever resource."""

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""

    def relist(self, tick: Tick) -> None:
        """List again, where that is due."""


class Present(NamedTuple):
    """The moment at which scripts are played: Unix milliseconds, and how to see the network."""

    unix_ms: int
    network: Callable[[], Network | None]


NOWHERE: Final = Present(0, lambda: None)
"""For whoever has no network: what asks nothing is played at once."""


class Sending:
    """Sends the requests of one run of a container; what the run was told at a moment stays so when it is played anew.

    It is played anew where others have changed its files.
    """

    def __init__(self, pod: Document, key: str) -> None:
        """Know nothing yet. `key` names the run."""
        self.pod = pod
        self.network: Network | None = None
        """That of the present, while something is sent."""
        self.outside = False
        """Whether something has left the cluster: what comes of that is not known."""
        self._key, self._now_ms, self._number = key, 0, 0
        self._told: dict[tuple[Any, ...], Came | Meant | None] = {}

    def begin(self) -> None:
        """The run is played from its beginning."""
        self.outside, self._now_ms, self._number = False, 0, 0

    def at(self, unix_ms: int, network: Network) -> None:
        """The next request is sent at a moment, through the network of the present."""
        self.network = network
        self._number = self._number + 1 if unix_ms == self._now_ms else 0
        self._now_ms = unix_ms

    def __call__(self, target: Target, asked: Asked = PLAIN) -> Came:
        """Return what comes of a request."""
        network = self.network
        assert network is not None, "whoever plays it says when"
        key = f"{self._key}/{self._now_ms}/{self._number}"

        def ask() -> Came:
            came = network.request(self.pod, target, asked, key)
            return came._replace(body=came.body[:BODY_LENGTH_MAX])

        came = self._once((target, asked), ask)
        assert isinstance(came, Came), "a target is answered so"
        self.outside = self.outside or came.result == "outside"
        return came

    def look_up(self, host: str) -> Meant | None:
        """Return what a name means."""
        network = self.network
        assert network is not None, "whoever plays it says when"
        meant = self._once(host, lambda: network.look_up(self.pod, host))
        assert meant is None or isinstance(meant, Meant), "a name is answered so"
        return meant

    def forget(self) -> None:
        """It will hardly be played anew."""
        self._told.clear()

    def _once(self, what: object, ask: Callable[[], Came | Meant | None]) -> Came | Meant | None:
        place = (self._now_ms, self._number, what)
        if place in self._told:
            return self._told[place]
        told = ask()
        if len(self._told) < TOLD_MAX:
            self._told[place] = told
        return told
