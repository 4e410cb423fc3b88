"""Tabs of the control plane: a request's way, keys of the store, controllers at work, as they happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.conftest import Classroom, picture, state, tells, wait_state
from tests.e2e.test_accessible import Judge, dress

PODS = "/api/v1/namespaces/default/pods"
DESK: ViewportSize = {"width": 1440, "height": 900}
LAPTOP: ViewportSize = {"width": 1366, "height": 768}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "nginx:1.27", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def opened(classroom: Classroom) -> Page:
    context = classroom.context()
    dress(context, classroom.server, "light", "en")
    page = classroom.watch(context.new_page())
    page.goto(classroom.created["url"])
    wait_state(page, lambda now: now["pods"], "the session is there")
    return page


def in_all_looks(page: Page, judge: Judge, screen: str) -> None:
    """Look at a screen light and in English, then dark and in Chinese, and leave it light."""
    judge.look(page, screen)
    picture(page, f"{screen}-light")
    theme(page, "dark")
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    judge.look(page, f"{screen}, dark")
    picture(page, f"{screen}-dark")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    theme(page, "light")


def theme(page: Page, wanted: str) -> None:
    while page.evaluate("() => document.documentElement.dataset.theme") != wanted:
        before = page.evaluate("() => document.documentElement.dataset.theme")
        page.locator(".theme-button").click()
        expect(page.locator("html")).not_to_have_attribute("data-theme", before)


def refused(classroom: Classroom, method: str, path: str, body: Any, code: int) -> None:
    """Send a request to the Kubernetes API that must be refused."""
    status, answer = classroom.server.request(method, f"/clusters/{classroom.code}{path}", body, classroom.token)
    assert status == code, answer


def test_requests_keys_and_controllers(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    page = opened(classroom)
    judge = Judge()
    made = classroom.cluster("POST", PODS, pod("way"))
    page.get_by_test_id("dock-server").click()
    requests = page.get_by_test_id("request-list").locator("button")
    expect(requests.first).to_contain_text("way")
    rail = page.get_by_test_id("request-rail")
    expect(rail.locator('[data-stage="mutating"]')).to_have_attribute("data-state", "changed")
    expect(rail.locator('li:not([data-state="ok"], [data-state="changed"])')).to_have_count(0)
    page.set_viewport_size(LAPTOP)
    cut = """() => [...document.querySelectorAll("[data-testid=request-rail] b")]
      .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"""
    tells(page, cut, [], "no stage's name is cut")
    page.set_viewport_size(DESK)
    # What the cluster made of it arrives by itself: bound by the scheduler, then run by a kubelet.
    expect(page.get_by_test_id("request-after")).to_contain_text("kube-scheduler-0")
    # The pod's decision folds out what plugins kept between their points.
    page.locator('button[data-pod="default/way"]').first.dispatch_event("click")
    kept = page.get_by_test_id("decision-cyclestate")
    kept.locator("summary").click()
    expect(kept.locator("tbody tr").first).to_contain_text("NodeResourcesFit")
    low = "one => one.getBoundingClientRect().height < 60"
    tells(kept.locator("tbody th").first, low, True, "a name is broken between its words, if at all")
    in_all_looks(page, judge, "request")

    # A refusal leaves no row in the log, and is heard of all the same.
    refused(classroom, "POST", PODS, pod("Bad_Name"), 422)
    expect(requests.first).to_contain_text("Bad_Name")
    expect(page.get_by_test_id("request-refusal")).to_contain_text("a lowercase RFC 1123 subdomain")
    expect(rail.locator('[data-stage="store"]')).to_have_attribute("data-state", "unreached")
    # Two writers on what they had read: the second is told which revision was faster, reads again and writes.
    page.get_by_test_id("server-conflict").click()
    conflict = page.get_by_test_id("request-conflict")
    expect(conflict.locator("li")).to_have_count(6)
    late = next(one for one in classroom.session("GET", "/requests?limit=20") if one["code"] == 409)
    expect(conflict).to_contain_text(f"409, {late['rvAsked']} ≠ {late['rvBefore']}")
    in_all_looks(page, judge, "conflict")
    page.get_by_test_id("server-only-refused").click()
    expect(requests).to_have_count(2)
    # Arrows go along the list; the way follows.
    requests.first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_test_id("request-refusal")).to_contain_text("a lowercase RFC 1123 subdomain")

    page.get_by_test_id("server-shows-keys").click()
    page.get_by_test_id("store-prefix").fill("/registry/pods/default/way")
    keys = page.get_by_test_id("store-keys").locator("button")
    expect(keys).to_have_count(1)
    keys.first.click()
    expect(page.get_by_test_id("store-value")).to_contain_text(made["metadata"]["uid"])
    in_all_looks(page, judge, "keys")

    page.get_by_test_id("dock-controllers").click()
    panel = page.get_by_test_id("controller-panel")
    shown = page.locator("[data-testid=controller-list] [aria-current=true]")
    expect(shown).to_have_count(1)
    read = str(shown.get_attribute("data-controller"))
    # Nobody chose it; whichever comes first by then, it goes on being told.
    page.get_by_test_id("controllers-order-table").click()
    expect(page.get_by_test_id("controllers-order-table")).to_have_attribute("aria-pressed", "true")
    expect(shown).to_have_attribute("data-controller", read)
    expect(panel).to_have_attribute("aria-label", read)
    page.locator("[data-controller=replicaset]").click()
    template = {"metadata": {"labels": {"app": "seen"}}, "spec": pod("seen")["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "seen"}}, "template": template}
    document = {"metadata": {"name": "seen"}, "spec": spec}
    classroom.cluster("POST", "/apis/apps/v1/namespaces/default/replicasets", document)
    newest = page.get_by_test_id("controller-recent").locator("button").first
    expect(newest).to_contain_text("default/seen")
    expect(panel).to_contain_text("--burst-replicas=500")
    in_all_looks(page, judge, "controller")
    page.get_by_test_id("controller-last").get_by_role("button", name="default/seen").click()
    chosen = wait_state(page, lambda now: now["selected"], "the object is selected")["selected"]
    assert chosen == {"resource": "replicasets.apps", "key": "default/seen"}
    assert state(page)["connection"] == "live"
    judge.rule()


def test_the_architecture_as_it_happens(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    page = opened(classroom)
    judge = Judge()
    page.get_by_test_id("dock-architecture").click()
    scene = page.get_by_test_id("architecture")
    expect(scene.locator('[data-part="kubelet/n3"]')).to_be_visible()
    # Arrows lead to the API server, and nowhere else: what each asks, and what those hear that watch.
    expect(page.locator('[data-edge=">kube-scheduler-0"]')).to_have_count(1)
    edges = set(page.locator("[data-edge]").evaluate_all("all => all.map((one) => one.dataset.edge)"))
    assert {"user:teacher>", "kube-scheduler-0>", "kubelet/n1>", ">kubelet/n1", "store>"} <= edges
    assert not any("cloud" in edge for edge in edges)

    # Who creates a pod, who binds it and who runs it are told as it happens, and so is who was refused.
    classroom.cluster("POST", PODS, pod("built"))
    listed = page.get_by_test_id("architecture-list")
    listed.locator("summary").click()
    bound = wait_state(
        page, lambda now: any(one["name"] == "built" and one["nodeName"] for one in now["pods"]), "it is bound"
    )
    node = next(one["nodeName"] for one in bound["pods"] if one["name"] == "built")
    rows = listed.locator("li").filter(has_text="pods/built")
    expect(rows.filter(has_text="kube-scheduler-0").filter(has_text=f"kubelet/{node}").first).to_be_visible()
    expect(rows.filter(has=page.get_by_text(f"kubelet/{node}", exact=True)).first).to_be_visible()
    refused(classroom, "POST", PODS, pod("Bad_Name"), 422)
    expect(listed.locator("li.bad").first).to_contain_text("422")
    expect(scene.locator('[data-part="user:teacher"]')).to_contain_text("422")
    in_all_looks(page, judge, "architecture")

    # Arrows of the keyboard go from part to part; each opens its panel: what it knows, how it started, what it serves.
    page.locator('[data-part="kube-apiserver"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    panel = page.get_by_test_id("architecture-component")
    expect(panel).to_contain_text("etcd")
    scene.locator('[data-part="kube-scheduler-0"]').click()
    expect(panel).to_contain_text("nodeLister")
    expect(panel).to_contain_text("leads by Lease kube-system/kube-scheduler")
    expect(panel).to_contain_text("--leader-elect")
    page.get_by_test_id("endpoint-readyz").click()
    expect(page.get_by_test_id("endpoint-answer")).to_contain_text("[+]informer-sync ok")
    in_all_looks(page, judge, "component")
    page.set_viewport_size(LAPTOP)
    page.emulate_media(reduced_motion="reduce")
    # What was under way ends; from then on arrows light up, and nothing runs along them.
    page.locator(".arch-scene[data-still=true]").wait_for()
    expect(page.locator(".arch-dot")).to_have_count(0)
    classroom.cluster("POST", PODS, pod("still"))
    expect(listed.locator("li").filter(has_text="pods/still").first).to_be_attached()
    assert page.locator(".arch-dot").count() == 0, "nothing moves where motion is reduced"
    judge.rule()
