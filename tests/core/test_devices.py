"""Which devices claims get: the search on one node, as k8s.io/dynamic-resource-allocation/structured makes it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.devices.allocating import TRIES_MAX, Allocator, GivenUpError
from scheduler_core.devices.allocations import Allocations, DeviceId
from scheduler_core.devices.claims import CLAIMS
from scheduler_core.devices.pools import Device
from scheduler_core.devices.requests import RESULTS_MAX, AllocationError
from scheduler_core.devices.selecting import SelectorError, selects
from scheduler_core.oracle import CaseListers
from tests.core.objects import info, node

Document = dict[str, Any]
GPU = "gpu.example.com"
HERE = info(node("n1", labels={"zone": "a"}))


def device(name: str, **attributes: Any) -> Document:
    kinds = {bool: "bool", int: "int", str: "string"}
    return {"name": name, "attributes": {key: {kinds[type(one)]: one} for key, one in attributes.items()}}


def slice_(*devices: Document, name: str = "s", pool: str = "n1", generation: int = 1, **spec: Any) -> Document:
    where = spec or {"nodeName": "n1"}
    told = {"name": pool, "generation": generation, "resourceSliceCount": where.pop("count", 1)}
    return {"metadata": {"name": name}, "spec": {"driver": GPU, "pool": told, "devices": list(devices), **where}}


def exactly(count: int = 1, name: str = "r", **asked: Any) -> Document:
    return {"name": name, "exactly": {"deviceClassName": "gpu", "count": count, **asked}}


def every(name: str = "r", **asked: Any) -> Document:
    return {"name": name, "exactly": {"deviceClassName": "gpu", "allocationMode": "All", **asked}}


def where(expression: str) -> Document:
    return {"selectors": [{"cel": {"expression": expression}}]}


def claim(*requests: Document, name: str = "c", **devices: Any) -> Document:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"metadata": metadata, "spec": {"devices": {"requests": list(requests), **devices}}}


def allocator(
    claims: list[Document], slices: list[Document], taken: set[DeviceId] | None = None, **class_spec: Any
) -> Allocator:
    classes = {"gpu": {"metadata": {"name": "gpu"}, "spec": class_spec}}
    return Allocator(claims, taken or set(), classes.get, slices)


def names(found: list[Document] | None) -> list[list[str]] | None:
    """Return the devices of each claim, as `<request>=<device>`."""
    if found is None:
        return None
    return [[f"{one['request']}={one['device']}" for one in claim["devices"]["results"]] for claim in found]


MODELS = slice_(device("a", model="x", numa=0), device("b", model="y", numa=0), device("c", model="y", numa=1))
X, Y = where(f"device.attributes['{GPU}'].model == 'x'"), where(f"device.attributes['{GPU}'].model == 'y'")
ALIKE = {"constraints": [{"matchAttribute": f"{GPU}/numa"}]}


def first(*alternatives: tuple[str, Document]) -> Document:
    return {
        "name": "r",
        "firstAvailable": [{"name": name, "deviceClassName": "gpu", **one} for name, one in alternatives],
    }


@pytest.mark.parametrize(
    ("claims", "got"),
    [
        ([claim(exactly())], [["r=a"]]),
        ([claim(exactly(2))], [["r=a", "r=b"]]),
        ([claim(exactly(4))], None),
        ([claim(exactly(), name="c"), claim(exactly(), name="d")], [["r=a"], ["r=b"]]),
        ([claim(exactly(name="p"), exactly(name="q", **X))], [["p=b", "q=a"]]),
        ([claim(exactly(**Y))], [["r=b"]]),
        ([claim(every(**Y))], [["r=b", "r=c"]]),
        ([claim(every(**where("false")))], None),
        ([claim(exactly(2), **ALIKE)], [["r=a", "r=b"]]),
        ([claim(exactly(name="p", **Y), exactly(name="q", **Y), **ALIKE)], None),
        ([claim(exactly(name="p", **X), exactly(name="q", **Y), **ALIKE)], [["p=a", "q=b"]]),
        ([claim(first(("big", {"count": 4}), ("small", {"count": 1})))], [["r/small=a"]]),
        ([claim(first(("big", {"count": 2}), ("small", {"count": 1})))], [["r/big=a", "r/big=b"]]),
        # v1.34 goes on with the first alternative after a device of one that asks for all.
        ([claim(first(("none", {"count": 4}), ("all", {"allocationMode": "All", **X})))], None),
        ([claim(exactly(adminAccess=True)), claim(exactly(), name="d")], [["r=a"], ["r=b"]]),
        ([claim(exactly()), claim(exactly(adminAccess=True), name="d")], [["r=a"], ["r=a"]]),
    ],
)
def test_the_first_combination_is_taken(claims: list[Document], got: list[list[str]] | None) -> None:
    assert names(allocator(claims, [MODELS]).allocate(HERE)) == got


def test_devices_of_others_are_left_and_administrators_look_at_them() -> None:
    taken = {(GPU, "n1", "a")}
    assert names(allocator([claim(exactly())], [MODELS], taken).allocate(HERE)) == [["r=b"]]
    assert names(allocator([claim(exactly(adminAccess=True))], [MODELS], taken).allocate(HERE)) == [["r=a"]]
    assert allocator([claim(every())], [MODELS], taken).allocate(HERE) is None


def zone(name: str) -> Document:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [name]}]}]}


@pytest.mark.parametrize(
    ("slices", "got"),
    [
        ([slice_(device("a"), nodeName="n2")], None),
        ([slice_(device("a"), allNodes=True)], [["r=a"]]),
        ([slice_(device("a"), perDeviceNodeSelection=True)], None),
        ([slice_(device("a"), nodeSelector=zone("a"))], [["r=a"]]),
        ([slice_(device("a"), nodeSelector=zone("b"))], None),
        ([slice_(device("old")), slice_(device("new"), name="t", generation=2)], [["r=new"]]),
        ([slice_(device("new"), generation=2), slice_(device("old"), name="t")], [["r=new"]]),
        ([slice_(device("b"), pool="q", name="1"), slice_(device("a"), pool="p", name="2")], [["r=a"]]),
        ([slice_({**device("a"), "consumesCounters": [{}]}, device("b"))], [["r=b"]]),
        ([slice_({**device("a"), "bindingConditions": ["x"]}, device("b"))], [["r=b"]]),
    ],
)
def test_a_node_has_what_its_pools_say(slices: list[Document], got: list[list[str]] | None) -> None:
    assert names(allocator([claim(exactly())], slices).allocate(HERE)) == got


@pytest.mark.parametrize(
    ("wanted", "slices", "text"),
    [
        (
            claim(exactly(deviceClassName="gone")),
            [MODELS],
            "claim default/c, request r: could not retrieve device class gone: "
            'deviceclass.resource.k8s.io "gone" not found',
        ),
        (
            claim(every()),
            [slice_(device("a"), nodeName="n1", count=2)],
            f"claim default/c, request r: asks for all devices, but resource pool {GPU}/n1 is currently being updated",
        ),
        (
            claim(every()),
            [slice_(device("a"), device("a"))],
            f"claim default/c, request r: asks for all devices, but resource pool {GPU}/n1 is currently invalid",
        ),
        (claim(exactly()), [slice_(device("a"), device("a"))], "pool n1 is invalid: duplicate device name a"),
        (
            claim(exactly(RESULTS_MAX + 1)),
            [MODELS],
            "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
        ),
        (
            claim(every(), **ALIKE),
            [MODELS],
            f"claim default/c, request r: cannot add device {GPU}/n1/c "
            "because a claim constraint would not be satisfied",
        ),
        (
            claim(exactly(**where(f"device.attributes['{GPU}'].speed > 1"))),
            [MODELS],
            "claim default/c: selector #0: CEL runtime error: no such key: speed",
        ),
        (
            claim(exactly(**where("1"))),
            [MODELS],
            "claim default/c: selector #0: CEL compile error: must evaluate to bool or the unknown type, not int",
        ),
        (
            claim(exactly(), constraints=[{}]),
            [MODELS],
            "claim default/c, constraint #0: empty constraint (unsupported constraint type?)",
        ),
    ],
)
def test_what_is_wrong_is_told_in_upstreams_words(wanted: Document, slices: list[Document], text: str) -> None:
    with pytest.raises(AllocationError) as wrong:
        allocator([wanted], slices).allocate(HERE)
    assert str(wrong.value) == text


def test_a_class_selects_too_and_its_configuration_comes_first() -> None:
    opaque = {"opaque": {"driver": GPU, "parameters": {"a": 1}}}
    own = {"opaque": {"driver": GPU, "parameters": {"b": 2}}, "requests": ["q"]}
    wanted = claim(exactly(name="p"), exactly(name="q"), config=[own])
    spec = {**where(f"device.attributes['{GPU}'].model == 'y'"), "config": [opaque]}
    (found,) = allocator([wanted], [MODELS], **spec).allocate(HERE) or []
    assert names([found]) == [["p=b", "q=c"]]
    assert found["devices"]["config"] == [
        {"source": "FromClass", "requests": ["p", "q"], **opaque},
        {"source": "FromClaim", **own},
    ]


def test_the_nodes_of_an_allocation_are_those_that_reach_all_its_devices() -> None:
    some = slice_(device("a"), nodeSelector=zone("a"))
    (found,) = allocator([claim(exactly())], [some]).allocate(HERE) or []
    assert found["nodeSelector"] == zone("a")
    (found,) = allocator([claim(exactly())], [slice_(device("a"), allNodes=True)]).allocate(HERE) or []
    assert "nodeSelector" not in found


def test_a_search_without_end_is_given_up() -> None:
    many = slice_(*(device(f"d{index:03}", numa=index) for index in range(100)))
    with pytest.raises(GivenUpError):
        allocator([claim(exactly(8), exactly(name="q", **where("false")))], [many]).allocate(HERE)
    assert TRIES_MAX < 100**8


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("device.driver == 'gpu.example.com'", True),
        (f"device.attributes['{GPU}'].model == 'x' && device.attributes['{GPU}'].numa == 1", True),
        ("device.attributes['other.example.com'].rack == 'b'", True),
        ("has(device.attributes['nope.example.com'].x)", False),
        ("'nope.example.com' in device.attributes && device.attributes['nope.example.com'].x == 1", False),
        ("has(device.attributes[device.driver].model)", True),
        (f"device.attributes['{GPU}'].version.isLessThan(semver('1.10.0'))", True),
        (f"device.capacity['{GPU}'].memory.compareTo(quantity('40Gi')) >= 0", True),
        (f"cel.bind(own, device.attributes['{GPU}'], own.model == 'x' && own.fast)", True),
    ],
)
def test_expressions_see_a_device(expression: str, answer: bool) -> None:
    told = device("d", model="x", numa=1, fast=True)
    told["attributes"] |= {"other.example.com/rack": {"string": "b"}, "version": {"version": "1.9.0"}}
    told["capacity"] = {"memory": {"value": "80Gi"}}
    assert selects(expression, Device((GPU, "n1", "d"), told, {})) is answer


def test_an_attribute_that_is_no_version_is_told() -> None:
    told = {"name": "d", "attributes": {"v": {"version": "x"}}}
    with pytest.raises(SelectorError, match="attribute v: parse semantic version"):
        selects("true", Device((GPU, "n1", "d"), told, {}))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(1, 6), st.sets(st.integers(0, 5)))
def test_no_device_is_given_twice_and_none_that_is_taken(counts: list[int], devices: int, taken: set[int]) -> None:
    claims = [claim(exactly(count), name=f"c{index}") for index, count in enumerate(counts)]
    there = slice_(*(device(f"d{index}") for index in range(devices)))
    used = {(GPU, "n1", f"d{index}") for index in taken if index < devices}
    found = allocator(claims, [there], used).allocate(HERE)
    assert (found is not None) == (sum(counts) <= devices - len(used))
    given_out = [one.partition("=")[2] for claim in names(found) or [] for one in claim]
    assert len(set(given_out)) == len(given_out)
    assert not {name for _, _, name in used} & set(given_out)


def test_what_is_on_its_way_counts_until_the_watch_shows_it() -> None:
    stored = claim(exactly())
    stored["metadata"]["resourceVersion"] = "5"
    listers = CaseListers({CLAIMS: [stored]})
    allocations = Allocations(listers)
    given_out = {"devices": {"results": [{"driver": GPU, "pool": "n1", "device": "a", "request": "r"}]}}
    allocations.promise(stored, given_out)
    assert allocations.is_pending(stored)
    assert allocations.taken() == {(GPU, "n1", "a")}
    again = Allocations(listers, allocations.under_way)
    assert again.is_pending(stored)
    assert again.taken() == allocations.taken()
    newer = {**stored, "metadata": {**stored["metadata"], "resourceVersion": "7"}, "status": {"allocation": given_out}}
    allocations.keep(newer)
    allocations.withdraw(stored)
    assert not allocations.is_pending(stored)
    assert allocations.get("default", "c") == newer
    assert Allocations(listers, allocations.under_way).taken() == {(GPU, "n1", "a")}
    shown = Allocations(CaseListers({CLAIMS: [{**newer, "metadata": {**newer["metadata"], "resourceVersion": "8"}}]}))
    shown.keep(newer)
    assert (shown.get("default", "c") or {})["metadata"]["resourceVersion"] == "8"
    assert shown.under_way == {}
