"""What a claim is told it got: its devices, their configuration, and the nodes that reach them.

Source: k8s.io/dynamic-resource-allocation/structured (Allocate, createNodeSelector), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.api.document import FrozenDocument, at
from scheduler_core.devices.pools import Device
from scheduler_core.devices.requests import AllocationError, Request


class Chosen(NamedTuple):
    """One device for one request."""

    request: Request
    device: Device


def outcome(claim: FrozenDocument, chosen: Sequence[Chosen], used: Sequence[Request]) -> dict[str, Any]:
    """Return an AllocationResult.

    Args:
        claim: whose it is.
        chosen: its devices, in the order of its requests.
        used: its requests; of those with alternatives the one that was taken.

    Raises:
        AllocationError: a slice's node selector has several terms.
    """
    devices: dict[str, Any] = {"results": [_result(*one) for one in chosen]}
    configurations = [*_of_classes(used), *_of_claim(claim, used)]
    if configurations:
        devices["config"] = configurations
    selector = _node_selector(claim, chosen)
    return {"devices": devices, "nodeSelector": selector} if selector is not None else {"devices": devices}


def _result(request: Request, device: Device) -> dict[str, Any]:
    driver, pool, name = device.id
    told: dict[str, Any] = {"request": request.full_name, "driver": driver, "pool": pool, "device": name}
    return {**told, "adminAccess": True} if request.is_admin else told


def _of_classes(used: Sequence[Request]) -> list[dict[str, Any]]:
    """Return what the classes configure: each once, for all requests of the class."""
    of_class: dict[str, list[dict[str, Any]]] = {}
    for request in used:
        name = request.device_class["metadata"]["name"]
        if name not in of_class:
            told = at(request.device_class, "spec", "config") or ()
            of_class[name] = [{"source": "FromClass", "requests": [], **one} for one in told]
        for one in of_class[name]:
            one["requests"].append(request.full_name)
    return [one for told in of_class.values() for one in told]


def _of_claim(claim: FrozenDocument, used: Sequence[Request]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for one in at(claim, "spec", "devices", "config") or ():
        names = one.get("requests") or ()
        # Told once for each request that it names.
        times = sum(request.is_named_by(names) for request in used) if names else 1
        found += [{"source": "FromClaim", **one}] * times
    return found


def _node_selector(claim: FrozenDocument, chosen: Sequence[Chosen]) -> dict[str, Any] | None:
    """Return the nodes that reach all devices; None: every node does."""
    term: dict[str, list[Mapping[str, Any]]] = {"matchFields": [], "matchExpressions": []}
    for _, device in chosen:
        name, selector = device.spec.get("nodeName"), device.spec.get("nodeSelector")
        if name:
            only = {"key": "metadata.name", "operator": "In", "values": [name]}
            return {"nodeSelectorTerms": [{"matchFields": [only]}]}
        terms = at(selector or {}, "nodeSelectorTerms") or ()
        if len(terms) > 1:
            text = f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            raise AllocationError(f"create NodeSelector for claim {claim['metadata']['name']}: {text}")
        for one in terms:
            for part, conditions in term.items():
                conditions += [new for new in one.get(part) or () if not any(_is_alike(new, old) for old in conditions)]
    wanted = {part: conditions for part, conditions in term.items() if conditions}
    return {"nodeSelectorTerms": [wanted]} if wanted else None


def _is_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    same = (one.get("key"), one.get("operator")) == (other.get("key"), other.get("operator"))
    return same and set(one.get("values") or ()) == set(other.get("values") or ())
