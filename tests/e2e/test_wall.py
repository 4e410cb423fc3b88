"""What hangs on a wall of 1024 × 768 and more: every scene in letters of at least 22 pixels, and no word cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, drawn, laid, picture, wait_state
from tests.e2e.test_accessible import dress
from tests.e2e.test_preemption import FILLERS, pod
from tests.tools.letters import cut_words, listen_to_paint, painted_smaller_than, smaller_than
from tests.tools.server import wait_for

LEAST = 22
"""Pixels of the smallest letters, as the last row reads them."""

SIZES = ((1024, 768), (1366, 768), (1920, 1080))
STEPS_MAX = 20
LONG_NAME = "recommendations-of-the-week-56dfc8b967-kbxgp"
"""A name as teams write them; it has more letters than a row of the queue."""


SCROLLS = """() => {
  const page = document.documentElement;
  const parts = [...document.body.querySelectorAll("*")].filter((one) => one.checkVisibility()
    && /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth);
  return [...(page.scrollWidth > innerWidth ? [page] : []), ...parts].map((one) =>
    `${one.id || one.className || one.tagName} scrolls sideways: ${one.scrollWidth} in ${one.clientWidth}`);
}"""


def scrolls(page: Page) -> list[str]:
    """Return what of a wall scrolls sideways, be it by a pixel: no hand reaches it."""
    found: list[str] = page.evaluate(SCROLLS)
    return found


class Wall:
    """A viewer's screen that follows who presents, and what can be said of it without eyes."""

    def __init__(self, classroom: Classroom, theme: str = "projector", lang: str = "en") -> None:
        seat = classroom.session("POST", "/people", {"role": "viewer", "name": "Wall"})
        context = classroom.context(viewport={"width": 1024, "height": 768}, reduced_motion="reduce")
        self.classroom = classroom
        self.page: Page = classroom.watch(context.new_page())
        listen_to_paint(self.page)
        dress(context, classroom.server, "projector", lang)
        self.page.goto(seat["url"])
        wait_state(self.page, lambda now: now["revision"], "the wall hangs")
        self.name = f"{theme}-{lang}"
        self.theme = theme
        self.said: dict[str, list[str]] = {}

    def shows(self, scene: str, **view: Any) -> None:
        """Present a scene; return once the wall shows it."""
        self.classroom.session("PUT", "/presenting", {"view": {"scene": scene, **view}})
        expect(self.page.locator("body")).to_have_attribute("data-scene", scene)
        # The switch is under no hand while a wall follows; a key of the browser's own still finds it.
        for _ in range(2):
            if self.theme == "dark" and self.page.evaluate("document.documentElement.dataset.theme") != "dark":
                self.page.locator(".theme-button").dispatch_event("click")
                drawn(self.page)
        drawn(self.page)

    def judge(self, what: str) -> None:
        """Measure the wall at every size that projectors have."""
        for width, height in SIZES:
            self.page.set_viewport_size({"width": width, "height": height})
            drawn(self.page)
            painted_smaller_than(self.page, LEAST)
            drawn(self.page)
            picture(self.page, f"wall-{what}-{width}-{self.name}")
            problems = [
                *smaller_than(self.page, LEAST),
                *painted_smaller_than(self.page, LEAST),
                *(f"cut: {words}" for words in cut_words(self.page)),
            ]
            problems += scrolls(self.page)
            if problems:
                self.said[f"{what} {width}"] = problems
        self.page.set_viewport_size({"width": 1024, "height": 768})

    def rule(self) -> None:
        assert self.said == {}


def hold_at(classroom: Classroom, wall: Wall, point: str, pod_key: str = "") -> dict[str, Any]:
    """Step until a cycle stands at a point of some pod's; return what is held."""
    for _ in range(STEPS_MAX * 3):
        held = classroom.session("POST", "/clock/step", {"by": "point"})["held"] or {}
        if held.get("point") == point and pod_key in ("", held["pod"]):
            wait_state(wall.page, lambda now, held=held: now["held"] == held, f"the wall stands at {point}")
            return held
    raise AssertionError(f"no cycle came to {point}")


