"""The profiles that a scheduler runs, built: frameworks by scheduler name, and who of them hears of which event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from scheduler_core.extender.configuration import ExtenderConfiguration, ignored_resources
from scheduler_core.extender.extending import REJECTOR
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.interface import Listers
from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.profile import ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import Rules
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.timed import framework_of
from scheduler_core.plugins.node_resources_fit import NAME as FIT
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.backoff import INITIAL_BACKOFF_MS, MAX_BACKOFF_MS
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.parked import UNSCHEDULABLE_MAX_MS
from scheduler_core.state.waiting import WaitingPods

_EVERYTHING: Final = EventRegistration(ClusterEvent(EventResource.WILDCARD, ActionType.ALL))
_ANY_TAINT: Final = EventRegistration(ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT))


class Configuration:
    """The profiles that a scheduler runs, built.

    Attributes:
        hash: names the configuration in traces.
        frameworks: scheduler name → profile ready to run.
        extenders: in the order in which they are called.
        backoff_ms: a pod's first and its longest wait after a failed attempt.
        waiting: the pods that Permit holds, as plugins see them.
    """

    def __init__(
        self,
        profiles: Sequence[ProfileConfiguration],
        registry: PluginRegistry,
        *,
        hash: str,
        percentage: int = 100,
        listers: Listers | None = None,
        nominator: Nominator | None = None,
        reuse: bool = True,
        metrics: Metrics | None = None,
        extenders: Sequence[ExtenderConfiguration] = (),
        backoff_ms: tuple[int, int] = (INITIAL_BACKOFF_MS, MAX_BACKOFF_MS),
        waiting: WaitingPods | None = None,
    ) -> None:
        """Build every profile.

        Raises:
            ProfileError: a profile cannot run.
        """
        self.hash = hash
        self.backoff_ms = backoff_ms
        self.waiting = waiting if waiting is not None else WaitingPods()
        self.extenders = tuple(extenders)
        profiles = with_extenders(profiles, extenders)
        self.percentage = percentage
        self.frameworks: dict[str, Framework] = {
            profile.scheduler_name: framework_of(
                profile,
                registry,
                listers=listers,
                nominator=nominator,
                reuse=reuse,
                metrics=metrics,
                waiting=self.waiting,
            )
            for profile in profiles
        }
        # Extenders say of no event whether it helps: all do.
        wakes = {REJECTOR: (_EVERYTHING,)} if extenders else {}
        self._registered = {
            name: {**framework.events_to_register(), **wakes} for name, framework in self.frameworks.items()
        }
        self._listening = {
            name: {plugin: _with_taints(asked) for plugin, asked in plugins.items()}
            for name, plugins in self._registered.items()
        }
        self._heard: dict[tuple[str, ClusterEvent], tuple[tuple[str, EventRegistration], ...]] = {}

    @property
    def rules(self) -> Rules:
        """Return the era's rules: all profiles of a configuration are of one era."""
        return next(iter(self.frameworks.values())).rules

    @property
    def queue_times(self) -> dict[str, Any]:
        """Return what the era says of the queue, as `SchedulingQueue` takes it."""
        longest = self.rules.unschedulable_max_ms
        return {
            "backoff_ms": self.backoff_ms,
            "pop_from_backoff": self.rules.pops_backoff,
            "change_activates": self.rules.change_activates,
            "unschedulable_max_ms": UNSCHEDULABLE_MAX_MS if longest is None else longest,
        }

    def hints(self, scheduler_name: str, event: ClusterEvent) -> Sequence[tuple[str, EventRegistration]]:
        """Return (plugin, registration) of a profile's registrations that cover the event."""
        found = self._heard.get((scheduler_name, event))
        if found is None:
            listening = self._listening.get(scheduler_name, {})
            found = tuple(
                (plugin, registration)
                for plugin, registrations in listening.items()
                for registration in registrations
                if registration.event.covers(event)
            )
            self._heard[scheduler_name, event] = found
        return found

    def waking(self, pod: PodInfo, plugins: Iterable[str]) -> tuple[ClusterEvent, ...]:
        """Return the events that can wake a pod which these plugins turned away, one for each kind, likeliest first.

        Whether such an event does depends on the objects: that is for the plugins' hints to say. They are what the
        plugins hope for, for this pod; that any change of a node's taints wakes too (`_with_taints`) no plugin hopes.
        """
        registered = self._registered.get(pod.pod.spec.scheduler_name, {})
        actions: dict[EventResource, ActionType] = {}
        for plugin in plugins:
            for registration in registered.get(plugin, ()):
                hoped = registration.hoped(pod)
                if hoped:
                    resource = registration.event.resource
                    actions[resource] = actions.get(resource, hoped) | hoped
        if EventResource.WILDCARD in actions:
            return (_EVERYTHING.event,)
        # Pods come and go all day, nodes now and then, classes and drivers hardly ever: the order of the table.
        return tuple(ClusterEvent(resource, actions[resource]) for resource in EventResource if resource in actions)

    @property
    def expiry_ms(self) -> int | None:
        """Return how long an assumed pod may stay unconfirmed: the shortest of the profiles'; None: for ever."""
        given = [framework.rules.expiry_ms for framework in self.frameworks.values()]
        return min((expiry for expiry in given if expiry is not None), default=None)

    def percentage_of(self, framework: Framework) -> int:
        """Return percentageOfNodesToScore for a profile; 0 is adaptive."""
        own = framework.profile.percentage_of_nodes_to_score
        return self.percentage if own is None else own


def _with_taints(asked: Sequence[EventRegistration]) -> Sequence[EventRegistration]:
    """Return a plugin's registrations, with any change of a node's taints for one that hears of new nodes alone.

    Source: buildQueueingHintMap, kube-scheduler: a new node could be kept from plugins until its taints went.
    """
    actions = [one.event.action for one in asked if one.event.resource is EventResource.NODE]
    hears_new = any(ActionType.ADD in action for action in actions)
    hears_taints = any(ActionType.UPDATE_NODE_TAINT in action for action in actions)
    return (*asked, _ANY_TAINT) if hears_new and not hears_taints else asked


def with_extenders(
    profiles: Sequence[ProfileConfiguration], extenders: Sequence[ExtenderConfiguration]
) -> Sequence[ProfileConfiguration]:
    """Return the profiles with NodeResourcesFit leaving the resources of extenders to them, where they ask for that.

    As upstream has it, these take the place of `ignoredResources`.
    """
    resources = ignored_resources(extenders)
    if not resources:
        return profiles

    def ignoring(profile: ProfileConfiguration) -> ProfileConfiguration:
        arguments = {**profile.arguments.get(FIT, {}), "ignoredResources": resources}
        return replace(profile, arguments={**profile.arguments, FIT: arguments})

    return [ignoring(profile) for profile in profiles]
