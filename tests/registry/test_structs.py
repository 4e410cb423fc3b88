"""Typed command objects: schema, limits, what is read back, and the page's types follow from one struct each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controllers.registry.checking import check
from controllers.registry.models import clustersim_v1 as api
from controllers.registry.schema import model
from controllers.registry.structs import beyond, fields_of, read

TYPES = (Path(__file__).parents[2] / "static" / "js" / "lib" / "types.d.ts").read_text()


@pytest.mark.parametrize("kind", ["Clock", "Replica", "Queue", "SchedulerConfig", "Flags", "Replay"])
def test_the_schema_follows_from_the_struct(kind: str) -> None:
    struct = getattr(api, kind)
    found = model(f"clustersim_v1.{kind}")
    assert set(found.fields) == {"apiVersion", "kind", "metadata", *(field.wire for field in fields_of(struct))}
    assert found.description.startswith(kind)


def test_types_are_checked_and_unknown_fields_of_a_spec_are_named() -> None:
    document = {"spec": {"paused": "no", "rate": 2, "pace": 1.5, "speed": 3, "step": {"id": "x", "by": 4}}}
    report = check(document, "clustersim_v1.Clock")
    assert [cause.field for cause in report.wrong] == ["spec.paused", "spec.pace", "spec.step.id", "spec.step.by"]
    assert report.unknown == ["spec.speed"]
    assert check({"status": {"anything": 1}}, "clustersim_v1.Clock").unknown == []


@pytest.mark.parametrize(
    ("struct", "spec", "told"),
    [
        (api.ClockSpec, {"rate": 0}, {"spec.rate": "must be between 0.1 and 100"}),
        (api.ClockSpec, {"pace": 60_001}, {"spec.pace": "must be between 0 and 60000"}),
        (api.ClockSpec, {"step": {"by": "leap", "count": -1}}, {"spec.step.by": "leap", "spec.step.count": "10000"}),
        (
            api.ReplicaSpec,
            {"fault": {"kind": "explode", "rate": 0}},
            {"spec.fault.kind": "", "spec.fault.rate": "0.01"},
        ),
        (api.ReplicaSpec, {"verdict": {"verdict": "maybe"}}, {"spec.verdict.verdict": "maybe"}),
        (api.ReplaySpec, {"divisor": 0}, {"spec.divisor": "must be greater than 0"}),
        (api.ClockSpec, {"rate": 0.1, "pace": 60_000, "step": {"by": "point", "count": 10_000}}, {}),
    ],
)
def test_limits_follow_from_the_struct(
    struct: type[msgspec.Struct], spec: dict[str, Any], told: dict[str, str]
) -> None:
    causes = {cause.field: cause.message for cause in beyond(spec, struct, "spec")}
    assert set(causes) == set(told)
    for field, words in told.items():
        assert words in causes[field]


def test_what_is_not_as_it_should_be_counts_as_absent() -> None:
    broken = {"rate": 3, "pace": "slow", "stepId": -1, "paused": 4, "simTimeMs": 7, "more": 1}
    assert read(broken, api.ClockStatus) == api.ClockStatus(rate=3, sim_time_ms=7)
    assert read({"fault": {"id": "x", "kind": "crash"}}, api.ReplicaSpec).fault == api.Fault(kind="crash")
    for value in (None, "x", 3, [1], {}):
        assert read(value, api.ReplicaStatus) == api.ReplicaStatus()  # type: ignore[arg-type]


def _interface(name: str, inside: str = "") -> dict[str, str]:
    """Return field → type of an interface in types.d.ts, or of the object that one of its fields holds."""
    start = TYPES.index(f"export interface {name} ")
    body = TYPES[start : TYPES.index("\n}", start)]
    if inside:
        at = re.search(rf"^  {inside}\??: {{$", body, re.MULTILINE)
        assert at is not None, (name, inside)
        body = body[at.end() : body.index("\n  };", at.end())]
    depth = "    " if inside else "  "
    return {found[1]: found[2] for found in re.finditer(rf"^{depth}(\w+)\??: (.+?);$", body, re.MULTILINE)}


_OF_PYTHON = {bool: "boolean", int: "number", float: "number", str: "string"}


@pytest.mark.parametrize(
    ("struct", "name", "inside", "besides"),
    [
        (api.ClockStatus, "Clock", "", {"hibernated"}),
        (api.ReplicaStatus, "ReplicaSlim", "status", set()),
        (api.QueueStatus, "QueueStatus", "", set()),
        (api.Cycle, "Cycle", "", {"dueAtMs", "profile", "era", "scoreMax", "trace", "calls", "node", "input"}),
    ],
)
def test_the_page_knows_these_fields_alone_and_by_the_same_types(
    struct: type[msgspec.Struct], name: str, inside: str, besides: set[str]
) -> None:
    known = {field.wire: field for field in fields_of(struct)}
    for wire, text in _interface(name, inside).items():
        if wire in besides:
            continue
        assert wire in known, f"types.d.ts has {name}.{wire}, which no owner writes"
        simple = _OF_PYTHON.get(known[wire].type)
        if simple == "string":
            assert text == "string" or '"' in text or text == "Point", (wire, text)
        elif simple is not None:
            assert text.removesuffix(" | null") == simple, (wire, text)


def test_the_page_asks_for_faults_that_there_are() -> None:
    asked = re.search(r'type: "fault"; identity: string; kind: ([^}]+)}', TYPES)
    assert asked is not None
    kinds = set(re.findall(r'"([\w-]+)"', asked[1]))
    options = next(field.options for field in fields_of(api.Fault) if field.name == "kind")
    assert kinds <= set(options)
