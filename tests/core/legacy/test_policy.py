"""Algorithm providers and Policy documents: what they mean, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.api.errors import ApiError
from scheduler_core.eras import read_spec
from scheduler_core.framework.profile import MULTI_POINT
from scheduler_core.framework.registry import RegistryError
from scheduler_core.legacy.policy import WEIGHT_MAX
from scheduler_core.legacy.providers import (
    DEFAULT_PROVIDER,
    PREDICATES,
    PRIORITIES,
    PROVIDERS,
    AlgorithmProviders,
    register_algorithm_provider,
)
from scheduler_core.profiles.configuration import SchedulerConfiguration
from tests.core.legacy.asking import framework


def read(**spec: Any) -> SchedulerConfiguration:
    return read_spec({"era": "algorithm-provider", **spec})


def causes(**spec: Any) -> dict[str, str]:
    with pytest.raises(ApiError) as caught:
        read(**spec)
    assert caught.value.code == 422
    return {cause.field: cause.message for cause in caught.value.causes}


def plugins(configuration: SchedulerConfiguration) -> Mapping[str, int]:
    """Return plugin → weight, without what surrounds the algorithm."""
    (profile,) = configuration.profiles
    return {name: weight for name, weight in profile.sets[MULTI_POINT].enabled if name not in AROUND}


AROUND = ("FIFO", "NodeLister", "Binder")
EIGHT = (
    "PodFitsHostPorts", "PodFitsResources", "NoDiskConflict", "NoVolumeZoneConflict", "MatchNodeSelector", "HostName",
    "MaxEBSVolumeCount", "MaxGCEPDVolumeCount",
)  # fmt: skip
FOUR = ("LeastRequestedPriority", "BalancedResourceAllocation", "SelectorSpreadPriority", "NodeAffinityPriority")
THREE_MORE = ("EqualPriority", "ServiceSpreadingPriority", "ImageLocalityPriority")


def test_the_default_provider_is_eight_predicates_and_four_priorities_of_weight_one() -> None:
    assert tuple(PREDICATES) == EIGHT
    assert tuple(PRIORITIES) == FOUR + THREE_MORE
    expected = {name: int(name in FOUR) for name in EIGHT + FOUR}
    assert plugins(read()) == plugins(read(provider=DEFAULT_PROVIDER)) == expected


def test_the_era_has_scores_up_to_ten_a_queue_without_priorities_and_waits_of_up_to_a_minute() -> None:
    configuration = read()
    (profile,) = configuration.profiles
    assert (profile.rules.era, profile.rules.score_max, profile.rules.expiry_ms) == ("algorithm-provider", 10, 30_000)
    assert (configuration.initial_backoff_ms, configuration.max_backoff_ms) == (1_000, 60_000)
    points = framework().profile.plugins
    assert points["queueSort"] == ("FIFO",)
    assert points["filter"] == ("NodeLister", *EIGHT)
    assert points["score"] == FOUR
    assert points["bind"] == ("Binder",)
    assert not any(points[point] for point in ("preEnqueue", "postFilter", "reserve", "permit", "preBind", "postBind"))


def test_a_registered_provider_can_be_named() -> None:
    known = AlgorithmProviders()
    made = known.register("Plain", ["HostName", "PodFitsResources"], {"EqualPriority": 3})
    assert (made.predicates, made.priorities) == (("PodFitsResources", "HostName"), (("EqualPriority", 3),))
    assert known.get("Plain") is made
    assert known.get("Other") is None
    assert register_algorithm_provider.__self__ is PROVIDERS


@pytest.mark.parametrize(
    ("name", "predicates", "priorities", "message"),
    [
        (DEFAULT_PROVIDER, (), (), 'an algorithm provider named "DefaultProvider" already exists'),
        ("two words", (), (), 'algorithm name "two words" does not match'),
        ("-", (), (), 'algorithm name "-" does not match'),
        ("Mine", ("Fits",), (), 'invalid predicate name "Fits" specified'),
        ("Mine", (), ("HostName",), 'invalid priority name "HostName" specified'),
        ("Mine", (), {"EqualPriority": 0}, "Priority EqualPriority should have a positive weight applied to it"),
    ],
)
def test_a_wrong_registration_is_refused(name: str, predicates: Any, priorities: Any, message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        PROVIDERS.register(name, predicates, priorities)
    assert list(PROVIDERS) == [DEFAULT_PROVIDER]


POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [
        {"name": "PodFitsPorts"},
        {"name": "PodFitsResources"},
        {"name": "Zoned", "argument": {"serviceAffinity": {"labels": ["region"]}}},
        {"name": "Labelled", "argument": {"labelsPresence": {"labels": ["retiring"], "presence": False}}},
    ],
    "priorities": [
        {"name": "LeastRequestedPriority", "weight": 1},
        {"name": "ServiceSpreadingPriority", "weight": 5},
        {"name": "RackSpread", "weight": 2, "argument": {"serviceAntiAffinity": {"label": "rack"}}},
        {"name": "Fresh", "weight": 3, "argument": {"labelPreference": {"label": "new", "presence": True}}},
    ],
}


def test_a_policy_chooses_functions_and_weights() -> None:
    configuration = read(policy=POLICY)
    assert plugins(configuration) == {
        "PodFitsHostPorts": 0,
        "PodFitsResources": 0,
        "CheckServiceAffinity": 0,
        "CheckNodeLabelPresence": 0,
        "LeastRequestedPriority": 1,
        "ServiceSpreadingPriority": 5,
        "ServiceAntiAffinityPriority": 2,
        "NodeLabelPriority": 3,
    }
    assert configuration.profiles[0].arguments["CheckNodeLabelPresence"] == {"labels": ["retiring"], "presence": False}
    built = framework({"policy": POLICY})
    assert built.profile.weights["ServiceSpreadingPriority"] == 5


def test_an_absent_list_is_the_default_provider_s_and_an_empty_one_is_none() -> None:
    assert plugins(read(policy={})) == plugins(read())
    assert plugins(read(policy={"predicates": []})) == dict.fromkeys(FOUR, 1)
    assert plugins(read(policy={"priorities": []})) == dict.fromkeys(EIGHT, 0)
    assert framework({"policy": {"predicates": [], "priorities": []}}).profile.at("filter") == ("NodeLister",)


def test_extenders_are_handed_on_in_today_s_form() -> None:
    written = {
        "urlPrefix": "http://127.0.0.1:12346/scheduler",
        "apiVersion": "v1beta1",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 5,
        "enableHttps": False,
        "httpTimeout": 2_500_000_000,
    }
    (extender,) = read(policy={"extenders": [written]}).extenders
    assert (extender.url_prefix, extender.filter_verb, extender.prioritize_verb) == (
        "http://127.0.0.1:12346/scheduler",
        "filter",
        "prioritize",
    )
    assert (extender.weight, extender.timeout_ms) == (5, 2_500)


def one(section: str, **entry: Any) -> dict[str, Any]:
    return {section: [entry]}


@pytest.mark.parametrize(
    ("policy", "field", "message"),
    [
        pytest.param({"kind": "Politics"}, "kind", "Unsupported value", id="another kind"),
        pytest.param({"apiVersion": "v2"}, "apiVersion", "Unsupported value", id="another version"),
        pytest.param(
            {"alwaysCheckAllPredicates": True}, "alwaysCheckAllPredicates", "unknown field", id="unknown field"
        ),
        pytest.param({"predicates": {}}, "predicates", "must be a list", id="no list"),
        pytest.param({"predicates": ["HostName"]}, "predicates[0]", "must be an object", id="no object"),
        pytest.param(one("predicates"), "predicates[0].name", "Required value", id="no name"),
        pytest.param(
            one("predicates", name=["a"]), "predicates[0].name", "Required value", id="a name that is no text"
        ),
        pytest.param(
            one("predicates", name="Fits"), "predicates[0].name", 'Unsupported value: "Fits"', id="unknown predicate"
        ),
        pytest.param(
            one("priorities", name="Even", weight=1),
            "priorities[0].name",
            'Unsupported value: "Even"',
            id="unknown priority",
        ),
        pytest.param(
            one("predicates", name="HostName", weight=1),
            "predicates[0].weight",
            "unknown field",
            id="a predicate has no weight",
        ),
        pytest.param(
            {"predicates": [{"name": "PodFitsPorts"}, {"name": "PodFitsHostPorts"}]},
            "predicates[1].name",
            "Duplicate value",
            id="twice, under the old name too",
        ),
        pytest.param(
            one("priorities", name="EqualPriority"),
            "priorities[0].weight",
            "0: Priority EqualPriority should have a positive weight",
            id="no weight",
        ),
        pytest.param(
            one("priorities", name="EqualPriority", weight=-1),
            "priorities[0].weight",
            "positive weight",
            id="negative weight",
        ),
        pytest.param(
            one("priorities", name="EqualPriority", weight=WEIGHT_MAX + 1),
            "priorities[0].weight",
            "overflown",
            id="overflowing weight",
        ),
        pytest.param(
            one("priorities", name="EqualPriority", weight="1"),
            "priorities[0].weight",
            "whole number",
            id="a weight that is no number",
        ),
        pytest.param(
            one("priorities", name="EqualPriority", weight=True),
            "priorities[0].weight",
            "whole number",
            id="a weight that is a truth",
        ),
        pytest.param(
            one("predicates", name="Mine", argument={}), "predicates[0].argument", "exactly one of", id="no argument"
        ),
        pytest.param(
            one("predicates", name="Mine", argument={"labelPreference": {}}),
            "predicates[0].argument",
            "exactly one of serviceAffinity and labelsPresence",
            id="a priority's argument",
        ),
        pytest.param(
            one("predicates", name="Mine", argument={"serviceAffinity": {"labels": []}}),
            "predicates[0].argument.serviceAffinity.labels",
            "a list of labels",
            id="no labels",
        ),
        pytest.param(
            one("predicates", name="Mine", argument={"serviceAffinity": {"labels": ["a"], "x": 1}}),
            "predicates[0].argument.serviceAffinity.x",
            "unknown field",
            id="unknown member",
        ),
        pytest.param(
            one("priorities", name="Mine", weight=1, argument={"labelPreference": {"label": "a", "presence": "yes"}}),
            "priorities[0].argument.labelPreference.presence",
            "true or false",
            id="presence that is no truth",
        ),
        pytest.param(
            {"predicates": [{"name": name, "argument": {"serviceAffinity": {"labels": ["a"]}}} for name in "ab"]},
            "predicates[1].argument.serviceAffinity",
            "Duplicate value",
            id="two of one argument",
        ),
        pytest.param(
            {"extenders": [{"urlPrefix": "http://x", "prioritizeVerb": "p"}]},
            "extenders[0].weight",
            "must have a positive weight",
            id="an extender that scores needs a weight",
        ),
        pytest.param(
            {"extenders": [{"urlPrefix": "http://x", "httpTimeout": "1s"}]},
            "extenders[0].httpTimeout",
            "nanoseconds",
            id="an extender's timeout",
        ),
    ],
)
def test_a_wrong_policy_is_refused_by_field(policy: dict[str, Any], field: str, message: str) -> None:
    found = causes(policy=policy)
    assert list(found) == [f"policy.{field}"]
    assert message in found[f"policy.{field}"]


def test_weights_whose_sum_could_overflow_are_refused() -> None:
    heavy = [{"name": name, "weight": WEIGHT_MAX} for name in FOUR[:2]]
    assert causes(policy={"priorities": heavy}) == {
        "policy": "Invalid value: total score of Score plugins could overflow"
    }


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"provider": "Other"}, "provider"),
        ({"provider": DEFAULT_PROVIDER, "policy": {}}, "provider"),
        ({"configuration": {}}, "configuration"),
        ({"policy": []}, "policy"),
    ],
)
def test_a_wrong_spec_is_refused(spec: dict[str, Any], field: str) -> None:
    assert list(causes(**spec)) == [field]


def test_round_robin_has_nothing_to_set() -> None:
    (profile,) = read_spec({"era": "round-robin"}).profiles
    assert [name for name, _ in profile.sets[MULTI_POINT].enabled] == list(AROUND)
    with pytest.raises(ApiError) as caught:
        read_spec({"era": "round-robin", "policy": {}, "provider": DEFAULT_PROVIDER})
    assert [cause.field for cause in caught.value.causes] == ["policy", "provider"]


WORDS = st.sampled_from(
    ["", "kind", "Policy", "v1", "name", "weight", "argument", "labels", "label", "presence", "http://x/y", *PREDICATES,
     *PRIORITIES, "serviceAffinity", "labelsPresence", "serviceAntiAffinity", "labelPreference"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-1, 2**64) | st.floats(allow_nan=False) | WORDS
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3))


def some(**members: Any) -> Any:
    return st.fixed_dictionaries({}, optional=members) | JSON


ARGUMENT = some(
    serviceAffinity=some(labels=JSON),
    labelsPresence=some(labels=st.lists(WORDS, max_size=2), presence=LEAVES),
    serviceAntiAffinity=some(label=LEAVES),
    labelPreference=some(label=WORDS, presence=st.booleans()),
)
POLICIES = some(
    kind=WORDS,
    apiVersion=LEAVES,
    predicates=st.lists(some(name=WORDS, argument=ARGUMENT), max_size=3) | JSON,
    priorities=st.lists(some(name=WORDS, weight=LEAVES, argument=ARGUMENT), max_size=3) | JSON,
    extenders=st.lists(some(urlPrefix=WORDS, httpTimeout=LEAVES, weight=LEAVES, tlsConfig=JSON), max_size=2) | JSON,
)


@settings(max_examples=200)
@given(st.fixed_dictionaries({}, optional={"policy": POLICIES, "provider": LEAVES, "configuration": JSON}))
def test_whatever_is_asked_is_read_or_refused_by_field(spec: dict[str, Any]) -> None:
    refused = refusal(spec)
    if refused is not None:
        assert refused.code == 422
        assert refused.causes
        assert all(cause.field.split(".")[0].split("[")[0] in spec for cause in refused.causes)


def refusal(spec: dict[str, Any]) -> ApiError | None:
    try:
        read(**spec)
    except ApiError as wrong:
        return wrong
    return None
