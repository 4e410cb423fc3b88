"""Rows of long tables are made of what their columns read alone: they say what the whole object would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustersim.apiserver.negotiation import Wanted
from clustersim.apiserver.tables import age_by, row, row_reader
from controllers.kinds.table import kind_of
from controllers.log.stamps import unix_ms_of

PODS = kind_of("pods")
AGE = age_by(unix_ms_of("2026-01-02T03:04:05Z"))
TABLE = Wanted("table")
GOLDEN = Path(__file__).parent.parent / "golden" / "kinds" / "pods.json"

times = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T03:00:00Z"])
names = st.sampled_from(["web", "side", "init"])


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects with some of the members, and one that no column reads."""
    return st.fixed_dictionaries({"unread": st.integers(0, 9)}, optional=members)


STATES = some(
    running=some(startedAt=times),
    waiting=some(reason=st.sampled_from(["", "PodInitializing", "CrashLoopBackOff"])),
    terminated=some(
        exitCode=st.integers(0, 3),
        signal=st.integers(0, 9),
        reason=st.sampled_from(["", "Completed", "Error"]),
        finishedAt=times,
    ),
)
STATUSES = some(
    name=names,
    ready=st.booleans(),
    started=st.booleans(),
    restartCount=st.integers(0, 3),
    state=STATES | st.none(),
    lastState=STATES,
    image=names,
)
CONDITIONS = some(
    type=st.sampled_from(["PodScheduled", "Initialized", "Ready", "gate"]),
    status=st.sampled_from(["True", "False"]),
    reason=st.sampled_from(["", "SchedulingGated"]),
    lastTransitionTime=times,
)
CONTAINERS = some(name=names, image=names, restartPolicy=st.sampled_from(["Always", "Never"]))
MADE = st.builds(
    lambda name, metadata, parts: {"kind": "Pod", "metadata": {"name": name, **metadata}, **parts},
    names,
    some(creationTimestamp=times, deletionTimestamp=times, labels=st.dictionaries(names, names)),
    some(
        spec=some(
            containers=st.lists(CONTAINERS, max_size=3),
            initContainers=st.lists(CONTAINERS, max_size=2),
            nodeName=names,
            readinessGates=st.lists(some(conditionType=st.sampled_from(["gate", "Ready"])), max_size=2),
            volumes=st.lists(some(name=names)),
        ),
        status=some(
            phase=st.sampled_from(["Pending", "Running", "Succeeded", "Failed"]),
            reason=st.sampled_from(["", "NodeLost", "Evicted"]),
            podIP=names,
            nominatedNodeName=names,
            conditions=st.lists(CONDITIONS, max_size=3) | st.none(),
            containerStatuses=st.lists(STATUSES, max_size=3),
            initContainerStatuses=st.lists(STATUSES, max_size=2),
            hostIP=names,
        ),
    ),
)


@given(MADE)
@settings(max_examples=400)
def test_a_row_says_of_a_pod_what_the_whole_pod_says(document: dict[str, Any]) -> None:
    read = row_reader(PODS, TABLE)(msgspec.json.encode(document))
    assert row(PODS, read, AGE, TABLE) == row(PODS, document, AGE, TABLE)


class Watched(dict[str, Any]):
    """An object that writes down which of its members are looked for."""

    def __init__(self, document: Mapping[str, Any], place: str, seen: set[str]) -> None:
        self._place, self._seen = place, seen
        super().__init__({key: watched(value, f"{place}.{key}", seen) for key, value in document.items()})

    def get(self, key: str, default: Any = None) -> Any:
        self._seen.add(f"{self._place}.{key}")
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self._seen.add(f"{self._place}.{key}")
        return super().__getitem__(key)


def watched(value: Any, place: str, seen: set[str]) -> Any:
    """Return a value that writes down what is looked for in it."""
    if isinstance(value, dict):
        return Watched(value, place, seen)
    return [watched(item, place, seen) for item in value] if isinstance(value, list) else value


def paths(mask: Mapping[str, Any], place: str) -> dict[str, bool]:
    """Return the members that a mask takes, and of each whether all of it is taken."""
    found: dict[str, bool] = {}
    for key, inner in mask.items():
        found[f"{place}.{key}"] = inner is True
        if inner is not True:
            found |= paths(inner, f"{place}.{key}")
    return found


@given(MADE)
@settings(max_examples=400)
def test_no_column_looks_elsewhere(document: dict[str, Any]) -> None:
    seen: set[str] = set()
    row(PODS, watched(document, "", seen), AGE, TABLE)
    taken = paths({"metadata": True, **PODS.printed}, "")
    whole = tuple(f"{place}." for place, all_of_it in taken.items() if all_of_it)
    assert not {place for place in seen if place not in taken and not place.startswith(whole)}


@pytest.mark.parametrize("include", ["Metadata", "None", "Object"])
def test_a_row_carries_as_much_as_is_asked(include: str) -> None:
    stored = json.loads(GOLDEN.read_text())["stored"]
    want = Wanted("table", include)
    read = row_reader(PODS, want)(msgspec.json.encode(stored))
    assert row(PODS, read, AGE, want) == row(PODS, stored, AGE, want)
    carried = {"Metadata": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}, "Object": stored}
    told = row(PODS, read, AGE, want)["object"]
    assert told == ({**carried[include], "metadata": stored["metadata"]} if include != "None" else None)
