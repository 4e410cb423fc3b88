"""The finder: a small cluster on which a rule and the engine disagree. Bounded by count, so that a seed says it all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from controllers.rules.cases import SORTS, Case, Chance, Size
from controllers.rules.deciding import Answer, decide
from controllers.rules.rule import ENGINE, Rule
from controllers.rules.table import RULES

NODES_MAX: Final = 4
PODS_MAX: Final = 8
"""Nodes and pods of the largest clusters that are looked at."""

DRAWN_MAX: Final = 25
"""Clusters drawn of one size, before the next larger one is looked at."""

LOOKED_MAX: Final = 800
"""Clusters that one search looks at, the smaller ones that it tries in the end among them; then it gives up."""


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

    def __init__(self, rule: Rule, go_on: Callable[[], bool]) -> None:
        self.rule = rule
        self.looked = 0
        self._go_on = go_on

    def over(self) -> bool:
        return self.looked >= LOOKED_MAX or not self._go_on()

    def look(self, case: Case) -> Found | None:
        """Return what the two say where they disagree."""
        if case.is_overfull:
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
        size: look at clusters of that size alone, and leave nothing out; None: at all, the smallest first.
        go_on: asked between clusters; when it says no, the search ends.

    Returns:
        What was found; None: they agree on everything that was looked at.
    """
    draw_case = SORTS.get(rule.id)
    if draw_case is None:
        return None
    search = _Search(rule, go_on)
    for one in sizes() if size is None else [size]:
        for number in range(DRAWN_MAX if size is None else LOOKED_MAX):
            if search.over():
                return None
            found = search.look(draw_case(Chance(seed, f"find/{rule.id}/{one.nodes}/{one.pods}", number), one))
            if found is not None:
                return search.smaller(found) if size is None else found
    return None
