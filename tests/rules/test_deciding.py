"""What each rule comes to on the scenes of the lessons, beside what the engine comes to."""

from __future__ import annotations

import pytest

from controllers.kinds.metrics.usage import CPU
from controllers.rules.deciding import decide
from controllers.rules.diagnosing import models_of
from controllers.rules.plugin import NAME, build, registry
from controllers.rules.table import RULES
from scheduler_core.framework.registry import PluginRegistry
from tests.rules.scenes import alone_with_a_budget, answer, node, pod, scene, then_and_now, which_node, who_dies


@pytest.mark.parametrize(
    ("rule", "node", "victims"),
    [
        ("engine", "n2", {"default/web", "default/a", "default/b"}),
        ("fewest-victims", "n1", {"default/api"}),
        ("lowest-priority-node", "n3", {"default/cart"}),
        ("pdb-forbids", "n2", {"default/web", "default/a", "default/b"}),
    ],
)
def test_which_node_is_freed(rule: str, node: str, victims: set[str]) -> None:
    found = answer(which_node(), rule)
    assert found.nominated
    assert found.nodes == (node,)
    assert set(found.victims[node]) == victims
    assert found.dying == {tuple(sorted(victims))}


@pytest.mark.parametrize(
    ("rule", "victims"),
    [
        ("engine", {"default/p50"}),
        ("fewest-victims", {"default/p50"}),
        ("lowest-first", {"default/p50", "default/p0"}),
        ("always-preempts", {"default/p0"}),
    ],
)
def test_who_dies_on_one_node(rule: str, victims: set[str]) -> None:
    assert set(answer(who_dies(), rule).victims["n1"]) == victims


def test_a_protected_pod_is_safe_by_the_wrong_rule_alone() -> None:
    assert answer(alone_with_a_budget(), "engine").nodes == ("n3",)
    spared = answer(alone_with_a_budget(), "pdb-forbids")
    assert (spared.nodes, spared.nominated, spared.dying) == ((), False, {()})
    assert "protect the pods there" in str(spared.result["preemption"])


def test_high_priority_makes_no_room_that_a_node_never_had() -> None:
    huge = scene([node("n1")], [pod("low", "1", "n1")], pod("vip", "64", priority=1_000_000))
    assert answer(huge, "engine").nodes == ()
    believed = answer(huge, "always-preempts")
    assert (believed.nodes, believed.victims["n1"]) == (("n1",), ("default/low",))


@pytest.mark.parametrize(
    ("rule", "node"),
    [
        ("engine", "n3"),
        ("emptiest-node", "n3"),
        ("fullest-node", "n1"),
        ("first-in-list", "n1"),
        ("same-scale-same-winner", "n2"),
    ],
)
def test_then_and_now(rule: str, node: str) -> None:
    assert answer(then_and_now(), rule).nodes == (node,)


@pytest.mark.parametrize(("rule", "node"), [("engine", "n2"), ("soft-is-small", "n3")])
def test_a_preference_is_not_small(rule: str, node: str) -> None:
    soft = then_and_now(taints=[{"key": "rather-not", "effect": "PreferNoSchedule"}])
    assert answer(soft, rule).nodes == (node,)


def test_a_toleration_attracts_by_the_wrong_rule_alone() -> None:
    nodes = [node("plain"), node("tainted", taints=[{"key": "gpu", "effect": "NoSchedule"}])]
    asked = pod("p", "1", tolerations=[{"key": "gpu", "operator": "Exists"}])
    assert answer(scene(nodes, [], asked), "engine").nodes == ("plain", "tainted")
    assert answer(scene(nodes, [], asked), "toleration-attracts").nodes == ("tainted",)


def test_requests_count_and_not_use() -> None:
    idle = pod("idle", "4", "n1", annotations={CPU: "200m"})
    busy = pod("busy", "2", "n2", annotations={CPU: "3"})
    both = scene([node("n1"), node("n2")], [idle, busy], pod("p", "1"))
    assert answer(both, "engine").nodes == ("n2",)
    assert answer(both, "least-used").nodes == ("n1",)


def test_use_that_nobody_can_read_is_what_was_asked_for() -> None:
    odd = pod("odd", "3", "n1", annotations={CPU: "much"})
    assert answer(scene([node("n1"), node("n2")], [odd], pod("p", "1")), "least-used").nodes == ("n2",)


