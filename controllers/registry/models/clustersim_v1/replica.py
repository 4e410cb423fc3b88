"""Replica: one process of the control plane, what is asked of it and what it tells; faults and verdicts."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from controllers.registry.models.clustersim_v1.election import Belief, Callback, Election, Exit, Outcome
from controllers.registry.models.clustersim_v1.shape import Object, Shape

FAULT_SECONDS_MAX: Final = 86_400
"""Simulated seconds that a fault may last, or that a clock may be off; more is refused with 422."""

FAULT_RATE_MIN: Final = 0.01
"""The slowest that a replica's clock may run; slower is refused with 422."""

FAULT_RATE_MAX: Final = 10
"""The fastest that a replica's clock may run; faster is refused with 422."""


class Verdict(Shape, frozen=True):
    """Verdict allows or rejects a pod that waits at Permit."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    uid: Annotated[str, Meta(description="The pod's uid.")] = ""
    plugin: Annotated[
        str, Meta(description="In which plugin's name; empty in that of every plugin that holds the pod.")
    ] = ""
    verdict: Annotated[Literal["allow", "reject"] | None, Meta(description="allow or reject.")] = None
    message: Annotated[str, Meta(description="Why it is rejected.")] = ""


class Fault(Shape, frozen=True):
    """Fault is something asked to go wrong, or right again."""

    open_fields: ClassVar[bool] = True

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    kind: Annotated[
        Literal["crash", "drop-watch", "partition", "pause", "rate", "recover", "release", "skew", "slow-watch"] | None,
        Meta(description="What: docs/session-api.md says what each does."),
    ] = None
    seconds: (
        Annotated[
            float,
            Meta(
                ge=-FAULT_SECONDS_MAX,
                le=FAULT_SECONDS_MAX,
                description="How long, how late, or how far a clock is off.",
            ),
        ]
        | None
    ) = None
    rate: (
        Annotated[float, Meta(ge=FAULT_RATE_MIN, le=FAULT_RATE_MAX, description="How fast the replica's clock runs.")]
        | None
    ) = None
    until_ms: int | None = None


class ReplicaSpec(Shape, frozen=True):
    """ReplicaSpec says which component this is and which fault it is asked to have."""

    component: Annotated[str, Meta(description="kube-scheduler or kube-controller-manager.")] = ""
    fault: Annotated[Fault | None, Meta(description="The newest fault asked for.")] = None
    verdict: Annotated[
        Verdict | None, Meta(description="The newest word on a pod that this scheduler holds at Permit.")
    ] = None


class Refusal(Shape, frozen=True):
    """Refusal is a write that was refused because another one was faster, in the API server's words."""

    open_fields: ClassVar[bool] = True

    at_ms: int = 0
    message: str = ""


class ReplicaStatus(Shape, frozen=True):
    """ReplicaStatus is the replica as its owner runs it; `cycle` is what a new owner needs to take a held cycle up."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    state: str = ""
    leading: bool = False
    lease: Object | None = None
    seen_revision: int = 0
    clock_skew_ms: int = 0
    clock_rate: float = 1.0
    last_branch: str = ""
    restarts: int = 0
    refused: int = 0
    last_exit: Exit | None = None
    callbacks: list[Callback] = []
    beliefs: list[Belief] = []
    tries: list[Election] = []
    refusals: list[Refusal] = []
    fault_id: int = 0
    fault: Fault | None = None
    faults: list[Fault] = []
    verdict: Outcome | None = None
    cycle: Object | None = None
    answer: Object | None = None


class Replica(Shape, frozen=True):
    """Replica is one replica of a control-plane component; its name is what it writes into Leases."""

    spec: ReplicaSpec = ReplicaSpec()
    status: ReplicaStatus = ReplicaStatus()
