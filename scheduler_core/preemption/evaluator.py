"""One preemption attempt: eligibility, candidates, choice. Changes nothing; `carry_out` acts on what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.fit_error import fit_error
from scheduler_core.framework.interface import PostFilterResult, Steps
from scheduler_core.framework.lots import Lots
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SUCCESS, Code, Status, error, unschedulable
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.preemption.budgets import Budget
from scheduler_core.preemption.carry_out import Peers
from scheduler_core.preemption.choice import LOT, Choice, choose
from scheduler_core.preemption.dry_run import CRITERIA, Candidate, DryRun
from scheduler_core.preemption.memory import DryRunMemory, Runs
from scheduler_core.preemption.search import Tried, search
from scheduler_core.preemption.steps import Step, StepName
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"
NEVER: Final = "not eligible due to preemptionPolicy=Never."
TERMINATING: Final = "not eligible due to a terminating pod on the nominated node."


@dataclass(frozen=True, slots=True)
class Limits:
    """How many candidates are looked for: DefaultPreemptionArgs."""

    percentage: int = 10
    """minCandidateNodesPercentage"""
    absolute: int = 100
    """minCandidateNodesAbsolute"""

    def wanted(self, nodes: int) -> int:
        """Return after how many candidates the search may stop."""
        return min(max(nodes * self.percentage // 100, self.absolute), nodes)


@dataclass(frozen=True, slots=True)
class Manner:
    """How candidates are found and told apart. What is given here is kube-scheduler's.

    Attributes:
        criteria: of `CRITERIA`, in the order in which they are asked.
        dry_run: makes what tries one node.
        codes: what Filter must have said of a node for it to be tried.
    """

    criteria: Sequence[str] = CRITERIA
    dry_run: Callable[[Handle, CycleState, PodInfo, Snapshot, Sequence[Budget]], DryRun] = DryRun
    codes: Sequence[Code] = (Code.UNSCHEDULABLE,)


MANNER: Final = Manner()
"""That of kube-scheduler."""


@dataclass(frozen=True, slots=True)
class Extended:
    """What extenders made of the candidates.

    Attributes:
        candidates: all that the dry run found or an extender named, with the victims that extenders want.
        taken_out: candidate's node → the extender that took it out.
    """

    candidates: list[Candidate]
    taken_out: Mapping[str, str]

    @property
    def left(self) -> list[Candidate]:
        """Return the candidates that nobody took out."""
        return [candidate for candidate in self.candidates if candidate.node_name not in self.taken_out]


@dataclass
class Preemption:
    """What one attempt found: kept by traces, acted on by `carry_out`.

    Attributes:
        pod: the preemptor.
        eligible: it may preempt at all; `why_not` says why not.
        tried: the nodes dry-run, with the answers; None: the pod may not preempt.
        draw: the lot's number, an index into the ties; None where there was no tie.
        chosen: the candidate that is nominated.
        clears: the pod's nomination, if it has one, is to be cleared.
        extended: what extenders left of the candidates; None where none was asked.
        reasons: in an era with a static list, each reason given: `reason`, `error`, `predicate`, `helps`, `nodes`.
        steps: what was decided, then what was done about it: those no replay knows.
        act: carries the choice out; None: nobody has said how.
        inline: the cycle itself carries it out and ends with it; else that goes on beside the cycles.
        criteria: by which the candidates are told apart, in order.
    """

    pod: PodInfo
    eligible: bool = True
    why_not: str = ""
    tried: Tried | None = None
    draw: int | None = None
    chosen: Candidate | None = None
    clears: bool = False
    extended: Extended | None = None
    reasons: list[dict[str, Any]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    act: Callable[[Preemption, Peers], Steps | None] | None = None
    inline: bool = False
    criteria: Sequence[str] = CRITERIA

    @property
    def candidates(self) -> list[Candidate]:
        """Return every node that could be freed, in the order of the search."""
        if self.extended is not None:
            return self.extended.candidates
        return [] if self.tried is None else self.tried.candidates

    @property
    def node_status(self) -> dict[str, Status]:
        """Return nodes tried in vain → why."""
        return {} if self.tried is None else self.tried.statuses

    @cached_property
    def choice(self) -> Choice | None:
        """Return what the criteria left; None without candidates."""
        left = self.candidates if self.extended is None else self.extended.left
        return choose(left, self.criteria) if left else None

    def follow_up(self, core: Peers) -> Steps | None:
        """Return the steps that carry out what was found; None where nothing is to be done."""
        return None if self.act is None else self.act(self, core)

    def nominated(self, node_name: str) -> None:
        """Take that the queue counts the pod on the node."""
        self.steps.append(Step(StepName.NOMINATED_IN_QUEUE, node=node_name))

    def nomination_written(self, node_name: str, refusal: str) -> None:
        """Take what came of the API call that sets the nomination."""
        self.steps.append(Step(StepName.NOMINATION_WRITTEN, node=node_name, error=refusal))

    def told(self) -> list[dict[str, Any]]:
        """Return the steps so far as traces hold them."""
        return [step.as_dict() for step in self.steps]

    def note(self, name: StepName, node: str = "", count: int | None = None, text: str = "") -> None:
        """Add a decision to the steps; see `Step` for the facts."""
        self.steps.append(Step(name, node, "", count, text))

    def give_up(self) -> None:
        """No node can be freed: the pod's own nomination goes."""
        self.clears = True
        if self.pod.pod.status.nominated_node_name:
            self.note(StepName.OWN_NOMINATION_CLEARED, node=self.pod.pod.status.nominated_node_name)

    def pick(self, tried: Tried, lots: Lots | None) -> str:
        """Choose the cheapest candidate and return its node; among equals a lot decides, without lots their names."""
        if tried.ties > 1 and lots is not None:
            self.draw = lots.draw("preemption-tie", tried.ties)
        self.chosen = tried.tie(self.draw or 0)
        self.note(StepName.CHOSEN, node=self.chosen.node_name)
        return self.chosen.node_name

    def unchoose(self) -> None:
        """Take the choice back: extenders are still to be asked, or have broken."""
        if self.steps and self.steps[-1].name is StepName.CHOSEN:
            self.steps.pop()
        self.draw = self.chosen = None

    def as_dict(self) -> dict[str, Any]:
        """Return the conformance format's `preemption` object but for `code` and `reasons`, which are PostFilter's."""
        return {
            "eligible": self.eligible,
            "nominatedNode": "" if self.chosen is None else self.chosen.node_name,
            "clearsNomination": self.clears,
            "victims": [] if self.chosen is None else [info.key for info in self.chosen.victims],
            "candidates": {
                candidate.node_name: {
                    "victims": [info.key for info in candidate.victims],
                    "numPDBViolations": candidate.violations,
                }
                for candidate in self.candidates
            },
            "nodeStatus": {name: status.as_dict() for name, status in self.node_status.items()},
            "ties": [] if self.choice is None else list(self.choice.ties),
        }

    def explain(self) -> dict[str, Any]:
        """Return what a screen needs beyond FORMAT's keys: each pod's fate, each node's cost and end."""
        choice = self.choice
        eliminated: dict[str, str] = {}
        if choice is not None and self.chosen is not None:
            eliminated = {node: LOT for node in choice.ties if node != self.chosen.node_name} | choice.eliminated
        if self.extended is not None:
            eliminated |= self.extended.taken_out
        return {
            "eligible": self.eligible,
            "whyNot": self.why_not,
            "candidates": [
                {
                    "node": candidate.node_name,
                    "fates": [fate.as_dict() for fate in candidate.fates],
                    "costs": _finite(candidate),
                    "eliminatedBy": eliminated.get(candidate.node_name, ""),
                }
                for candidate in self.candidates
            ],
            "asked": [] if choice is None else list(choice.asked),
            "draw": self.draw,
            "steps": self.told(),
        } | ({"reasons": self.reasons} if self.reasons else {})


