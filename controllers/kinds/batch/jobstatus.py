"""What a Job's status may say, and how it may change: most rules hold for what a write changes alone.

Source: pkg/apis/batch/validation (validateJobStatus, ValidateJobStatusUpdate), pkg/registry/batch/job, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.kinds.batch import indexes
from controllers.log.stamps import unix_ms_of
from controllers.registry import fields
from scheduler_core.api.document import Document, at
from scheduler_core.api.errors import Cause

_COUNTS: Final = ("active", "succeeded", "failed", "ready", "terminating")
_LASTING: Final = ("Failed", "Complete", "FailureTarget")
_CONDITIONS: Final = "status.conditions"


class _State:
    """A Job's status as the rules read it."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self.spec: Mapping[str, Any] = job["spec"]
        self.status: Mapping[str, Any] = job.get("status") or {}
        listed = self.status.get("conditions") or ()
        self.true = {one.get("type") for one in listed if one.get("status") == "True"}
        self.false = {one.get("type") for one in listed if one.get("status") == "False"}
        self.complete, self.failed = "Complete" in self.true, "Failed" in self.true
        self.target, self.met = "FailureTarget" in self.true, "SuccessCriteriaMet" in self.true
        self.finished = self.complete or self.failed
        self.completed = self.status.get("completedIndexes") or ""
        uncounted = self.status.get("uncountedTerminatedPods")
        self.uncounted = uncounted and {key: uncounted.get(key) or None for key in ("succeeded", "failed")}

    def count(self, name: str) -> int:
        return int(self.status.get(name) or 0)


def rules(document: Document, before: Mapping[str, Any]) -> list[Cause]:
    """Return what is wrong with a status that is to be stored in the place of another."""
    new, old = _State(document), _State(before)

    def changed(*of: Callable[[_State], Any]) -> bool:
        return any(one(new) != one(old) for one in of)

    causes: list[Cause] = []
    for name in _COUNTS:
        causes += fields.non_negative(f"status.{name}", new.status.get(name))
    causes += _uncounted(new)
    causes += _finished(new, changed)
    causes += _indexes(new, changed)
    if changed(_finished_of, lambda state: state.status.get("terminating")) and new.finished:
        causes += _too_many("terminating", new.status.get("terminating"), "terminating>0 is invalid for finished job")
    ready = new.status.get("ready")
    if changed(lambda state: state.status.get("ready"), _active) and ready is not None and ready > new.count("active"):
        causes.append(fields.bad("status.ready", ready, "cannot set more ready pods than active"))
    return causes + _criteria(new) + _steps(new, old, resumed="Suspended" in old.true and "Suspended" in new.false)


def _finished_of(state: _State) -> bool:
    return state.finished


def _active(state: _State) -> int:
    return state.count("active")


def _completion(state: _State) -> Any:
    return state.status.get("completionTime")


def _start(state: _State) -> Any:
    return state.status.get("startTime")


def _condition(why: str) -> Cause:
    return Cause(_CONDITIONS, f"Invalid value: {why}", "FieldValueInvalid")


def _too_many(name: str, count: Any, why: str) -> list[Cause]:
    return [fields.bad(f"status.{name}", count, why)] if count and count > 0 else []


def _uncounted(new: _State) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for key, uids in (new.uncounted or {}).items():
        for index, uid in enumerate(uids or ()):
            where = f"status.uncountedTerminatedPods.{key}[{index}]"
            if not uid:
                causes.append(fields.bad(where, uid, "must not be empty"))
            elif uid in seen:
                causes.append(fields.duplicate(where, uid))
            seen.add(uid)
    return causes


