"""What a pod requires of its node's name and labels: NodeAffinity filters by it, PodTopologySpread counts by it.

Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity (GetRequiredNodeAffinity).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scheduler_core.api.pod import Pod
from scheduler_core.api.selectors import CompiledTerm, NodeSelector, Requirement, compile_selector

Terms = tuple[CompiledTerm, ...]

READ_MAX: Final = 1_024
"""Distinct demands kept as they were read; past it the one used longest ago is read again."""


@dataclass(frozen=True, slots=True, eq=False)
class Required:
    """What a pod demands of its node: every pair of `nodeSelector`, and any of the terms (None: no terms given).

    Equal only to itself, for one is shared by all pods that write the same.
    """

    selector: tuple[Requirement, ...]
    terms: Terms | None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a node of this name and these labels will do."""
        if not all(one.matches(labels) for one in self.selector):
            return False
        return self.terms is None or any(term.matches(name, labels) for term in self.terms)

    def is_unknown(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a node fails for no other reason than that a term cannot be read."""
        if self.matches(name, labels) or not all(one.matches(labels) for one in self.selector):
            return False
        return any(term.errors for term in self.terms or ())


Demands = tuple[frozenset[tuple[str, str]], NodeSelector | None]
"""What a pod writes of the node that it must have: pairs of `nodeSelector`, and the required node affinity."""

NO_DEMANDS: Final = Required((), None)


def required_of(pod: Pod) -> Required:
    """Return what the pod demands, one value for all pods that write the same; unreadable terms match nothing."""
    spec = pod.spec
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    if required is None and not spec.node_selector:
        return NO_DEMANDS
    return _read((frozenset(spec.node_selector.items()), required))


@lru_cache(maxsize=READ_MAX)
def _read(demands: Demands) -> Required:
    pairs, required = demands
    # nodeSelector is not validated here: a value that is no label value simply equals no label.
    selector = tuple(Requirement(key, "In", frozenset((value,))) for key, value in sorted(pairs))
    return Required(selector, None if required is None else compile_selector(required))
