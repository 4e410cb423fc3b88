"""What a pod's life asks for, step by step, and what its kubelet gives."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, Protocol

from controllers.kubelet.admitting import Refusal
from controllers.kubelet.machine import Machine
from controllers.kubelet.orders import Orders
from controllers.kubelet.scripts import Scripts
from controllers.kubelet.stages.pods import Stages
from controllers.kubelet.wants import Wants
from controllers.loop.loop import Tick
from scheduler_core.api.document import Document


class Sleep(NamedTuple):
    """Go on at `at_ms`."""

    at_ms: int


class Write(NamedTuple):
    """Write this status, then go on."""

    status: Document


class Remove(NamedTuple):
    """The pod is over: take it away."""


Steps = Generator[Sleep | Write | Remove, None, None]


class Act(NamedTuple):
    """Something that happens at `due_ms`."""

    due_ms: int
    do: Callable[[], Steps]


class Late(Exception):
    """spec.activeDeadlineSeconds is over."""


class Going(NamedTuple):
    """Why a pod has to go before its time."""

    reason: str
    message: str
    seconds: int
    """How long its containers have."""
    told: bool = False
    """Whether an event says so."""


class Home(Protocol):
    """What a pod's life needs of its kubelet."""

    tick: Tick
    stages: Stages
    scripts: Scripts
    wants: Wants
    """What a pod lacks, and who is looked at again when it comes."""

    def pod(self, uid: str) -> Document | None:
        """Return the pod as it is now."""

    def orders(self, pod: Mapping[str, Any]) -> Orders:
        """Return what annotations tell it."""

    def address(self, machine: Machine) -> str:
        """Return the node's address."""

    def taken(self, pod: Document) -> list[Document]:
        """Return the other pods that its node has taken and that are not over."""

    def arrived(self, machine: Machine) -> None:
        """An image was pulled: the node's status will list it."""

    def going(self, uid: str) -> Going | None:
        """Return why the pod has to go; None: it may stay."""

    def refused(self, pod: Document) -> Refusal | None:
        """Return why the node takes no such pods now; None: it takes them."""

    def overfull(self, pod: Document) -> Refusal | None:
        """Return why the pods that the node has taken leave no room for the pod; None: they do."""

    def taken_in(self, uid: str) -> None:
        """The node has taken the pod, which its status does not tell yet."""

    def retry_at(self, uid: str, retry_ms: int) -> None:
        """A resize waits for room: it is looked at again then."""

    def retry_ms(self, uid: str) -> int:
        """Return when a resize that waits is looked at again."""

    def room(self, machine: Machine, uid: str) -> tuple[Mapping[str, Any], list[Document]]:
        """Return (what a node can give, the pods that it gives to besides this one)."""

    def asked_ms(self, uid: str) -> int | None:
        """Return since when the pod is asked to end; None: just now, and that is remembered."""
