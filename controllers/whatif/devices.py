"""The devices that would let a pod in: fewer of them, or those of one node more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.whatif.wishes import Change, Stuck, Wish
from scheduler_core.devices.claims import CLAIMS, SLICES
from scheduler_core.snapshot.node_info import NodeInfo

DEVICES: Final = "DynamicResources"
_METADATA: Final = ("labels", "annotations")


def fewer(stuck: Stuck) -> Iterator[Wish]:
    """Ask for no more devices than a node has free: the claim is made anew, since what it asks for never changes."""
    namespace = stuck.pod.pod.namespace
    for info, _ in stuck.refused_by({DEVICES}):
        short = stuck.devices.get(info.name, ())
        if len(short) != 1 or not short[0]["asked"] or not 0 < short[0]["free"] < short[0]["asked"]:
            continue
        (one,) = short
        claim = stuck.world.get(CLAIMS, namespace, one["claim"])
        # What a controller makes for a pod alone it would make again.
        if claim is None or claim["metadata"].get("ownerReferences") or (claim.get("status") or {}).get("allocation"):
            continue
        place = {"kind": "ResourceClaim", "namespace": namespace, "name": one["claim"]}
        asks = _asking(claim, one["request"], one["free"])
        if asks is None:
            continue
        few, many = one["free"], one["asked"]
        yield Wish(
            [{"remove": place}, {"add": asks}],
            {
                "en": f"make claim {one['claim']} anew with {few} of class {one['class']} instead of {many}",
                "zh": f"重建声明 {one['claim']}：请求 {few} 个 {one['class']} 类设备，而不是 {many} 个",
            },
            (many - few, info.name),
        )


def reached(stuck: Stuck, info: NodeInfo, name: str) -> list[Change]:
    """Return what adds the devices of one node to another, where the pod waits for devices."""
    if DEVICES not in stuck.refusals[info.name]:
        return []
    own = [one for one in stuck.world.list(SLICES) if one["spec"].get("nodeName") == info.name]
    return [{"add": _slice(one["spec"], name, number)} for number, one in enumerate(own, start=1)]


def _slice(spec: Mapping[str, Any], node: str, number: int) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{number}"},
        "spec": {**spec, "nodeName": node, "pool": {**spec["pool"], "name": node}},
    }


def _asking(claim: Mapping[str, Any], request: str, count: int) -> dict[str, Any] | None:
    """Return a claim that asks for another count in one request; None where that is no plain request."""
    devices = claim["spec"]["devices"]
    requests = [
        {**one, "exactly": {**one["exactly"], "count": count}} if one["name"] == request and "exactly" in one else one
        for one in devices["requests"]
    ]
    if requests == devices["requests"]:
        return None
    metadata = {key: claim["metadata"][key] for key in _METADATA if key in claim["metadata"]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": claim["metadata"]["name"], "namespace": claim["metadata"]["namespace"], **metadata},
        "spec": {**claim["spec"], "devices": {**devices, "requests": requests}},
    }