def _finite(candidate: Candidate) -> dict[str, float | None]:
    costs = zip(CRITERIA, candidate.costs, strict=True)
    return {name: cost if abs(cost) != float("inf") else None for name, cost in costs}


def why_not_eligible(pod: PodInfo, snapshot: Snapshot, nominated_status: Status) -> str:
    """Return why the pod may not preempt, empty when it may.

    Args:
        pod: the preemptor.
        snapshot: the cycle's nodes.
        nominated_status: what Filter said of the node that the pod is nominated to.
    """
    if pod.pod.spec.preemption_policy == "Never":
        return NEVER
    nominated = pod.pod.status.nominated_node_name
    row = snapshot.row_of.get(nominated) if nominated else None
    if row is None or nominated_status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    for other in snapshot.infos[row].pods:
        if other.priority < pod.priority and _terminates_by_preemption(other):
            return TERMINATING
    return ""


def _terminates_by_preemption(info: PodInfo) -> bool:
    conditions = info.pod.status.conditions
    target = next((condition for condition in conditions if condition.type == "DisruptionTarget"), None)
    if target is None or not info.pod.is_terminating:
        return False
    return (target.status, target.reason) == ("True", "PreemptionByScheduler")


def _rows_with(outcome: FilterOutcome, wanted: Sequence[Code]) -> NDArray[np.intp]:
    """Return the rows whose status has one of the codes, in name order."""
    by_name = outcome.snapshot.by_name.rows
    codes = outcome.codes[by_name]
    found = codes == int(wanted[0])
    for code in wanted[1:]:
        found |= codes == int(code)
    rows: NDArray[np.intp] = by_name[found]
    return rows


