"""docs/lessons.md: the rows of the documents and Then and now name what is there; its scenarios do what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustersim.classroom.templates import TEMPLATES
from controllers import scenario
from controllers.log.memory import MemoryStore
from tests.controllers.test_elections import SCENARIOS, STARTS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8")


def rows(page: str) -> list[list[str]]:
    """Return the cells of a page's table, without its head."""
    return [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| ")][1:]


ASKED, _, CHANGED = GUIDE.partition("## From the documents")[2].partition("## Then and now")
ROWS = rows(ASKED) + rows(CHANGED)

TEACHES = {
    "0.2": {"life-of-a-pod/who-writes": ("five things", "五件事")},
    "0.7": {"life-of-a-pod/two-writers": ("`409 Conflict`", "`409 Conflict`")},
    "0.8": {"life-of-a-pod/who-writes": ("something else for kube-proxy", "kube-proxy")},
    "0.11": {"filters-and-scores/round-robin": ("conflicts", "冲突")},
    "0.18": {"filters-and-scores/hard-or-soft": ("scheduler.alpha.kubernetes.io/affinity",) * 2},
    "1.2": {"preemption/does-it-help": ("`high-priority` and the pod nginx", "nginx")},
    "1.7": {"preemption/reserved": ("n4", "n4"), "preemption/more-important": ("boss", "boss")},
    "2.8": {"leader-election/ticket": ("Endpoints and ConfigMaps could serve as locks", "ConfigMap")},
    "2.10": {"leader-election/heartbeat": ("kubectl get endpoints -n kube-system",) * 2},
    "3.6": {"formal-model/repairs": ("`NoSchedule`", "`NoSchedule`")},
    "3.7": {"formal-model/counterexample": ("departs from the model", "模型")},
    "4.9": {"scheduling-framework/my-filter": ("extender", "extender")},
}
"""What the documents ask to be taught: row → step → what it says of it, in English and in 简体中文."""


def texts_of(place: str) -> list[str]:
    """Return the text of a step in each language."""
    lesson, _, step = place.partition("/")
    found = []
    for language in ("en", "zh"):
        text = (ROOT / "lessons" / lesson / f"{language}.md").read_text(encoding="utf-8")
        assert f"# {step}\n" in text, place
        found.append(re.split(r"(?m)^# ", text.partition(f"# {step}\n")[2])[0])
    return found


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
        if place not in TEMPLATES:
            assert all(texts_of(place)), place


def test_every_row_of_the_documents_is_taught_where_the_guide_says() -> None:
    places = {row[0].strip(): re.findall(r"`([^`]+)`", row[2]) for row in rows(ASKED)}
    assert set(places) == set(TEACHES)
    for row, steps in TEACHES.items():
        for place, said in steps.items():
            assert place in places[row], row
            for words, text in zip(said, texts_of(place), strict=True):
                assert words in text, f"{row}: {place} does not say {words!r}"


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
