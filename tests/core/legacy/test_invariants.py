"""What holds for any cluster under the eras before the framework."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.eras import read_spec, registry_of
from scheduler_core.legacy.affinity import ANNOTATION
from scheduler_core.legacy.conflicts import conflicts_of
from scheduler_core.oracle import CaseListers
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import scheduling_cycle
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator

ZONE = "failure-domain.beta.kubernetes.io/zone"
SERVICE = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
PREFERS = (
    '{"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "preference": '
    '{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}]}}'
)
REQUIRES = (
    '{"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": '
    '[{"matchExpressions": [{"key": "disk", "operator": "DoesNotExist"}]}]}}}'
)


@st.composite
def nodes(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.integers(1, 5))):
        labels = draw(st.dictionaries(st.sampled_from((ZONE, "disk")), st.sampled_from("ab"), max_size=2))
        size = {"cpu": draw(st.sampled_from("0124")), "memory": draw(st.sampled_from(("1Gi", "4Gi"))), "pods": "4"}
        spec = {"unschedulable": draw(st.booleans()) and number > 0}
        meta = {"name": f"n{number}", "labels": labels}
        found.append({"metadata": meta, "spec": spec, "status": {"allocatable": size}})
    return found


@st.composite
def pods(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.integers(1, 12))):
        requests = {"cpu": draw(st.sampled_from(("0", "500m", "1"))), "memory": draw(st.sampled_from(("0", "1Gi")))}
        port = draw(st.sampled_from((0, 0, 80, 81)))
        ports = [{"containerPort": 1, "hostPort": port, "protocol": draw(st.sampled_from(("TCP", "UDP")))}]
        volumes = draw(st.sampled_from(([], [{"name": "v", "awsElasticBlockStore": {"volumeID": "d"}}])))
        annotation = draw(st.sampled_from(("", "", PREFERS, REQUIRES)))
        meta = {
            "name": f"p{number:02}",
            "namespace": "default",
            "uid": f"uid-{number:02}",
            "labels": {"app": draw(st.sampled_from(("web", "db")))},
            "annotations": {ANNOTATION: annotation} if annotation else {},
        }
        container = {"name": "c", "image": "i", "ports": ports, "resources": {"requests": requests}}
        found.append(
            {
                "metadata": meta,
                "spec": {"schedulerName": "default-scheduler", "containers": [container], "volumes": volumes},
            }
        )
    return found


def placed(
    era: str, cluster: list[dict[str, Any]], load: list[dict[str, Any]], *, reuse: bool = True
) -> dict[str, str]:
    """Return pod → node after one attempt each, in order of arrival; no node where none fitted."""
    spec = {"era": era}
    nominator, listers = Nominator(), CaseListers({"services": [SERVICE]})
    built = Configuration(
        read_spec(spec).profiles, registry_of(spec), hash="", nominator=nominator, listers=listers, reuse=reuse
    )
    core = Scheduler(built, nominator, seed=1)
    for document in cluster:
        core.observe_node(view(document, Node))
    for document in load:
        core.observe_pod(PodInfo.of(document))
    chosen: dict[str, str] = {}
    for document in load:
        run = core.begin(1)
        assert run is not None
        for _ in scheduling_cycle(core, run):
            pass
        assert run.uid == document["metadata"]["uid"]
        assert run.result != "error"
        chosen[run.uid] = run.chosen
    return chosen


def bound(load: list[dict[str, Any]], chosen: dict[str, str]) -> list[dict[str, Any]]:
    return [{**pod, "spec": {**pod["spec"], "nodeName": chosen[pod["metadata"]["uid"]]}} for pod in load]


@settings(max_examples=60)
@given(nodes(), pods())
def test_predicates_leave_no_conflict_and_reuse_changes_nothing(
    cluster: list[dict[str, Any]], load: list[dict[str, Any]]
) -> None:
    chosen = placed("algorithm-provider", cluster, load)
    assert chosen == placed("algorithm-provider", cluster, load, reuse=False)
    counts = conflicts_of(cluster, bound(load, chosen)).counts()
    assert (counts["hostPorts"], counts["pods"]) == (0, 0)
    listed = {node["metadata"]["name"] for node in cluster if not node["spec"]["unschedulable"]}
    assert set(chosen.values()) <= listed | {""}
    free = {"cpu", "memory"}
    asking = [pod for pod in load if any(_amount(pod, resource) != "0" for resource in free)]
    # A pod that asks for nothing fits anywhere, and makes no node fuller.
    over = conflicts_of(cluster, bound(asking, chosen))
    assert over.over("cpu") == over.over("memory") == 0


def _amount(pod: dict[str, Any], resource: str) -> str:
    amount: str = pod["spec"]["containers"][0]["resources"]["requests"][resource]
    return amount


@settings(max_examples=60)
@given(nodes(), pods())
def test_round_robin_gives_each_listed_node_its_turn(cluster: list[dict[str, Any]], load: list[dict[str, Any]]) -> None:
    chosen = placed("round-robin", cluster, load)
    assert chosen == placed("round-robin", cluster, load, reuse=False)
    counts = {node["metadata"]["name"]: 0 for node in cluster if not node["spec"]["unschedulable"]}
    for name in chosen.values():
        counts[name] += 1
    assert max(counts.values()) - min(counts.values()) <= 1
