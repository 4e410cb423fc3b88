"""The finder: a small cluster on which a rule and the engine disagree. Bounded by count, so that a seed says it all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from controllers.rules.cases import SORTS, Case, Size, drawn, names
from controllers.rules.deciding import Answer, decide
from controllers.rules.pruning import is_worth_a_look
from controllers.rules.rule import ENGINE, Rule
from controllers.rules.table import RULES

NODES_MAX: Final = 4
PODS_MAX: Final = 8
"""Nodes and pods of the largest clusters that are looked at."""

DRAWN_MAX: Final = 25
"""Clusters drawn of one size, before the next larger one is looked at."""

ROUNDS_MAX: Final = 6
"""Times that all sizes are gone through, where nothing was found."""

GROWN_MAX: Final = 50
"""Nodes or pods that are tried, one after the other, for a cluster to grow by one."""

LOOKED_MAX: Final = 500
"""Clusters that one search asks the engine about, with the smaller ones that it tries in the end; then it ends."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a rule and the engine disagree.

    Attributes:
        rule: the rule's id.
        case: the cluster and the pod in question.
        engine: what kube-scheduler does; it leaves no choice.
        believed: what the rule says.
        looked: how many clusters were looked at.
    """

    rule: str
    case: Case
    engine: Answer
    believed: Answer
    looked: int


def sizes() -> list[Size]:
    """Return the sizes of clusters, the smallest first: by objects in all, then by nodes."""
    every = [Size(nodes, pods) for nodes in range(1, NODES_MAX + 1) for pods in range(PODS_MAX + 1)]
    return sorted(every, key=lambda size: (size.nodes + size.pods, size.nodes))


def disagree(engine: Answer, believed: Answer) -> bool:
    """Return whether whoever believes the rule is surely wrong: no node of one is right by the other, or no victims."""
    if (engine.nodes or believed.nodes) and not set(engine.nodes) & set(believed.nodes):
        return True
    return engine.nominated == believed.nominated and not engine.dying & believed.dying


def is_clear(engine: Answer) -> bool:
    """Return whether the engine leaves nothing to chance: one node, or none at all."""
    return len(engine.nodes) < 2


class _Search:
    """One search: counts what it looks at, and ends where it has looked enough."""

    def __init__(self, rule: Rule, seed: int, go_on: Callable[[], bool]) -> None:
        self.rule = rule
        self.seed = seed
        self.looked = 0
        self._go_on = go_on

    def over(self) -> bool:
        return self.looked >= LOOKED_MAX or not self._go_on()

    def look(self, case: Case) -> Found | None:
        """Return what the two say where they disagree."""
        if not is_worth_a_look(self.rule.id, case):
            return None
        self.looked += 1
        scene = case.scene()
        engine = decide(scene, RULES[ENGINE])
        if engine is None or not is_clear(engine):
            return None
        believed = decide(scene, self.rule)
        if believed is None or not disagree(engine, believed):
            return None
        return Found(self.rule.id, case, engine, believed, self.looked)

    def smallest(self) -> Found | None:
        """Return the first disagreement, the smallest sizes first, with nothing to spare."""
        for case in self._cases():
            if self.over():
                return None
            found = self.look(case)
            if found is not None:
                return self.smaller(found)
        return None

    def _cases(self) -> Iterator[Case]:
        for beginning in range(0, ROUNDS_MAX * DRAWN_MAX, DRAWN_MAX):
            for size in sizes():
                nodes, pods = names("n", size.nodes), names("p", size.pods)
                for number in range(beginning, beginning + DRAWN_MAX):
                    yield drawn(self.rule.id, self.seed, f"find/{size.nodes}/{size.pods}", number, nodes, pods)

    def grown(self, found: Found, size: Size) -> Found | None:
        """Return the same grown to a size, one node with a pod, or one pod, at a time; None where it cannot be."""
        now: Found | None = found
        while now is not None and now.case.size != size:
            here = now.case.size
            if here.nodes > size.nodes or here.pods > size.pods:
                return None
            now = self._one_more(now, node=here.nodes < size.nodes, pod=here.pods < size.pods)
        return now

    def _one_more(self, found: Found, *, node: bool, pod: bool) -> Found | None:
        here, taken = found.case.size, [one["metadata"]["name"] for one in found.case.nodes]
        new_nodes = [name for name in names("n", NODES_MAX) if name not in taken][:1] if node else []
        used = {one["metadata"]["name"] for one in found.case.pods}
        new_pods = [name for name in names("p", PODS_MAX) if name not in used][:1] if pod else []
        for number in range(GROWN_MAX):
            if self.over():
                return None
            purpose = f"grow/{here.nodes}/{here.pods}"
            more = drawn(self.rule.id, self.seed, purpose, number, new_nodes or taken, new_pods)
            larger = self.look(found.case.with_more(more if node else replace(more, nodes=[])))
            if larger is not None:
                return larger
        return None

    def smaller(self, found: Found) -> Found:
        """Return the same with everything left out that is not needed for them to disagree."""
        changed = True
        while changed and not self.over():
            changed = False
            for case in found.case.smaller():
                if self.over():
                    break
                less = self.look(case)
                if less is not None:
                    found, changed = less, True
                    break
        return replace(found, looked=self.looked)


def find(rule: Rule, seed: int, *, size: Size | None = None, go_on: Callable[[], bool] = lambda: True) -> Found | None:
    """Return a smallest cluster on which a rule and the engine disagree.

    Nothing can be left out of it: without any node, pod or budget they would agree, or the engine would draw a lot.
    Which one it is, is the seed's.

    Args:
        rule: one that decides where pods go.
        seed: what is drawn depends on nothing else.
        size: of a cluster that is grown out of the smallest, by what leaves the two apart; None: as it is.
        go_on: asked between clusters; when it says no, the search ends.

    Returns:
        What was found; None: they agree on everything that was looked at, or none grows to that size.
    """
    if rule.id not in SORTS:
        return None
    search = _Search(rule, seed, go_on)
    found = search.smallest()
    return found if found is None or size is None else search.grown(found, size)
