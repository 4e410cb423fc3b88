"""lightkube with its models of 1.34: server-side apply, watches, waits, commands and generic resources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Node, Pod
from lightkube.types import PatchType

from tests.clients.places import Place, deployment
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import wait_for


@pytest.fixture(scope="module")
def client(place: Place) -> Iterator[Client]:
    with Client(config=KubeConfig.from_file(place.kubeconfig), field_manager="lightkube") as made:
        yield made


def test_objects_are_applied_patched_and_watched(client: Client) -> None:
    assert [node.metadata.name for node in client.list(Node, chunk_size=2)] == ["n1", "n2", "n3"]
    mine = ConfigMap(metadata=ObjectMeta(name="mine", namespace="default"), data={"a": "1"})
    applied = client.apply(mine)
    assert [(entry.manager, entry.operation) for entry in applied.metadata.managedFields] == [("lightkube", "Apply")]
    assert client.patch(ConfigMap, "mine", {"data": {"b": "2"}}, patch_type=PatchType.MERGE).data == {
        "a": "1", "b": "2",
    }  # fmt: skip
    client.patch(ConfigMap, "mine", {"data": {"a": "9"}})
    with pytest.raises(ApiError) as conflict:
        client.apply(mine, field_manager="other")
    assert conflict.value.status.code == 409
    assert client.apply(mine, force=True).data == {"a": "1", "b": "2"}
    seen = []
    for operation, found in client.watch(ConfigMap, fields={"metadata.name": "mine"}):
        seen.append(operation)
        assert found.metadata.name == "mine"
        if operation == "DELETED":
            break
        client.delete(ConfigMap, "mine")
    assert seen == ["ADDED", "DELETED"]


def test_a_deployment_is_waited_for_scaled_and_looked_into(client: Client) -> None:
    generic = create_namespaced_resource("apps", "v1", "Deployment", "deployments", verbs=None)
    client.create(generic(**deployment("light", 1)), namespace="default")
    assert client.wait(Deployment, "light", for_conditions=["Available"]).status.readyReplicas == 1
    (pod,) = [pod.metadata.name for pod in client.list(Pod, labels={"app": "light"})]
    assert any("nginx" in line for line in client.log(pod))
    # It always says that it sends something, and closes it only where there is something to send.
    assert "etc" in client.exec(pod, command=["ls", "/"], stdout=True, timeout=PATIENCE_SECONDS).stdout
    sent = client.exec(pod, command=["cat"], stdin="hello", stdout=True, timeout=PATIENCE_SECONDS)
    assert (sent.stdout, sent.exit_code) == ("hello", 0)
    assert client.patch(Deployment.Scale, "light", {"spec": {"replicas": 2}}).spec.replicas == 2
    client.deletecollection(Deployment)
    wait_for(lambda: not list(client.list(Deployment)), what="all deployments are gone")
