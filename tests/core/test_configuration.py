from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.api.errors import ApiError
from scheduler_core.framework.profile import MULTI_POINT, PluginSet, ProfileError
from scheduler_core.framework.runtime import Framework
from scheduler_core.profiles.component import duration_ns
from scheduler_core.profiles.configuration import merge, read_configuration
from scheduler_core.profiles.defaults import DEFAULT_ORDER, in_tree_registry

SCORES = [
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
]
WEIGHTS = {"TaintToleration": 3, "NodeAffinity": 2, "PodTopologySpread": 2, "InterPodAffinity": 2}


def framework(**profile: Any) -> Framework:
    configuration = read_configuration({"profiles": [profile]})
    return Framework(configuration.profiles[0], in_tree_registry())


def causes(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(ApiError) as caught:
        read_configuration(document)
    assert caught.value.code == 422
    assert all(cause.field in caught.value.message for cause in caught.value.causes)
    return {cause.field: cause.message for cause in caught.value.causes}


def named(*names: str, **weights: int) -> list[dict[str, Any]]:
    return [{"name": name} for name in names] + [{"name": name, "weight": weight} for name, weight in weights.items()]


def test_nothing_said_is_the_default_profile() -> None:
    configuration = read_configuration({})
    (profile,) = configuration.profiles
    assert profile.scheduler_name == "default-scheduler"
    assert (configuration.percentage_of_nodes_to_score, configuration.initial_backoff_ms) == (100, 1_000)
    built = Framework(profile, in_tree_registry()).profile
    assert list(built.at("score")) == SCORES
    assert built.weights == dict.fromkeys(SCORES, 1) | WEIGHTS
    assert built.at("filter")[:3] == ("NodeUnschedulable", "NodeName", "TaintToleration")
    assert profile.names() == tuple(name for name, _ in DEFAULT_ORDER)


@pytest.mark.parametrize(
    ("plugins", "scores", "weights"),
    [
        ({"score": {"disabled": named("*")}}, [], {}),
        ({"score": {"disabled": named("NodeAffinity")}}, [one for one in SCORES if one != "NodeAffinity"], None),
        # Enabled at its point without being disabled there: it overrides, and goes first.
        (
            {"score": {"enabled": named(ImageLocality=9)}},
            ["ImageLocality", *SCORES[:-1]],
            {"ImageLocality": 9, "NodeAffinity": 2},
        ),
        # Disabled and enabled again: one of the point's own, last.
        (
            {"score": {"disabled": named("NodeAffinity"), "enabled": named(NodeAffinity=7)}},
            ["TaintToleration", *SCORES[2:], "NodeAffinity"],
            {"NodeAffinity": 7},
        ),
        (
            {"score": {"disabled": named("*"), "enabled": named(ImageLocality=2)}},
            ["ImageLocality"],
            {"ImageLocality": 2},
        ),
        # Re-enabled in multiPoint: it keeps its place and takes the weight.
        ({"multiPoint": {"enabled": named(NodeAffinity=5)}}, SCORES, {"NodeAffinity": 5, "TaintToleration": 3}),
        ({"multiPoint": {"disabled": named("ImageLocality")}}, SCORES[:-1], None),
    ],
)
def test_plugin_sets(plugins: dict[str, Any], scores: list[str], weights: dict[str, int] | None) -> None:
    built = framework(plugins=plugins).profile
    assert list(built.at("score")) == scores
    for name, weight in (weights or {}).items():
        assert built.weights[name] == weight


def test_all_plugins_can_be_replaced() -> None:
    few = named("PrioritySort", "DefaultBinder", "NodeResourcesFit")
    built = framework(plugins={"multiPoint": {"disabled": named("*"), "enabled": few}}).profile
    assert built.at("filter") == ("NodeResourcesFit",)
    assert built.weights == {"NodeResourcesFit": 1}


def test_merge_appends_what_the_default_does_not_have() -> None:
    default = PluginSet((("a", 1), ("b", 2)))
    assert merge(default, PluginSet((("c", 3), ("a", 9)))) == PluginSet((("a", 9), ("b", 2), ("c", 3)))
    assert merge(default, PluginSet((("c", 3),), frozenset("*"))) == PluginSet((("c", 3),), frozenset("*"))


def test_a_plugin_of_multi_point_that_is_named_twice_is_refused() -> None:
    with pytest.raises(ProfileError, match='plugin "VolumeZone" already registered as "PreFilterPlugin"'):
        framework(plugins={"multiPoint": {"enabled": named("VolumeZone", "VolumeZone")}})


def test_several_profiles_share_the_queue_sort() -> None:
    names = ("one", "two")
    configuration = read_configuration({"profiles": [{"schedulerName": name} for name in names]})
    assert tuple(profile.scheduler_name for profile in configuration.profiles) == names
    sorting = {"queueSort": {"enabled": named("PrioritySort")}}
    found = causes({"profiles": [{"schedulerName": "one"}, {"schedulerName": "two", "plugins": sorting}]})
    assert found == {"profiles[1].plugins.queueSort": "Invalid value: must be the same for all profiles"}


def test_arguments_reach_their_plugin() -> None:
    arguments = {"apiVersion": "kubescheduler.config.k8s.io/v1", "ignoredResources": ["example.com/gpu"]}
    configuration = read_configuration(
        {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": arguments}]}]}
    )
    assert configuration.profiles[0].arguments == {"NodeResourcesFit": {"ignoredResources": ["example.com/gpu"]}}
    assert MULTI_POINT in configuration.profiles[0].sets


@pytest.mark.parametrize(
    ("document", "field", "says"),
    [
        ({"kind": "Other"}, "kind", "Unsupported value"),
        ({"apiVersion": "v1beta1"}, "apiVersion", "Unsupported value"),
        ({"speed": 1}, "speed", 'unknown field "speed"'),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore", "not in valid range [0-100]"),
        ({"percentageOfNodesToScore": "5"}, "percentageOfNodesToScore", "must be an integer"),
        ({"parallelism": 0}, "parallelism", "should be an integer value greater than zero"),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds", "must be greater than 0"),
        (
            {"podInitialBackoffSeconds": 9, "podMaxBackoffSeconds": 8},
            "podMaxBackoffSeconds",
            "must be greater than or equal to PodInitialBackoffSeconds",
        ),
        ({"profiles": 3}, "profiles", "must be a list of objects"),
        ({"profiles": [{"schedulerName": ""}]}, "profiles[0].schedulerName", "Required value"),
        ({"profiles": [{}, {}]}, "profiles[1].schedulerName", 'Duplicate value: "default-scheduler"'),
        ({"profiles": [{"schedulerName": "a"}, {}]}, "profiles[1].schedulerName", "Required value"),
        ({"profiles": [{"plugin": {}}]}, "profiles[0].plugin", "unknown field"),
        ({"healthzBindAddress": "0.0.0.0:10251"}, "healthzBindAddress", "unknown field"),
        ({"enableProfiling": "yes"}, "enableProfiling", "must be true or false"),
        ({"clientConnection": {"burst": -1}}, "clientConnection.burst", "Invalid value: -1: must be non-negative"),
        ({"clientConnection": {"qps": "many"}}, "clientConnection.qps", "must be a number"),
        ({"clientConnection": []}, "clientConnection", "must be an object"),
        ({"leaderElection": {"leader": True}}, "leaderElection.leader", 'unknown field "leaderElection.leader"'),
        ({"leaderElection": {"leaderElect": 1}}, "leaderElection.leaderElect", "must be true or false"),
        ({"leaderElection": {"leaseDuration": "soon"}}, "leaderElection.leaseDuration", "must be greater than"),
        ({"leaderElection": {"retryPeriod": "-1s"}}, "leaderElection.retryPeriod", "must be greater than zero"),
        (
            {"leaderElection": {"leaseDuration": "10s"}},
            "leaderElection.leaseDuration",
            'Invalid value: "10s": must be greater than `RenewDeadline`',
        ),
        (
            {"leaderElection": {"resourceLock": "endpoints"}},
            "leaderElection.resourceLock",
            'Invalid value: "endpoints": resourceLock value must be "leases"',
        ),
        (
            {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "EBSLimits"}]}}}]},
            "profiles[0].plugins.filter.enabled[0]",
            'Invalid value: "EBSLimits": was invalid in version "v1"',
        ),
        (
            {"profiles": [{"plugins": {"queueSort": {"enabled": [{"name": "A"}, {"name": "B"}]}}}]},
            "profiles[0].plugins.queueSort.enabled",
            "Invalid value: 2: only one queue sort plugin can be enabled",
        ),
        ({"profiles": [{"plugins": {"bid": {}}}]}, "profiles[0].plugins.bid", "unknown field"),
        ({"profiles": [{"plugins": {"bind": []}}]}, "profiles[0].plugins.bind", "must be an object"),
        (
            {"profiles": [{"plugins": {"score": {"enabled": [{"weight": 1}]}}}]},
            "profiles[0].plugins.score.enabled[0].name",
            "Required value",
        ),
        (
            {"profiles": [{"percentageOfNodesToScore": -1}]},
            "profiles[0].percentageOfNodesToScore",
            "not in valid range [0-100]",
        ),
        (
            {"profiles": [{"pluginConfig": [{"name": "X"}, {"name": "X"}]}]},
            "profiles[0].pluginConfig[1]",
            'Duplicate value: "X"',
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_path(document: dict[str, Any], field: str, says: str) -> None:
    assert says in causes(document)[field]


def test_an_election_that_is_off_is_not_looked_at() -> None:
    read_configuration({"leaderElection": {"leaderElect": False, "leaseDuration": "0s", "resourceLock": "endpoints"}})


@pytest.mark.parametrize(
    "left_out", [{"retryPeriod": "0s"}, {"leaseDuration": "0"}, {"resourceName": ""}, {"resourceLock": ""}]
)
def test_zero_and_an_empty_text_in_an_election_mean_the_default(left_out: dict[str, Any]) -> None:
    read_configuration({"leaderElection": left_out})


@pytest.mark.parametrize(
    ("text", "found"),
    [("1m30s", 90_000_000_000), ("1.5h", 5_400_000_000_000), ("-2us", -2_000), ("0", 0), ("", None), ("5", None)],
)
def test_durations_are_read_as_go_reads_them(text: str, found: int | None) -> None:
    assert duration_ns(text) == found


def test_plugins_that_do_not_exist_are_refused_by_their_path() -> None:
    plugins = {"filter": {"enabled": named("NodeName", "Oracle")}, "score": {"disabled": named("*")}}
    with pytest.raises(ApiError) as caught:
        read_configuration({"profiles": [{"plugins": plugins}]}, known_plugins=in_tree_registry())
    assert [(cause.field, cause.message) for cause in caught.value.causes] == [
        ("profiles[0].plugins.filter.enabled[1].name", 'Invalid value: "Oracle": Oracle does not exist')
    ]


ARGS = "profiles[0].pluginConfig[0].args"


def spread(*changes: dict[str, Any]) -> dict[str, Any]:
    """Return PodTopologySpreadArgs with one default constraint per change of a valid one."""
    valid = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {"defaultingType": "List", "defaultConstraints": [valid | change for change in changes]}


@pytest.mark.parametrize(
    ("plugin", "arguments", "field", "says"),
    [
        ("NodeResourcesFit", {"speed": 1}, "speed", 'unknown field "speed"'),
        ("NodeResourcesFit", {"ignoredResources": ["a b"]}, "ignoredResources[0]", "name part must consist"),
        ("NodeResourcesFit", {"ignoredResourceGroups": ["a/b"]}, "ignoredResourceGroups[0]", "can't contain '/'"),
        ("NodeResourcesFit", {"scoringStrategy": {"type": "Odd"}}, "scoringStrategy.type", "Unsupported value"),
        ("InterPodAffinity", {"hardPodAffinityWeight": 101}, "hardPodAffinityWeight", "not in valid range [0, 100]"),
        (
            "NodeAffinity",
            {"apiVersion": "v1"},
            "apiVersion",
            'no kind "NodeAffinityArgs" is registered for version "v1"',
        ),
        ("InterPodAffinity", {"kind": "NodeAffinityArgs"}, "kind", "were not of type InterPodAffinityArgs."),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"resources": [{"name": "cpu", "wait": 2}]}},
            "scoringStrategy.resources[0].wait",
            'unknown field "wait"',
        ),
        (
            "NodeResourcesBalancedAllocation",
            {"resources": [{"name": "cpu", "wait": 1}]},
            "resources[0].wait",
            'unknown field "wait"',
        ),
        (
            "NodeAffinity",
            {"addedAffinity": {"requiredDuringScheduling": {}}},
            "addedAffinity.requiredDuringScheduling",
            'unknown field "requiredDuringScheduling"',
        ),
        (
            "NodeAffinity",
            {
                "addedAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {}}]
                }
            },
            "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm",
            'unknown field "podAffinityTerm"',
        ),
        (
            "PodTopologySpread",
            {
                "defaultingType": "List",
                "defaultConstraints": [
                    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "minSkew": 1}
                ],
            },
            "defaultConstraints[0].minSkew",
            'unknown field "minSkew"',
        ),
        ("DefaultPreemption", {"speed": 1}, "speed", 'unknown field "speed"'),
        ("DefaultPreemption", {"minCandidateNodesAbsolute": "1"}, "", "a member has the wrong type"),
        ("InterPodAffinity", {"weight": 1}, "weight", 'unknown field "weight"'),
        ("VolumeBinding", {"bindTimeoutSeconds": -1}, "bindTimeoutSeconds", "should not be a negative value"),
        ("VolumeBinding", {"shape": []}, "shape", "turn on the feature gate StorageCapacityScoring"),
        ("PodTopologySpread", {"defaultingType": "Odd"}, "defaultingType", "Unsupported value"),
        ("PodTopologySpread", {"defaultConstraints": [{}]}, "defaultingType", "when .defaultConstraints are not empty"),
        ("PodTopologySpread", spread({"maxSkew": 0}), "defaultConstraints[0].maxSkew", "not in valid range (0, inf)"),
        ("PodTopologySpread", spread({"topologyKey": ""}), "defaultConstraints[0].topologyKey", "Required value"),
        ("PodTopologySpread", spread({"topologyKey": "a b"}), "defaultConstraints[0].topologyKey", "name part"),
        (
            "PodTopologySpread",
            spread({"whenUnsatisfiable": "Never"}),
            "defaultConstraints[0].whenUnsatisfiable",
            "Unsupported value",
        ),
        (
            "PodTopologySpread",
            spread({"labelSelector": {}}),
            "defaultConstraints[0].labelSelector",
            "constraint must not define a selector",
        ),
        ("PodTopologySpread", spread({}, {}), "defaultConstraints[1]", 'Duplicate value: "{zone, DoNotSchedule}"'),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"resources": [{"name": "cpu", "weight": 101}]}},
            "scoringStrategy.resources[0].weight",
            "resource weight of cpu not in valid range (0, 100]",
        ),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
            "scoringStrategy.requestedToCapacityRatio.shape",
            "at least one point must be specified",
        ),
        (
            "NodeResourcesFit",
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "requestedToCapacityRatio": {
                        "shape": [{"utilization": 5, "score": 11}, {"utilization": 5, "score": 1}]
                    },
                }
            },
            "scoringStrategy.requestedToCapacityRatio.shape[1].utilization",
            "sorted in increasing order",
        ),
        ("NodeResourcesFit", {"scoringStrategy": 4}, "", "wrong type"),
        (
            "NodeResourcesBalancedAllocation",
            {"resources": [{"name": "cpu", "weight": 2}]},
            "resources[0].weight",
            "must be 1",
        ),
        (
            "NodeResourcesBalancedAllocation",
            {"resources": [{"name": "cpu"}, {"name": "cpu"}]},
            "resources[1].name",
            'Duplicate value: "cpu"',
        ),
        (
            "NodeAffinity",
            {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Gt", "values": ["x"]}]}]
                    }
                }
            },
            "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]"
            ".values[0]",
            "must be an integer",
        ),
    ],
)
def test_wrong_arguments_are_named_with_their_path(plugin: str, arguments: Any, field: str, says: str) -> None:
    found = causes({"profiles": [{"pluginConfig": [{"name": plugin, "args": arguments}]}]})
    assert says in found[f"{ARGS}.{field}".rstrip(".")]


def test_a_preemption_that_may_look_at_no_node_is_refused_at_both_fields() -> None:
    none = {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0}
    found = causes({"profiles": [{"pluginConfig": [{"name": "DefaultPreemption", "args": none}]}]})
    assert found == {
        f"{ARGS}.{one}": f"Invalid value: 0: cannot be zero at the same time as {other}"
        for one, other in (tuple(none), tuple(none)[::-1])
    }


def test_resources_to_score_may_have_any_name() -> None:
    resources = [{"name": "no such", "weight": 1}, {"name": "", "weight": 1}]
    arguments = {"scoringStrategy": {"type": "MostAllocated", "resources": resources}}
    assert framework(pluginConfig=[{"name": "NodeResourcesFit", "args": arguments}])


def test_arguments_may_name_their_own_kind() -> None:
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeAffinityArgs"}
    read_configuration({"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": kind}]}]})


def test_an_operator_that_there_is_not_is_named_with_those_that_there_are() -> None:
    term = {"matchExpressions": [{"key": "", "operator": "Like"}]}
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    found = causes({"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]}]})
    where = f"{ARGS}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
    listed = '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    assert found == {f"{where}.matchExpressions[0].operator": f'Unsupported value: "Like": supported values: {listed}'}
