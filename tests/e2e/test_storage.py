"""Claims and volumes on the page: made with a click, used by a pod, and linked from the inspector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import Classroom, brought, picture, wait_state


def _pod(current: dict[str, Any], name: str) -> dict[str, Any]:
    return next((pod for pod in current["pods"] if pod["name"] == name), {})


def test_a_volume_a_claim_and_a_pod_by_click_are_linked(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0, "rate": 10})
    teacher = classroom.teacher()
    for item in ("persistentvolume", "persistentvolumeclaim"):
        teacher.get_by_test_id(f"palette-{item}").click()
    teacher.wait_for_function(
        "() => document.querySelector('[data-testid=palette-pod-claim]').getAttribute('aria-disabled') !== 'true'"
    )
    classroom_claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    wait_state(teacher, lambda now: bool(classroom.cluster("GET", classroom_claims)["items"]), "the claim")
    teacher.get_by_test_id("palette-pod-claim").click()
    wait_state(teacher, lambda now: bool(_pod(now, "claim-1").get("nodeName")), "the pod with a claim has a node")
    command = teacher.get_by_test_id("command-line")
    command.fill("get pod claim-1")
    command.press("Enter")
    teacher.get_by_test_id("inspector-tab-summary").click()
    facts = teacher.locator(".facts")
    facts.get_by_role("button", name="claim-1", exact=True).wait_for()
    facts.get_by_text("Bound", exact=False).first.wait_for()
    picture(teacher, "storage-pod")
    # A link stays the element that it is while ages tick beside it: a click that begins on it ends on it.
    handle = facts.get_by_role("button", name="volume-1").element_handle()
    began_ms = wait_state(teacher, lambda now: now["clock"], "the clock")["clock"]["simTimeMs"]
    wait_state(teacher, lambda now: now["clock"]["simTimeMs"] > began_ms + 3_000, "three seconds on")
    assert handle.evaluate("link => link.isConnected")
    facts.get_by_role("button", name="volume-1").click()
    teacher.get_by_test_id("inspector-name").get_by_text("volume-1").wait_for()
    teacher.locator(".facts").get_by_role("button", name="default/claim-1").click()
    teacher.locator(".facts").get_by_role("button", name="claim-1", exact=True).click()
    teacher.get_by_test_id("inspector-name").get_by_text("claim-1").wait_for()
    assert classroom.problems == []


@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "zh-CN")])
def test_every_kind_of_pod_of_the_palette_is_accepted(
    open_classroom: Callable[[str], Classroom], scheme: str, locale: str
) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0, "rate": 10})
    teacher = classroom.teacher(color_scheme=scheme, locale=locale)
    items = ("hostport", "affinity", "ebs", "gcepd", "rbd")
    for item in items:
        teacher.get_by_test_id(f"palette-pod-{item}").click()
        wait_state(teacher, lambda now, item=item: bool(_pod(now, f"{item}-1").get("nodeName")), f"{item}-1 has a node")
    # What holds a port, or keeps apart, leaves the node to others of its kind.
    for item in ("hostport", "affinity"):
        teacher.get_by_test_id(f"palette-pod-{item}").click()
        wait_state(teacher, lambda now, item=item: bool(_pod(now, f"{item}-2").get("nodeName")), f"{item}-2 has a node")
    state = wait_state(teacher, lambda now: True, "any state")
    for item in ("hostport", "affinity"):
        assert _pod(state, f"{item}-1")["nodeName"] != _pod(state, f"{item}-2")["nodeName"]
    brought(teacher.get_by_test_id("palette-pod-rbd"))
    picture(teacher, f"storage-palette-{scheme}")
    assert classroom.problems == []
