"""A scenario run headless, deterministically."""

from __future__ import annotations

from controllers.bootstrap import initial_objects
from controllers.cluster import Cluster, found
from controllers.log.memory import DEFAULT_EPOCH_MS, MemoryStore
from controllers.outside import CarryOut, refuse
from controllers.scenario.actions import act
from controllers.scenario.shape import Scenario
from controllers.scenario.summing import summary
from scheduler_core.api.document import Document
from scheduler_core.framework.registry import PluginRegistry


def run(
    scenario: Scenario,
    *,
    seed: int,
    until_ms: int | None = None,
    plugins: PluginRegistry | None = None,
    call: CarryOut = refuse,
) -> tuple[MemoryStore, Document]:
    """Run a scenario and return its store and the summary.

    Args:
        scenario: the scenario.
        seed: chance is drawn from it.
        until_ms: simulated milliseconds to run; None: the scenario's own.
        plugins: those of installed packages.
        call: calls extenders; time stands meanwhile. Without it their calls fail.

    Raises:
        ApiError: an object or a step was refused; the message names it.
    """
    store = MemoryStore(seed=seed, epoch_ms=DEFAULT_EPOCH_MS, plugins=plugins)
    _create(store, initial_objects(replicas=scenario.replicas, pace=scenario.pace, scheduler=scenario.scheduler))
    _create(store, scenario.objects)
    cluster = Cluster(store, kubelets=scenario.kubelets, call=call)
    cluster.obeys_pause = False
    cluster.start()
    end_ms = scenario.until_ms if until_ms is None else until_ms
    for action in scenario.actions:
        if action.at_ms > end_ms:
            break
        cluster.advance(action.at_ms)
        act(store, action)
        cluster.obey(store.epoch_ms + cluster.now_ms)
    cluster.advance(end_ms)
    return store, summary(store, cluster, seed, scenario.name)


def _create(store: MemoryStore, documents: list[Document]) -> None:
    for result in found(store, documents):
        if result.error is not None:
            raise result.error