@pytest.mark.parametrize(
    ("template", "lang"), [("three-nodes", "zh-hans"), ("zones", "en"), ("gpu-lab", "zh-hans"), ("nodes-100", "en")]
)
def test_the_stage(open_classroom: Callable[[str], Classroom], template: str, lang: str) -> None:
    classroom = open_classroom(template)
    wall = Wall(classroom, lang=lang)
    classroom.session("PATCH", "/clock", {"paused": True, "pace": 250})
    if template == "nodes-100":
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("web", "100m"))
    wall.shows("stage")
    for point in ("Filter", "Score"):
        hold_at(classroom, wall, point)
        wall.judge(f"stage-{template}-{point}")
        if template != "nodes-100":
            # The stage is laid out anew in the frame after the window has another size.
            field = wall.page.get_by_test_id("stage").locator(".st-field")
            wait_for(
                lambda field=field: field.evaluate("f => f.scrollHeight <= f.clientHeight"),
                what="every node is seen at once",
            )
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod(LONG_NAME, "900"))
    classroom.session("PATCH", "/clock", {"paused": False, "pace": 0})
    wait_state(wall.page, lambda now: not now["held"], "nothing is held")
    wall.page.locator('[data-testid="queue-lane-unschedulable"]:not([data-empty="true"])').first.wait_for()
    classroom.session("PATCH", "/clock", {"paused": True})
    wall.judge(f"stage-{template}-after")
    wall.rule()


@pytest.mark.parametrize(("theme", "lang"), [("projector", "en"), ("dark", "zh-hans")])
def test_a_decision_and_a_preemption(open_classroom: Callable[[str], Classroom], theme: str, lang: str) -> None:
    classroom = open_classroom("three-nodes")
    wall = Wall(classroom, theme, lang)
    classroom.session("PATCH", "/clock", {"pace": 0})
    urgent = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 10_000,
    }
    classroom.cluster("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", urgent)
    for number in range(FILLERS):
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod(f"filler-{number}", "900m"))
    wait_state(
        wall.page,
        lambda now: (
            sum(one["name"].startswith("filler") for one in now["pods"]) == FILLERS
            and all(one["phase"] == "Running" for one in now["pods"])
        ),
        "the nodes are full",
    )
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("huge", "900"))
    classroom.session("PATCH", "/clock", {"paused": True, "pace": 250})
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("vip", "1500m", "urgent"))
    wall.shows("stage")
    hold_at(classroom, wall, "PostFilter", "default/vip")
    expect(wall.page.get_by_test_id("evict-evict")).to_have_attribute("aria-current", "step")
    wall.judge("stage-preemption")
    for key, what in (("default/filler-2", "placed"), ("default/huge", "huge")):
        wall.shows("decision", select=f"pods {key}", inspectorTab="decision")
        wall.page.locator(".dc-body .dc-pipeline").first.wait_for()
        for part in (0, 3, 7):
            wall.shows("decision", select=f"pods {key}", inspectorTab="decision", **({"part": part} if part else {}))
            wall.judge(f"decision-{what}-{part}")
    wall.shows("preemption", select="pods default/vip", inspectorTab="decision")
    wall.page.get_by_test_id("preemption-table").wait_for()
    wall.judge("preemption")
    wall.rule()


