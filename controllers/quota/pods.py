"""What a pod counts for.

Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core/pods.go, k8s.io/component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from controllers.log.stamps import unix_ms_of
from controllers.quota.scoped import selects
from controllers.quota.usage import ONE, Usage, add, raise_to, read
from scheduler_core.api.containers import LASTING, told_of_containers
from scheduler_core.api.document import Document, has_ended
from scheduler_core.api.requests import is_extended, is_pod_level

_OBJECTS: Final = "count/pods"
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_NAMES: Final = frozenset(
    {_OBJECTS, "pods", *_COMPUTE, *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE)}
)
_MUST_BE_SAID: Final = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
"""Names of a quota that every container of a pod must say something about."""
_OF_FIRST: Final = ("name", "resources", "restartPolicy")
"""What counts of an init container."""
_OF_STATUS: Final = ("name", "resources", "allocatedResources")
"""What counts of a container's status."""
ASKED_MAX: Final = 1_024
"""Pods apart in what they ask for whose reckoning is remembered; the one used longest ago goes first."""
STORED_MAX: Final = 1_024
"""Pods as they are stored of which it is remembered what they count for; past it all are forgotten."""
_STORED: Final[dict[int, tuple[Mapping[str, Any], Usage]]] = {}
"""By identity: the pod, and what it counts for while it is charged; shared, nobody writes into it."""
_NOTHING_GIVEN: Final[Mapping[str, Usage]] = {}


def is_counted(name: str) -> bool:
    """Return whether pods have a part in a name of a quota."""
    if name in _NAMES or name.startswith(("hugepages-", "requests.hugepages-")):
        return True
    return name.startswith("requests.") and "/" in name and "kubernetes.io/" not in name


def usage(pod: Mapping[str, Any], unix_ms: int) -> Usage:
    """Return what a pod counts for; one that has ended, or is past its grace, only as an object."""
    if not _is_charged(pod, unix_ms):
        return {_OBJECTS: ONE}
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    containers, first = spec.get("containers") or (), spec.get("initContainers") or ()
    told = {key: status.get(key) or () for key in LASTING}
    asked = _requests_of(containers, first) if any(told.values()) else {}
    # Pods of a template ask for the same: what they count for is reckoned once.
    asking: Document = {
        "spec": {
            "containers": [{"name": one.get("name", ""), "resources": one.get("resources")} for one in containers],
            "initContainers": [{key: one[key] for key in _OF_FIRST if key in one} for one in first],
            "resources": spec.get("resources"),
            "overhead": spec.get("overhead"),
        },
        "status": {key: _resized(own, asked) for key, own in told.items()},
    }
    return {_OBJECTS: ONE, **_asked(msgspec.json.encode(asking))}


def usage_of_stored(pod: Mapping[str, Any], unix_ms: int) -> Usage:
    """Return `usage` of a pod as it is stored, which nobody changes: where a quota is short it is asked of all."""
    if not _is_charged(pod, unix_ms):
        return {_OBJECTS: ONE}
    known = _STORED.get(id(pod))
    if known is None or known[0] is not pod:
        if len(_STORED) >= STORED_MAX:
            _STORED.clear()
        # It holds the pod, so that no other one can have its identity.
        known = _STORED[id(pod)] = pod, usage(pod, unix_ms)
    return known[1]


def _requests_of(*containers: Iterable[Mapping[str, Any]]) -> dict[Any, Any]:
    """Return what containers of a spec request, by name."""
    return {one.get("name"): (one.get("resources") or {}).get("requests") or {} for own in containers for one in own}


def _resized(told: Iterable[Mapping[str, Any]], asked: Mapping[Any, Any]) -> list[Document]:
    """Return what counts of statuses: of those that tell of other requests than the spec (`asked`, by name)."""
    kept: list[Document] = []
    for one in told:
        if one.get("resources") is None:
            continue
        given, promised = one["resources"].get("requests") or {}, one.get("allocatedResources") or {}
        own = asked.get(one.get("name"))
        if given != own or (promised and promised != own):
            kept.append({key: one[key] for key in _OF_STATUS if key in one})
    return kept


@lru_cache(maxsize=ASKED_MAX)
def _asked(asking: bytes) -> Usage:
    """Return what a pod counts for by what is in it of resources; shared, nobody writes into it."""
    pod = msgspec.json.decode(asking)
    return _named(_sum(pod, "requests"), _sum(pod, "limits"))


def missing(names: Iterable[str], pod: Mapping[str, Any]) -> str:
    """Return `must specify <name> for: <containers>; …` for what containers leave unsaid; empty where nothing is."""
    needed = _MUST_BE_SAID.intersection(names)
    spec = pod.get("spec") or {}
    unsaid: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        said = _named(read(resources.get("requests")), read(resources.get("limits")))
        for name in needed.difference(said):
            unsaid.setdefault(name, set()).add(container["name"])
    texts = [f"{name} for: {','.join(sorted(unsaid[name]))}" for name in sorted(unsaid)]
    return f"must specify {'; '.join(texts)}" if texts else ""


