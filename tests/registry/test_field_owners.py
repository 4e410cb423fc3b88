"""Sets of fields, what differs between objects, and what comes of applying to one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.log.operations import Patch
from controllers.registry.fieldowners import managers, merge, sets
from controllers.registry.fieldowners.managers import Scope
from controllers.registry.fieldowners.types import type_of
from controllers.registry.gotext import printed, syntax
from scheduler_core.api.errors import ApiError
from tests.registry.registry_tool import Cluster

POD = type_of("core_v1.Pod")
MAP = Scope("core_v1.ConfigMap", "v1")
SERVICE = Scope("core_v1.Service", "v1", parts=frozenset({"status"}))

NAMES = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', "v:1"])
FIELDS = st.recursive(
    st.just({}), lambda below: st.dictionaries(NAMES, below | st.just({".": {}, "f:z": {}}), max_size=3), max_leaves=12
)


def members(fields: sets.Fields, above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Return the paths of a set: the plain reading that all operations are held against."""
    found: set[tuple[str, ...]] = set()
    for key, node in fields.items():
        if key == ".":
            continue
        if not node or "." in node:
            found.add((*above, key))
        found |= members(node, (*above, key))
    return found


@given(FIELDS, FIELDS)
def test_operations_on_sets_are_those_on_their_members(one: Any, other: Any) -> None:
    left, right = members(one), members(other)
    assert members(sets.union(one, other)) == left | right
    assert members(sets.intersection(one, other)) == left & right
    assert members(sets.difference(one, other)) == left - right
    assert members(sets.ordered(one)) == left
    assert len(list(sets.paths(one))) == len(left)


DATA = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("123"), max_size=4)


@given(DATA, DATA)
def test_what_is_applied_is_there_and_owned(live: dict[str, str], asked: dict[str, str]) -> None:
    stored = {"metadata": {"name": "m"}, "data": live}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": asked}
    document, owners = managers.applied(MAP, stored, config, "me", "now", force=True)
    assert document["data"] == {**live, **asked}
    mine = {one["manager"]: one["fieldsV1"] for one in owners or ()}.get("me", {})
    assert members(mine) == ({("f:data", f"f:{key}") for key in asked} or {("f:data",)})
    document["metadata"] = {"name": "m", "managedFields": owners}
    again, _ = managers.applied(MAP, document, config, "me", "later", force=False)
    assert again["data"] == document["data"]
    # What is given up goes, unless somebody else owns it too.
    less, _ = managers.applied(MAP, document, {**config, "data": {}}, "me", "later", force=False)
    assert (less.get("data") or {}) == {
        key: document["data"][key] for key in live if key not in asked or live[key] == asked[key]
    }


def test_a_field_of_another_is_refused_by_name() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "1", "b": "2"}}
    document, owners = managers.applied(MAP, None, config, "one", "now", force=False)
    document["metadata"] = {"name": "m", "managedFields": owners}
    with pytest.raises(ApiError) as refused:
        managers.applied(MAP, document, {**config, "data": {"a": "8", "b": "9"}}, "two", "now", force=False)
    assert refused.value.message == 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b'
    assert [cause.field for cause in refused.value.causes] == [".data.a", ".data.b"]


def ports(*numbers: int) -> list[dict[str, Any]]:
    return [{"port": number, "protocol": "TCP"} for number in numbers]


@pytest.mark.parametrize(
    ("live", "applied", "merged"),
    [
        ((1, 2, 3), (3, 1), (2, 3, 1)),
        ((1, 2), (4, 2), (1, 4, 2)),
        ((1, 2, 3), (5,), (1, 2, 3, 5)),
        ((), (2, 1), (2, 1)),
        ((1, 2, 3, 4), (4, 2), (1, 3, 4, 2)),
    ],
)
def test_lists_keep_to_the_order_of_what_is_applied(
    live: tuple[int, ...], applied: tuple[int, ...], merged: tuple[int, ...]
) -> None:
    stored = {"metadata": {"name": "s"}, "spec": {"ports": ports(*live)}}
    config = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": ports(*applied)}}
    document, _ = managers.applied(SERVICE, stored, config, "me", "now", force=True)
    assert document["spec"]["ports"] == ports(*merged)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"containers": [{"name": 1}]}, ".spec.containers[name=1].name: expected string, got "),
        ({"containers": "x"}, ".spec.containers: expected list, got &{x}"),
        ({"containers": ["x"]}, ".spec.containers: element 0: associative list with keys may not have non-map"),
        ({"hostNetwork": "yes"}, ".spec.hostNetwork: expected boolean, got &{yes}"),
        ({"priority": "1"}, ".spec.priority: expected numeric (int or float), got string"),
        ({"colour": 1}, ".spec.colour: field not declared in schema"),
    ],
)
def test_what_does_not_fit_the_schema_is_told_as_upstream_does(spec: dict[str, Any], why: str) -> None:
    with pytest.raises(merge.Untyped) as refused:
        merge.validate({"spec": spec}, POD)
    assert str(refused.value).startswith(why)


