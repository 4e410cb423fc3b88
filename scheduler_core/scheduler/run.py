"""One attempt to place one pod: what has been found so far, point by point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from scheduler_core.extender.calls import Record
from scheduler_core.extender.configuration import ExtenderConfiguration
from scheduler_core.extender.extending import Extending
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import PostFilterResult, PreFilterResult
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.scores import Scores
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.queued import QueuedPod

POINTS: Final = (
    "PreEnqueue",
    "QueueSort",
    "PreFilter",
    "Filter",
    "PostFilter",
    "PreScore",
    "Score",
    "Reserve",
    "Permit",
    "PreBind",
    "Bind",
    "PostBind",
)
"""Extension points in the order in which a cycle passes them."""


@dataclass(frozen=True, slots=True)
class Point:
    """A cycle has passed an extension point: here it can be held."""

    name: str


_POINT: Final = {name: Point(name) for name in POINTS}


@dataclass(slots=True)
class CycleInput:
    """Everything that a cycle's outcome follows from, besides the objects at `seen_revision`. Treat it as frozen.

    Attributes:
        seen_revision: what the replica's watch had delivered.
        attempt: number of the attempt, from 1.
        assumed: uid → node of pods counted there without confirmation, waiting ones included.
        nominations: uid → node.
        waiting: uids of the pods that Permit holds.
        start: row at which a sampled search begins.
        order: node names by row where sampling makes the order count, else empty.
        configuration: the configuration's hash.
        profile: the profile's scheduler name.
        now_ms: simulated time at the cycle's begin.
        preemptor: the pod as PostFilter read it afresh: what scheduling reads of the document, empty where it was gone;
            None where it had not changed, or PostFilter had no turn.
        extenders: what extenders answered, in order; grows while the attempt calls them.
        volumes: volume → claim (as `claimRef`) that a pod on its way has taken it for.
        claims: `namespace/name` → node for which a pod on its way has the claim's volume made.
        devices: `namespace/name` of a ResourceClaim → what of its devices is on its way (`Pending`).
    """

    seen_revision: int
    attempt: int
    assumed: dict[str, str]
    nominations: dict[str, str]
    waiting: tuple[str, ...]
    start: int
    order: tuple[str, ...]
    configuration: str
    profile: str
    now_ms: int
    preemptor: dict[str, Any] | None = None
    extenders: list[Record] = field(default_factory=list)
    volumes: dict[str, dict[str, str]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the form that traces and the replica's status hold."""
        shown: dict[str, Any] = {
            "seenRevision": self.seen_revision,
            "attempt": self.attempt,
            "assumed": self.assumed,
            "nominations": self.nominations,
            "waiting": list(self.waiting),
            "start": self.start,
            "order": list(self.order),
            "configuration": self.configuration,
            "profile": self.profile,
            "nowMs": self.now_ms,
        }
        if self.preemptor is not None:
            shown["preemptor"] = self.preemptor
        if self.volumes:
            shown["volumes"] = self.volumes
        if self.claims:
            shown["claims"] = self.claims
        if self.devices:
            shown["devices"] = self.devices
        if self.extenders:
            shown["extenders"] = list(self.extenders)
        return shown

    @classmethod
    def of(cls, document: dict[str, Any]) -> CycleInput:
        """Return the input that `as_dict` wrote."""
        return cls(
            seen_revision=document["seenRevision"],
            attempt=document["attempt"],
            assumed=dict(document["assumed"]),
            nominations=dict(document["nominations"]),
            waiting=tuple(document["waiting"]),
            start=document["start"],
            order=tuple(document["order"]),
            configuration=document["configuration"],
            profile=document["profile"],
            now_ms=document["nowMs"],
            preemptor=document.get("preemptor"),
            extenders=list(document.get("extenders") or ()),
            volumes=dict(document.get("volumes", {})),
            claims=dict(document.get("claims", {})),
            devices=dict(document.get("devices", {})),
        )


@dataclass(slots=True)
class Run:
    """One attempt, from the queue to the binding or back.

    Attributes:
        queued: the pod's place in the queue.
        info: the pod as the attempt sees it; what changes meanwhile counts for the next one.
        framework: the profile.
        snapshot: the nodes as the attempt sees them, frozen while it runs.
        given: what the outcome follows from.
        point: the last extension point passed.
        outcome: what Filter said of each node; None before Filter, and when PreFilter turned the pod away.
        scores: None unless two nodes or more were feasible.
        best: names of the nodes with the highest total, sorted.
        chosen: the node drawn from them.
        draw: the lot's number, an index into `best`.
        status: what ended the attempt; success while it goes on.
        message: text of the failure.
        extenders: called in this order.
    """

    queued: QueuedPod
    info: PodInfo
    framework: Framework
    snapshot: Snapshot
    given: CycleInput
    extenders: tuple[ExtenderConfiguration, ...] = ()
    state: CycleState = field(default_factory=CycleState)
    point: str = ""
    followed: bool = True
    """Whoever drives the cycle wants to hear of its points."""
    pre_filter: PreFilterResult | None = None
    pre_filter_status: Status = SUCCESS
    narrowing: frozenset[str] = frozenset()
    outcome: FilterOutcome | None = None
    post_filter: PostFilterResult | None = None
    post_filter_status: Status | None = None
    eligible: bool = True
    """It may preempt: told even where preemption had no turn."""
    scores: Scores | None = None
    best_count: int = 0
    chosen: str = ""
    draw: int | None = None
    status: Status = SUCCESS
    message: str = ""
    result: str = ""
    """`scheduled`, `unschedulable`, `error`, `no_nodes`; empty while nothing is decided."""
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominated_node_name: str | None = None
    """What becomes of the pod's nomination: None leaves it, empty clears it."""
    assumed: PodInfo | None = None
    reserved: bool = False
    waits: dict[str, int] = field(default_factory=dict)
    bound: bool = False
    bound_outside: bool = False
    """An extender has bound it."""
    decided: dict[str, Any] | None = None
    """The outcome as a trace holds it, kept because later cycles use its arrays again; None: not worked out."""
    explanation: dict[str, Any] = field(default_factory=dict)
    """What a trace holds beside it, but for what extenders did."""
    summary: dict[str, Any] | None = None
    """The outcome in a line, kept for the same reason."""
    over_budget: bool = False
    """Its matrices are not kept: they are replayed when somebody asks."""
    uid: str = field(init=False)
    """The pod's."""
    _extending: Extending | None = None

    def __post_init__(self) -> None:
        """Note what is asked for again and again."""
        self.uid = self.info.uid

    @property
    def extending(self) -> Extending:
        """Return the attempt's dealings with extenders."""
        if self._extending is None:
            framework = self.framework
            self._extending = Extending(
                self.extenders, framework.listers, self.given.extenders, framework.rules.score_max
            )
        return self._extending

    @property
    def undone(self) -> bool:
        """Return whether a node was chosen and then given up: Reserve, Permit or the binding said no."""
        return bool(self.chosen) and self.result not in ("", "scheduled")

    def passed(self, point: str) -> bool:
        """Note that an extension point is passed, by the era's name; return whether the cycle is to yield `here`."""
        renamed = self.framework.rules.point_names
        self.point = renamed.get(point, point) if renamed else point
        return self.followed

    @property
    def here(self) -> Point:
        """Return the last extension point passed, as the cycle yields it."""
        return _POINT.get(self.point) or Point(self.point)
