from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from controllers.cluster import found
from controllers.kit.client import Client
from controllers.log.memory import MemoryStore
from controllers.log.operations import Patch
from scheduler_core.api.errors import ApiError
from scheduler_core.eras import ERAS, read_spec, registry_of
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration, ProfileError
from scheduler_core.framework.registry import PluginRegistry, RegistryError
from scheduler_core.framework.rules import CURRENT_RULES, Rules
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import error
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.state.nominator import Nominator
from tests.core.framework_parts import Teller, nodes
from tests.core.objects import pod
from tests.scheduler.kit import Hand
from tests.scheduler.kit import node as cluster_node
from tests.scheduler.kit import pod as cluster_pod

CONFIGS = "schedulerconfigs.clustersim.io"


def _causes(spec: Mapping[str, Any]) -> dict[str, str]:
    with pytest.raises(ApiError) as caught:
        read_spec(spec)
    assert caught.value.code == 422
    return {cause.field: cause.message for cause in caught.value.causes}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"era": "v0"}, "era", id="no such era"),
        pytest.param({"era": ["v1.34"]}, "era", id="an era that is no text"),
        pytest.param({"age": "v1.34"}, "age", id="an unknown field"),
        pytest.param({"configuration": []}, "configuration", id="a configuration that is no object"),
        pytest.param({"policy": {}}, "policy", id="a Policy in an era that has none"),
        pytest.param({"provider": "DefaultProvider"}, "provider", id="a provider in an era that has none"),
        pytest.param({"configuration": {"parallelism": 0}}, "configuration.parallelism", id="below the configuration"),
        pytest.param(
            {"configuration": {"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeName"}]}}}]}},
            "configuration.profiles[0]",
            id="a profile that cannot be built",
        ),
    ],
)
def test_a_wrong_spec_is_refused_by_field(spec: dict[str, Any], field: str) -> None:
    assert list(_causes(spec)) == [field]


def test_an_unknown_era_is_told_which_there_are() -> None:
    listed = ", ".join(f'"{name}"' for name in sorted(ERAS))
    assert _causes({"era": "v0"}) == {"era": f'Unsupported value: "v0": supported values: {listed}'}


def test_a_spec_that_says_nothing_is_todays_scheduler() -> None:
    configuration = read_spec({})
    assert [profile.scheduler_name for profile in configuration.profiles] == ["default-scheduler"]
    assert configuration.profiles[0].rules == Rules() == CURRENT_RULES


def test_installed_plugins_stand_beside_the_eras_own() -> None:
    extra = PluginRegistry({"Own": lambda arguments, handle: Teller("Own", {}, [])})
    plugins = {"postBind": {"enabled": [{"name": "Own"}]}}
    spec = {"configuration": {"profiles": [{"plugins": plugins}]}}
    assert list(_causes(spec)) == ["configuration.profiles[0].plugins.postBind.enabled[0].name"]
    profile = read_spec(spec, extra).profiles[0]
    assert Framework(profile, registry_of(spec, extra)).profile.at("postBind") == ("Own",)
    with pytest.raises(RegistryError, match="a plugin named NodeName already exists"):
        registry_of({}, PluginRegistry({"NodeName": lambda arguments, handle: Teller("NodeName", {}, [])}))


def test_a_spec_is_read_once_and_what_was_read_does_not_change_with_the_document() -> None:
    built: list[str] = []

    def build(arguments: Mapping[str, Any], handle: object) -> Teller:
        built.append("Own")
        return Teller("Own", {}, [])

    def spec() -> dict[str, Any]:
        plugins = {"postBind": {"enabled": [{"name": "Own"}]}}
        config = [{"name": "NodeAffinity", "args": {"addedAffinity": {}}}]
        return {"configuration": {"profiles": [{"plugins": plugins, "pluginConfig": config}]}}

    document = spec()
    first = read_spec(document, PluginRegistry({"Own": build}))
    document["configuration"]["profiles"][0]["pluginConfig"][0]["args"]["addedAffinity"]["x"] = 1
    assert read_spec(spec(), PluginRegistry({"Own": build})) is first
    assert first.profiles[0].arguments["NodeAffinity"]["addedAffinity"] == {}
    assert built == ["Own"]
    # Of another name, number or plugin it is another.
    assert read_spec({"configuration": {"parallelism": 1}}) is not read_spec({"configuration": {"parallelism": 2}})
    with pytest.raises(ApiError, match="parallelism"):
        read_spec({"configuration": {"parallelism": 1.5}})
    other = PluginRegistry({"Own": lambda arguments, handle: build(arguments, handle)})
    assert read_spec(spec(), other) == first
    assert built == ["Own", "Own"]


