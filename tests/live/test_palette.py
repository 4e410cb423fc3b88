"""Hues are given by the server: once, in the order of the log, the same for everybody and after a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clustersim.feed.batch import Batch
from clustersim.feed.palette import Palette, owner_of, priority_of
from clustersim.store import hues, sessions
from controllers.log.store import Event, Stored

GROUPS = Path(__file__).resolve().parent.parent / "golden" / "groups.json"


@pytest.fixture
def session_id() -> int:
    return sessions.create("Proof", "empty").id


def pod(name: str, priority: int = 0) -> dict[str, Any]:
    return {"metadata": {"namespace": "default", "name": name}, "spec": {"priority": priority}}


def stored(resource: str, document: dict[str, Any]) -> Stored:
    name = document["metadata"]["name"]
    return Stored(resource, "default", name, "u", 1, json.dumps(document).encode())


def pods(*documents: dict[str, Any]) -> list[Stored]:
    return [stored("pods", document) for document in documents]


def configuration(*plugins: str, era: str = "v1.34") -> dict[str, Any]:
    listed = [{"name": name, "points": ["filter", "score"]} for name in plugins]
    return {"metadata": {"name": "default"}, "status": {"era": era, "profiles": [{"plugins": listed}]}}


def test_groups_are_named_as_the_page_names_them() -> None:
    for case in json.loads(GROUPS.read_text()):
        assert (owner_of(case["pod"]), priority_of(case["pod"])) == (case["key"], case["priority"]), case["what"]


def test_the_first_to_appear_has_the_first_hue_for_good(session_id: int) -> None:
    palette = Palette(session_id)
    palette.learn(pods(pod("web-1"), pod("api-1", 1000), pod("web-2")))
    assert palette.told("pods", pod("web-9"))["hues"] == {"owner": 0, "priority": 0, "namespace": 0}
    assert palette.told("pods", pod("api-9", 1000))["hues"] == {"owner": 1, "priority": 1, "namespace": 0}
    later = Palette(session_id)
    later.learn(pods(pod("cart-1"), pod("api-2")))
    assert later.told("pods", pod("api-3"))["hues"]["owner"] == 1
    assert later.told("pods", pod("cart-3"))["hues"]["owner"] == 2


def test_a_namespace_has_the_number_in_which_it_first_appeared(session_id: int) -> None:
    palette = Palette(session_id)
    mine = {"metadata": {"namespace": "s-mei", "name": "web-1"}, "spec": {}}
    palette.learn(pods(pod("web-1"), mine))
    assert palette.told("pods", mine)["hues"]["namespace"] == 1
    assert palette.told("pods", pod("api-1"))["hues"]["namespace"] == 0


def test_two_processes_agree_on_what_one_of_them_has_given(session_id: int) -> None:
    here, there = Palette(session_id), Palette(session_id)
    here.learn([])
    there.learn(pods(pod("web-1")))
    here.learn(pods(pod("api-1"), pod("web-1")))
    assert here.told("pods", pod("web-1")) == there.told("pods", pod("web-1"))
    assert hues.load(session_id)["owner", "Pod api"] == 1


def test_plugins_keep_their_hues_when_the_configuration_changes(session_id: int) -> None:
    resource = "schedulerconfigs.clustersim.io"
    palette = Palette(session_id)
    first = configuration("NodeAffinity", "TaintToleration", "Mine")
    palette.learn([stored(resource, first)])
    assert palette.told(resource, first)["hues"] == {"TaintToleration": 0, "NodeAffinity": 1, "Mine": 2}
    second = configuration("ImageLocality", "Mine")
    palette.learn([stored(resource, second)])
    assert palette.told(resource, second)["hues"] == {
        "TaintToleration": 0, "NodeAffinity": 1, "Mine": 2, "ImageLocality": 3,
    }  # fmt: skip


def test_each_era_counts_its_own_plugins(session_id: int) -> None:
    resource = "schedulerconfigs.clustersim.io"
    palette = Palette(session_id)
    today = configuration("TaintToleration", "NodeAffinity")
    old = configuration("NodeAffinity", "LeastRequestedPriority", era="algorithm-provider")
    palette.learn([stored(resource, today), stored(resource, old)])
    assert palette.told(resource, today)["hues"]["NodeAffinity"] == 1
    assert palette.told(resource, old)["hues"] == {
        "TaintToleration": 0, "NodeAffinity": 0, "LeastRequestedPriority": 1,
    }  # fmt: skip


def test_rows_travel_with_the_hues_of_their_objects(session_id: int) -> None:
    palette = Palette(session_id)
    event = Event(
        "pods", "default", "web-1", "u", 1, json.dumps(pod("web-1")).encode(), verb="ADDED", now_ms=0, actor="user:t",
        read=0, previous_revision=0,
    )  # fmt: skip
    palette.learn([event])
    frame = json.loads(Batch(0, 1, [event], palette=palette).frames[0])
    assert frame["events"][0]["object"]["hues"] == {"owner": 0, "priority": 0, "namespace": 0}
