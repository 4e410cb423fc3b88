"""Command objects of clustersim.io: what is asked of the session's engine, and what it has made of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields
from controllers.registry.strategy import Column, Lookup, Strategy, at, child
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.profiles.era import below
from scheduler_core.profiles.eras import read_spec

RATE_MIN: Final = 0.1
RATE_MAX: Final = 100.0
"""Simulated seconds per real second: slower shows nothing more, faster no worker keeps up with."""

PACE_MAX_MS: Final = 60_000
"""Simulated milliseconds at one extension point; a minute is longer than anybody waits."""

STEP_COUNT_MAX: Final = 10_000
"""Steps of one request: the owner answers within seconds."""

STEPS: Final = ("cycle", "event", "point", "seconds")
VERDICTS: Final = ("allow", "reject")
FAULTS: Final = ("crash", "partition", "rate", "recover", "skew")


def _spec(document: dict[str, Any]) -> None:
    child(document, "spec")


def _clock(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes: list[Cause] = []
    rate, pace = spec.get("rate"), spec.get("pace")
    if rate is not None and not RATE_MIN <= rate <= RATE_MAX:
        causes.append(fields.bad("spec.rate", rate, f"must be between {RATE_MIN} and {RATE_MAX:g}"))
    if pace is not None and not 0 <= pace <= PACE_MAX_MS:
        causes.append(fields.bad("spec.pace", pace, f"must be between 0 and {PACE_MAX_MS}"))
    step = spec.get("step")
    if step is not None:
        causes += fields.one_of("spec.step.by", step.get("by"), STEPS)
        count = step.get("count")
        if count is not None and not 0 <= count <= STEP_COUNT_MAX:
            causes.append(fields.bad("spec.step.count", count, f"must be between 0 and {STEP_COUNT_MAX}"))
    return causes


def _replica(document: dict[str, Any]) -> list[Cause]:
    fault, verdict = document["spec"].get("fault") or {}, document["spec"].get("verdict") or {}
    causes = fields.one_of("spec.fault.kind", fault.get("kind"), FAULTS)
    return causes + fields.one_of("spec.verdict.verdict", verdict.get("verdict"), VERDICTS)


def _scheduler(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    try:
        read_spec(document["spec"], lookup.plugins)
    except ApiError as wrong:
        return list(below(wrong, "spec").causes)
    return []


def _replay(document: dict[str, Any]) -> list[Cause]:
    divisor = document["spec"].get("divisor")
    return [] if divisor is None or divisor > 0 else [fields.bad("spec.divisor", divisor, "must be greater than 0")]


def _show(*path: str) -> Callable[[Mapping[str, Any], Any], str]:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        value = at(document, *path)
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)

    return cell


CLOCK: Final = Strategy(
    defaults=_spec,
    validate=_clock,
    generation=True,
    columns=(
        NAME,
        Column("Paused", "string", "Whether time stands.", _show("status", "paused")),
        Column("Rate", "string", "Simulated seconds per real second.", _show("status", "rate")),
        Column("Pace", "string", "Milliseconds at each extension point.", _show("status", "pace")),
        Column("Time", "string", "Simulated milliseconds so far.", _show("status", "simTimeMs")),
        AGE,
    ),
)
REPLICA: Final = Strategy(
    defaults=_spec,
    validate=_replica,
    generation=True,
    columns=(
        NAME,
        Column("Component", "string", "What it is a replica of.", _show("spec", "component")),
        Column("State", "string", "Running or Crashed.", _show("status", "state")),
        Column("Leading", "string", "Whether it holds the lease.", _show("status", "leading")),
        AGE,
    ),
)
QUEUE: Final = Strategy(
    generation=True,
    columns=(
        NAME,
        Column("Active", "string", "Pods ready to be scheduled.", _show("status", "counts", "active")),
        Column("Backoff", "string", "Pods waiting out a penalty.", _show("status", "counts", "backoff")),
        Column("Unschedulable", "string", "Pods waiting for a change.", _show("status", "counts", "unschedulable")),
        AGE,
    ),
)
SCHEDULER_CONFIG: Final = Strategy(
    defaults=_spec,
    admit=_scheduler,
    admit_update=lambda new, old, lookup: _scheduler(new, lookup),
    generation=True,
    columns=(NAME, Column("Era", "string", "Which scheduler it is.", _show("spec", "era")), AGE),
)
REPLAY: Final = Strategy(
    defaults=_spec,
    validate=_replay,
    generation=True,
    columns=(
        NAME,
        Column("Created", "string", "Objects created so far.", _show("status", "created")),
        Column("Total", "string", "Objects in the trace.", _show("status", "total")),
        Column("Done", "string", "Whether it is over.", _show("status", "done")),
        AGE,
    ),
)
