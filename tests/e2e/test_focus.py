"""What the page tells anew by itself lets nobody's keyboard go: the same button has it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, state, wait_state

STAND = """([selector, region]) => {
  // Of what is counted the words go on.
  const words = (one) => (one?.getAttribute('aria-label') ?? one?.textContent ?? '').replace(/[0-9]+/g, '');
  const one = [...document.querySelectorAll(selector)].find((each) => each.checkVisibility());
  if (!one) return false;
  one.focus();
  const said = words(one);
  const told = () => document.querySelector(region).textContent;
  const before = told();
  window.held = () => {
    const at = document.activeElement;
    const same = at.matches(selector) && words(at) === said && at.dataset.trace === one.dataset.trace;
    return { told: told() !== before, same, at: `${at.localName} ${words(at).slice(0, 40)}` };
  };
  return document.activeElement === one;
}"""
"""The keyboard is taken to what a selector finds; from then on it is known whether its region has been told anew."""


class Place(NamedTuple):
    """Something that can be pressed, and what somebody else does upon which it is told anew."""

    what: str
    address: str
    """What is open: the query of the page's address."""
    selector: str
    region: str
    """Where it is: what is told there becomes another."""
    happens: Callable[[Classroom], object]


def a_pod(name: str, cpu: str = "10m") -> dict[str, object]:
    containers = [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}]
    return {"metadata": {"name": name}, "spec": {"containers": containers}}


def create(name: str, cpu: str = "10m") -> Callable[[Classroom], object]:
    return lambda classroom: classroom.cluster("POST", "/api/v1/namespaces/default/pods", a_pod(name, cpu))


def delete(name: str) -> Callable[[Classroom], object]:
    return lambda classroom: classroom.cluster("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def another_node(name: str) -> Callable[[Classroom], object]:
    """Add a node that is too small for what waits, which is tried again upon it."""
    size = {"cpu": "100m", "memory": "1Gi", "pods": "10"}
    node = {"metadata": {"name": name}, "status": {"allocatable": size, "capacity": size}}
    return lambda classroom: classroom.cluster("POST", "/api/v1/nodes", node)


def label(name: str) -> Callable[[Classroom], object]:
    changed = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"seen": "yes"}}}
    return lambda classroom: classroom.cluster(
        "PATCH", f"/api/v1/namespaces/default/pods/{name}?fieldManager=test&force=true", changed
    )


PLACES: Final = (
    Place("who the colours are of", "", "[data-by=priority]", "#stage", create("zeta")),
    Place("the leader's faults", "", "[data-testid^=fault-of-kube-scheduler]", "#stage", create("eta")),
    Place(
        "the second pod that waits",
        "",
        "[data-testid=queue-lane-unschedulable] [data-pod='default/big-2']",
        "[data-testid=queue-lane-unschedulable]",
        delete("big-1"),
    ),
    Place(
        "the address of a pod",
        "?pod=default/big-2",
        "[data-testid=inspector-copy]",
        "#inspector",
        another_node("tiny-1"),
    ),
    Place(
        "what happened to a pod",
        "?pod=default/big-2&tab=events",
        "#inspector [role=tab][aria-selected=true]",
        "#inspector",
        another_node("tiny-2"),
    ),
    Place(
        "a pod's first attempt", "?pod=default/big-2&tab=decision", "[data-trace]", "#inspector", another_node("tiny-3")
    ),
    Place(
        "a moment of a controller",
        "?tab=dock-controllers",
        "[data-testid=controller-recent] button",
        "#dock",
        create("theta"),
    ),
    Place(
        "a pod of the model",
        "?pod=default/big-2&dock=model",
        "[data-testid=model] button",
        "[data-testid=model]",
        another_node("tiny-4"),
    ),
)


def crowded(open_classroom: Callable[[str], Classroom]) -> tuple[Classroom, Page]:
    """Return a session in which two pods fit nowhere, and its teacher's page."""
    classroom = open_classroom("three-nodes")
    for name in ("big-1", "big-2"):
        create(name, "90")(classroom)
    return classroom, classroom.teacher()


def test_the_keyboard_stays_where_it_is_while_others_change_the_cluster(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom, teacher = crowded(open_classroom)
    assert [said for place in PLACES if (said := let_go(classroom, teacher, place))] == []


def test_where_a_row_goes_its_list_has_the_keyboard_and_no_neighbour(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom, teacher = crowded(open_classroom)
    lane = "[data-testid=queue-lane-unschedulable]"
    teacher.wait_for_function(STAND, arg=[f"{lane} [data-pod='default/big-2']", lane])
    delete("big-2")(classroom)
    teacher.wait_for_function("() => document.activeElement.className === 'st-lane-rows'")
    teacher.keyboard.press("Tab")
    assert teacher.evaluate("() => document.activeElement.dataset.pod") == "default/big-1"


def let_go(classroom: Classroom, page: Page, place: Place) -> str:
    """Return what has the keyboard instead; empty where it is where it was."""
    page.goto(f"{classroom.server.url}/s/{classroom.code}{place.address}")
    wait_state(page, lambda now: now["connection"] == "live" and now["revision"] > 0, "the session is live")
    page.wait_for_function(STAND, arg=[place.selector, place.region])
    place.happens(classroom)
    happened = classroom.session("GET", "")["revision"]
    wait_state(
        page,
        lambda now: now["revision"] >= happened and page.evaluate("() => window.held().told"),
        f"{place.what}: told anew",
    )
    held = page.evaluate("() => window.held()")
    return "" if held["same"] else f"{place.what}: the keyboard is at {held['at']!r}"


def hold(page: Page, selector: str) -> None:
    """Press the button of the mouse over what a selector finds, and keep it down; `window.pressed` is what it found."""
    found = page.evaluate(
        """(selector) => {
          window.pressed = document.querySelector(selector);
          const { x, y, width, height } = window.pressed.getBoundingClientRect();
          return [x + width / 2, y + height / 2];
        }""",
        selector,
    )
    page.mouse.move(*found)
    page.mouse.down()


def test_a_press_counts_where_its_control_is_told_anew_before_it_ends(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    hold(teacher, "[data-testid=fault-of-kube-scheduler-0]")
    classroom.session("POST", "/replicas/kube-scheduler-0/fault", {"kind": "slow-watch", "seconds": 3600})
    teacher.wait_for_function("() => !window.pressed.isConnected")
    teacher.mouse.up()
    expect(teacher.get_by_test_id("fault-dialog").get_by_role("radio")).to_have_count(9)


def test_a_press_is_of_nobody_else_where_a_neighbour_takes_its_place(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom, teacher = crowded(open_classroom)
    first = "[data-testid=queue-lane-unschedulable] [data-pod]"
    expect(teacher.locator(first)).to_have_count(2)
    hold(teacher, first)
    gone = teacher.evaluate("() => window.pressed.dataset.pod")
    left = "default/big-2" if gone == "default/big-1" else "default/big-1"
    delete(gone.removeprefix("default/"))(classroom)
    teacher.wait_for_function("() => !window.pressed.isConnected")
    under = "([selector, pod]) => document.querySelector(selector).dataset.pod === pod"
    teacher.wait_for_function(under, arg=[first, left])
    teacher.mouse.up()
    assert state(teacher)["selected"] is None
    teacher.locator(first).first.click()
    wait_state(teacher, lambda now: now["selected"] and now["selected"]["key"] == left, "what was clicked is chosen")