def evaluate(
    handle: Handle,
    state: CycleState,
    pod: PodInfo,
    outcome: FilterOutcome,
    *,
    budgets: Sequence[Budget] = (),
    limits: Limits = Limits(),
    lots: Lots | None = None,
    memory: DryRunMemory | None = None,
    manner: Manner = MANNER,
) -> tuple[Preemption, PostFilterResult | None, Status]:
    """Look for a node that preemption can free.

    Args:
        handle: the framework.
        state: the cycle's state after PreFilter and Filter; dry runs clone it.
        pod: the preemptor, as read afresh.
        outcome: what Filter said of each node.
        budgets: the cluster's PodDisruptionBudgets.
        limits: how many candidates to look for.
        lots: where the search begins and which of equals is taken; None: the first in name order, for both.
        memory: dry runs of earlier preemptors.
        manner: how candidates are found and told apart.

    Returns:
        What was found, and PostFilter's answer (without detail).
    """
    found = Preemption(pod, criteria=manner.criteria)
    found.note(StepName.TRIGGERED)
    found.note(StepName.READ_AFRESH, node=pod.pod.status.nominated_node_name)
    snapshot = outcome.snapshot
    nominated_row = snapshot.row_of.get(pod.pod.status.nominated_node_name)
    nominated_status = SUCCESS if nominated_row is None else outcome.status_of(nominated_row)
    found.why_not = why_not_eligible(pod, snapshot, nominated_status)
    if found.why_not:
        found.eligible = False
        found.note(StepName.NOT_ELIGIBLE, text=found.why_not)
        return found, None, unschedulable(f"preemption: {found.why_not}")
    runs = None if memory is None else memory.of(pod, state.skip_filter, outcome, budgets)
    if runs is None:
        runs = Runs(handle, budgets)
    runs.level(snapshot, pod)
    rows = _rows_with(outcome, manner.codes)
    found.note(StepName.POTENTIAL_NODES, count=len(rows))
    dry_run = manner.dry_run(handle, state, pod, snapshot, budgets)
    tried = found.tried = search(dry_run, runs, snapshot, rows, limits.wanted(len(rows)), lots, manner.criteria)
    found.note(StepName.DRY_RUN, count=tried.count)
    if not tried.count:
        broken = tried.errors()
        if broken:
            return found, None, error(f"preemption: {broken}")
        counts = tried.reasons()
        untried = len(snapshot) - len(tried.statuses)
        if untried:
            counts[NOT_HELPFUL] += untried
        found.give_up()
        return found, PostFilterResult(""), unschedulable(f"preemption: {fit_error(len(snapshot), counts)}")
    name = found.pick(tried, lots)
    return found, PostFilterResult(name), SUCCESS
