"""The extension points, as protocols. A plugin is any object with a `name` that has the methods of some of them.

Order of one cycle: PreEnqueue and QueueSort belong to the queue; then PreFilter, Filter, (PostFilter), PreScore, Score,
Reserve, Permit; then the binding cycle: PreBind, Bind, PostBind. Unreserve undoes Reserve, in reverse order.

Filter and Score answer for many nodes at once: they get `rows` and return arrays parallel to it. They must answer for
one row (a dry run on a changed node) exactly as for all, and must not change their arguments.

A plugin that is cheap to ask again for single rows says what its answers depend on besides the pod: `filter_reads`,
`score_reads`. The framework then keeps them, and recomputes only the rows touched since. They are kept by the pod's
shape (`PodInfo.shape`), or by what methods `filter_key`, `score_key` (pod → a hashable value) return: pods with equal
keys get equal answers.

A plugin that looks at the node and its pods alone may also have `filter_node` (cycle state, pod, NodeInfo → code, key)
and `score_node` (the same → score), which answer for one node as `filter` and `score` do: asking about one then needs
no arrays.

What PreFilter and PreScore answer is taken again for a pod of the same shape as the one before it, where every plugin
asked says what that follows from beside the shape and the Node objects: `pre_filter_key`, `pre_score_key` (the state as
the point left it, pod, snapshot → a hashable value, or None: it is to be asked; `by_shape`: from nothing). A score
plugin that reads the cluster may have `score_following` (state, pod, snapshot, raw, normalised → `Following` or None),
which brings its scores of all nodes level where pods of one node have changed.

A plugin that does nothing at PreEnqueue, PreFilter (Skip), PreScore (Skip), Reserve or PreBind for pods without certain
traits says so in `idle_without` (extension point → bits of `snapshot.traits`), and is not asked there about such pods.

What a plugin gives a node must be within 0…100 (of another era: within its range), normalised where it normalises; what
is not is an Error. A plugin whose scores are so by construction says `score_ranged`, and is not looked after.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

from scheduler_core.framework.asks import Ask, Reply
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import EventRegistration
from scheduler_core.framework.status import Status
from scheduler_core.framework.verdicts import FilterOutcome, Verdicts
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot


def shape_of(pod: PodInfo) -> bytes:
    """Return the key of answers that may depend on anything that plugins can tell pods apart by."""
    return pod.shape


MAX_NODE_SCORE = 100
"""What the best node gets from one plugin after normalisation, before its weight."""


def by_shape(state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[()]:
    """Say as `pre_filter_key` or `pre_score_key` that the answer follows from the pod's shape and the Node objects."""
    return ()


class Reads(Enum):
    """What a plugin's answer about one node depends on, besides the pod's shape and the plugin's arguments."""

    NODE = "node"
    """On the Node object."""
    NODE_AND_SUMS = "sums"
    """On the Node object and what the pods on that node come to: their number, sums and ports, which are the same when
    one of them is confirmed."""
    NODE_AND_PODS = "pods"
    """On the Node object and the pods on that node."""
    ALL_NODES = "nodes"
    """On the Node objects of all nodes."""
    CLUSTER = "cluster"
    """On anything else too (other pods, the cycle's state): never reused."""


OF_ONE_NODE: Final = (Reads.NODE_AND_SUMS, Reads.NODE_AND_PODS)
"""What changes with the pods of a node, and with no others."""

