"""Spread constraints as PodTopologySpread reads them: a pod's own, or the profile's with a selector for the pod."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from scheduler_core.api.meta import view
from scheduler_core.api.pod import Pod, TopologySpreadConstraint
from scheduler_core.api.selectors import LabelSelector, Requirement, Selector, SelectorError, read_selector, selects
from scheduler_core.framework.interface import Listers, Versioned
from scheduler_core.snapshot.node_info import PodInfo

HOSTNAME: Final = "kubernetes.io/hostname"
HARD: Final = "DoNotSchedule"
SOFT: Final = "ScheduleAnyway"


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint. `honors_affinity` and `honors_taints`: nodes ruled out by these do not count."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False


Constraints = tuple[Constraint, ...]

SYSTEM_DEFAULTS: Final[tuple[TopologySpreadConstraint, ...]] = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SOFT),
    TopologySpreadConstraint(max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable=SOFT),
)
"""What holds for pods without constraints of their own, unless the profile lists others."""

WRITTEN_MAX: Final = 1_024
"""Distinct constraints as written that are kept as they were read; past it all are dropped and read again."""

_encode: Final = msgspec.msgpack.Encoder(order="deterministic").encode


class ConstraintReader:
    """Reads pods' constraints under one profile's arguments.

    Attributes:
        system_defaulted: pods without constraints of their own get the system's.
    """

    def __init__(self, arguments: Mapping[str, Any], listers: Listers) -> None:
        """Take PodTopologySpreadArgs.

        Raises:
            ApiError: a default constraint has another shape.
        """
        self.system_defaulted = (arguments.get("defaultingType") or "System") == "System"
        listed = arguments.get("defaultConstraints") or ()
        written = tuple(view(one, TopologySpreadConstraint) for one in listed)
        self._defaults = SYSTEM_DEFAULTS if self.system_defaulted else written
        self._default_kinds = frozenset(one.when_unsatisfiable for one in self._defaults)
        self._listers = listers
        self._version = listers.version if isinstance(listers, Versioned) else None
        self._known: dict[tuple[bytes, tuple[str | None, ...], str], Constraints] = {}
        self._defaulted: dict[tuple[Selector, str, tuple[str | None, ...]], Constraints] = {}
        """(selector, kind, values of `matchLabelKeys`) → the default constraints with it."""
        self._default_keys = tuple(key for one in self._defaults for key in one.match_label_keys)

    def has_defaults(self, kind: str) -> bool:
        """Return whether pods without constraints of their own may get any of a kind."""
        return kind in self._default_kinds

    def key(self, info: PodInfo, kind: str) -> Hashable | None:
        """Return what a pod's constraints of a kind follow from beside its shape; None: they are to be read."""
        if info.pod.spec.topology_spread_constraints or kind not in self._default_kinds:
            return ()
        return None if self._version is None else self._version(_SOURCES)

    def of(self, info: PodInfo, kind: str) -> Constraints:
        """Return the pod's constraints of a kind.

        Args:
            info: the pod.
            kind: HARD or SOFT.

        Raises:
            SelectorError: a selector cannot be read.
        """
        pod = info.pod
        written = pod.spec.topology_spread_constraints
        if not written:
            return self._default(pod, kind)
        labels = pod.metadata.labels
        told = tuple(labels.get(key) for one in written for key in one.match_label_keys)
        key = (_encode(written), told, kind)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= WRITTEN_MAX:
                self._known.clear()
            try:
                found = self._known[key] = _read(written, labels, kind)
            except SelectorError as wrong:
                word = "hard" if kind == HARD else "soft"
                raise SelectorError([f"obtaining pod's {word} topology spread constraints: {wrong}"]) from wrong
        return found

    def _default(self, pod: Pod, kind: str) -> Constraints:
        if kind not in self._default_kinds:
            return ()
        selector = default_selector(pod, self._listers)
        if selector == ():
            return ()
        labels = pod.metadata.labels
        key = (selector, kind, tuple(labels.get(one) for one in self._default_keys))
        found = self._defaulted.get(key)
        if found is None:
            if len(self._defaulted) >= WRITTEN_MAX:
                self._defaulted.clear()
            read = _read(self._defaults, labels, kind)
            found = self._defaulted[key] = tuple(replace(one, selector=selector) for one in read)
        return found


def _read(written: Sequence[TopologySpreadConstraint], labels: Mapping[str, str], kind: str) -> Constraints:
    found: list[Constraint] = []
    for one in written:
        if one.when_unsatisfiable != kind:
            continue
        selector = read_selector(one.label_selector)
        if selector is not None:
            pairs = {key: labels[key] for key in one.match_label_keys if key in labels}
            selector = (*_equal(pairs), *selector)
        found.append(
            Constraint(
                one.max_skew,
                one.topology_key,
                selector,
                1 if one.min_domains is None else one.min_domains,
                one.node_affinity_policy in (None, "Honor"),
                one.node_taints_policy == "Honor",
            )
        )
    return tuple(found)


def _equal(pairs: Mapping[str, str]) -> tuple[Requirement, ...]:
    return tuple(Requirement(key, "In", frozenset((value,))) for key, value in sorted(pairs.items()))


def default_selector(pod: Pod, listers: Listers) -> Selector:
    """Return the labels by which the pod's Services and its controller know it; () where there are none."""
    services = listers.list("services")
    if not services and not pod.metadata.owner_references:
        return ()
    labels = pod.metadata.labels
    pairs: dict[str, str] = {}
    for service in services:
        if (service["metadata"].get("namespace") or "default") != pod.namespace:
            continue
        wanted = (service.get("spec") or {}).get("selector")
        # A Service without a selector selects nothing.
        if wanted is not None and all(labels.get(key) == value for key, value in wanted.items()):
            pairs.update(wanted)
    owner = next((one for one in pod.metadata.owner_references if one.controller), None)
    if owner is None:
        return _equal(pairs)
    if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
        found = listers.get("replicationcontrollers", pod.namespace, owner.name)
        return _equal(pairs if found is None else pairs | (found["spec"].get("selector") or {}))
    resource = _SETS.get((owner.api_version, owner.kind))
    found = None if resource is None else listers.get(resource, pod.namespace, owner.name)
    written = None if found is None else found["spec"].get("selector")
    if written is None:
        return _equal(pairs)
    try:
        return (*_equal(pairs), *_requirements(written)) if pairs else _requirements(written)
    except SelectorError:
        return _equal(pairs)


_read_selectors: Final[dict[bytes, tuple[Requirement, ...]]] = {}


def _requirements(written: Mapping[str, Any]) -> tuple[Requirement, ...]:
    """Return a selector's requirements, read once for each way of writing it."""
    key = _encode(written)
    found = _read_selectors.get(key)
    if found is None:
        if len(_read_selectors) >= WRITTEN_MAX:
            _read_selectors.clear()
        found = _read_selectors[key] = tuple(view(written, LabelSelector).requirements())
    return found


_SETS: Final = {("apps/v1", "ReplicaSet"): "replicasets.apps", ("apps/v1", "StatefulSet"): "statefulsets.apps"}
_SOURCES: Final = ("services", "replicationcontrollers", *_SETS.values())
"""What a default constraint's selector is read from."""


def any_selects(constraints: Constraints, labels: Mapping[str, str]) -> bool:
    """Return whether any constraint counts pods of these labels."""
    return any(selects(one.selector, labels) for one in constraints)
