"""Who refuses a node, and the amounts behind each refusal: asked by whoever tells of a decision, after it was taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.api.node import Taint
from scheduler_core.api.selectors import CompiledTerm
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, RefusalDetails
from scheduler_core.framework.status import Status
from scheduler_core.framework.trial import Counting
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Refusal:
    """One filter's no to one node.

    Attributes:
        status: its answer, with its name.
        details: the amounts behind it; empty where the plugin knows none.
    """

    status: Status
    details: Sequence[Detail]

    def as_dict(self) -> dict[str, Any]:
        """Return the form that the session API answers with."""
        return {**self.status.as_dict(), "details": list(self.details)}


def taint_detail(taint: Taint) -> Detail:
    """Return a taint as a refusal tells of it."""
    return {"kind": "taint", "key": taint.key, "value": taint.value, "effect": taint.effect}


def shortage(resource: str, asked: int, free: int, size: int) -> Detail:
    """Return what is short of a resource as a refusal tells of it; cpu in millicores, else whole units.

    Args:
        resource: its name.
        asked: how much the pod wants.
        free: how much is left there.
        size: how much is allocatable.
    """
    return {
        "kind": "resource",
        "resource": resource,
        "asked": asked,
        "free": free,
        "missing": asked - free,
        "size": size,
    }


def unmet(source: str, terms: Sequence[CompiledTerm], name: str, labels: Mapping[str, str]) -> list[Detail]:
    """Return the conditions of terms that a node does not meet; `value` None: it has no such label.

    Args:
        source: whose terms they are, as docs/trace.md names it.
        terms: of a node selector.
        name: the node's.
        labels: the node's.
    """
    found: list[Detail] = []
    for index, term in enumerate(terms):
        where: Detail = {"kind": "label", "source": source, "term": index}
        if term.empty or term.errors:
            found.append({**where, "key": "", "operator": "", "values": [], "value": None, "error": term.error})
            continue
        found += (
            {
                **where,
                "key": one.key,
                "operator": one.operator,
                "values": sorted(one.values),
                "value": labels.get(one.key),
            }
            for one in term.labels
            if not one.matches(labels)
        )
        found += (
            {
                **where,
                "key": "metadata.name",
                "operator": "In" if equal else "NotIn",
                "values": [wanted],
                "value": name,
            }
            for equal, wanted in term.names
            if (name == wanted) is not equal
        )
    return found


def refusals(
    tellers: Mapping[str, RefusalDetails],
    counting: Counting,
    state: CycleState,
    pod: PodInfo,
    outcome: FilterOutcome,
    row: int,
) -> list[Refusal]:
    """Return every filter's no to a row, in order, whatever the filters before it said.

    Where pods nominated to the node changed the answer, the one that they caused comes first, with their amounts.

    Args:
        tellers: the filters that know the amounts behind their refusals, by name.
        counting: keeps the filters' state level while nominated pods are added.
        state: the cycle's; nothing writes to it.
        pod: the pod in hand.
        outcome: what Filter said.
        row: one of the outcome's snapshot.
    """
    found: list[Refusal] = []
    snapshot = outcome.snapshot
    caused = outcome.overrides.get(row)
    if caused is not None:
        trial, copy = snapshot.what_if([row]), state.clone()
        for rival in outcome.nominated[row][0]:
            trial.add_pod(0, rival)
            counting.add_pod(copy, pod, rival, trial, 0)
        found.append(Refusal(caused, _details(tellers.get(caused.plugin), copy, pod, trial, 0)))
    for name in outcome.plugins:
        verdicts = outcome.verdicts[name]
        if verdicts.codes[row] and (caused is None or caused.plugin != name):
            status = verdicts.status(row, name, outcome.error_text)
            found.append(Refusal(status, _details(tellers.get(name), state, pod, snapshot, row)))
    return found


def _details(
    teller: RefusalDetails | None, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int
) -> Sequence[Detail]:
    return () if teller is None else amounts(teller.refusal_details, state, pod, snapshot, row)


def amounts(tell: Callable[..., Sequence[Detail]], *about: Any) -> Sequence[Detail]:
    """Return what a plugin tells of a no of its own; nothing where it breaks."""
    try:
        return tell(*about)
    except Exception:
        # Whatever an installed plugin does wrong here, the decision is taken and can be told.
        return ()