def test_values_are_printed_as_go_does() -> None:
    assert printed({"b": [1, None], "a": True}) == "map[a:true b:[1 <nil>]]"
    assert syntax({"a": ["x"]}) == 'map[string]interface {}{"a":[]interface {}{"x"}}'


def test_owners_stay_when_nobody_is_named() -> None:
    """The engine's writes name no manager: what they change of an object keeps its owners, labels with a status too."""
    cluster = Cluster()
    made = cluster.create("nodes", "n", {"metadata": {"labels": {"a": "b"}}}, field_manager="me")
    assert made["metadata"]["managedFields"][0]["fieldsV1"] == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}
    told = {"metadata": {"labels": {"a": "c"}}, "status": {"capacity": {"cpu": "1"}}}
    changed = cluster.apply(Patch("nodes", "", "n", told, "merge", "status"))
    assert changed["status"]["capacity"] == {"cpu": "1"}
    assert changed["metadata"]["managedFields"] == made["metadata"]["managedFields"]


def test_too_many_updaters_become_one() -> None:
    document: dict[str, Any] = {"metadata": {"name": "m"}, "data": {"0": "0"}}
    document["metadata"]["managedFields"] = managers.updated(MAP, None, document, None, "m0", "00")
    for number in range(1, 15):
        changed = {**document, "data": {**document["data"], str(number): "x"}}
        entries = managers.updated(MAP, document, changed, None, f"m{number}", f"{number:02}")
        document = {**changed, "metadata": {"name": "m", "managedFields": entries}}
    told = [entry["manager"] for entry in document["metadata"]["managedFields"]]
    assert told == ["ancient-changes", *(f"m{number}" for number in range(6, 15))]
    assert set(document["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]) == {".", *(f"f:{n}" for n in range(6))}


@pytest.mark.parametrize(
    "told", [{"f:a": 5}, {"f:a": {"f:b": []}}, {"a": {}}, {"fa": {}}, {"k:1": {}}, {"v:x": {}}, {"i:x": {}}]
)
def test_what_is_no_set_is_not_taken_for_one(told: Any) -> None:
    assert sets.read(told) is None
    mine = {
        "manager": "x",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {}},
    }
    live = {"metadata": {"name": "m", "managedFields": [mine]}, "data": {"a": "1"}}
    sent = [{**mine, "fieldsV1": told}]
    assert managers.updated(MAP, live, live, sent, "me", "now") == [mine]


def test_elements_of_kinds_that_nobody_knows_are_left_out() -> None:
    assert sets.read({"x:y": 5, "f:a": None, "i:3": {".": 1}}) == {"f:a": {}, "i:3": {".": {}}}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"manager": "x", "fieldsV1": {}}, None),
        ({"manager": "", "fieldsV1": {"f:data": {}}}, {"fieldsV1": {"f:data": {}}}),
        ({"manager": "x", "fieldsV1": {"f:data": {}}}, {"manager": "x", "fieldsV1": {"f:data": {}}}),
    ],
)
def test_who_owns_nothing_is_no_owner_and_who_has_no_name_is_told_without(
    entry: dict[str, Any], told: dict[str, Any] | None
) -> None:
    rest = {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    live = {"metadata": {"name": "m"}, "data": {"a": "1"}}
    found = managers.updated(MAP, live, live, [{**rest, **entry}], "me", "now")
    assert found == (None if told is None else [{**rest, **told}])


def test_what_is_null_in_a_new_object_is_nobodys() -> None:
    role = Scope("rbac_v1.Role", "rbac.authorization.k8s.io/v1")
    assert managers.updated(role, None, {"metadata": {"name": "r"}, "rules": None}, None, "me", "now") is None
    (entry,) = managers.updated(role, None, {"metadata": {"name": "r"}, "rules": []}, None, "me", "now") or ()
    assert entry["fieldsV1"] == {"f:rules": {}}


def test_a_subresource_of_too_long_a_name_owns_nothing() -> None:
    cluster = Cluster()
    cluster.create("configmaps", "m", {"data": {"a": "1"}}, field_manager="me")
    entry = {"manager": "me", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    entry |= {"fieldsV1": {"f:data": {"f:a": {}}}, "subresource": "s" * 257}
    patch = Patch("configmaps", "default", "m", {"metadata": {"managedFields": [entry]}}, "merge")
    with pytest.raises(ApiError) as refusal:
        cluster.apply(patch, field_manager="me")
    assert refusal.value.causes[0].field == "metadata.managedFields[0].subresource"
    assert refusal.value.causes[0].message == "Too long: may not be more than 256 bytes"
