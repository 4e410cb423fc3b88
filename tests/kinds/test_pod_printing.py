"""What the table of pods says: one row a state that upstream's printer tells apart."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.core.pod.printing import (
    gates_cell,
    printed,
    ready_cell,
    restarts_cell,
    row_conditions,
    status_cell,
)

WAITING = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}
RUNNING = {"state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, "ready": True}
DONE = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
FAILED = {"state": {"terminated": {"exitCode": 3}}}
SIGNALLED = {"state": {"terminated": {"exitCode": 137, "signal": 9}}}


def pod(
    main: dict[str, Any] | None = None,
    *,
    init: list[dict[str, Any]] | None = None,
    sidecar: bool = False,
    phase: str = "Running",
    true: tuple[str, ...] = (),
    **status: Any,
) -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "main"}, {"name": "side"}]}
    if init is not None:
        spec["initContainers"] = [
            {"name": f"i{index}", **({"restartPolicy": "Always"} if sidecar else {})} for index in range(len(init))
        ]
        status["initContainerStatuses"] = [{"name": f"i{index}", **entry} for index, entry in enumerate(init)]
    if main is not None:
        status["containerStatuses"] = [{"name": "main", **main}]
    status["conditions"] = [{"type": name, "status": "True"} for name in true] + status.pop("conditions", [])
    return {"metadata": {"name": "web"}, "spec": spec, "status": {"phase": phase, **status}}


@pytest.mark.parametrize(
    ("document", "ready", "word"),
    [
        (pod(phase="Pending"), "0/2", "Pending"),
        (pod(phase="Failed", reason="Evicted"), "0/2", "Evicted"),
        (pod(RUNNING), "1/2", "Running"),
        (pod(WAITING), "0/2", "CrashLoopBackOff"),
        (pod(FAILED), "0/2", "ExitCode:3"),
        (pod(SIGNALLED), "0/2", "Signal:9"),
        (pod(DONE, phase="Succeeded"), "0/2", "Completed"),
        (pod(init=[WAITING], phase="Pending"), "0/2", "Init:CrashLoopBackOff"),
        (pod(init=[FAILED], phase="Pending"), "0/2", "Init:ExitCode:3"),
        (pod(init=[SIGNALLED], phase="Pending"), "0/2", "Init:Signal:9"),
        (pod(init=[DONE, RUNNING], phase="Pending"), "0/2", "Init:1/2"),
        (pod(init=[DONE, {"state": {"waiting": {"reason": "PodInitializing"}}}], phase="Pending"), "0/2", "Init:1/2"),
        (pod(RUNNING, init=[DONE]), "1/2", "Running"),
        (pod(RUNNING, init=[{**RUNNING, "started": True}], sidecar=True), "2/3", "Running"),
        (pod(RUNNING, init=[{**RUNNING, "started": False}], sidecar=True), "0/3", "Init:0/1"),
        (pod(RUNNING, init=[FAILED], true=("Initialized",)), "1/2", "Init:ExitCode:3"),
        (
            pod(phase="Pending", conditions=[{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]),
            "0/2",
            "SchedulingGated",
        ),
    ],
)
def test_each_state_has_its_word(document: dict[str, Any], ready: str, word: str) -> None:
    assert (ready_cell(printed(document), None), status_cell(printed(document), None)) == (ready, word)


@pytest.mark.parametrize(("true", "word"), [(("Ready",), "Running"), ((), "NotReady")])
def test_a_pod_of_which_a_part_goes_on_is_not_completed(true: tuple[str, ...], word: str) -> None:
    document = pod(DONE, true=true)
    document["status"]["containerStatuses"].append({"name": "side", **RUNNING})
    assert (ready_cell(printed(document), None), status_cell(printed(document), None)) == ("1/2", word)


@pytest.mark.parametrize(
    ("document", "word"),
    [
        (pod(RUNNING), "Terminating"),
        (pod(RUNNING, reason="NodeLost"), "Unknown"),
        (pod(DONE, phase="Succeeded"), "Completed"),
    ],
)
def test_a_deleted_pod_ends(document: dict[str, Any], word: str) -> None:
    document["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert printed(document).word == word


def test_restarts_say_when_the_last_was() -> None:
    ended = {"lastState": {"terminated": {"finishedAt": "2026-01-01T00:00:00Z"}}, "restartCount": 2}
    later = {"lastState": {"terminated": {"finishedAt": "2026-01-01T00:01:00Z"}}, "restartCount": 1, "started": True}

    def cell(document: dict[str, Any]) -> str:
        return restarts_cell(printed(document), lambda stamp: f"since {stamp}")

    assert cell(pod(RUNNING)) == "0"
    assert cell(pod({**RUNNING, **ended})) == "2 (since 2026-01-01T00:00:00Z ago)"
    assert cell(pod({**RUNNING, **ended}, init=[{**RUNNING, **later}], sidecar=True)) == (
        "3 (since 2026-01-01T00:01:00Z ago)"
    )
    # What init containers needed until they were done no longer counts.
    assert cell(pod({**RUNNING, **ended}, init=[{**DONE, "restartCount": 7}])) == "2 (since 2026-01-01T00:00:00Z ago)"
    assert cell(pod(init=[{**WAITING, "restartCount": 7}], phase="Pending")) == "7"


def test_gates_count_conditions_that_are_true() -> None:
    document = pod(RUNNING, true=("a",))
    assert gates_cell(document, None) == "<none>"
    document["spec"]["readinessGates"] = [{"conditionType": "a"}, {"conditionType": "b"}]
    assert gates_cell(document, None) == "1/2"


def test_a_row_says_that_its_pod_has_ended() -> None:
    assert row_conditions(pod(RUNNING)) is None
    for phase in ("Succeeded", "Failed"):
        (condition,) = row_conditions(pod(phase=phase)) or []
        assert (condition["type"], condition["reason"]) == ("Completed", phase)
