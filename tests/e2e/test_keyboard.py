"""The page without a mouse: finding, creating and leaving by keys, with the focus where a person expects it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, state, wait_state

STOPS_MAX = 15
"""Presses of Tab from the top of the page to what stands before the stage."""

PLAIN_POD = {"spec": {"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "10m"}}}]}}


def a_pod_named(classroom: Classroom, name: str) -> None:
    """Create a small pod by the API."""
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", {**PLAIN_POD, "metadata": {"name": name}})


def focused(page: Page, attribute: str) -> str:
    """Return an attribute of the element that has the focus."""
    return page.evaluate("name => document.activeElement?.getAttribute(name) ?? ''", attribute)


def test_search_selects_what_exists_and_creates_only_when_asked(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    a_pod_named(classroom, "hi")
    wait_state(teacher, lambda now: any(pod["name"] == "hi" for pod in now["pods"]), "the pod is on the page")
    names = {pod["name"] for pod in state(teacher)["pods"]}

    teacher.keyboard.press("/")
    teacher.keyboard.type("hi")
    teacher.keyboard.press("Enter")
    wait_state(teacher, lambda now: now["selected"] == {"resource": "pods", "key": "default/hi"}, "the pod is selected")
    teacher.wait_for_function("() => document.activeElement?.getAttribute('role') === 'tab'")

    teacher.keyboard.press("/")
    teacher.keyboard.type("high-p")
    assert focused(teacher, "aria-activedescendant") == "", "nothing exists, so nothing is chosen"
    teacher.keyboard.press("Enter")
    assert {pod["name"] for pod in state(teacher)["pods"]} == names, "Enter alone created nothing"
    teacher.keyboard.press("ArrowDown")
    teacher.keyboard.press("Enter")
    made = wait_state(
        teacher, lambda now: {pod["name"] for pod in now["pods"]} - names, "the pod that was asked for is there"
    )
    assert [pod["priority"] > 0 for pod in made["pods"] if pod["name"] not in names] == [True]


def test_a_node_is_deleted_by_a_decision_not_by_a_slip(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: len(now["nodes"]) == 3, "three nodes")
    node = state(teacher)["nodes"][0]["name"]
    teacher.keyboard.press("/")
    teacher.keyboard.type(node)
    teacher.keyboard.press("Enter")
    wait_state(teacher, lambda now: now["selected"] == {"resource": "nodes", "key": node}, "the node is selected")
    dialog = teacher.get_by_test_id("delete-dialog")
    teacher.get_by_test_id("inspector-delete").focus()
    teacher.keyboard.press("Enter")
    dialog.wait_for()
    picture(teacher, "delete-node")
    teacher.keyboard.press("Enter")
    dialog.wait_for(state="detached")
    assert focused(teacher, "data-testid") == "inspector-delete", "the focus is back where it was"
    teacher.keyboard.press("Enter")
    dialog.wait_for()
    teacher.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    classroom.cluster("GET", f"/api/v1/nodes/{node}")

    teacher.get_by_test_id("inspector-delete").click()
    teacher.get_by_test_id("dialog-submit").click()
    wait_state(teacher, lambda now: [one["name"] for one in now["nodes"]].count(node) == 0, "the node is gone")
    teacher.wait_for_function("() => document.activeElement?.id === 'inspector'")

    undo = teacher.get_by_test_id("undo")
    expect(undo).to_have_attribute("aria-label", f"Undo: Node {node} deleted")
    teacher.keyboard.press("Control+z")
    wait_state(teacher, lambda now: [one["name"] for one in now["nodes"]].count(node) == 1, "the node is back")
    expect(undo).to_have_attribute("aria-disabled", "true")
    # And done again, as long as nothing else was done.
    teacher.keyboard.press("Control+Shift+Z")
    wait_state(teacher, lambda now: node not in [one["name"] for one in now["nodes"]], "it is deleted again")
    expect(teacher.get_by_test_id("redo")).to_be_hidden()
    expect(undo).to_have_attribute("aria-label", f"Undo: Node {node} deleted")
    teacher.keyboard.press("Control+z")
    wait_state(teacher, lambda now: [one["name"] for one in now["nodes"]].count(node) == 1, "the node is back again")
    classroom.cluster("GET", f"/api/v1/nodes/{node}")


def test_the_stage_is_few_stops_from_the_top(open_classroom: Callable[[str], Classroom]) -> None:
    teacher = open_classroom("zones").teacher(viewport={"width": 1366, "height": 768})
    wait_state(teacher, lambda now: len(now["nodes"]) == 12, "twelve nodes")
    # Bars become one stop each with what comes for a keyboard alone.
    teacher.get_by_test_id("class").wait_for()
    teacher.wait_for_function(
        "() => [...document.querySelectorAll('.top-bar [role=toolbar]')].every((bar) => "
        "[...bar.querySelectorAll('button')].filter((one) => one.tabIndex === 0).length <= 1)"
    )
    before: list[str] = []
    while not teacher.evaluate("Boolean(document.activeElement?.closest('#stage'))"):
        teacher.keyboard.press("Tab")
        before.append(focused(teacher, "data-testid") or focused(teacher, "class"))
        assert len(before) <= STOPS_MAX + 1, before
    # What a teacher has more is one stop, and arrows lead through it.
    teacher.get_by_test_id("class").focus()
    teacher.keyboard.press("ArrowRight")
    assert focused(teacher, "data-testid") == "room"