def test_the_formula_compares_with_all_that_a_node_has() -> None:
    full = scene([node("n1")], [pod("there", "3", "n1")], pod("p", "3"))
    assert answer(full, "engine").nodes == ()
    assert answer(full, "formula-is-code").nodes == ("n1",)


def test_pods_that_permit_holds_count() -> None:
    holding = scene([node("n1")], [pod("held", "3")], pod("p", "2"), assumed={"uid-held": "n1"}, waiting=["uid-held"])
    assert answer(holding, "engine").nodes == ()
    assert answer(holding, "only-bound-counts").nodes == ("n1",)


def test_a_nominated_node_is_no_reserved_seat() -> None:
    pods = [pod("there", "4", "n2")]
    asked = pod("vip", "2", priority=10, nominated="n2", preemptionPolicy="Never")
    waiting = scene([node("n2"), node("n4")], pods, asked)
    assert answer(waiting, "engine").nodes == ("n4",)
    assert answer(waiting, "reserved-seat").nodes == ()


def test_my_own_score_is_one_of_many() -> None:
    own = {"scores": [{"name": "ssd", "expression": "node.metadata.name == 'n1' ? 8 : 0"}]}
    profile = {
        "plugins": {"multiPoint": {"enabled": [{"name": "CEL", "weight": 1}]}},
        "pluginConfig": [{"name": "CEL", "args": own}],
    }
    spec = {"configuration": {"profiles": [profile]}}
    assert answer(then_and_now(spec=spec), "engine").nodes == ("n3",)
    assert answer(then_and_now(spec=spec), "my-score-rules").nodes == ("n1",)
    assert decide(then_and_now(), RULES["my-score-rules"]) is None, "nobody has written a score there"


def test_a_rule_keeps_what_else_a_session_runs() -> None:
    profile = {"plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}}
    nodes = [node("n1", taints=[{"key": "k", "effect": "NoSchedule"}])]
    untold = scene(nodes, [], pod("p", "1"), spec={"configuration": {"profiles": [profile]}})
    assert answer(untold, "fullest-node").nodes == ("n1",)
    assert answer(scene(nodes, [], pod("p", "1")), "fullest-node").nodes == ()


def test_in_a_session_of_another_era_a_rule_is_todays_scheduler_with_it() -> None:
    assert answer(then_and_now(spec={"era": "algorithm-provider"}), "engine").nodes == ("n2",)
    assert answer(then_and_now(spec={"era": "algorithm-provider"}), "fullest-node").nodes == ("n1",)


def test_rules_that_say_nothing_of_places_come_to_nothing() -> None:
    silent = [rule.id for rule in RULES.values() if rule.mistake is None and rule.id != "engine"]
    assert "choice-is-fact" in silent
    assert [rule for rule in silent if decide(which_node(), RULES[rule]) is not None] == []


def test_the_plugin_refuses_a_rule_that_it_does_not_know() -> None:
    with pytest.raises(ValueError, match='rule: Unsupported value: "nonsense": supported values: always-preempts'):
        build({"rule": "nonsense"}, None)  # type: ignore[arg-type]


def test_installed_plugins_stand_beside_it() -> None:
    installed = PluginRegistry({"Mine": build})
    assert sorted(registry(installed)) == ["Mine", NAME]
    assert sorted(registry(registry(installed))) == ["Mine", NAME]


def test_an_option_is_named_by_the_rule_that_gives_it() -> None:
    assert models_of(which_node(), "node", ["n1", "n2", "n3", "none"]) == {
        "n1": "fewest-victims",
        "n2": "engine",
        "n3": "lowest-priority-node",
    }
    assert models_of(who_dies(), "victims", ["default/p100", "default/p50", "default/p0", "none"]) == {
        "default/p50": "engine",
        "default/p0": "lowest-first",
        "none": "formula-is-code",
    }
    assert models_of(then_and_now(), "node", ["n1", "n2", "n3"]) == {
        "n3": "engine",
        "n1": "fullest-node",
        "n2": "same-scale-same-winner",
    }
    assert models_of(alone_with_a_budget(), "node", ["n3", "none"]) == {"n3": "engine", "none": "pdb-forbids"}
