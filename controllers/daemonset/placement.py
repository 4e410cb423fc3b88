"""Which nodes a DaemonSet's pods belong on, and what such a pod looks like. Pure functions over documents.

Source: `NodeShouldRunDaemonPod`, k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go, and
pkg/controller/daemon/util.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from controllers.kit.history import POD_HASH
from controllers.kit.pods import pod_from_template
from controllers.log.store import copy_object
from scheduler_core.api.document import Document, at
from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import view
from scheduler_core.api.node import Taint
from scheduler_core.api.pod import Toleration
from scheduler_core.api.selectors import CompiledTerm, NodeSelector, compile_selector
from scheduler_core.api.taints import NO_SCHEDULE_EFFECTS, first_untolerated

GENERATION_ANNOTATION: Final = "deprecated.daemonset.template.generation"
GENERATION_LABEL: Final = "pod-template-generation"
"""How pods told their template's version before there were revisions; they still do."""

_NAME: Final = "metadata.name"
_EVERYWHERE: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
"""What every daemon tolerates: it stays where others have to leave."""

_SAME: Final = ("key", "operator", "effect", "value")
"""Fields of a toleration by which another one is the same."""

_HOST_NETWORK: Final = ("node.kubernetes.io/network-unavailable", "NoSchedule")


class Fit(NamedTuple):
    """Whether a pod is to be made on a node, and whether one that is there may stay."""

    runs: bool
    stays: bool


PLACEMENTS_MAX: Final = 256
"""Templates of which it is remembered what they ask of nodes; the one used longest ago goes first."""


def placement_of(owner: Mapping[str, Any]) -> Placement:
    """Return what a DaemonSet's template asks of nodes; its status changes far more often than that."""
    return _placement(msgspec.json.encode((owner["spec"].get("template") or {}).get("spec") or {}))


@lru_cache(maxsize=PLACEMENTS_MAX)
def _placement(spec: bytes) -> Placement:
    return Placement(msgspec.json.decode(spec))


class Placement:
    """What a DaemonSet's template asks of nodes, read once for many nodes."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        """Read the spec of its pods."""
        self._node_name = spec.get("nodeName") or ""
        self._labels: Mapping[str, str] = spec.get("nodeSelector") or {}
        self._terms = _required_terms(spec)
        self._tolerations = [view(one, Toleration) for one in tolerations(spec)]

    def fit(self, node: Mapping[str, Any]) -> Fit:
        """Return what a node is for the DaemonSet."""
        metadata = node["metadata"]
        labels = metadata.get("labels") or {}
        if self._node_name not in ("", metadata["name"]):
            return Fit(False, False)
        if any(labels.get(key) != value for key, value in self._labels.items()):
            return Fit(False, False)
        if self._terms is not None and not any(term.matches(metadata["name"], labels) for term in self._terms):
            return Fit(False, False)
        taints = [view(one, Taint) for one in (node.get("spec") or {}).get("taints") or ()]
        if first_untolerated(taints, self._tolerations, NO_SCHEDULE_EFFECTS) is None:
            return Fit(True, True)
        return Fit(False, first_untolerated(taints, self._tolerations, frozenset({"NoExecute"})) is None)


def _required_terms(spec: Mapping[str, Any]) -> Sequence[CompiledTerm] | None:
    required = at(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return None
    try:
        return compile_selector(view(required, NodeSelector))
    except ApiError:
        return ()


def tolerations(spec: Mapping[str, Any]) -> list[Document]:
    """Return the tolerations of the template's pods: its own, and those of every daemon."""
    added = [*_EVERYWHERE, _HOST_NETWORK] if spec.get("hostNetwork") else list(_EVERYWHERE)
    kept = list(spec.get("tolerations") or ())
    for key, effect in added:
        wanted = {"key": key, "operator": "Exists", "effect": effect}
        same = next((index for index, one in enumerate(kept) if _is_the_same(one, wanted)), None)
        if same is None:
            kept.append(wanted)
        else:
            kept[same] = wanted
    return kept


def _is_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two tolerations differ in their seconds at most."""
    return not [field for field in _SAME if (one.get(field) or "") != (other.get(field) or "")]


def generation_of(owner: Mapping[str, Any]) -> str | None:
    """Return the version of the template as the server counts it; None where it cannot be read."""
    text = (owner["metadata"].get("annotations") or {}).get(GENERATION_ANNOTATION)
    return str(int(text)) if text is not None and text.lstrip("-").isdigit() else None


def pods_for(owner: Document, nodes: Iterable[str], code: str) -> list[Document]:
    """Return a pod for each of these nodes, of the revision with the hash `code`; the scheduler binds it there."""
    template = copy_object(owner["spec"].get("template") or {})
    spec = template.setdefault("spec", {})
    spec["tolerations"] = tolerations(spec)
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    generation = generation_of(owner)
    if generation is not None:
        labels[GENERATION_LABEL] = generation
    labels[POD_HASH] = code
    pods = []
    for name in nodes:
        pod = copy_object(pod_from_template(template, owner))
        affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
        field = {"key": _NAME, "operator": "In", "values": [name]}
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        pods.append(pod)
    return pods


def node_of(pod: Mapping[str, Any]) -> str | None:
    """Return the node that a pod runs on, or that its affinity names; None where it names none."""
    name = (pod.get("spec") or {}).get("nodeName")
    if name:
        return str(name)
    required = at(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field.get("key") == _NAME and field.get("operator") == "In":
                values: Sequence[str] = field.get("values") or []
                return str(values[0]) if len(values) == 1 else None
    return None


def is_updated(pod: Mapping[str, Any], owner: Mapping[str, Any], code: str) -> bool:
    """Return whether a pod is of the present template."""
    labels = pod["metadata"].get("labels") or {}
    generation = generation_of(owner)
    return labels.get(POD_HASH) == code or (generation is not None and labels.get(GENERATION_LABEL) == generation)


def by_age(pods: Iterable[Document]) -> list[Document]:
    """Return bound pods first, then the oldest first."""
    return sorted(
        pods,
        key=lambda pod: (
            not pod["spec"].get("nodeName"),
            pod["metadata"]["creationTimestamp"],
            pod["metadata"]["name"],
        ),
    )
