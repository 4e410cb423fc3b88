"""What the engine and a wrong rule each come to, over one snapshot and one pod in question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import msgspec

from controllers.commands import REPLICAS
from controllers.log.store import Gone
from controllers.rules.plugin import registry
from controllers.rules.rule import ENGINE, Rule
from controllers.rules.scheduling import Mistake
from controllers.scheduler.decisions import taken_again
from controllers.scheduler.past import Past
from controllers.scheduler.reporting import cycle_of
from controllers.scheduler.settings import Settings
from controllers.whatif.deciding import attempt_now
from scheduler_core.api.document import Document
from scheduler_core.framework.interface import Listers, NoListers
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.scheduler.replay import Seen
from scheduler_core.snapshot.node_info import PodInfo

SETTINGS_MAX: Final = 64
"""Schedulers, of sessions and of rules, that are kept as they were read; past it the one used longest ago goes."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A cluster and the pod in question, as a scheduler sees them when it takes the pod into its hand.

    Attributes:
        seen: nodes and pods.
        uid: the pod.
        given: the attempt's input, as traces hold it.
        spec: what the session's scheduler is told to be.
        listers: the cluster's other objects.
        seed: lots are drawn from it.
        plugins: those of installed packages.
    """

    seen: Seen
    uid: str
    given: Mapping[str, Any]
    spec: Mapping[str, Any] = field(default_factory=dict)
    listers: Listers = field(default_factory=NoListers)
    seed: int = 0
    plugins: PluginRegistry | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Where a pod goes.

    Attributes:
        nodes: all that are equally right, sorted: the tie set of the scores or of preemption; none: it stays pending.
        victims: node → keys of the pods that would have to go, the most important first; of every candidate.
        nominated: the pod does not fit yet: `nodes` are those that preemption would free.
        message: in upstream's words, why no node fits as it is.
        result: the attempt as traces hold it.
        explanation: the same.
    """

    nodes: tuple[str, ...]
    victims: Mapping[str, tuple[str, ...]]
    nominated: bool
    message: str
    result: Mapping[str, Any]
    explanation: Mapping[str, Any]

    @property
    def dying(self) -> frozenset[tuple[str, ...]]:
        """Return every set of victims, sorted, that is right: one for each of the nodes; the empty one if none dies."""
        return frozenset(tuple(sorted(self.victims.get(name, ()))) for name in self.nodes) or frozenset({()})


def scene_of(past: Past, uid: str) -> Scene:
    """Return the scene of a pending pod in a session: as the replica that holds it sees it, else on the newest state.

    Raises:
        KeyError: there is no such pod.
        Gone: what the replica saw is no longer kept.
    """
    for stored in past.store.list(REPLICAS)[0]:
        cycle = cycle_of(stored.object)
        if cycle is not None and cycle["uid"] == uid:
            then = past.at(cycle["input"]["seenRevision"])
            return _scene(then, uid, cycle["input"])
    info = past.seen.pods[uid]
    return _scene(past, uid, attempt_now(past, info, 1)["input"])


def scene_at(past: Past, envelope: Mapping[str, Any]) -> Scene:
    """Return the scene of an attempt, kept or in hand.

    Args:
        past: the session, at any revision.
        envelope: as traces have it.

    Raises:
        Gone: what it saw is no longer kept.
    """
    then = past.at(envelope["input"]["seenRevision"])
    if envelope["uid"] not in then.seen.pods:
        raise Gone
    return _scene(then, envelope["uid"], envelope["input"])


def _scene(past: Past, uid: str, given: Mapping[str, Any]) -> Scene:
    return Scene(past.seen, uid, given, past.settings.spec, past, past.store.seed, past.store.plugins)


def scene_on(seen: Seen, pod: PodInfo, listers: Listers | None = None, *, seed: int = 0) -> Scene:
    """Return the scene of a cluster that no session has: its pods, `pod` among them, under the default scheduler."""
    given: Document = {
        "seenRevision": 0,
        "attempt": 1,
        "assumed": {},
        "nominations": {},
        "waiting": [],
        "start": 0,
        "order": [],
        "configuration": "",
        "profile": pod.pod.spec.scheduler_name,
        "nowMs": 0,
    }
    return Scene(seen, pod.uid, given, {}, listers if listers is not None else NoListers(), seed)


def decide(scene: Scene, rule: Rule) -> Answer | None:
    """Return what a rule comes to; None where it says nothing of this.

    Raises:
        ApiError: 422, the session's scheduler cannot run.
    """
    if rule.id == ENGINE:
        return _answer(scene, _settings(scene, scene.spec))
    if rule.mistake is None or not applies(scene, rule.mistake):
        return None
    return _answer(scene, _settings(scene, rule.mistake.spec(scene.spec)))


def applies(scene: Scene, mistake: Mistake) -> bool:
    """Return whether the session runs what the rule is about."""
    if not mistake.needs:
        return True
    profiles = _settings(scene, scene.spec).configuration.profiles
    return any(mistake.needs in profile.names() for profile in profiles)


def _settings(scene: Scene, spec: Mapping[str, Any]) -> Settings:
    return _read(msgspec.json.encode(spec), scene.plugins)


@lru_cache(maxsize=SETTINGS_MAX)
def _read(spec: bytes, plugins: PluginRegistry | None) -> Settings:
    return Settings.of(msgspec.json.decode(spec), registry(plugins))


def _answer(scene: Scene, settings: Settings) -> Answer:
    profiles = [profile.scheduler_name for profile in settings.configuration.profiles]
    given = dict(scene.given)
    if given["profile"] not in profiles:
        # Another era knows one scheduler, whatever the pod calls it.
        given["profile"] = profiles[0]
    shown = taken_again(
        scene.seen, scene.uid, given, settings.configuration, settings.registry(), scene.listers, scene.seed
    )
    result = shown["result"]
    preemption = result.get("preemption") or {}
    nominated = not result.get("best") and bool(preemption.get("nominatedNode"))
    candidates = preemption.get("candidates") or {}
    nodes: Sequence[str] = result.get("best") or (preemption.get("ties") or () if nominated else ())
    return Answer(
        tuple(sorted(nodes)),
        {name: tuple(one["victims"]) for name, one in candidates.items()},
        nominated,
        result.get("fitError") or "",
        result,
        shown.get("explanation") or {},
    )
