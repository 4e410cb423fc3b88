"""The official Python client (`kubernetes`), typed and dynamic, over TLS with the session's kubeconfig."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock
from kubernetes.stream import portforward, stream

from tests.clients.places import Place, deployment
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import wait_for

SECONDS = round(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def api(place: Place) -> client.ApiClient:
    return config.new_client_from_config(str(place.kubeconfig))


@pytest.fixture(scope="module")
def core(api: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(api)


@pytest.fixture(scope="module")
def pods(api: client.ApiClient, core: client.CoreV1Api) -> Iterator[list[str]]:
    """Return the names of two running pods of a deployment that the typed client made and watched."""
    apps = client.AppsV1Api(api)
    container = client.V1Container(
        name="main", image="nginx:1.27", resources=client.V1ResourceRequirements(requests={"cpu": "10m"})
    )
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "typed"}), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels={"app": "typed"}), template=template
    )
    body = client.V1Deployment(metadata=client.V1ObjectMeta(name="typed"), spec=spec)
    made = apps.create_namespaced_deployment("default", body)
    watcher = watch.Watch()
    seen = []
    for event in watcher.stream(
        apps.list_namespaced_deployment, "default", field_selector="metadata.name=typed", timeout_seconds=SECONDS
    ):
        seen.append(event["type"])
        if event["object"].status.ready_replicas == 2:
            watcher.stop()
    assert seen[0] == "ADDED"
    assert set(seen) <= {"ADDED", "MODIFIED"}
    found = core.list_namespaced_pod("default", label_selector="app=typed").items
    assert {pod.metadata.owner_references[0].kind for pod in found} == {"ReplicaSet"}
    assert made.metadata.uid
    yield [pod.metadata.name for pod in found]
    apps.delete_namespaced_deployment("typed", "default", propagation_policy="Background")


def test_typed_objects_are_changed_scaled_and_paged(api: client.ApiClient, core: client.CoreV1Api) -> None:
    made = core.create_namespaced_config_map("default", client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="typed", labels={"of": "typed"}), data={"a": "1", "b": "2"}
    ))  # fmt: skip
    # A dictionary goes as a strategic merge patch, a list as a JSON patch.
    assert core.patch_namespaced_config_map("typed", "default", {"data": {"b": None, "c": "3"}}).data == {
        "a": "1", "c": "3",
    }  # fmt: skip
    operations = [{"op": "replace", "path": "/data/a", "value": "4"}]
    assert core.patch_namespaced_config_map("typed", "default", operations).data["a"] == "4"
    with pytest.raises(ApiException) as stale:
        core.replace_namespaced_config_map("typed", "default", made)
    assert (stale.value.status, stale.value.reason) == (409, "Conflict")
    first = core.list_node(limit=2)
    second = core.list_node(limit=2, _continue=first.metadata._continue)
    assert [node.metadata.name for node in [*first.items, *second.items]] == ["n1", "n2", "n3"]
    assert first.metadata.remaining_item_count == 1
    core.delete_collection_namespaced_config_map("default", label_selector="of=typed")
    assert core.list_namespaced_config_map("default", label_selector="of=typed").items == []
    assert client.VersionApi(api).get_code().git_version.startswith("v1.34.")


def test_what_runs_answers(api: client.ApiClient, core: client.CoreV1Api, pods: list[str]) -> None:
    name = pods[0]
    assert "nginx" in core.read_namespaced_pod_log(name, "default")
    watcher = watch.Watch()
    for line in watcher.stream(core.read_namespaced_pod_log, name, "default"):
        assert line
        watcher.stop()
    printed = stream(
        core.connect_get_namespaced_pod_exec, name, "default", command=["ls", "/"],
        stderr=True, stdin=False, stdout=True, tty=False,
    )  # fmt: skip
    assert "etc" in printed.split()
    shell = stream(
        core.connect_get_namespaced_pod_exec, name, "default", command=["sh"],
        stderr=True, stdin=True, stdout=True, tty=False, _preload_content=False,
    )  # fmt: skip
    shell.write_stdin("hostname\n")
    assert shell.readline_stdout(timeout=SECONDS) == name
    shell.write_stdin("exit 3\n")
    shell.run_forever(timeout=SECONDS)
    assert shell.returncode == 3
    with pytest.raises(ApiException) as missing:
        stream(core.connect_get_namespaced_pod_exec, "nobody", "default", command=["ls"])
    assert "404" in missing.value.reason
    assert 'pods \\"nobody\\" not found' in missing.value.reason


def test_a_forwarded_port_is_a_socket(core: client.CoreV1Api, pods: list[str]) -> None:
    made = portforward(core.connect_get_namespaced_pod_portforward, pods[0], "default", ports="80,8080")
    for port in (80, 8080):
        socket = made.socket(port)
        socket.settimeout(SECONDS)
        for _ in range(2):
            socket.sendall(b"GET / HTTP/1.1\r\nHost: web\r\n\r\n")
            answer = b""
            while not answer.endswith(b"</p>\n"):
                answer += socket.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\nServer: nginx")
        socket.close()
        assert made.error(port) is None
    page = core.connect_get_namespaced_pod_proxy_with_path(f"{pods[0]}:80", "default", "a/b")
    assert page.startswith("/a/b of ")


def test_an_eviction_and_the_scale_move_replicas(
    api: client.ApiClient, core: client.CoreV1Api, pods: list[str]
) -> None:
    apps = client.AppsV1Api(api)
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name=pods[1], namespace="default"))
    core.create_namespaced_pod_eviction(pods[1], "default", eviction)
    wait_for(
        lambda: pods[1] not in [pod.metadata.name for pod in core.list_namespaced_pod("default").items],
        what="the evicted pod is gone",
    )
    assert apps.patch_namespaced_deployment_scale("typed", "default", {"spec": {"replicas": 3}}).spec.replicas == 3
    wait_for(
        lambda: apps.read_namespaced_deployment_scale("typed", "default").status.replicas == 3,
        what="three replicas",
    )


def test_documents_are_created_from_yaml(api: client.ApiClient, core: client.CoreV1Api) -> None:
    job = {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "yaml"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}},
    }  # fmt: skip
    documents = [deployment("yaml", 1), job]
    made = utils.create_from_yaml(api, yaml_objects=documents)
    assert [one.kind for group in made for one in group] == ["Deployment", "Job"]
    with pytest.raises(utils.FailToCreateError, match="AlreadyExists"):
        utils.create_from_yaml(api, yaml_objects=documents[:1])


def test_the_dynamic_client_discovers_applies_and_watches(api: client.ApiClient) -> None:
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dynamic"}}
    maps.create(body={**body, "data": {"a": "1"}}, namespace="default")
    mine = {**body, "data": {"a": "2"}}
    with pytest.raises(ApiException) as conflict:
        maps.server_side_apply(body=mine, name="dynamic", namespace="default", field_manager="me")
    assert conflict.value.status == 409
    applied = maps.server_side_apply(
        body=mine, name="dynamic", namespace="default", field_manager="me", force_conflicts=True
    )
    assert applied.data.to_dict() == {"a": "2"}
    events = maps.watch(namespace="default", name="dynamic", timeout=SECONDS)
    assert next(events)["type"] == "ADDED"
    maps.delete(name="dynamic", namespace="default")
    assert next(events)["type"] == "DELETED"
    found = dynamic.DynamicClient(api)
    deployments = found.resources.get(api_version="apps/v1", kind="Deployment")
    assert {"scale", "status"} <= set(deployments.subresources)
    assert {one.name for one in found.resources.search(kind="Lease")} == {"leases"}


class RenewedOnce(ConfigMapLock):
    """A lock whose holder's thread ends when it has renewed: the helper knows no other end than losing."""

    def __init__(self, renewed: threading.Event) -> None:
        super().__init__("election", "default", "me")
        self._renewed = renewed

    def update(self, name: str, namespace: str, updated_record: Any) -> None:
        if super().update(name, namespace, updated_record):
            self._renewed.set()
        raise SystemExit


def test_one_candidate_leads_and_renews(api: client.ApiClient) -> None:
    leads, renewed = threading.Event(), threading.Event()
    # The lock makes a client of its own from the process's configuration.
    client.Configuration.set_default(api.configuration)
    try:
        lock = RenewedOnce(renewed)
    finally:
        client.Configuration.set_default(None)
    elected = electionconfig.Config(
        lock, lease_duration=17, renew_deadline=15, retry_period=1, onstarted_leading=leads.set, onstopped_leading=None
    )

    def run() -> None:
        with suppress(SystemExit):
            leaderelection.LeaderElection(elected).run()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(SECONDS)
    assert leads.is_set()
    assert renewed.is_set()
    record = client.CoreV1Api(api).read_namespaced_config_map("election", "default").metadata.annotations
    assert '"holderIdentity": "me"' in record["control-plane.alpha.kubernetes.io/leader"]