LOCAL: Final = (Reads.NODE, *OF_ONE_NODE)
"""What looks at the node itself and at no other."""


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """The nodes that PreFilter leaves; None means all."""

    node_names: frozenset[str] | None = None

    def merge(self, other: PreFilterResult | None) -> PreFilterResult:
        """Return the nodes that both leave."""
        if other is None or other.node_names is None:
            return self
        if self.node_names is None:
            return other
        return PreFilterResult(self.node_names & other.node_names)


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What PostFilter nominates. None: leave the nomination alone; empty text: clear it."""

    nominated_node_name: str | None = None
    detail: Any = None
    """The plugin's own account for traces, such as preemption's candidates."""


Steps = Generator[Ask, Reply, Status]
"""An extension point that must wait for the loop: yields Asks, returns the Status."""

PostFilterAnswer = tuple[PostFilterResult | None, Status]

PostFilterSteps = Generator[Ask, Reply, PostFilterAnswer]
"""PostFilter where it must wait for the loop."""


@runtime_checkable
class Plugin(Protocol):
    """What every plugin has."""

    name: ClassVar[str]


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    """Whether a pod may enter the active queue at all."""

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Return success, or why the pod must wait outside the active queue."""
        ...


@runtime_checkable
class QueueSortPlugin(Plugin, Protocol):
    """Which pod goes first; exactly one a profile, and the same in all profiles."""

    def sort_key(self, pod: PodInfo, queued_at_ms: int) -> tuple[int, ...]:
        """Return a key; the smallest goes first."""
        ...


@runtime_checkable
class EnqueueExtensions(Plugin, Protocol):
    """Which events may make pods schedulable that this plugin turned away. A plugin without it is woken by all."""

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return the events, each with a hint function."""
        ...


@runtime_checkable
class PreFilterPlugin(Plugin, Protocol):
    """Work out once a cycle what Filter needs, or say no for all nodes."""

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return the nodes left (None: all) and the status; Skip leaves this plugin's Filter out."""
        ...


@runtime_checkable
class PreFilterExtensions(Plugin, Protocol):
    """Keep the PreFilter state level while a dry run adds and removes pods."""

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Take into account that `added` now is on the row; the snapshot already has it."""
        ...

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Take into account that `removed` is gone from the row; the snapshot already lacks it."""
        ...


@runtime_checkable
class FilterPlugin(Plugin, Protocol):
    """Whether the pod may run there."""

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return the verdict for each of the rows."""
        ...


Detail = Mapping[str, Any]
"""One amount behind a refusal, as `explanation.refusals` of a trace holds it (docs/trace.md); `kind` says which."""


@runtime_checkable
class RefusalDetails(Plugin, Protocol):
    """What stands behind a Filter's no, in numbers and names. Asked when a trace is made, never while deciding."""

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return the amounts of one row that this plugin has refused."""
        ...


@runtime_checkable
class PreFilterDetails(Plugin, Protocol):
    """What stands behind a PreFilter's no to a pod, wherever it would go. Asked when a trace is made."""

    def pre_filter_details(self, pod: PodInfo) -> Sequence[Detail]:
        """Return what this plugin lacks of a pod that it has turned away."""
        ...


@runtime_checkable
class PostFilterPlugin(Plugin, Protocol):
    """No node fits: make one fit later (preemption)."""

    def post_filter(
        self, state: CycleState, pod: PodInfo, outcome: FilterOutcome
    ) -> PostFilterAnswer | PostFilterSteps:
        """Return a nomination and success, or why nothing could be done; or the steps that lead there."""
        ...


@runtime_checkable
class PreScorePlugin(Plugin, Protocol):
    """Work out once a cycle what Score needs."""

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Return success; Skip leaves this plugin's Score out. `rows` are the feasible nodes."""
        ...


@runtime_checkable
class ScorePlugin(Plugin, Protocol):
    """How good it is there."""

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return (K,) raw scores. A plugin without `normalize` answers within 0…100."""
        ...


@runtime_checkable
class ScoreNormalizer(Plugin, Protocol):
    """Bring raw scores of the feasible nodes to 0…100."""

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return (K,) normalised scores of the feasible nodes."""
        ...


@runtime_checkable
class ReservePlugin(Plugin, Protocol):
    """Take what the pod needs on the chosen node, before it is bound."""

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Return success, or why it could not be taken."""
        ...

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Give it back; must be harmless when reserve never ran."""
        ...


