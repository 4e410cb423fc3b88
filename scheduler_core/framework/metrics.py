"""What a scheduler counts and times, in the metric families of kube-scheduler 1.34 (`pkg/scheduler/metrics`).

A `Metrics` is a value that records; it knows no clock. Whoever drives the scheduler hands a timer in if durations are
wanted; without one, counters and what is measured in simulated time are recorded, and nothing else. Durations are real
seconds, waits at Permit are simulated seconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from scheduler_core.framework.status import Code

PLUGIN_SAMPLE_EVERY: Final = 10
"""One attempt in this many has the durations of single plugins recorded, as upstream samples 10 % of them; which, the
number of the attempt decides."""


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Return upper bounds of `count` buckets, each `factor` times the one before."""
    return tuple(start * factor**index for index in range(count))


@dataclass(frozen=True, slots=True)
class Family:
    """One metric family; a histogram has upper bounds of its buckets, the last one (+Inf) left out."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


SCHEDULE_ATTEMPTS: Final = Family(
    "scheduler_schedule_attempts_total",
    "counter",
    "Attempts to schedule pods by result: scheduled, unschedulable (no node), error (something broke).",
    ("result", "profile"),
)
POD_ATTEMPTS: Final = Family(
    "scheduler_pod_scheduling_attempts",
    "histogram",
    "Attempts that it took to schedule a pod.",
    (),
    exponential(1, 2, 5),
)
PREEMPTION_ATTEMPTS: Final = Family(
    "scheduler_preemption_attempts_total", "counter", "Attempts to make room by preemption."
)
PREEMPTION_VICTIMS: Final = Family(
    "scheduler_preemption_victims", "histogram", "Victims of one preemption.", (), exponential(1, 2, 7)
)
PENDING_PODS: Final = Family(
    "scheduler_pending_pods", "gauge", "Pods that wait: active, backoff, unschedulable or gated.", ("queue",)
)
INCOMING_PODS: Final = Family(
    "scheduler_queue_incoming_pods_total",
    "counter",
    "Pods that came into a lane of the queue, by lane and by the event that moved them.",
    ("queue", "event"),
)
EXTENSION_POINT: Final = Family(
    "scheduler_framework_extension_point_duration_seconds",
    "histogram",
    "Real seconds of all plugins of an extension point.",
    ("extension_point", "status", "profile"),
    exponential(0.0001, 2, 12),
)
PLUGIN_EXECUTION: Final = Family(
    "scheduler_plugin_execution_duration_seconds",
    "histogram",
    "Real seconds of one plugin at an extension point; at Filter and Score one call answers for many nodes.",
    ("plugin", "extension_point", "status"),
    exponential(0.00001, 1.5, 20),
)
PERMIT_WAIT: Final = Family(
    "scheduler_permit_wait_duration_seconds",
    "histogram",
    "Simulated seconds that pods waited at Permit.",
    ("result",),
    exponential(0.001, 2, 15),
)

FAMILIES: Final[tuple[Family, ...]] = (
    SCHEDULE_ATTEMPTS,
    POD_ATTEMPTS,
    PREEMPTION_ATTEMPTS,
    PREEMPTION_VICTIMS,
    PENDING_PODS,
    INCOMING_PODS,
    EXTENSION_POINT,
    PLUGIN_EXECUTION,
    PERMIT_WAIT,
)
"""Every family, in the order in which they are shown."""

Labels = tuple[str, ...]


@dataclass(slots=True)
class Distribution:
    """Observations of a histogram: how many fell into each bucket (the last is +Inf's), and their sum."""

    counts: list[int]
    total: float = 0.0

    @property
    def count(self) -> int:
        """Return how many were observed."""
        return sum(self.counts)


@dataclass(slots=True)
class Metrics:
    """What one scheduler has recorded since it started.

    Attributes:
        timer: returns nanoseconds of a clock that only grows; None: durations are not recorded.
        values: family → labels → value, of counters and gauges.
        distributions: family → labels → observations.
    """

    timer: Callable[[], int] | None = None
    values: dict[Family, dict[Labels, float]] = field(default_factory=dict)
    distributions: dict[Family, dict[Labels, Distribution]] = field(default_factory=dict)
    _attempts: int = 0

    def count(self, family: Family, *labels: str, by: int = 1) -> None:
        """Add to a counter."""
        known = self.values.setdefault(family, {})
        known[labels] = known.get(labels, 0) + by

    def put(self, family: Family, value: float, *labels: str) -> None:
        """Set a gauge."""
        self.values.setdefault(family, {})[labels] = value

    def observe(self, family: Family, value: float, *labels: str) -> None:
        """Add an observation to a histogram."""
        known = self.distributions.setdefault(family, {})
        found = known.get(labels)
        if found is None:
            found = known[labels] = Distribution([0] * (len(family.buckets) + 1))
        found.counts[bisect_left(family.buckets, value)] += 1
        found.total += value

    def next_attempt(self) -> PluginTiming | None:
        """Note that an attempt begins; return what times its plugins where it is one of the sampled ones."""
        self._attempts += 1
        if self.timer is None or self._attempts % PLUGIN_SAMPLE_EVERY != 1:
            return None
        return PluginTiming(self, self.timer)

    def lines(self) -> Iterator[str]:
        """Yield the lines of Prometheus' text format; families of which nothing is recorded are left out."""
        for family in FAMILIES:
            values, distributions = self.values.get(family), self.distributions.get(family)
            if values or distributions:
                yield f"# HELP {family.name} {family.help}"
                yield f"# TYPE {family.name} {family.kind}"
            for labels, value in sorted((values or {}).items()):
                yield f"{family.name}{_shown(family.labels, labels)} {value:g}"
            for labels, found in sorted((distributions or {}).items()):
                yield from _histogram(family, labels, found)


@dataclass(slots=True)
class PluginTiming:
    """Times the single plugins of one attempt."""

    metrics: Metrics
    timer: Callable[[], int]

    def note(self, plugin: str, point: str, code: Code, began: int) -> None:
        """Record a plugin's run at an extension point, which began at `began` on the timer."""
        self.metrics.observe(PLUGIN_EXECUTION, (self.timer() - began) / 1e9, plugin, point, code.wire)


def _histogram(family: Family, labels: Labels, found: Distribution) -> Iterator[str]:
    below = 0
    for bound, count in zip((*family.buckets, float("inf")), found.counts, strict=True):
        below += count
        text = "+Inf" if bound == float("inf") else f"{bound:.9g}"
        yield f"{family.name}_bucket{_shown((*family.labels, 'le'), (*labels, text))} {below}"
    yield f"{family.name}_sum{_shown(family.labels, labels)} {found.total:.9g}"
    yield f"{family.name}_count{_shown(family.labels, labels)} {below}"


_ESCAPES: Final[Mapping[int, str]] = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def _shown(names: tuple[str, ...], values: Labels) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{value.translate(_ESCAPES)}"' for name, value in zip(names, values, strict=True))
    return "{" + ",".join(pairs) + "}"
