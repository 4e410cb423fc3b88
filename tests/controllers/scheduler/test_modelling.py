"""The model of a session whose scheduler runs an installed plugin."""

from __future__ import annotations

from typing import Any

from controllers.scenario import Start, read, run
from controllers.scheduler.modelling import Modelling
from controllers.scheduler.past import Past
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.status import SUCCESS


class Quiet:
    """An installed plugin that lets every pod pass."""

    name = "Quiet"

    def pre_enqueue(self, pod: Any) -> Any:
        return SUCCESS


def test_the_model_and_the_optimum_know_installed_plugins() -> None:
    registry = PluginRegistry({"Quiet": lambda arguments, handle: Quiet()})
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Quiet"}]}}}
    scheduler = {"era": "v1.34", "configuration": {"profiles": [profile]}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    scenario = {"nodes": [{"name": "n", "count": 2}], "objects": [pod], "scheduler": scheduler, "until": 5}
    store, _ = run(read(scenario, {"empty": Start((), 1, 0)}, registry), seed=1, plugins=registry)
    modelling = Modelling(Past(store))
    (bound,) = (stored.object for stored in store.list("pods")[0])
    assert modelling.of_pod("default", "p")["boundTo"] == bound["spec"]["nodeName"]
    assert modelling.optima(lambda one: True)["difference"]["pods"] == 0