def _finished(new: _State, changed: Callable[..., bool]) -> list[Cause]:
    """Return what does not go together with the conditions of the end."""
    causes: list[Cause] = []
    completes, fails = changed(lambda state: state.complete), changed(lambda state: state.failed)
    ended, started, done = _completion(new), _start(new), "status.completionTime"
    if (completes or fails) and new.complete and new.failed:
        causes.append(_condition("cannot set Complete=True and Failed=true conditions"))
    if (completes or changed(lambda state: state.target)) and new.complete and new.target:
        causes.append(_condition("cannot set Complete=True and FailureTarget=true conditions"))
    if completes or changed(_completion):
        if ended is not None and not new.complete:
            causes.append(fields.bad(done, ended, "cannot set completionTime when there is no Complete=True condition"))
        if ended is None and new.complete:
            causes.append(fields.required(done, "completionTime is required for Complete jobs"))
    if changed(_start, _completion) and started and ended and unix_ms_of(ended) < unix_ms_of(started):
        causes.append(fields.bad(done, ended, "must be equal to or after `startTime`"))
    if (fails or changed(lambda state: state.status.get("failedIndexes"))) and new.failed and not new.target:
        causes.append(_condition("cannot set Failed=True condition without the FailureTarget=true condition"))
    if (completes or changed(lambda state: state.met)) and new.complete and not new.met:
        causes.append(_condition("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"))
    if not new.finished:
        return causes
    if changed(_finished_of, _active):
        causes += _too_many("active", new.count("active"), "active>0 is invalid for finished job")
    empty = new.spec.get("suspend") is True and new.spec.get("completions") == 0
    if changed(_finished_of, _start) and started is None and not empty:
        causes.append(fields.required("status.startTime", "startTime is required for finished job"))
    if changed(_finished_of, lambda state: state.uncounted) and any((new.uncounted or {}).values()):
        shown = fields.written({key.capitalize(): uids for key, uids in (new.uncounted or {}).items()})
        causes.append(fields.bad("status.uncountedTerminatedPods", shown, "must be empty for finished job"))
    return causes


def _indexes(new: _State, changed: Callable[..., bool]) -> list[Cause]:
    """Return what is wrong with the indexes that are told to be completed or failed."""
    causes: list[Cause] = []
    asked, failed = new.spec.get("completions"), new.status.get("failedIndexes")
    per_index = new.spec.get("backoffLimitPerIndex") is not None
    completes, fails = changed(lambda state: state.completed), changed(lambda state: state.status.get("failedIndexes"))
    at_completed, at_failed = "status.completedIndexes", "status.failedIndexes"
    if completes and asked is not None and (why := indexes.wrong(new.completed, asked)[0]):
        causes.append(fields.bad(at_completed, new.completed, f"error parsing completedIndexes: {why}"))
    if fails and asked is not None and per_index and failed is not None and (why := indexes.wrong(failed, asked)[0]):
        causes.append(fields.bad(at_failed, failed, f"error parsing failedIndexes: {why}"))
    if completes and new.completed and new.spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        causes.append(fields.bad(at_completed, new.completed, why))
    if fails and failed is not None and not per_index:
        causes.append(
            fields.bad(at_failed, failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
        )
    if (completes or fails) and asked is not None and failed is not None:
        both = indexes.read(new.completed, asked) & indexes.read(failed, asked)
        if both:
            why = f"failedIndexes and completedIndexes overlap at index: {min(both)}"
            causes.append(fields.bad(at_failed, failed, why))
    return causes


def _criteria(new: _State) -> list[Cause]:
    causes: list[Cause] = []
    if new.met and new.failed:
        causes.append(_condition("cannot set SuccessCriteriaMet=True and Failed=true conditions"))
    if new.met and new.target:
        causes.append(_condition("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"))
    if at(new.spec, "successPolicy") is not None and not new.met and new.complete:
        why = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        causes.append(_condition(why))
    return causes


def _steps(new: _State, old: _State, *, resumed: bool) -> list[Cause]:
    """Return which steps from one status to the next nobody may take."""
    causes = [
        _condition(f"cannot disable the terminal {name}=True condition")
        for name in _LASTING
        if name in old.true and name not in new.true
    ]
    same = new.spec.get("completions") == new.spec.get("parallelism")
    elastic = new.spec.get("completionMode") == "Indexed" and same
    for name, free in (("failed", False), ("succeeded", elastic)):
        if new.count(name) < old.count(name) and not free:
            causes.append(fields.bad(f"status.{name}", new.count(name), f"cannot decrease the {name} counter"))
    ended, was = _completion(new), _completion(old)
    if ended is not None and was is not None and ended != was:
        causes.append(fields.bad("status.completionTime", ended, "field is immutable"))
    if _start(old) not in (None, _start(new)) and not new.spec.get("suspend") and not resumed:
        causes.append(fields.required("status.startTime", "startTime cannot be removed for unsuspended job"))
    if old.met and not new.met:
        causes.append(_condition("cannot disable the SuccessCriteriaMet=True condition"))
    if old.complete and not old.met and new.met:
        why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        causes.append(_condition(why))
    return causes
