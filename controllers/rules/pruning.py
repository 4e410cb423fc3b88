"""What a finder need not ask the engine about: clusters that can be, and on which a rule has nothing to be wrong about.

Plain arithmetic on what was drawn, a hundredth of the price of one decision. It may only strike out what the engine
would be asked about in vain; `tests/rules/test_pruning.py` holds it to that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from controllers.rules.cases import Case
from controllers.rules.preempting import MANNERS
from scheduler_core.api.document import Document
from scheduler_core.api.quantity import amount
from scheduler_core.api.requests import Amounts


@dataclass(frozen=True, slots=True)
class Room:
    """The sums of a cluster: what each node has and has left, and what the pod in question asks for."""

    asked: Amounts
    allocatable: Mapping[str, Amounts]
    free: Mapping[str, Amounts]
    used: frozenset[str]

    @classmethod
    def of(cls, case: Case) -> Room:
        """Add a cluster up."""
        allocatable = {one["metadata"]["name"]: _amounts(one["status"]["allocatable"]) for one in case.nodes}
        free = {name: dict(amounts) for name, amounts in allocatable.items()}
        used = set()
        for one in case.pods:
            where = one["spec"].get("nodeName") or case.held[one["metadata"]["name"]]
            used.add(where)
            left = Counter(free[where])
            left.subtract({**_asks(one), "pods": 1})
            free[where] = dict(left)
        return cls({**_asks(case.asked), "pods": 1}, allocatable, free, frozenset(used))

    @property
    def is_overfull(self) -> bool:
        """Return whether pods ask for more than a node has: no cluster comes to that."""
        return any(number < 0 for amounts in self.free.values() for number in amounts.values())

    @property
    def fitting(self) -> list[str]:
        """Return the nodes that have room left."""
        return [name for name, amounts in self.free.items() if self._within(amounts)]

    @property
    def never(self) -> list[str]:
        """Return the nodes that would not have room even if they were empty."""
        return [name for name, amounts in self.allocatable.items() if not self._within(amounts)]

    def _within(self, amounts: Amounts) -> bool:
        return all(number <= amounts.get(name, 0) for name, number in self.asked.items())


def _asks(pod: Document) -> dict[str, int]:
    return _amounts(pod["spec"]["containers"][0]["resources"]["requests"])


def _amounts(quantities: Mapping[str, str]) -> dict[str, int]:
    return {name: amount(name, text) for name, text in quantities.items()}


Hope = Callable[[Case, Room], bool]


def _a_choice(case: Case, room: Room) -> bool:
    """Scores are asked for where two nodes have room."""
    return len(room.fitting) > 1


def _somebody_goes(case: Case, room: Room) -> bool:
    """Preemption begins where no node has room, and finds somebody where a node has pods."""
    return not room.fitting and bool(room.used)


def _either_goes(case: Case, room: Room) -> bool:
    """Which node is freed is a question where two could be."""
    return not room.fitting and len(room.used - set(room.never)) > 1


def _another_filter(case: Case, room: Room) -> bool:
    """Who only looks at room in another way is wrong where pods use some."""
    return bool(room.used)


def _somebody_held(case: Case, room: Room) -> bool:
    """What Permit holds must be there."""
    return bool(case.held)


def _elsewhere(case: Case, room: Room) -> bool:
    """Another node than the nominated one must have room."""
    return bool(set(room.fitting) - {case.asked["status"].get("nominatedNodeName")})


HOPES: Final[Mapping[str, Hope]] = {
    **dict.fromkeys(MANNERS, _somebody_goes),
    "fewest-victims": _either_goes,
    "lowest-priority-node": _either_goes,
    "emptiest-node": _a_choice,
    "fullest-node": _a_choice,
    "first-in-list": _a_choice,
    "same-scale-same-winner": _a_choice,
    "soft-is-small": _a_choice,
    "toleration-attracts": _a_choice,
    "my-score-rules": _a_choice,
    "formula-is-code": _another_filter,
    "least-used": _another_filter,
    "only-bound-counts": _somebody_held,
    "reserved-seat": _elsewhere,
}
"""Rule → whether it could be wrong about a cluster at all."""


def is_worth_a_look(rule: str, case: Case) -> bool:
    """Return whether a cluster can be, and could set a rule and the engine apart."""
    room = Room.of(case)
    return not room.is_overfull and HOPES[rule](case, room)