@runtime_checkable
class UnreservePlugin(Plugin, Protocol):
    """Give back what a pod had taken, in eras where that is a point of its own and not Reserve's second half."""

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Give it back; must be harmless when reserve never ran."""
        ...


@runtime_checkable
class PermitPlugin(Plugin, Protocol):
    """The last word before binding: yes, no, or wait."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:
        """Return the status and, with WAIT, for how many milliseconds at most."""
        ...


@runtime_checkable
class PreBindPlugin(Plugin, Protocol):
    """What must be done before the pod is bound (attach a volume)."""

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Yield what the loop must do; return the status."""
        ...


@runtime_checkable
class BindPlugin(Plugin, Protocol):
    """Bind the pod. The first plugin that does not answer Skip has bound it, or failed to."""

    def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Yield what the loop must do; return the status."""
        ...


@runtime_checkable
class PostBindPlugin(Plugin, Protocol):
    """The pod is bound: tidy up."""

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Do it; nothing can fail any more."""
        ...


EXTENSION_POINTS: Mapping[str, type] = {
    "preEnqueue": PreEnqueuePlugin,
    "queueSort": QueueSortPlugin,
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
}
"""Configuration's name of each extension point → its protocol."""


class Nominator(Protocol):
    """Which pods hope to land where."""

    def nominated_to(self, node_name: str) -> Iterable[PodInfo]:
        """Return the pods nominated to a node."""
        ...

    def nodes(self) -> Iterable[str]:
        """Return the nodes that any pod is nominated to."""
        ...


class Listers(Protocol):
    """Read access to the other objects of the cluster, as an informer's cache has them."""

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return all documents of a group resource such as `services` or `poddisruptionbudgets.policy`."""
        ...

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return one document, None where there is none; cluster-scoped kinds have the empty namespace."""
        ...


class WaitingPod(Protocol):
    """A pod that Permit holds: it counts on its node already."""

    @property
    def info(self) -> PodInfo:
        """Return the pod, with its node."""
        ...

    @property
    def node_name(self) -> str:
        """Return the node."""
        ...


class WaitingPods(Protocol):
    """The pods that Permit holds.

    Which those are is as of the beginning of the attempt in hand, so that a replay sees the same; a word is passed on
    at once, and does nothing where the wait is over.
    """

    def held(self) -> Sequence[WaitingPod]:
        """Return the pods that were held when the attempt in hand began, the longest waiting first."""
        ...

    def allow(self, uid: str, plugin: str) -> object:
        """Say yes in a plugin's name; the pod is bound when every plugin that holds it has said so."""
        ...

    def reject(self, uid: str, plugin: str, reason: str) -> object:
        """Say no in a plugin's name; the pod goes back to the queue."""
        ...


class NoWaitingPods:
    """A cluster where Permit holds no pod."""

    def held(self) -> Sequence[WaitingPod]:
        """Return nothing."""
        return ()

    def allow(self, uid: str, plugin: str) -> object:
        """Do nothing."""

    def reject(self, uid: str, plugin: str, reason: str) -> object:
        """Do nothing."""


@runtime_checkable
class Versioned(Protocol):
    """Listers that know when nothing has changed."""

    def version(self, resources: Sequence[str]) -> int | None:
        """Return a number that is the same while all that is read of these resources is; None: that is not known."""
        ...


class NoListers:
    """Listers of a cluster that has nothing but nodes and pods."""

    def version(self, resources: Sequence[str]) -> int:
        """Return that nothing changes."""
        return 0

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return nothing."""
        return ()

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return None."""
        return None


class NoNominations:
    """Nominator of a cluster where no pod is nominated."""

    def nominated_to(self, node_name: str) -> Iterable[PodInfo]:
        """Return nothing."""
        return ()

    def nodes(self) -> Iterable[str]:
        """Return nothing."""
        return ()