def matches_scope(scope: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Return whether a pod is in a scope."""
    spec = pod.get("spec") or {}
    match scope.get("scopeName"):
        case "Terminating":
            return _ends_by_itself(spec)
        case "NotTerminating":
            return not _ends_by_itself(spec)
        case "BestEffort":
            return _is_best_effort(pod)
        case "NotBestEffort":
            return not _is_best_effort(pod)
        case "PriorityClass":
            return selects(scope, spec.get("priorityClassName") or None)
        case "CrossNamespacePodAffinity":
            return _looks_beyond(spec.get("affinity") or {})
        case _:
            return False


def moves(pod: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether a pod begins, or ceases, to end by itself."""
    return _ends_by_itself(pod.get("spec") or {}) != _ends_by_itself(old.get("spec") or {})


def _is_charged(pod: Mapping[str, Any], unix_ms: int) -> bool:
    if has_ended(pod):
        return False
    metadata = pod["metadata"]
    gone, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    return gone is None or grace is None or unix_ms <= unix_ms_of(gone) + grace * 1000


def _named(requests: Usage, limits: Usage) -> Usage:
    """Return requests and limits under the names that quotas have for them."""
    counted: Usage = {"pods": ONE}
    for name in _COMPUTE:
        if name in requests:
            counted[name] = counted[f"requests.{name}"] = requests[name]
        if name in limits:
            counted[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith("hugepages-"):
            counted[name] = counted[f"requests.{name}"] = amount
        elif is_extended(name):
            counted[f"requests.{name}"] = amount
    return counted


def asked_in_all(
    spec: Mapping[str, Any],
    what: Literal["requests", "limits"],
    given: Mapping[str, Usage] = _NOTHING_GIVEN,
) -> Usage:
    """Return what a pod asks for: containers and sidecars, or the peak while it starts; then what it says as a whole.

    Args:
        spec: the pod's.
        what: of which.
        given: by name, what containers and sidecars hold at least, whatever they ask for.

    Source: k8s.io/component-helpers/resource, PodRequests and PodLimits, without the overhead.
    """
    total: Usage = {}
    for container in spec.get("containers") or ():
        total = add(total, _of(container, what, given))
    peak: Usage = {}
    sidecars: Usage = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            asked = _of(container, what, given)
            total, sidecars = add(total, asked), add(sidecars, asked)
            asked = sidecars
        else:
            asked = add(_of(container, what, _NOTHING_GIVEN), sidecars)
        raise_to(peak, asked)
    raise_to(total, peak)
    for name, amount in read((spec.get("resources") or {}).get(what)).items():
        if is_pod_level(name):
            total[name] = amount
    return total


def _sum(pod: Mapping[str, Any], what: Literal["requests", "limits"]) -> Usage:
    """Return a pod's requests or limits, the overhead included."""
    spec = pod.get("spec") or {}
    total = asked_in_all(spec, what, _given(pod) if what == "requests" else _NOTHING_GIVEN)
    overhead = read(spec.get("overhead"))
    # The overhead raises limits that are there, and makes none.
    return add(total, overhead if what == "requests" else {name: overhead[name] for name in overhead if name in total})


def _of(container: Mapping[str, Any], what: str, given: Mapping[str, Usage]) -> Usage:
    asked = read((container.get("resources") or {}).get(what))
    raise_to(asked, given.get(container.get("name", ""), {}))
    return asked


def _given(pod: Mapping[str, Any]) -> dict[str, Usage]:
    """Return what running containers have been given, by name: a resize under way counts as the larger."""
    found: dict[str, Usage] = {}
    for entry in told_of_containers(pod, ephemeral=False):
        if entry.get("resources") is not None:
            actual = read(entry["resources"].get("requests"))
            raise_to(actual, read(entry.get("allocatedResources")))
            found[entry["name"]] = actual
    return found


def _ends_by_itself(spec: Mapping[str, Any]) -> bool:
    seconds = spec.get("activeDeadlineSeconds")
    return seconds is not None and int(seconds) >= 0


def _is_best_effort(pod: Mapping[str, Any]) -> bool:
    known = (pod.get("status") or {}).get("qosClass")
    if known:
        return bool(known == "BestEffort")
    spec = pod.get("spec") or {}
    asking: list[Document] = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ()), spec]
    for one in asking:
        resources = one.get("resources") or {}
        for what in ("requests", "limits"):
            amounts = read(resources.get(what))
            if any(amounts[name].nano > 0 for name in ("cpu", "memory") if name in amounts):
                return False
    return True


def _looks_beyond(affinity: Mapping[str, Any]) -> bool:
    """Return whether a term of an affinity to pods names other namespaces."""
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        every = [*(terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ())]
        preferred = terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        every += [term.get("podAffinityTerm") or {} for term in preferred]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in every):
            return True
    return False
