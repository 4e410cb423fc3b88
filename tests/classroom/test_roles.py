"""What each role may do follows from what a kind says of itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from clustersim.classroom import roles
from clustersim.classroom.auth import COMPONENT, STUDENT, TEACHER, VIEWER, Principal, Role
from clustersim.store import sessions
from controllers.kinds.table import KINDS
from controllers.log.draft import Draft
from controllers.log.operations import Create
from controllers.registry.kind import Kind, Subresource
from controllers.registry.schema import places_of
from scheduler_core.api.errors import ApiError

OPEN = Kind("Open", "opens", group="x.io", subresources=(Subresource("part", students=True), Subresource("other")))
CLOSED = Kind("Closed", "closeds", group="x.io", students=False, components=True, secret=True)
WIDE = Kind("Wide", "wides", group="x.io", namespaced=False, subresources=(Subresource("part", components=True),))
MADE = {kind.resource: kind for kind in (OPEN, CLOSED, WIDE)}


@pytest.fixture(autouse=True)
def made_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    known = roles.find_resource
    monkeypatch.setattr(roles, "find_resource", lambda resource: MADE.get(resource) or known(resource))


@cache
def session() -> int:
    """Return a session: kinds that no installation knows are looked for among its own."""
    return sessions.create("roles", "empty").id


def somebody(role: Role) -> Principal:
    return Principal(session(), "AAA-AAA", 1, "mei", "Mei", role, "s-mei" if role == STUDENT else "default")


def may(role: Role, verb: str, resource: str, namespace: str = "", subresource: str = "") -> bool:
    try:
        roles.check(somebody(role), verb, resource, namespace, "one", subresource)
    except ApiError as refused:
        return refused.code != 403
    return True


def test_a_student_writes_what_its_kind_leaves_to_them_at_home_alone() -> None:
    assert may(STUDENT, "create", "opens.x.io", "s-mei")
    assert not may(STUDENT, "create", "opens.x.io", "default")
    assert not may(STUDENT, "create", "closeds.x.io", "s-mei")
    assert not may(STUDENT, "create", "wides.x.io")
    assert not may(STUDENT, "create", "nothings.x.io", "s-mei")


def test_a_part_is_written_by_those_whom_it_names() -> None:
    assert may(STUDENT, "update", "opens.x.io", "s-mei", "part")
    assert not may(STUDENT, "update", "opens.x.io", "s-mei", "other")
    assert not may(COMPONENT, "update", "opens.x.io", "s-mei", "part")
    assert may(COMPONENT, "update", "wides.x.io", "", "part")


def test_a_component_writes_what_its_kind_leaves_to_it() -> None:
    assert may(COMPONENT, "create", "closeds.x.io", "default")
    assert not may(COMPONENT, "create", "opens.x.io", "default")


def test_a_secret_is_read_at_home_alone() -> None:
    readers: list[tuple[Role, str]] = [(TEACHER, "default"), (STUDENT, "s-mei"), (STUDENT, "default"), (STUDENT, "")]
    assert [may(role, "get", "closeds.x.io", home) for role, home in readers] == [True, True, False, False]
    assert not may(VIEWER, "list", "closeds.x.io", "default")
    assert may(VIEWER, "list", "opens.x.io", "default")


def test_the_kinds_of_today_say_what_they_said_by_name_before() -> None:
    assert {kind.resource for kind in KINDS if not kind.students} >= {
        "resourcequotas",
        "csistoragecapacities.storage.k8s.io",
        "events",
    }
    assert {kind.resource for kind in KINDS if kind.components} >= {"leases.coordination.k8s.io", "events"}
    assert {part.name for kind in KINDS for part in kind.subresources if part.components} == {"binding", "status"}


def holder(place: tuple[str, ...], spec: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = spec
    for name in reversed(place):
        document = {name: document}
    return {"metadata": {"name": "one", "namespace": "s-mei"}} | document


PLACES = [(kind, place) for kind in KINDS for place in places_of(roles.POD_SPEC, kind.schema)]


def test_wherever_a_kind_holds_a_pod_is_known() -> None:
    found = {kind.resource: place for kind, place in PLACES}
    assert found["pods"] == ("spec",)
    assert found["deployments.apps"] == ("spec", "template", "spec")
    assert "configmaps" not in found
    # In no list or map, in which the rules on pods would not look.
    assert places_of("core_v1.Container", "core_v1.Pod") == ()


@pytest.mark.parametrize(("kind", "place"), PLACES, ids=[kind.resource for kind, _ in PLACES])
@pytest.mark.parametrize("asked", [{"nodeName": "n1"}, {"priorityClassName": "system-node-critical"}])
def test_rules_on_pods_hold_wherever_a_kind_has_one(kind: Kind, place: tuple[str, ...], asked: dict[str, Any]) -> None:
    if not (kind.namespaced and kind.students):
        assert not may(STUDENT, "create", kind.resource, "s-mei")
        return
    new = holder(place, asked)
    guard = roles.guard_for(somebody(STUDENT))
    with pytest.raises(ApiError) as refused:
        guard(Create(kind.resource, "s-mei", new), None, Draft(new))
    assert refused.value.code == 403
    assert ".".join((*place, next(iter(asked)))) in refused.value.message
