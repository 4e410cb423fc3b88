"""Asking plugins: whatever one raises is its answer, Error; timed where the cycle's plugins are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_core.framework.cycle_state import CycleState, Timing
from scheduler_core.framework.interface import PostFilterPlugin, PostFilterResult, PostFilterSteps, Steps
from scheduler_core.framework.status import SUCCESS, Status, error
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.snapshot.node_info import PodInfo


class WrongAnswerError(TypeError):
    """A plugin has answered with something that its extension point does not know; no node is to blame."""


def asked(timing: Timing | None, plugin: str, point: str, ask: Callable[..., Status], *arguments: Any) -> Status:
    """Return a plugin's answer, Error where it raised; timed where the cycle's plugins are."""
    if timing is None:
        try:
            return ask(*arguments)
        except Exception as raised:
            return error(str(raised))
    began = timing.timer()
    try:
        status = ask(*arguments)
    except Exception as raised:
        status = error(str(raised))
    timing.note(plugin, point, status.code, began)
    return status


def asked_pair(
    timing: Timing | None, plugin: str, point: str, ask: Callable[..., tuple[Any, Status]], *arguments: Any
) -> tuple[Any, Status]:
    """Return a plugin's answer as `_asked` does, with what it gave beside the status."""
    if timing is None:
        try:
            return ask(*arguments)
        except Exception as raised:
            return None, error(str(raised))
    began = timing.timer()
    try:
        given, status = ask(*arguments)
    except Exception as raised:
        given, status = None, error(str(raised))
    timing.note(plugin, point, status.code, began)
    return given, status


def told(timing: Timing | None, plugin: str, point: str, tell: Callable[..., None], *arguments: Any) -> None:
    """Tell a plugin of something that cannot fail any more: what it raises is counted, and otherwise lost."""

    def ask(*given: Any) -> Status:
        tell(*given)
        return SUCCESS

    asked(timing, plugin, point, ask, *arguments)


def waited(timing: Timing | None, plugin: str, point: str, ask: Callable[..., Steps], *arguments: Any) -> Steps:
    """Run the steps of a plugin that waits for the loop: Error where it raised; timed where the cycle's plugins are."""
    began = 0 if timing is None else timing.timer()
    try:
        status = yield from ask(*arguments)
    except Exception as raised:
        status = error(str(raised))
    if timing is not None:
        timing.note(plugin, point, status.code, began)
    return status


def post_filtered(
    timing: Timing | None, plugin: PostFilterPlugin, state: CycleState, pod: PodInfo, outcome: FilterOutcome
) -> PostFilterSteps:
    """Return PostFilter's answer as `_asked_pair` does, of a plugin that may wait for the loop."""
    began = 0 if timing is None else timing.timer()
    result: PostFilterResult | None = None
    try:
        answer = plugin.post_filter(state, pod, outcome)
        result, status = answer if isinstance(answer, tuple) else (yield from answer)
    except Exception as raised:
        status = error(str(raised))
    if timing is not None:
        timing.note(plugin.name, "PostFilter", status.code, began)
    return result, status
