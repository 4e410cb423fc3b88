"""Recorded decisions of kube-scheduler v1.34.1, answered by the oracle."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.oracle import answer, main
from tests.conformance.comparer import differences, same

HERE = Path(__file__).parent / "data"
WHOLE = Path(__file__).parents[3] / "shared" / "conformance"
TOPICS = (
    "resources",
    "taints",
    "nodeaffinity",
    "ports",
    "images",
    "podaffinity",
    "spread",
    "volumes",
    "preemption",
    "mixed",
    "config",
    "sequence",
    "hard",
)


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.strip()]


def _disagreements(folder: Path, topic: str) -> list[str]:
    cases = _lines(folder / f"{topic}.cases.jsonl.gz")
    recorded = _lines(folder / f"{topic}.expected.jsonl.gz")
    assert [case["id"] for case in cases] == [one["id"] for one in recorded]
    found = []
    for case, want in zip(cases, recorded, strict=True):
        # Through JSON, as a reader of the oracle's output gets it.
        got = json.loads(json.dumps(answer(case)))
        found += [
            f"{case['id']} {path}: recorded {one}, answered {two}"
            for path, one, two in differences(want, got, skips=True)
        ]
    return found


RECORDINGS = [HERE, WHOLE] if WHOLE.is_dir() else [HERE]
"""The kept part; and the whole recording where it lies beside the project."""


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: folder.name)
def test_agrees_with_each_recorded_topic(folder: Path, topic: str) -> None:
    assert _disagreements(folder, topic)[:5] == []


def test_reads_and_writes_one_line_a_case() -> None:
    cases = _lines(HERE / "ports.cases.jsonl.gz")[:3]
    source, target = io.StringIO("\n".join(json.dumps(case) for case in cases) + "\n\n"), io.StringIO()
    main(source, target)
    answers = [json.loads(line) for line in target.getvalue().splitlines()]
    assert [one["id"] for one in answers] == [case["id"] for case in cases]
    assert answers[0] == json.loads(json.dumps(answer(cases[0])))


def test_a_case_that_cannot_be_read_is_answered_with_the_reason() -> None:
    broken = {"id": "x", "objects": {"nodes": []}, "pod": {"spec": {"containers": 7}}}
    got = answer(broken)
    assert got["result"] == "error"
    assert "containers" in got["fitError"]


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (None, [], True),
        ("", {}, True),
        (0, None, False),
        (1, 1.0, False),
        (1, True, False),
        ([1, 2], [2, 1], False),
        ({"a": None}, {}, True),
    ],
)
def test_strictness(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal


def test_a_changed_score_is_noticed() -> None:
    want = _lines(HERE / "images.expected.jsonl.gz")[0]
    got = json.loads(json.dumps(want))
    got["scores"]["plugins"]["ImageLocality"]["weighted"][0] += 1
    node = want["scores"]["nodes"][0]
    assert [path for path, _, _ in differences(want, got, skips=True)] == [f"scores.ImageLocality.weighted[{node}]"]
