"""Whatever JSON comes in, it is read or refused with an ApiError; nothing else is raised."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.selector_text import parse_field_selector, parse_label_selector
from scheduler_core.framework.interface import EXTENSION_POINTS
from scheduler_core.framework.profile import ProfileConfiguration, ProfileError
from scheduler_core.framework.runtime import Framework
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import IN_TREE, in_tree_registry
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo

WORDS = st.sampled_from(
    [
        "", "*", "cpu", "weight", "name", "enabled", "disabled", "args", "resources", "type", "shape", "score", "In",
        "LeastAllocated", "RequestedToCapacityRatio", "default-scheduler", "1", "-5", "64Mi", "x y", *IN_TREE,
    ]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-3, 200) | st.floats(allow_nan=False) | WORDS
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3))


def some(**members: Any) -> Any:
    """Return objects that have some of these members, or any JSON instead."""
    return st.fixed_dictionaries({}, optional=members) | JSON


PLUGINS = some(enabled=st.lists(some(name=WORDS, weight=LEAVES), max_size=3), disabled=JSON)
STRATEGY = some(
    type=WORDS,
    resources=st.lists(some(name=WORDS, weight=LEAVES), max_size=2),
    requestedToCapacityRatio=some(shape=st.lists(some(utilization=LEAVES, score=LEAVES), max_size=2)),
)
TERMS = some(nodeSelectorTerms=st.lists(some(matchExpressions=JSON, matchFields=JSON), max_size=2))
ARGS = some(
    scoringStrategy=STRATEGY,
    ignoredResources=JSON,
    resources=JSON,
    minCandidateNodesPercentage=LEAVES,
    addedAffinity=some(requiredDuringSchedulingIgnoredDuringExecution=TERMS),
)
PROFILE = some(
    schedulerName=LEAVES,
    percentageOfNodesToScore=LEAVES,
    plugins=some(**dict.fromkeys(("multiPoint", *EXTENSION_POINTS), PLUGINS)),
    pluginConfig=st.lists(some(name=WORDS, args=ARGS), max_size=2),
)
CONFIGURATION = st.fixed_dictionaries(
    {}, optional={"profiles": st.lists(PROFILE, max_size=2) | JSON, "parallelism": JSON, "podMaxBackoffSeconds": JSON}
)


@settings(max_examples=150)
@given(CONFIGURATION)
def test_configurations(document: dict[str, Any]) -> None:
    refused: ApiError | None = None
    profiles: tuple[ProfileConfiguration, ...] = ()
    try:
        profiles = read_configuration(document, known_plugins=in_tree_registry()).profiles
    except ApiError as wrong:
        refused = wrong
    assert (refused is None) is bool(profiles)
    if refused is not None:
        assert refused.code == 422
        assert all(cause.field for cause in refused.causes)
    for profile in profiles:
        with contextlib.suppress(ProfileError):
            Framework(profile, in_tree_registry())


CONTAINER = some(
    name=WORDS,
    image=WORDS,
    resources=some(requests=st.dictionaries(WORDS, LEAVES, max_size=3) | JSON),
    ports=st.lists(some(hostPort=LEAVES, protocol=LEAVES), max_size=2),
    restartPolicy=LEAVES,
)
POD = some(
    metadata=some(name=LEAVES, labels=JSON, uid=LEAVES),
    spec=some(containers=st.lists(CONTAINER, max_size=2), initContainers=JSON, tolerations=JSON, overhead=JSON),
    status=JSON,
)


@settings(max_examples=150)
@given(POD)
def test_pods(document: Any) -> None:
    with contextlib.suppress(ApiError, QuantityError):
        info = PodInfo.of(document)
        assert isinstance(info.pod, Pod)
        assert all(isinstance(number, int) for number in info.requests.values())


@settings(max_examples=200)
@given(some(metadata=JSON, spec=JSON, status=some(allocatable=st.dictionaries(WORDS, LEAVES) | JSON, images=JSON)))
def test_nodes(document: Any) -> None:
    with contextlib.suppress(ApiError, QuantityError):
        node = view(document, Node)
        assert NodeInfo(node.name, node).allocatable.keys() == node.status.allocatable.keys()


@given(st.text(alphabet="ab=!,() <>in-./\\", max_size=12))
def test_selector_text(text: str) -> None:
    for parse in (parse_label_selector, parse_field_selector):
        with contextlib.suppress(ApiError):
            parse(text)
