"""Scripts performed: one seed gives one log, another owner goes on in the middle, a clear leaves what stays."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import Cluster
from controllers.kinds.clustersim.lesson import NAME, RESOURCE
from controllers.lesson.course import Course
from controllers.lesson.driving import ScriptDriver
from controllers.lesson.playing import Player, TooLong
from controllers.lesson.scripts import make_it_so_script, scene_script, wait_script
from controllers.log.operations import Create, Patch
from scheduler_core.api.document import Document
from tests.lesson.tiny import lesson
from tests.tools.lab import Lab, node, pod, workload

SCENE = [{"apply": [node("n1"), pod("web")]}, {"run": {"until": "pod('web').ready", "seconds": 20}}]


def log_of(player: Player) -> list[tuple[Any, ...]]:
    return [
        (row.revision, row.now_ms, row.verb, row.resource, row.name, row.data) for row in player.store.events(0, 10_000)
    ]


def played(seed: int) -> Player:
    found = lesson()
    player = Player(seed=seed, replicas=1, pace=0)
    for step in found.steps:
        assert player.play(scene_script(step, found.begins[step.id], 0), "scene") == ""
        assert player.play(wait_script(step), "wait") == ""
    return player


def test_a_seed_gives_one_log_and_another_another() -> None:
    one = log_of(played(3))
    assert one == log_of(played(3))
    assert one != log_of(played(4))


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ([{"apply": [{**node("n1"), "metadata": {"name": "Big"}}]}], "scene[0].apply was refused"),
        ([{"delete": {"kind": "Pod", "name": "nobody"}}], "scene[0].delete was refused"),
        ([{"run": {"until": "pod('nobody').exists", "seconds": 1}}], "not reached within 1 s"),
        ([{"step": {"by": "point", "until": "point() == 'Bind'"}}], "not reached in 200 steps"),
        ([{"race": {"kind": "Pod", "name": "nobody", "patches": [{}]}}], "scene[0].race was refused"),
    ],
)
def test_a_script_that_cannot_go_on_says_at_which_action(script: list[Document], why: str) -> None:
    player = Player(seed=1, replicas=1, pace=0)
    assert why in player.play(script, "scene")
    assert player.play(SCENE, "scene") == "", "the next one begins anew"


def test_of_a_race_the_first_wins() -> None:
    player = Player(seed=1, replicas=1, pace=0)
    patches = [{"metadata": {"labels": {"colour": colour}}} for colour in ("red", "blue")]
    script = [*SCENE, {"race": {"kind": "Pod", "name": "web", "patches": patches}}]
    assert player.play(script, "scene") == ""
    stored = player.store.get("pods", "default", "web")
    assert stored is not None
    assert stored.object["metadata"]["labels"]["colour"] == "red"


def test_a_cycle_is_stepped_to_a_point() -> None:
    player = Player(seed=1, replicas=1, pace=0)
    held = [{"hold": {"pod": "default/web"}}, {"apply": [node("n1")]}, {"run": {"until": "node('n1').ready"}}]
    script = [*held, {"apply": [pod("web")]}, {"run": {"until": "held() == 'web'"}}, {"hold": {"pod": ""}}]
    assert player.play([*script, {"step": {"by": "point", "until": "point() == 'Reserve'"}}], "scene") == ""
    assert player.view().point() == "Reserve"
    assert player.view().pod("web").node == ""


def test_a_bounded_player_stops_what_takes_too_long() -> None:
    player = Player(seed=1, replicas=1, pace=0, events_max=500)
    with pytest.raises(TooLong, match="more than 500 events"):
        player.play([{"run": {"until": "pod('nobody').exists", "seconds": 120}}], "scene")


def test_a_cleared_cluster_is_as_at_first_and_keeps_peoples_namespaces() -> None:
    player = Player(seed=1, replicas=2, pace=0)
    seat = {"name": "s-ann", "annotations": {"clustersim.io/created-by": "ann"}}
    quota = {"metadata": {"name": "student", "namespace": "s-ann"}, "spec": {"hard": {"pods": "5"}}}
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "w"}}}}
    made = [
        node("n1"),
        node("n2"),
        workload("Deployment", "web", replicas=3),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": seat},
        {"apiVersion": "v1", "kind": "ResourceQuota", **quota},
        pod("hers", namespace="s-ann"),
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", **budget},
    ]
    busy = [
        {"apply": made},
        {"fault": {"replica": "kube-scheduler-1", "kind": "crash"}},
        {"flags": {"kube-controller-manager": {"node-monitor-grace-period": "12s"}}},
        {"scheduler": {"era": "round-robin"}},
        {"clock": {"pace": 250}},
        {"run": {"until": "size(pods('web').filter(p, p.ready)) == 3"}},
    ]
    assert player.play(busy, "scene") == ""
    # With nodes gone nothing else is left to settle.
    cleared = [{"hold": {"pod": ""}}, {"clear": {"pace": 100}}, {"run": {"until": "waited() >= 0 && time() > 0"}}]
    settled = [{"count": {"from": "scene"}}, {"run": {"until": "since() >= 30"}}]
    assert player.play([*cleared, *settled], "scene") == ""
    for resource in ("nodes", "pods", "deployments.apps", "replicasets.apps", "poddisruptionbudgets.policy"):
        assert player.store.list(resource)[0] == [], resource
    namespaces = [stored.name for stored in player.store.list("namespaces")[0]]
    assert ("s-ann" in namespaces, "team" in namespaces, "default" in namespaces) == (True, False, True)
    assert [stored.name for stored in player.store.list("resourcequotas")[0]] == ["student"]
    view = player.view()
    assert view.replica("kube-scheduler-1").faults == []
    assert (player.cluster.clock.pace, player.cluster.clock.rate) == (100, 1.0)
    stored = player.store.get("schedulerconfigs.clustersim.io", "", "default")
    assert stored is not None
    assert stored.object["spec"] == {"era": "v1.34"}


def drive(lab: Lab, driver: ScriptDriver, actions: int = 10_000) -> None:
    """Go on with a script as an owner does, for at most so many turns."""
    for _ in range(actions):
        if not driver.busy:
            return
        if driver.go_on():
            lab.obey()
        while lab.cluster.clock.runs_on and (due_ms := lab.cluster.next_event_ms()) is not None:
            lab.cluster.run_tick(due_ms)


def test_another_owner_goes_on_with_a_script() -> None:
    lab = Lab()
    driver = ScriptDriver(lab.cluster)
    script = Course(lesson()).entering("again")
    spec = {
        "package": "tiny",
        "step": "again",
        "phase": "scene",
        "script": {"id": 1, "path": "again", "actions": script},
    }
    document = {"apiVersion": "clustersim.io/v1", "kind": "Lesson", "metadata": {"name": NAME}, "spec": spec}
    lab.do(Create(RESOURCE, "", document))
    lab.obey()
    for turns in (0, 1, 3, 5, 7):
        # Each owner does a little of it and dies.
        driver.obey()
        drive(lab, driver, turns)
        lab.cluster = Cluster(lab.store, fence=lab.store.take_over())
        lab.cluster.start()
        lab.obey()
        driver = ScriptDriver(lab.cluster, lab.store.fence)
    driver.obey()
    drive(lab, driver)
    told = lab.get(RESOURCE, NAME, "")["status"]["script"]
    assert (told["state"], told["message"], told["done"]) == ("done", "", len(script))
    assert lab.get("pods", "web")["spec"]["nodeName"] == "n2"
    # A new one takes its place, and what is made so needs no wait.
    step = lesson().steps[2]
    lab.do(Patch(RESOURCE, "", NAME, {"spec": {"script": {"id": 2, "path": "so", "actions": make_it_so_script(step)}}}))
    driver.obey()
    drive(lab, driver)
    assert lab.get(RESOURCE, NAME, "")["status"]["script"]["state"] == "done"
    assert lab.list("pods") == []
