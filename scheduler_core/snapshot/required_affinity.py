"""What a pod requires of its node's name and labels: NodeAffinity filters by it, PodTopologySpread counts by it.

Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity (GetRequiredNodeAffinity).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.api.selectors import CompiledTerm, Requirement, compile_selector
from scheduler_core.snapshot.node_info import PodInfo

Terms = tuple[CompiledTerm, ...]


@dataclass(frozen=True, slots=True)
class Required:
    """What a pod demands of its node: every pair of `nodeSelector`, and any of the terms (None: no terms given)."""

    selector: tuple[Requirement, ...]
    terms: Terms | None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a node of this name and these labels will do."""
        if not all(one.matches(labels) for one in self.selector):
            return False
        return self.terms is None or any(term.matches(name, labels) for term in self.terms)


def required_of(pod: PodInfo) -> Required:
    """Return what the pod demands; unreadable terms match nothing."""
    spec = pod.pod.spec
    # nodeSelector is not validated here: a value that is no label value simply equals no label.
    selector = tuple(Requirement(key, "In", frozenset((value,))) for key, value in sorted(spec.node_selector.items()))
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    terms = compile_selector(affinity.required) if affinity is not None and affinity.required is not None else None
    return Required(selector, terms)
