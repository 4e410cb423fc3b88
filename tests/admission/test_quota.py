"""Quota admission: what is charged, what is refused and in which words; nothing gets past the hard limit."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.table import REGISTRY
from controllers.kit.client import Client
from controllers.log.operations import Create
from controllers.registry.context import Context
from tests.registry.registry_tool import CONTAINER, Cluster, refusal

QUOTAS = "resourcequotas"


@pytest.fixture
def cluster() -> Cluster:
    one = Cluster()
    one.create("serviceaccounts", "default")
    return one


def quota(cluster: Cluster, hard: dict[str, str], name: str = "q", **spec: Any) -> None:
    """Make a quota as the controller leaves it once it has counted."""
    cluster.create(QUOTAS, name, {"spec": {"hard": hard, **spec}})
    status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    cluster.patch(QUOTAS, name, {"status": status}, subresource="status")


def used(cluster: Cluster, name: str = "q") -> dict[str, str]:
    found = cluster.get(QUOTAS, name)
    assert found is not None
    return dict(found["status"]["used"])


def asking(requests: dict[str, str] | None = None, **limits: str) -> dict[str, Any]:
    return {"containers": [{**CONTAINER, "resources": {"requests": requests or {}, "limits": limits}}]}


def test_pods_are_charged_with_their_creation_and_refused_beyond_the_limit(cluster: Cluster) -> None:
    quota(cluster, {"pods": "1"})
    before = cluster.store.revision
    cluster.pod("web-0")
    rows = cluster.store.events(before)
    assert [row.resource for row in rows] == [QUOTAS, "pods"]
    assert used(cluster) == {"pods": "1"}
    revision = cluster.store.revision
    error = refusal(cluster.pod, "web-1")
    assert (error.code, error.message) == (
        403,
        'pods "web-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    )
    assert cluster.store.revision == revision


def test_what_a_container_must_say_is_asked_for(cluster: Cluster) -> None:
    quota(cluster, {"requests.cpu": "1", "requests.memory": "1Gi", "pods": "2"})
    error = refusal(cluster.pod)
    assert error.message.endswith("failed quota: q: must specify requests.cpu for: c; requests.memory for: c")
    partly = refusal(cluster.pod, spec=asking({"cpu": "2"}))
    assert partly.message.endswith("failed quota: q: must specify requests.memory for: c")
    over = refusal(cluster.pod, spec=asking({"cpu": "1", "memory": "2Gi"}))
    assert over.message.endswith(
        "exceeded quota: q, requested: requests.memory=2Gi, used: requests.memory=0, limited: requests.memory=1Gi"
    )
    cluster.pod(spec=asking({"cpu": "1", "memory": "1Gi"}))
    assert used(cluster) == {"pods": "1", "requests.cpu": "1", "requests.memory": "1Gi"}


def test_a_count_that_was_taken_before_others_came_does_not_let_more_in(cluster: Cluster) -> None:
    """The controller has counted none, pods come that the quota does not limit yet, then its count is written."""
    cluster.create(QUOTAS, "q", {"spec": {"hard": {"pods": "2", "count/configmaps": "1"}}})
    read = cluster.get(QUOTAS, "q")
    assert read is not None
    cluster.pod("web-0")
    cluster.pod("web-1")
    cluster.create("configmaps", "c", {})
    status = {"hard": read["spec"]["hard"], "used": {"pods": "0", "count/configmaps": "0"}}
    version = {"resourceVersion": read["metadata"]["resourceVersion"]}
    cluster.patch(QUOTAS, "q", {"metadata": version, "status": status}, subresource="status")
    assert used(cluster) == {"count/configmaps": "1", "pods": "2"}
    assert refusal(cluster.pod, "web-2").code == 403


def test_a_count_that_became_too_low_while_another_took_its_place_is_counted_anew(cluster: Cluster) -> None:
    quota(cluster, {"pods": "1"})
    cluster.pod("web-0")
    cluster.delete("pods", "web-0", grace_period_seconds=0)
    # Used says 1 until the controller has counted; meanwhile another pod is that one.
    cluster.pod("web-1")
    cluster.patch(QUOTAS, "q", {"status": {"used": {"pods": "0"}}}, subresource="status")
    assert used(cluster) == {"pods": "1"}
    assert refusal(cluster.pod, "web-2").code == 403


def test_what_is_written_of_what_a_quota_uses_stands_where_there_is_not_more(cluster: Cluster) -> None:
    quota(cluster, {"pods": "5", "requests.cpu": "2"})
    cluster.pod("web-0", spec=asking({"cpu": "1"}))
    cluster.patch(QUOTAS, "q", {"status": {"used": {"pods": "3", "requests.cpu": "1500m"}}}, subresource="status")
    assert used(cluster) == {"pods": "3", "requests.cpu": "1500m"}
    cluster.patch(QUOTAS, "q", {"status": {"used": {"pods": "2"}}}, subresource="status")
    assert used(cluster) == {"pods": "2", "requests.cpu": "1500m"}


def test_a_dry_run_is_checked_and_charges_nothing(cluster: Cluster) -> None:
    quota(cluster, {"pods": "1"})
    body = {"spec": {"containers": [CONTAINER]}}
    cluster.create("pods", "web", body, dry_run=True)
    assert used(cluster) == {"pods": "0"}
    cluster.pod("web")
    assert refusal(cluster.create, "pods", "more", body, dry_run=True).code == 403


def test_a_quota_that_nobody_has_counted_yet_limits_nothing(cluster: Cluster) -> None:
    cluster.create(QUOTAS, "q", {"spec": {"hard": {"pods": "0"}}})
    assert cluster.pod()
    cluster.patch(QUOTAS, "q", {"status": {"hard": {"pods": "0"}}}, subresource="status")
    assert refusal(cluster.pod, "other").message.endswith("status unknown for quota: q, resources: pods")


def test_scopes_say_whom_a_quota_concerns(cluster: Cluster) -> None:
    quota(cluster, {"pods": "1"}, scopes=["BestEffort"])
    cluster.pod("one")
    assert refusal(cluster.pod, "two").code == 403
    assert cluster.pod("three", asking({"cpu": "1"}))
    assert used(cluster) == {"pods": "1"}


def test_every_quota_is_charged_and_one_that_refuses_spares_the_others(cluster: Cluster) -> None:
    quota(cluster, {"pods": "5"}, "a")
    quota(cluster, {"count/pods": "1"}, "b")
    cluster.pod("one")
    assert (used(cluster, "a"), used(cluster, "b")) == ({"pods": "1"}, {"count/pods": "1"})
    error = refusal(cluster.pod, "two")
    assert "exceeded quota: b, requested: count/pods=1" in error.message
    assert used(cluster, "a") == {"pods": "1"}


def test_other_kinds_are_counted_by_name(cluster: Cluster) -> None:
    quota(cluster, {"configmaps": "1", "count/secrets": "0"})
    cluster.create("configmaps", "a")
    error = refusal(cluster.create, "configmaps", "b")
    assert error.message == (
        'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, '
        "limited: configmaps=1"
    )
    assert refusal(cluster.create, "secrets", "s").code == 403


def test_an_update_is_charged_for_what_it_adds(cluster: Cluster) -> None:
    quota(cluster, {"services.nodeports": "1"})
    body = {"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}
    service = cluster.create("services", "web", body)
    two = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
    error = refusal(
        cluster.update, "services", {**service, "spec": {**service["spec"], "type": "NodePort", "ports": two}}
    )
    assert error.message.endswith(
        "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1"
    )
    cluster.update("services", {**service, "spec": {**service["spec"], "type": "NodePort"}})
    assert used(cluster) == {"services.nodeports": "1"}


def test_operations_of_one_transaction_do_not_race_past_the_limit(cluster: Cluster) -> None:
    quota(cluster, {"pods": "3"})
    client = Client(cluster.store)
    body = {"spec": {"containers": [CONTAINER]}}
    with cluster.store.transaction("t") as transaction:
        made = []
        for number in range(8):
            context = Context("user:t", cluster.store.epoch_ms, lambda n=number: f"u{n}", lambda: "abcde")
            document = {"metadata": {"name": f"p{number}"}, **body}
            made.append(REGISTRY.attempt(transaction, Create("pods", "default", document), context).error is None)
    assert made == [True] * 3 + [False] * 5
    assert used(cluster) == {"pods": "3"}
    assert client.apply(Create("pods", "default", {"metadata": {"name": "late"}, **body}), "user:t").error is not None


def test_a_document_that_is_too_large_costs_nothing(cluster: Cluster) -> None:
    quota(cluster, {"configmaps": "5"})
    error = refusal(cluster.create, "configmaps", "big", {"data": {"k": "x" * 1_570_000, "l": "y" * 3_000}})
    assert error.code in (413, 422)
    assert used(cluster) == {"configmaps": "0"}


def test_what_is_given_back_counts_at_once(cluster: Cluster) -> None:
    quota(cluster, {"pods": "1"})
    cluster.pod("web-0")
    cluster.delete("pods", "web-0")
    assert used(cluster) == {"pods": "1"}
    cluster.pod("web-1")
    assert used(cluster) == {"pods": "1"}
    assert refusal(cluster.pod, "web-2").code == 403


def test_the_plugin_can_be_switched_off(cluster: Cluster) -> None:
    quota(cluster, {"pods": "0"})
    spec = {"spec": {"kube-apiserver": {"disable-admission-plugins": "ResourceQuota"}}}
    cluster.create("flags.clustersim.io", "flags", spec)
    assert cluster.pod()