@pytest.mark.parametrize(("theme", "lang"), [("projector", "en"), ("dark", "zh-hans")])
def test_a_rolling_update_under_requests_and_the_death_of_a_node(
    open_classroom: Callable[[str], Classroom], theme: str, lang: str
) -> None:
    classroom = open_classroom("three-nodes")
    wall = Wall(classroom, theme, lang)
    classroom.session("PATCH", "/clock", {"pace": 0, "rate": 20})
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    container = {"name": "main", "image": "nginx:1", "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}}}
    template = {"metadata": {"labels": {"app": "shop"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 6, "selector": {"matchLabels": {"app": "shop"}}, "template": template}
    shop = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}, "spec": spec}
    classroom.cluster("POST", deployments, shop)
    ports = {"selector": {"app": "shop"}, "ports": [{"port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop"}, "spec": ports}
    classroom.cluster("POST", "/api/v1/namespaces/default/services", service)
    wait_state(
        wall.page,
        lambda now: sum(one["name"].startswith("shop") and one["phase"] == "Running" for one in now["pods"]) == 6,
        "six pods of the old template run",
    )
    classroom.session("POST", "/clients", {"name": "customer", "target": "http://shop/", "rate": 4})
    classroom.session("PATCH", "/clock", {"rate": 1})
    held = classroom.cluster("GET", f"{deployments}/shop")
    held["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2"
    classroom.cluster("PUT", f"{deployments}/shop", held)
    wall.shows("stage")
    wall.page.locator(".st-rollouts li").first.wait_for(state="attached")
    wall.page.locator(".st-client-ok:not(:empty)").first.wait_for(state="attached")
    classroom.session("PATCH", "/clock", {"paused": True})
    for part in (".st-rollout-bar", ".st-rollout-line", ".st-client-ok"):
        expect(wall.page.locator(part).first).to_be_visible()
    wall.judge("rollout")
    node = classroom.cluster("GET", "/api/v1/nodes/n2")
    node["metadata"].setdefault("annotations", {})["clustersim.io/kubelet"] = "off"
    classroom.cluster("PUT", "/api/v1/nodes/n2", node)
    classroom.session("PATCH", "/clock", {"paused": False, "rate": 50})
    wait_state(wall.page, lambda now: any(not one["ready"] for one in now["nodes"]), "a node is silent", 60)
    classroom.session("PATCH", "/clock", {"paused": True})
    wall.judge("death")
    wall.rule()


@pytest.mark.parametrize(("theme", "lang"), [("projector", "en"), ("dark", "zh-hans")])
def test_an_election(open_classroom: Callable[[str], Classroom], theme: str, lang: str) -> None:
    classroom = open_classroom("ha")
    wall = Wall(classroom, theme, lang)
    classroom.session("PATCH", "/clock", {"pace": 0, "rate": 10})
    classroom.session("POST", "/replicas/kube-scheduler-0/fault", {"kind": "crash"})
    wall.shows("stage")
    wall.page.locator('.st-replica[data-state="crashed"]').wait_for()
    wall.judge("stage-crashed")
    wall.shows("election", dockTab="election")
    wall.page.locator('#dock [data-testid^="election-card-"][data-state="leader"]').first.wait_for(state="attached")
    wall.page.locator("#dock .main-svg").first.wait_for()
    classroom.session("PATCH", "/clock", {"paused": True})
    wall.judge("election")
    wall.rule()


@pytest.mark.parametrize("lang", ["en", "zh-hans"])
def test_a_poll(open_classroom: Callable[[str], Classroom], lang: str) -> None:
    classroom = open_classroom("zones")
    wall = Wall(classroom, lang=lang)
    classroom.session("PATCH", "/clock", {"pace": 0, "paused": True})
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("asked", "300m"))
    seats = [
        classroom.server.request("POST", f"/api/sessions/{classroom.code}/join", {"name": name})[1]
        for name in ("Mei", "Lin", "Bo")
    ]
    poll = classroom.session("POST", "/polls", {"kind": "node", "pod": "default/asked"})
    wall.page.get_by_test_id("wall-question").wait_for()
    wall.judge("poll-open")
    first, second, *_, last = (option["id"] for option in poll["options"])
    for round_, choices in ((1, (first, first, last)), (2, (first, second, second))):
        if round_ == 2:
            classroom.session("POST", f"/polls/{poll['id']}/reopen")
        for seat, choice in zip(seats, choices, strict=True):
            path = f"/api/sessions/{classroom.code}/polls/{poll['id']}/votes"
            status, answer = classroom.server.request("POST", path, {"choice": choice}, seat["token"])
            assert status == 200, answer
        classroom.session("POST", f"/polls/{poll['id']}/close")
        wall.judge(f"poll-closed-{round_}")
    classroom.session("POST", f"/polls/{poll['id']}/reveal")
    expect(wall.page.locator(".wall-why .vote-why")).not_to_be_empty()
    wall.judge("poll-revealed")
    wall.rule()


@pytest.mark.parametrize("lang", ["en", "zh-hans"])
def test_a_lesson(open_classroom: Callable[..., Classroom], lang: str) -> None:
    classroom = open_classroom("", lesson="preemption")
    wall = Wall(classroom, lang=lang)
    for number in range(4):
        if number:
            classroom.session("POST", "/lesson", {"do": "skip"})
        wall.shows("lesson")
        wall.page.locator(".board h2").wait_for()
        wall.judge(f"lesson-{number}")
    wall.rule()


@pytest.mark.parametrize("lang", ["en", "zh-hans"])
def test_what_a_lessons_step_is_about(open_classroom: Callable[..., Classroom], lang: str) -> None:
    """Nobody presents: the wall shows what the lesson says, and nothing of the step before."""
    classroom = open_classroom("", lesson="scheduling-framework")
    wall = Wall(classroom, lang=lang)
    body, recalled = wall.page.locator("body"), wall.page.get_by_test_id("stage-recall")
    classroom.session("POST", "/lesson", {"do": "start", "step": "my-score"})
    expect(body).to_have_attribute("data-scene", "stage")
    classroom.session("POST", "/lesson", {"do": "next"})
    classroom.session("POST", "/lesson", {"do": "skip"})
    expect(body).to_have_attribute("data-scene", "decision")
    wall.page.locator(".dc-body .main-svg").first.wait_for()
    wall.judge("guided-decision")
    laid(wall.page, "chart.bottom <= 768", "all three nodes' scores are seen at once", chart=".dc-body .main-svg")
    classroom.session("POST", "/lesson", {"do": "start", "step": "league"})
    expect(body).to_have_attribute("data-scene", "stage")
    expect(wall.page.get_by_test_id("stage")).to_be_visible()
    expect(recalled).to_be_hidden()
    wall.judge("guided-stage")
    wall.rule()


@pytest.mark.parametrize("lang", ["en", "zh-hans"])
def test_home_is_read_from_the_last_row(open_classroom: Callable[..., Classroom], lang: str) -> None:
    classroom = open_classroom("empty")
    context = classroom.context()
    dress(context, classroom.server, "projector", lang)
    page = classroom.watch(context.new_page())
    said: dict[str, list[str]] = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{classroom.server.url}/")
        page.locator(".lesson-card").first.wait_for()
        picture(page, f"wall-home-{width}-{lang}")
        problems = [*smaller_than(page, LEAST), *(f"cut: {words}" for words in cut_words(page))]
        problems += scrolls(page)
        if problems:
            said[str(width)] = problems
    assert said == {}


ROOM = """() => {
  const box = (one) => document.querySelector(one).getBoundingClientRect();
  return (box(".wall-options").bottom - box(".wall-options").top) / (innerHeight - box(".wall-options").top);
}"""
"""The share of the wall below the question that the answers take, in one frame."""


def test_few_answers_have_the_room_of_many_and_without_a_pod_no_colours_are_named(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("empty")
    wall = Wall(classroom)
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    classroom.cluster(
        "POST", "/api/v1/nodes", {"metadata": {"name": "n1"}, "status": {"capacity": capacity, "allocatable": capacity}}
    )
    wall.page.set_viewport_size({"width": 1920, "height": 1080})
    wall.shows("stage")
    colours = wall.page.locator(".st-legend-row").nth(1).locator("b")
    expect(wall.page.locator(".st-legend-row b").first).to_be_visible()
    expect(colours).to_be_hidden()
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("web", "100m"))
    expect(colours).to_be_visible()

    options = [{"id": name, "label": name, "right": "true"} for name in ("yes", "no", "it depends")]
    asked = {"kind": "choice", "hold": "paper", "question": "Does it move?", "options": options}
    poll = classroom.session("POST", "/polls", asked)
    wall.page.get_by_test_id("wall-question").wait_for()
    for width, height in SIZES:
        wall.page.set_viewport_size({"width": width, "height": height})
        wait_for(lambda: wall.page.evaluate(ROOM) > 0.6, what=f"three answers fill a wall of {width}")
    wall.judge("poll-choice")
    # A viewer's screen whose person chose no theme is lit for a question as for who presents.
    screen = classroom.watch(classroom.context().new_page())
    screen.goto(classroom.session("POST", "/people", {"role": "viewer", "name": "Screen"})["url"])
    expect(screen.locator("html")).to_have_attribute("data-theme", "projector")
    classroom.session("DELETE", f"/polls/{poll['id']}")
    wall.rule()
