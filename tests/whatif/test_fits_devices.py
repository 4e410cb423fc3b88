"""What would let a pod in that waits for devices: a smaller claim, or a node more that has as many."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Create, Delete
from tests.controllers.scheduler.test_devices import CLAIMS, claim, device_class, gpu, slice_of
from tests.whatif.test_fits import new_plane, told

KINDS = {
    "DeviceClass": "deviceclasses.resource.k8s.io",
    "ResourceSlice": "resourceslices.resource.k8s.io",
    "ResourceClaim": CLAIMS,
    "Node": "nodes",
}


def waiting(*given: dict[str, Any], claims: tuple[str, ...]) -> tuple[Any, str]:
    """Return a control plane with two nodes and what is given, and a pod that asks for these claims."""
    plane = new_plane()
    plane.node("a")
    plane.node("b")
    for document in (device_class(), *given):
        done = plane.write(Create(KINDS[document["kind"]], document["metadata"].get("namespace", ""), document))
        assert done.error is None, done.error
    return plane, plane.pod("p", resourceClaims=[{"name": one, "resourceClaimName": one} for one in claims])


def test_fewer_devices_are_asked_for_and_a_node_more_brings_its_own() -> None:
    plane, uid = waiting(slice_of("a", gpu("g0"), gpu("g1")), claim("three", count=3), claims=("three",))
    (only,) = told(plane, uid)
    assert only["text"]["en"] == "make claim three anew with 2 of class gpu.example.com instead of 3"
    assert only["node"] == "a"
    for change in only["changes"]:
        match change:
            case {"remove": place}:
                plane.write(Delete(CLAIMS, place["namespace"], place["name"]))
            case {"add": document}:
                assert plane.write(Create(CLAIMS, "default", document)).error is None
    plane.run(plane.loop.now_ms + 10_000)
    assert plane.get("p")["spec"]["nodeName"] == "a"


def test_devices_that_others_hold_are_had_from_a_node_more() -> None:
    plane, uid = waiting(
        slice_of("a", gpu("g0"), gpu("g1")), claim("held", count=1), claim("two", count=2), claims=("held",)
    )
    plane.run(plane.loop.now_ms)
    uid = plane.pod("q", resourceClaims=[{"name": "two", "resourceClaimName": "two"}])
    found = told(plane, uid)
    assert [one["text"]["en"] for one in found] == [
        "make claim two anew with 1 of class gpu.example.com instead of 2",
        "add a node like a, with its devices",
    ]
    assert found[1]["node"] == "one-more-1"
    assert [change["add"]["kind"] for change in found[1]["changes"]] == ["Node", "ResourceSlice"]


def test_a_claim_that_a_pod_owns_is_left_alone() -> None:
    owned = claim("three", count=3)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
    owned["metadata"]["ownerReferences"] = [owner]
    plane, uid = waiting(slice_of("a", gpu("g0")), owned, claims=("three",))
    assert [one for one in told(plane, uid) if "claim" in one["text"]["en"]] == []
