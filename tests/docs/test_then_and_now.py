"""docs/lessons.md, Then and now: what it names is there, and the scenarios of it do what their comments say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from controllers import scenario
from controllers.log.memory import MemoryStore
from tests.controllers.test_elections import SCENARIOS, STARTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8").partition("## Then and now")[2]
ROWS = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ")][1:]


def played(name: str) -> MemoryStore:
    """Return the store after a scenario."""
    document: dict[str, Any] = yaml.safe_load((SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8"))
    return scenario.run(scenario.read(document, STARTS), seed=1)[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]).strip()[:40])
def test_a_row_names_steps_and_scenarios_that_are_there(row: list[str]) -> None:
    places = re.findall(r"`([^`]+)`", row[2])
    assert places
    for place in places:
        if place.endswith(".yaml"):
            assert (SCENARIOS / place).is_file(), place
            continue
        lesson, _, step = place.partition("/")
        for language in ("en", "zh"):
            text = (ROOT / "lessons" / lesson / f"{language}.md").read_text(encoding="utf-8")
            assert f"# {step}\n" in text, place


def test_volumes_are_refused_by_the_rules_of_either_time() -> None:
    store = played("volumes-then-and-now")
    told: dict[str, list[str]] = {}
    for stored in store.list("events")[0]:
        if stored.object["reason"] == "FailedScheduling":
            told.setdefault(stored.object["involvedObject"]["name"], []).append(stored.object["message"])
    then = {name: min(messages, key=lambda one: "nodes are available" in one) for name, messages in told.items()}
    assert {name: message.split(": ")[-1].strip() for name, message in then.items()} == {
        "shared": "NoDiskConflict", "far": "NoVolumeZoneConflict", "many": "MaxVolumeCount",
    }  # fmt: skip
    assert any("1 node(s) had no available disk." in message for message in told["shared"])
    assert any("1 node(s) had no available volume zone." in message for message in told["far"])
    many = store.get("pods", "default", "many")
    assert many is not None
    assert many.object["spec"]["nodeName"] == "here"


def test_renewals_are_written_where_the_lock_is() -> None:
    store = played("lock-on-endpoints")
    renewals = [
        (row.resource.partition(".")[0], row.now_ms)
        for row in store.events(0, 1_000_000)
        if row.name == "kube-scheduler" and row.resource in ("endpoints", "leases.coordination.k8s.io")
    ]
    assert {kind for kind, at_ms in renewals if 7_000 <= at_ms < 25_000} == {"endpoints"}
    assert {kind for kind, at_ms in renewals if at_ms > 27_000} == {"leases"}
    assert len([1 for kind, _ in renewals if kind == "endpoints"]) >= 8
    web = store.get("endpoints", "default", "web")
    slices = [one for one in store.list("endpointslices.discovery.k8s.io", "default")[0] if one.name.startswith("web-")]
    assert web is not None
    assert len(web.object["subsets"][0]["addresses"]) == sum(len(one.object["endpoints"]) for one in slices) == 4
