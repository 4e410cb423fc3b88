"""Plugins of others are held to what they must answer; what they answer wrongly is their Error, in words for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scheduler_core.framework.asks import Reply, Sleep
from scheduler_core.framework.checked import CheckedPlugin
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import EXTENSION_POINTS, PreFilterResult, Reads
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from tests.core.objects import info, node, pod

ONE = pod("p")
SNAPSHOT = Snapshot([info(node("a")), info(node("b"))])
ROWS = (CycleState(), ONE, SNAPSHOT, ALL_ROWS)
CHOSEN = (CycleState(), ONE, "a")


def plugin(**methods: Any) -> Any:
    """Return a checked plugin with methods that return these values, or are these functions."""
    made = {
        name: (lambda self, *arguments, _given=given: _given(*arguments) if callable(_given) else _given)
        for name, given in methods.items()
    }
    return CheckedPlugin(type("Mine", (), {"name": "Mine", "filter_reads": Reads.NODE, **made})())


def verdicts(codes: Any, keys: Any = None, explain: Callable[[int], Any] = lambda key: ("no",)) -> Verdicts:
    array = np.array(codes)
    return Verdicts(array, np.zeros(len(array), dtype=np.int64) if keys is None else np.array(keys), explain)


@pytest.mark.parametrize(
    ("method", "answer", "arguments"),
    [
        ("pre_enqueue", SUCCESS, (ONE,)),
        ("pre_filter", (None, SUCCESS), (CycleState(), ONE, SNAPSHOT)),
        ("pre_filter", (PreFilterResult(frozenset({"a"})), SUCCESS), (CycleState(), ONE, SNAPSHOT)),
        ("pre_score", Status(Code.SKIP), ROWS),
        ("reserve", Status(Code.UNSCHEDULABLE, ("taken",)), CHOSEN),
        ("permit", (Status(Code.WAIT), 5), CHOSEN),
    ],
)
def test_what_is_right_passes(method: str, answer: Any, arguments: tuple[Any, ...]) -> None:
    assert getattr(plugin(**{method: answer}), method)(*arguments) == answer


def test_arrays_pass_as_the_framework_wants_them() -> None:
    refused = single_reason(np.array([True, False]), Code.UNSCHEDULABLE, "no")
    answered = plugin(filter=refused).filter(*ROWS)
    assert (answered.codes.tolist(), answered.codes.dtype) == ([2, 0], np.int8)
    assert answered.status(0).reasons == ("no",)
    assert plugin(score=[3, 4]).score(*ROWS).tolist() == [3, 4]
    assert plugin(normalize=np.array([True, False])).normalize(CycleState(), ONE, np.array([1, 2])).tolist() == [1, 0]


def test_it_stands_for_the_plugin() -> None:
    checked = plugin(score=[1, 2], colour="red")
    assert (checked.name, checked.filter_reads, checked.colour()) == ("Mine", Reads.NODE, "red")
    points = [point for point, protocol in EXTENSION_POINTS.items() if isinstance(checked, protocol)]
    assert points == ["score"]
    assert checked.score_ranged is False
    with pytest.raises(AttributeError):
        _ = checked.permit


def test_normalize_cannot_change_what_it_is_given() -> None:
    def spoil(state: Any, one: Any, scores: Any) -> Any:
        scores[:] = 9
        return scores

    given = np.array([1, 2])
    plugin(normalize=spoil).normalize(CycleState(), ONE, given)
    assert given.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("method", "answer", "arguments", "text"),
    [
        ("pre_enqueue", None, (ONE,), "must return a Status, not None"),
        ("pre_enqueue", Status(2), (ONE,), "must return a Status"),  # type: ignore[arg-type]
        ("reserve", Status(Code.UNSCHEDULABLE, (7,)), CHOSEN, "must return a Status"),  # type: ignore[arg-type]
        ("pre_filter", SUCCESS, (CycleState(), ONE, SNAPSHOT), r"\(PreFilterResult or None, Status\)"),
        ("pre_filter", (["a"], SUCCESS), (CycleState(), ONE, SNAPSHOT), "PreFilterResult or None"),
        ("pre_score", True, ROWS, "must return a Status, not True"),
        ("filter", None, ROWS, "must return Verdicts, not None"),
        ("filter", verdicts([0]), ROWS, "2 whole numbers"),
        ("filter", verdicts([[0, 0], [0, 0]]), ROWS, "2 whole numbers"),
        ("filter", verdicts([0.0, 2.0]), ROWS, "2 whole numbers"),
        ("filter", verdicts([0, 5]), ROWS, "codes of Success, Error"),
        ("filter", verdicts([0, 2], [0]), ROWS, "2 whole numbers"),
        ("filter", verdicts([0, 2], explain=lambda key: [7]), ROWS, "reasons that are texts"),
        ("score", None, ROWS, "2 whole numbers"),
        ("score", [0.5, 1.0], ROWS, "2 whole numbers"),
        ("score", [1, 2, 3], ROWS, "2 whole numbers"),
        ("normalize", [1], (CycleState(), ONE, np.array([1, 2])), "2 whole numbers"),
        ("permit", SUCCESS, CHOSEN, r"\(Status, milliseconds\)"),
        ("permit", (Status(Code.WAIT), "1s"), CHOSEN, "milliseconds"),
        ("permit", (Status(Code.WAIT), -1), CHOSEN, "milliseconds"),
        ("add_pod", None, (CycleState(), ONE, ONE, SNAPSHOT, 0), "must return a Status"),
    ],
)
def test_what_is_wrong_is_said(method: str, answer: Any, arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        getattr(plugin(**{method: answer}), method)(*arguments)


@pytest.mark.parametrize(
    ("method", "arguments", "text"),
    [
        ("pre_bind", CHOSEN, "must return a Status, as a generator"),
        ("bind", CHOSEN, "must return a Status, as a generator"),
        ("post_filter", (CycleState(), ONE, None), "PostFilterResult or None"),
    ],
)
def test_what_a_generator_returns_is_looked_at_too(method: str, arguments: tuple[Any, ...], text: str) -> None:
    told = Reply(value="told")

    def answering(*given: Any) -> Any:
        assert (yield Sleep(5)) == told
        return 7

    steps = getattr(plugin(**{method: answering}), method)(*arguments)
    assert next(steps) == Sleep(5)
    with pytest.raises(TypeError, match=text):
        steps.send(told)


@pytest.mark.parametrize("method", ["pre_bind", "bind", "post_filter"])
def test_what_a_generator_yields_must_be_an_ask(method: str) -> None:
    def asking(*given: Any) -> Any:
        yield "please"

    arguments = CHOSEN if method != "post_filter" else (CycleState(), ONE, None)
    steps = getattr(plugin(**{method: asking}), method)(*arguments)
    with pytest.raises(TypeError, match=r"must yield asks .*, not 'please'"):
        next(steps)


@pytest.mark.parametrize("answer", [None, 7, [7]])
def test_events_are_looked_at_once(answer: Any) -> None:
    with pytest.raises(TypeError, match="list of EventRegistration"):
        plugin(events_to_register=answer)