def test_the_command_object_refuses_a_wrong_spec_whoever_writes_it() -> None:
    store = MemoryStore(seed=1)
    found(store)
    for spec, field in (({"era": "v0"}, "spec.era"), ({"configuration": {"x": 1}}, "spec.configuration.x")):
        result = Client(store).apply(Patch(CONFIGS, "", "default", {"spec": spec}), "user:somebody")
        assert result.error is not None
        assert (result.error.code, [cause.field for cause in result.error.causes]) == (422, [field])
    stored = store.get(CONFIGS, "", "default")
    assert stored is not None
    assert stored.object["spec"] == {"era": "v1.34"}


# Rules.

TEN = replace(
    CURRENT_RULES, era="ten", score_max=10, no_nodes="nowhere to go", fit_error=lambda nodes, reasons, **_: "no"
)


def _scoring(rules: Rules, score: int, weight: int = 1) -> Framework:
    registry = PluginRegistry({"A": lambda arguments, handle: Teller("A", {"score": score}, [])})
    sets = {point: PluginSet((("A", 0),)) for point in ("queueSort", "bind")}
    return Framework(ProfileConfiguration("x", sets | {"score": PluginSet((("A", weight),))}, rules=rules), registry)


@pytest.mark.parametrize(("rules", "score"), [(CURRENT_RULES, 101), (CURRENT_RULES, -1), (TEN, 11)])
def test_a_score_out_of_the_eras_range_is_an_error(rules: Rules, score: int) -> None:
    built, where, state = _scoring(rules, score), nodes("x", "y"), CycleState()
    text = (
        f'applying score defaultWeights on Score plugins: plugin "A" returns an invalid score {score}, '
        f"it should in the range of [0, {rules.score_max}] after normalizing"
    )
    assert built.run_score(state, pod(), where, built.run_filter(state, pod(), where)) == (None, error(text))


@pytest.mark.parametrize(("rules", "largest"), [(CURRENT_RULES, (2**63 - 1) // 100), (TEN, (2**63 - 1) // 10)])
def test_weights_may_not_overflow_with_the_eras_largest_score(rules: Rules, largest: int) -> None:
    assert _scoring(rules, 1, largest).profile.weights == {"A": largest}
    with pytest.raises(ProfileError, match="total score of Score plugins could overflow"):
        _scoring(rules, 1, largest + 1)


def _scheduler(rules: Rules) -> Scheduler:
    nominator = Nominator()
    profile = replace(default_configuration(), rules=rules)
    return Scheduler(Configuration([profile], in_tree_registry(), hash="h", nominator=nominator), nominator, seed=1)


def test_an_era_words_its_own_messages() -> None:
    core = _scheduler(replace(TEN, scheduled_note=lambda namespace, name, node_name: f"{name} went to {node_name}"))
    hand = Hand(core)
    core.observe_pod(cluster_pod("p"))
    assert hand.attempt() is not None
    assert hand.message == "nowhere to go"
    core.observe_node(cluster_node("small", "1"))
    core.now_ms = 400_000
    core.queue.flush(core.now_ms)
    core.observe_pod(cluster_pod("big", "8"))
    runs = [hand.attempt(), hand.attempt()]
    assert {run.info.pod.name: run.message or run.chosen for run in runs if run} == {"p": "small", "big": "no"}
    assert "p went to small" in [ask.note for ask in hand.asks if hasattr(ask, "note")]


def test_an_assumed_pod_expires_after_the_eras_time() -> None:
    core = _scheduler(replace(CURRENT_RULES, expiry_ms=30_000))
    core.observe_node(cluster_node("n", "1"))
    core.observe_pod(cluster_pod("p"))
    core.now_ms = 1_000
    Hand(core).attempt()
    assert (core.cache.next_expiry_ms, core.assumed) == (31_000, {"uid-p": "n"})
    core.now_ms = 31_000
    core.expire()
    assert (core.cache.next_expiry_ms, core.assumed) == (None, {})
    forever = _scheduler(CURRENT_RULES)
    forever.observe_node(cluster_node("n", "1"))
    forever.observe_pod(cluster_pod("p"))
    Hand(forever).attempt()
    assert forever.cache.next_expiry_ms is None
