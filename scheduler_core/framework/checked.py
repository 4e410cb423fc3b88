"""Plugins of others, held to what the extension points promise: a wrong answer is an exception where it is given.

The framework takes in-tree plugins at their word, which tests and types hold them to. A plugin that is installed may
answer with anything; here it is told what it should have answered, before that reaches a place that cannot know whose
fault it is. The exception becomes the plugin's answer, Error.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.asks import Ask, Reply
from scheduler_core.framework.events import EventRegistration
from scheduler_core.framework.guarded import WrongAnswerError
from scheduler_core.framework.interface import Plugin, PostFilterResult, PreFilterResult
from scheduler_core.framework.status import Code, Status
from scheduler_core.framework.verdicts import Verdicts

_VERDICTS: Final = (Code.SUCCESS, Code.ERROR, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


class CheckedPlugin:
    """Stands for a plugin: has all that it has, with answers looked at."""

    def __init__(self, plugin: Plugin) -> None:
        """Stand for a plugin.

        Raises:
            TypeError: it cannot say which events help its pods.
        """
        self._plugin = plugin
        # Whoever promises that its scores are within the range is looked after all the same.
        self.score_ranged = False
        for method, check in _CHECKS.items():
            ask = getattr(plugin, method, None)
            if ask is not None:
                setattr(self, method, check(ask))
        registered: Any = getattr(plugin, "events_to_register", tuple)()
        if not isinstance(registered, list | tuple) or not all(
            isinstance(one, EventRegistration) for one in registered
        ):
            raise TypeError(f"events_to_register must return a list of EventRegistration, not {registered!r}")

    def __getattr__(self, name: str) -> Any:
        # Only what is not set above comes here.
        return getattr(self._plugin, name)


def _is_status(value: Any) -> bool:
    return (
        isinstance(value, Status)
        and isinstance(value.code, Code)
        and all(isinstance(one, str) for one in value.reasons)
    )


def _status(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asked(*arguments: Any) -> Any:
        answer = ask(*arguments)
        if not _is_status(answer):
            raise _wrong(ask, "a Status", answer)
        return answer

    return asked


def _pair(kind: type, what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the check of a pair of something or None, and a Status."""

    def check(ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*arguments: Any) -> Any:
            answer = ask(*arguments)
            if not _is_pair(answer, kind):
                raise _wrong(ask, f"({what} or None, Status)", answer)
            return answer

        return asked

    return check


def _is_pair(answer: Any, kind: type) -> bool:
    pair = isinstance(answer, tuple) and len(answer) == 2
    return pair and (answer[0] is None or isinstance(answer[0], kind)) and _is_status(answer[1])


def _filter(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asked(state: Any, pod: Any, snapshot: Any, rows: Any) -> Any:
        answer, count = ask(state, pod, snapshot, rows), snapshot.count(rows)
        if not isinstance(answer, Verdicts):
            raise _wrong(ask, "Verdicts", answer)
        codes, keys = _whole(ask, answer.codes, count), _whole(ask, answer.keys, count)
        if not np.isin(codes, _VERDICTS).all():
            raise _wrong(ask, "codes of Success, Error, Unschedulable or UnschedulableAndUnresolvable", codes.tolist())
        reasons: dict[int, tuple[str, ...]] = {}
        for key in np.unique(keys[codes != 0]).tolist():
            reasons[key] = tuple(answer.explain(key))
            if not all(isinstance(one, str) for one in reasons[key]):
                raise _wrong(ask, "reasons that are texts", reasons[key])
        return Verdicts(codes.astype(np.int8), keys, lambda key: reasons[key])

    return asked


def _score(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asked(state: Any, pod: Any, snapshot: Any, rows: Any) -> Any:
        return _whole(ask, ask(state, pod, snapshot, rows), snapshot.count(rows))

    return asked


def _normalize(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asked(state: Any, pod: Any, scores: Any) -> Any:
        return _whole(ask, ask(state, pod, scores.copy()), len(scores))

    return asked


def _whole(ask: Callable[..., Any], answer: Any, count: int) -> NDArray[np.int64]:
    """Return an array of so many whole numbers."""
    array = np.asarray(answer)
    if array.shape != (count,) or array.dtype.kind not in "iub":
        raise _wrong(ask, f"{count} whole numbers, one a row", answer)
    return array.astype(np.int64)


def _permit(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asked(*arguments: Any) -> Any:
        answer = ask(*arguments)
        pair = isinstance(answer, tuple) and len(answer) == 2
        if not pair or not _is_status(answer[0]) or not isinstance(answer[1], int) or answer[1] < 0:
            raise _wrong(ask, "(Status, milliseconds)", answer)
        return answer

    return asked


def _asks_of(ask: Callable[..., Any], steps: Generator[Any, Reply, Any]) -> Generator[Ask, Reply, Any]:
    """Hand on what steps ask of the loop, and only that: nobody could answer anything else."""
    try:
        asked = next(steps)
        while True:
            if not isinstance(asked, Ask):
                raise _wrong(ask, "asks (scheduler_core.framework.asks)", asked, "yield")
            asked = steps.send((yield asked))
    except StopIteration as stop:
        return stop.value


def _steps(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asked(*arguments: Any) -> Any:
        answer = yield from _asks_of(ask, ask(*arguments))
        if not _is_status(answer):
            raise _wrong(ask, "a Status, as a generator", answer)
        return answer

    return asked


def _post_filter(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asked(*arguments: Any) -> Any:
        answer = ask(*arguments)
        if not isinstance(answer, tuple):
            answer = yield from _asks_of(ask, answer)
        if not _is_pair(answer, PostFilterResult):
            raise _wrong(ask, "(PostFilterResult or None, Status)", answer)
        return answer

    return asked


def _wrong(ask: Callable[..., Any], wanted: str, answer: Any, verb: str = "return") -> WrongAnswerError:
    return WrongAnswerError(f"{getattr(ask, '__name__', 'it')} must {verb} {wanted}, not {answer!r:.200}")


_CHECKS: Final[Mapping[str, Callable[[Callable[..., Any]], Callable[..., Any]]]] = {
    "pre_enqueue": _status,
    "pre_filter": _pair(PreFilterResult, "PreFilterResult"),
    "add_pod": _status,
    "remove_pod": _status,
    "filter": _filter,
    "post_filter": _post_filter,
    "pre_score": _status,
    "score": _score,
    "normalize": _normalize,
    "reserve": _status,
    "permit": _permit,
    "pre_bind": _steps,
    "bind": _steps,
}
