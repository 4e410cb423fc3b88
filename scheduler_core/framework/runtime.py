"""The framework: one profile's plugins, built, checked, and run at each extension point.

Errors are made here: a plugin that raises has answered Error, with the exception's text. Statuses come back with the
plugin's name filled in, worded as upstream words them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scheduler_core.api.errors import ApiError
from scheduler_core.framework.again import Again
from scheduler_core.framework.concerned import Concerned
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.extending import extending, extends
from scheduler_core.framework.filtering import Filtering
from scheduler_core.framework.guarded import asked, asked_pair, post_filtered, told, waited
from scheduler_core.framework.interface import (
    BindPlugin,
    Detail,
    EnqueueExtensions,
    Listers,
    NoListers,
    Nominator,
    NoNominations,
    NoWaitingPods,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PostFilterSteps,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterDetails,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueSortPlugin,
    RefusalDetails,
    ReservePlugin,
    ScorePlugin,
    Steps,
    UnreservePlugin,
    WaitingPods,
)
from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.profile import ProfileConfiguration, ProfileError, resolve
from scheduler_core.framework.refusing import Refusal, amounts, refusals
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.reuse import Reuse
from scheduler_core.framework.scores import Scores
from scheduler_core.framework.scoring import Scoring
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable
from scheduler_core.framework.trial import Trial
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

PERMIT_TIMEOUT_MS_MAX: Final = 15 * 60 * 1000
"""Longest wait at Permit; a plugin that asks for more gets this much."""

_ALL_NODES: Final = PreFilterResult()
_NO_NAMES: Final[frozenset[str]] = frozenset()


class Framework:
    """One profile, ready to run. Plugins get it as their `Handle`."""

    def __init__(
        self,
        configuration: ProfileConfiguration,
        registry: PluginRegistry,
        *,
        listers: Listers | None = None,
        nominator: Nominator | None = None,
        reuse: bool = True,
        metrics: Metrics | None = None,
        waiting: WaitingPods | None = None,
    ) -> None:
        """Build and check the profile's plugins.

        Args:
            configuration: which plugins, where, with which arguments.
            registry: how to build them.
            listers: the cluster's other objects.
            nominator: who hopes to land where.
            reuse: whether answers are reused between pods of one shape; decisions are the same either way.
            metrics: records what plugins count; durations where it is a `TimedFramework`.
            waiting: whom Permit holds.

        Raises:
            ProfileError: a plugin does not exist, does not implement its extension point, is listed twice, or refuses
                its arguments; or the number of QueueSort or Bind plugins is wrong.
        """
        self.rules = configuration.rules
        self.metrics = metrics
        self.listers: Listers = listers if listers is not None else NoListers()
        self.nominator: Nominator = nominator if nominator is not None else NoNominations()
        self.waiting: WaitingPods = waiting if waiting is not None else NoWaitingPods()
        self.snapshot = Snapshot()
        self.plugins: dict[str, Plugin] = {}
        for name in configuration.names():
            try:
                self.plugins[name] = registry.build(name, configuration.arguments.get(name, {}), self)
            except (ValueError, TypeError, KeyError, AttributeError, ApiError) as wrong:
                # Arguments may also have another shape than the plugin reads.
                raise ProfileError(f'initializing plugin "{name}": {wrong}') from wrong
        self.profile = resolve(configuration, self.plugins)
        pre_filter = self._at("preFilter")
        self._pre_enqueue: Concerned[PreEnqueuePlugin] = Concerned(self._at("preEnqueue"), "preEnqueue")
        self._pre_filter: Concerned[PreFilterPlugin] = Concerned(pre_filter, "preFilter")
        self._post_filter: list[PostFilterPlugin] = self._at("postFilter")
        self._pre_score: Concerned[PreScorePlugin] = Concerned(self._at("preScore"), "preScore")
        reserve = self._at("reserve")
        self._reserve: Concerned[ReservePlugin] = Concerned(reserve, "reserve")
        # Undoing is Reserve's other half, in reverse order; where it is a point of its own it has its own order.
        own_point = "unreserve" in self.rules.extension_points
        self._unreserve: Sequence[UnreservePlugin] = self._at("unreserve") if own_point else reserve[::-1]
        self._permit: list[PermitPlugin] = self._at("permit")
        self._pre_bind: Concerned[PreBindPlugin] = Concerned(self._at("preBind"), "preBind")
        self._bind: list[BindPlugin] = self._at("bind")
        self._post_bind: list[PostBindPlugin] = self._at("postBind")
        self.queue_sort: QueueSortPlugin = self._at("queueSort")[0]
        remembered = Reuse(reuse)
        # Asked once, for asking whether an object follows a protocol costs a hundred times what telling a node does.
        self._tellers = {plugin.name: plugin for plugin in extending(self._at("filter"), RefusalDetails)}
        self._filtering = Filtering(
            self._at("filter"), self, remembered, self.rules.feasible_max, pre_filter=pre_filter
        )
        score: list[ScorePlugin] = self._at("score")
        weighted = [(plugin, self.profile.weights[plugin.name]) for plugin in score]
        self._scoring = Scoring(weighted, remembered, self.rules.score_max, self.rules.error_text)
        self._again = Again(self._pre_filter, self._pre_score, self._filtering, self._scoring) if reuse else None

    @property
    def name(self) -> str:
        """Return the profile's schedulerName."""
        return self.profile.scheduler_name

    def _at(self, point: str) -> list[Any]:
        """Return the plugins of a point; `resolve` has seen that they implement it."""
        return [self.plugins[name] for name in self.profile.at(point)]

    # Queue.

    def run_pre_enqueue(self, pod: PodInfo) -> Status:
        """Return success, or the first refusal, with the plugin named."""
        for plugin, _ in self._pre_enqueue.plan(pod, timed=False).asked:
            status = asked(None, plugin.name, "PreEnqueue", plugin.pre_enqueue, pod)
            if not status.ok:
                return status.by(plugin.name)
        return SUCCESS

    def events_to_register(self) -> Mapping[str, Sequence[EventRegistration]]:
        """Return plugin → events that may help pods which it turned away; a plugin that says nothing hears of all.

        Raises:
            ProfileError: a plugin raised.
        """
        everything = (EventRegistration(ClusterEvent(EventResource.WILDCARD, ActionType.ALL)),)
        found: dict[str, Sequence[EventRegistration]] = {}
        for name, plugin in self.plugins.items():
            hears: Any = plugin if extends(plugin, EnqueueExtensions) else None
            try:
                registered = everything if hears is None else hears.events_to_register()
            except Exception as raised:
                raise ProfileError(f'asking plugin "{name}" for its events: {raised}') from raised
            found[name] = tuple(registered)
        return found

    # Scheduling cycle.

    def run_again(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot
    ) -> tuple[PreFilterResult, FilterOutcome, Scores] | None:
        """Run PreFilter to Score for a pod like the one before it; None: that one tells nothing of this one."""
        if self._again is None or self.nominator.nodes():
            return None
        found = self._again.run(state, pod, snapshot)
        return None if found is None else (_ALL_NODES, *found)

    def learn(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, outcome: FilterOutcome, scores: Scores | None
    ) -> None:
        """Take what these points came to, for the next pod."""
        if self._again is not None:
            self._again.learn(state, pod, snapshot, outcome, scores)

    def run_pre_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot
    ) -> tuple[PreFilterResult, Status, frozenset[str]]:
        """Run PreFilter; plugins that answer Skip are noted in `state.skip_filter`.

        Returns:
            The nodes left, the status, and the plugins that narrowed the nodes down.
        """
        self.snapshot = snapshot
        skipped: set[str] = set()
        narrowing: set[str] = set()
        result = _ALL_NODES
        final = SUCCESS
        timing = state.timing
        plan = self._pre_filter.plan(pod, timed=timing is not None)
        for plugin, idle in plan.asked:
            if timing is None:
                # `asked_pair` without its call: this loop and PreScore's are run through for every pod.
                try:
                    own, status = plugin.pre_filter(state, pod, snapshot)
                except Exception as raised:
                    own, status = None, error(str(raised))
            else:
                own, status = asked_pair(timing, plugin.name, "PreFilter", plugin.pre_filter, state, pod, snapshot)
            if status is SKIP or status.skipped:
                skipped.add(plugin.name)
                continue
            if status is not SUCCESS and not status.ok:
                state.skip_filter = idle.union(skipped)
                words = self.rules.pre_filter_refusal
                if status.rejected and words is not None:
                    status = Status(status.code, (words(plugin.name, status.message),), plugin.name)
                ends = status.rejected and not self.rules.pre_filter_fits
                if ends or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    return result, status.by(plugin.name), frozenset()
                if status.code is Code.UNSCHEDULABLE:
                    # The others still run: preemption will need what they work out.
                    final = status.by(plugin.name)
                    continue
                return result, self._broken("PreFilter", plugin.name, pod, status), frozenset()
            if own is not None and own.node_names is not None:
                narrowing.add(plugin.name)
                result = result.merge(own)
                if not result.node_names:
                    state.skip_filter = idle.union(skipped)
                    return result, unresolvable(_nothing_left(narrowing)), frozenset(narrowing)
        state.skip_filter = plan.idle.union(skipped) if skipped else plan.idle
        return result, final, frozenset(narrowing) if narrowing else _NO_NAMES

    def _broken(self, point: str, plugin: str, pod: PodInfo, status: Status) -> Status:
        """Return a plugin's error as the era words it."""
        return error(self.rules.error_text(point, plugin, pod.pod, status.message)).by(plugin)

    def run_add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Run PreFilter's AddPod extensions for a dry run; see `Handle`."""
        return self._filtering.add_pod(state, pod, added, snapshot, row)

    def run_remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Run PreFilter's RemovePod extensions for a dry run; see `Handle`."""
        return self._filtering.remove_pod(state, pod, removed, snapshot, row)

    def trial(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Trial:
        """Begin a dry run on one row of the cycle's snapshot; see `Handle`."""
        return self._filtering.trial(state, pod, snapshot, row)

    def filter_node_with_nominated(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Return what the filters say of one row under the two-pass rule for nominated pods."""
        return self._filtering.node_with_nominated(state, pod, snapshot, row)

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
        """Run all filters over all nodes, the nominated node first; see `Filtering.run`."""
        return self._filtering.run(
            state,
            pod,
            snapshot,
            result or PreFilterResult(),
            narrowing,
            percentage=percentage,
            start=start,
            nominated_first=nominated_first,
        )

    def refusals(self, state: CycleState, pod: PodInfo, outcome: FilterOutcome, row: int) -> list[Refusal]:
        """Return every filter's no to a row of an outcome, with the amounts behind it; see `refusing.refusals`."""
        return refusals(self._tellers, self._filtering, state, pod, outcome, row)

    def pre_filter_details(self, status: Status, pod: PodInfo) -> Sequence[Detail]:
        """Return the amounts behind PreFilter's no to a pod; none where the plugin knows none."""
        plugins = (one for one in self._at("preFilter") if one.name == status.plugin)
        teller = next(plugins, None) if status.rejected else None
        return amounts(teller.pre_filter_details, pod) if isinstance(teller, PreFilterDetails) else ()

    def run_post_filter(self, state: CycleState, pod: PodInfo, outcome: FilterOutcome) -> PostFilterSteps:
        """Run PostFilter, yielding what the loop must do; the first success or error ends it, refusals add up."""
        refused: PostFilterResult | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self._post_filter:
            result, status = yield from post_filtered(state.timing, plugin, state, pod, outcome)
            if status.ok:
                return result, status
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return result, status.by(plugin.name)
            if not status.rejected:
                # It nominates nothing; how far the plugin came is still told.
                account = None if result is None else PostFilterResult(detail=result.detail)
                return account, error(*status.reasons).by(plugin.name)
            if result is not None and (refused is None or result.nominated_node_name is not None):
                refused = result
            reasons.extend(status.reasons)
            rejector = rejector or plugin.name
        return refused, Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)

    def run_pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Run PreScore over the feasible rows; plugins that answer Skip are noted in `state.skip_score`.

        A profile without score plugins has nothing to prepare: its PreScore does not run.
        """
        skipped: set[str] = set()
        if not self.profile.at("score"):
            return SUCCESS
        timing = state.timing
        plan = self._pre_score.plan(pod, timed=timing is not None)
        for plugin, _ in plan.asked:
            if timing is None:
                try:
                    status = plugin.pre_score(state, pod, snapshot, rows)
                except Exception as raised:
                    status = error(str(raised))
            else:
                status = asked(timing, plugin.name, "PreScore", plugin.pre_score, state, pod, snapshot, rows)
            if status is SKIP or status.skipped:
                skipped.add(plugin.name)
            elif status is not SUCCESS and not status.ok:
                return self._broken("PreScore", plugin.name, pod, status)
        state.skip_score = plan.idle.union(skipped) if skipped else plan.idle
        return SUCCESS

    def run_score(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, outcome: FilterOutcome
    ) -> tuple[Scores | None, Status]:
        """Score the feasible rows: raw, normalised, weighted; see `Scores`."""
        return self._scoring.run(state, pod, snapshot, outcome.feasible)

    # Reserve and Permit.

    def run_reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Run Reserve in order; the first refusal ends it, and the caller then runs `run_unreserve`."""
        for plugin, _ in self._reserve.plan(pod, timed=state.timing is not None).asked:
            status = asked(state.timing, plugin.name, "Reserve", plugin.reserve, state, pod, node_name)
            if not status.ok:
                if status.rejected:
                    return status.by(plugin.name)
                return self._broken("Reserve", plugin.name, pod, status)
        return SUCCESS

    def run_unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Run Unreserve of all Reserve plugins, last one first; where it is a point of its own, in its order."""
        for plugin in self._unreserve:
            told(state.timing, plugin.name, "Unreserve", plugin.unreserve, state, pod, node_name)

    def run_permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, Mapping[str, int]]:
        """Run Permit.

        Returns:
            Success, WAIT or a refusal; and with WAIT, plugin → milliseconds that it may hold the pod.
        """
        waits: dict[str, int] = {}
        timing = state.timing
        for plugin in self._permit:
            timeout_ms = 0
            began = 0 if timing is None else timing.timer()
            try:
                status, timeout_ms = plugin.permit(state, pod, node_name)
            except Exception as raised:
                status = error(str(raised))
            if timing is not None:
                timing.note(plugin.name, "Permit", status.code, began)
            if status.code is Code.WAIT:
                waits[plugin.name] = min(timeout_ms, PERMIT_TIMEOUT_MS_MAX)
            elif status.rejected:
                return status.by(plugin.name), {}
            elif not status.ok:
                return self._broken("Permit", plugin.name, pod, status), {}
        return (Status(Code.WAIT), waits) if waits else (SUCCESS, {})

    # Binding cycle.

    def prepares_binding(self, state: CycleState, pod: PodInfo) -> bool:
        """Return whether a plugin has anything to do for the pod at PreBind."""
        return bool(self._pre_bind.plan(pod, timed=state.timing is not None).asked)

    def run_pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Run PreBind in order, yielding what the loop must do; the first answer that is no success ends it."""
        for plugin, _ in self._pre_bind.plan(pod, timed=state.timing is not None).asked:
            status = yield from waited(state.timing, plugin.name, "PreBind", plugin.pre_bind, state, pod, node_name)
            if status.rejected:
                return status.by(plugin.name)
            if not status.ok:
                return self._broken("PreBind", plugin.name, pod, status)
        return SUCCESS

    def run_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Run Bind until a plugin does not answer Skip."""
        status = Status(Code.SKIP)
        for plugin in self._bind:
            if state.timing is None:
                try:
                    status = yield from plugin.bind(state, pod, node_name)
                except Exception as raised:
                    status = error(str(raised))
            else:
                status = yield from waited(state.timing, plugin.name, "Bind", plugin.bind, state, pod, node_name)
            if status is SUCCESS:
                return status
            if status.skipped:
                continue
            if status.rejected or status.ok:
                return status.by(plugin.name) if status.rejected else status
            return self._broken("Bind", plugin.name, pod, status)
        return status

    def run_post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Run PostBind."""
        for plugin in self._post_bind:
            told(state.timing, plugin.name, "PostBind", plugin.post_bind, state, pod, node_name)


def _nothing_left(narrowing: set[str]) -> str:
    if len(narrowing) == 1:
        return f"node(s) didn't satisfy plugin {min(narrowing)}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowing))}] simultaneously"
