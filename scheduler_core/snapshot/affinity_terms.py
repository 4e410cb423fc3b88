"""Pod affinity and anti-affinity terms, read once for all pods of a namespace that write the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from scheduler_core.api.pod import Pod, PodAffinity, PodAffinityTerm
from scheduler_core.api.selectors import Selector, SelectorError, read_selector, selects


class AffinityTerm(msgspec.Struct, frozen=True):
    """One term.

    Attributes:
        topology_key: label of nodes; nodes with one value of it are one place.
        namespaces: namespaces listed, or the pod's own where the term says nothing of namespaces.
        selector: which pods.
        namespace_selector: further namespaces by their labels; () all of them.
    """

    topology_key: str
    namespaces: frozenset[str]
    selector: Selector
    namespace_selector: Selector = None

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Return whether the term means a pod of this namespace and these labels."""
        if namespace not in self.namespaces and not selects(self.namespace_selector, namespace_labels):
            return False
        return selects(self.selector, labels)


Weighted = tuple[tuple[int, AffinityTerm], ...]


@dataclass(frozen=True, slots=True, eq=False)
class PodTerms:
    """A pod's terms; equal only to itself, for one is shared by all pods that write the same.

    `error` says why a group of terms could not be read; such a group is empty.
    """

    affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred: Weighted = ()
    preferred_anti: Weighted = ()
    error: str = ""

    @property
    def spoken(self) -> tuple[AffinityTerm, ...]:
        """Return the terms by which the pod likes or dislikes others: all but required anti-affinity."""
        weighted = (*self.preferred, *self.preferred_anti)
        return (*self.affinity, *(term for _, term in weighted))


NO_TERMS: Final = PodTerms()

TERMS_MAX: Final = 4_096
"""Distinct texts kept; past it all are dropped and read again."""

_known: dict[tuple[str, bytes], PodTerms] = {}
_encode = msgspec.msgpack.Encoder().encode
_ABSENT: Final = PodAffinity()


def terms_of(pod: Pod) -> PodTerms:
    """Return the pod's terms, `NO_TERMS` where it has none."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return NO_TERMS
    key = (pod.namespace, _encode((affinity.pod_affinity, affinity.pod_anti_affinity)))
    found = _known.get(key)
    if found is None:
        if len(_known) >= TERMS_MAX:
            _known.clear()
        found = _known[key] = _read(
            pod.namespace, affinity.pod_affinity or _ABSENT, affinity.pod_anti_affinity or _ABSENT
        )
    return found


def _read(namespace: str, near: PodAffinity, away: PodAffinity) -> PodTerms:
    if not (near.required or near.preferred or away.required or away.preferred):
        return NO_TERMS
    errors: list[str] = []

    def group(name: str, written: Sequence[PodAffinityTerm]) -> tuple[AffinityTerm, ...]:
        try:
            return tuple(_term(namespace, one) for one in written)
        except SelectorError as wrong:
            errors.append(f"{name}: {wrong}")
            return ()

    required = group("requiredAffinityTerms", near.required)
    required_anti = group("requiredAntiAffinityTerms", away.required)
    preferred = group("preferredAffinityTerms", [one.pod_affinity_term for one in near.preferred])
    preferred_anti = group("preferredAntiAffinityTerms", [one.pod_affinity_term for one in away.preferred])
    return PodTerms(
        required,
        required_anti,
        tuple((one.weight, term) for one, term in zip(near.preferred, preferred, strict=False)),
        tuple((one.weight, term) for one, term in zip(away.preferred, preferred_anti, strict=False)),
        errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else "",
    )


def _term(namespace: str, written: PodAffinityTerm) -> AffinityTerm:
    own = not written.namespaces and written.namespace_selector is None
    return AffinityTerm(
        written.topology_key,
        frozenset((namespace,)) if own else frozenset(written.namespaces),
        read_selector(written.label_selector),
        read_selector(written.namespace_selector),
    )
