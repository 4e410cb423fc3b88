"""A framework whose extension points are timed. Whoever wants no durations runs a plain one, and pays nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import PostFilterSteps, PreFilterResult, Steps
from scheduler_core.framework.metrics import EXTENSION_POINT, Metrics
from scheduler_core.framework.profile import ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.scores import Scores
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot


class TimedFramework(Framework):
    """Records how long each extension point ran, and what came of it."""

    def __init__(
        self, configuration: ProfileConfiguration, registry: PluginRegistry, *, metrics: Metrics, **given: Any
    ) -> None:
        """Build a framework.

        Args:
            configuration: as for `Framework`.
            registry: as for `Framework`.
            metrics: records; it has a timer.
            given: what else `Framework` takes.

        Raises:
            ProfileError: as for `Framework`.
        """
        assert metrics.timer is not None
        self._timer = metrics.timer
        self._durations = metrics
        super().__init__(configuration, registry, metrics=metrics, **given)

    def _note(self, point: str, began: int, status: Status = SUCCESS) -> None:
        seconds = (self._timer() - began) / 1e9
        self._durations.observe(EXTENSION_POINT, seconds, point, status.code.wire, self.name)

    def run_pre_enqueue(self, pod: PodInfo) -> Status:
        """Time PreEnqueue."""
        began = self._timer()
        status = super().run_pre_enqueue(pod)
        self._note("PreEnqueue", began, status)
        return status

    def run_again(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot
    ) -> tuple[PreFilterResult, FilterOutcome, Scores] | None:
        """Time the points that are passed in one; the time is Score's, where most of it is spent."""
        began = self._timer()
        answer = super().run_again(state, pod, snapshot)
        if answer is not None:
            for point in ("PreFilter", "Filter", "PreScore"):
                self._note(point, self._timer())
            self._note("Score", began)
        return answer

    def prepares_binding(self, state: CycleState, pod: PodInfo) -> bool:
        """Return that PreBind is to run: its time is told, whoever has anything to do."""
        return True

    def run_pre_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot
    ) -> tuple[PreFilterResult, Status, frozenset[str]]:
        """Time PreFilter."""
        began = self._timer()
        answer = super().run_pre_filter(state, pod, snapshot)
        self._note("PreFilter", began, answer[1])
        return answer

    def run_filter(
        self,
        state: CycleState,
        pod: PodInfo,
        snapshot: Snapshot,
        result: PreFilterResult | None = None,
        narrowing: frozenset[str] = frozenset(),
        *,
        percentage: int = 100,
        start: int = 0,
        nominated_first: bool = True,
    ) -> FilterOutcome:
        """Time Filter."""
        began = self._timer()
        outcome = super().run_filter(
            state,
            pod,
            snapshot,
            result,
            narrowing,
            percentage=percentage,
            start=start,
            nominated_first=nominated_first,
        )
        broken = [] if outcome.is_sound else outcome.rows_with(Code.ERROR)
        self._note("Filter", began, outcome.status_of(broken[0]) if broken else SUCCESS)
        return outcome

    def run_post_filter(self, state: CycleState, pod: PodInfo, outcome: FilterOutcome) -> PostFilterSteps:
        """Time PostFilter."""
        began = self._timer()
        answer = yield from super().run_post_filter(state, pod, outcome)
        self._note("PostFilter", began, answer[1])
        return answer

    def run_pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Time PreScore."""
        began = self._timer()
        status = super().run_pre_score(state, pod, snapshot, rows)
        self._note("PreScore", began, status)
        return status

    def run_score(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, outcome: FilterOutcome
    ) -> tuple[Scores | None, Status]:
        """Time Score."""
        began = self._timer()
        answer = super().run_score(state, pod, snapshot, outcome)
        self._note("Score", began, answer[1])
        return answer

    def run_reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Time Reserve."""
        began = self._timer()
        status = super().run_reserve(state, pod, node_name)
        self._note("Reserve", began, status)
        return status

    def run_unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Time Unreserve."""
        began = self._timer()
        super().run_unreserve(state, pod, node_name)
        self._note("Unreserve", began)

    def run_permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, Mapping[str, int]]:
        """Time Permit."""
        began = self._timer()
        answer = super().run_permit(state, pod, node_name)
        self._note("Permit", began, answer[0])
        return answer

    def run_pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Time PreBind."""
        began = self._timer()
        status = yield from super().run_pre_bind(state, pod, node_name)
        self._note("PreBind", began, status)
        return status

    def run_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Time Bind."""
        began = self._timer()
        status = yield from super().run_bind(state, pod, node_name)
        self._note("Bind", began, status)
        return status

    def run_post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Time PostBind."""
        began = self._timer()
        super().run_post_bind(state, pod, node_name)
        self._note("PostBind", began)


def framework_of(
    configuration: ProfileConfiguration, registry: PluginRegistry, *, metrics: Metrics | None = None, **given: Any
) -> Framework:
    """Return the framework of a profile, timed where the metrics have a timer; arguments as for `Framework`.

    Raises:
        ProfileError: the profile cannot run.
    """
    if metrics is not None and metrics.timer is not None:
        return TimedFramework(configuration, registry, metrics=metrics, **given)
    return Framework(configuration, registry, metrics=metrics, **given)
