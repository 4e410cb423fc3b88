"""What the functions of predicates answer: one struct a kind of thing. `docs/lessons.md` lists the same fields.

What is absent has empty texts, zeros and `exists` false, so that a predicate can be asked before there is anything.
"""

from __future__ import annotations

import msgspec

Numbers = dict[str, int]


class PodFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One pod.

    Attributes:
        exists: whether there is one of this name now.
        name, namespace, uid: of this incarnation.
        phase: Pending, Running, Succeeded, Failed; empty where absent.
        node: `spec.nodeName`.
        nominated: `status.nominatedNodeName`.
        ready: the condition Ready is true.
        deleting: it has a deletionTimestamp.
        priority: `spec.priority`.
        reason, message: of the condition PodScheduled where that is not true, else the status's own.
        gates: names of its scheduling gates.
        labels: its labels.
        owner: name of the controller that owns it, empty for a bare pod.
    """

    exists: bool = False
    name: str = ""
    namespace: str = ""
    uid: str = ""
    phase: str = ""
    node: str = ""
    nominated: str = ""
    ready: bool = False
    deleting: bool = False
    priority: int = 0
    reason: str = ""
    message: str = ""
    gates: list[str] = []
    labels: dict[str, str] = {}
    owner: str = ""


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One node. `requested`, `allocatable`: cpu in millicores, all else in units (bytes).

    Attributes:
        exists, name: whether there is one.
        ready: the condition Ready is true.
        unschedulable: it is cordoned.
        taints: keys of its taints.
        labels: its labels.
        requested: what the pods on it ask for, those that have ended left out.
        allocatable: what it has.
        pods: names of the pods on it, in order; `namespace/name` outside the predicate's own namespace.
    """

    exists: bool = False
    name: str = ""
    ready: bool = False
    unschedulable: bool = False
    taints: list[str] = []
    labels: dict[str, str] = {}
    requested: Numbers = {}
    allocatable: Numbers = {}
    pods: list[str] = []


class CandidateFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One node that preemption could free: its victims, and how many budgets that would violate."""

    node: str = ""
    victims: list[str] = []
    violations: int = 0


class TraceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduling attempt.

    Attributes:
        exists: whether there was one.
        attempt: its number, from 1.
        result: scheduled, unschedulable, error, no_nodes.
        chosen: the node that was drawn.
        feasible: the nodes that passed every filter.
        tie: those of them with the highest total.
        total: node → total of weighted scores; empty with fewer than two feasible nodes.
        score, raw, normalised: plugin → node → weighted, raw and normalised score.
        failed: node → the plugin that refused it first.
        reasons: node → its reasons.
        message: the FailedScheduling sentence.
        nominated: the node that preemption chose.
        victims: pods that it tells to go, the most important first.
        violations: how many budgets that violates.
        candidates: all nodes that preemption could free.
        best: those of them that are equal by the five criteria.
    """

    exists: bool = False
    attempt: int = 0
    result: str = ""
    chosen: str = ""
    feasible: list[str] = []
    tie: list[str] = []
    total: Numbers = {}
    score: dict[str, Numbers] = {}
    raw: dict[str, Numbers] = {}
    normalised: dict[str, Numbers] = {}
    failed: dict[str, str] = {}
    reasons: dict[str, list[str]] = {}
    message: str = ""
    nominated: str = ""
    victims: list[str] = []
    violations: int = 0
    candidates: list[CandidateFacts] = []
    best: list[str] = []


class LeaseFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One election's Lease: holder, transitions, `renewed` and `acquired` in session seconds, `duration` in seconds."""

    exists: bool = False
    holder: str = ""
    transitions: int = 0
    renewed: float = 0.0
    acquired: float = 0.0
    duration: int = 0


class ReplicaFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One replica: its state, whether it believes that it leads, and its clock.

    Attributes:
        exists: whether there is one of this identity.
        state: as its status says: Running, Crashed …
        leading: whether it believes that it leads.
        skew: seconds that its clock is off.
        rate: how fast its clock runs.
        restarts: how often its process began anew.
        refused: writes that were refused because another one was faster.
        led: session seconds at which it last came to believe that it leads, 0 where it never did.
        stopped: when it last ceased to, 0 while it leads or where it never did.
        faults: kinds of the faults that it has.
        exit: the code with which its process ended last, -1 where it never did.
    """

    exists: bool = False
    state: str = ""
    leading: bool = False
    skew: float = 0.0
    rate: float = 1.0
    restarts: int = 0
    refused: int = 0
    led: float = 0.0
    stopped: float = 0.0
    faults: list[str] = []
    exit: int = -1


class QueueFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Names of the pods in each part of one scheduler's queue, of each part the first."""

    active: list[str] = []
    backoff: list[str] = []
    unschedulable: list[str] = []
    gated: list[str] = []
    waiting: list[str] = []
    binding: list[str] = []
    assumed: list[str] = []
