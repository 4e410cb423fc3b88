"""What is stored and acted on by nothing says so; what has a keeper is kept by a component that there is."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.table import KINDS
from controllers.log.operations import Patch
from controllers.registry.kind import Kind
from controllers.table import CONTROLLERS
from tests.registry.registry_tool import CONTAINER, Cluster

COMPONENTS = {entry.name for entry in CONTROLLERS} | {"kubelet", "session"}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
WORKLOAD = {"spec": {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}}
ATTACHMENT = {"spec": {"attacher": "a.example.dev", "nodeName": "n1", "source": {"persistentVolumeName": "v"}}}
IDLE = "storage.k8s.io/v1 VolumeAttachment is stored, but no controller of this cluster acts on it"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.plural)
def test_a_keeper_is_a_component_that_there_is(kind: Kind) -> None:
    assert not kind.keeper or kind.keeper in COMPONENTS


def test_whoever_imports_what_nothing_acts_on_is_told_so() -> None:
    cluster = Cluster()
    resource = "volumeattachments.storage.k8s.io"

    def patch(body: dict[str, Any], subresource: str = "") -> list[str]:
        cluster.apply(Patch(resource, "", "web", body, "merge", subresource), explains=True)
        return cluster.warnings

    cluster.create(resource, "web", ATTACHMENT, explains=True)
    assert cluster.warnings == [IDLE]
    labelled = {"metadata": {"labels": {"a": "b"}}}
    assert patch(labelled) == [IDLE]
    assert patch({"status": {"attached": True}}, "status") == []
    assert patch(labelled) == [], "a write that changes nothing says nothing"


def test_through_the_api_a_kind_that_nothing_acts_on_is_silent_as_upstream() -> None:
    cluster = Cluster()
    cluster.create("volumeattachments.storage.k8s.io", "web", ATTACHMENT)
    assert cluster.warnings == []


def test_a_kind_with_a_controller_and_one_that_asks_for_nothing_are_silent() -> None:
    cluster = Cluster()
    cluster.create("deployments.apps", "web", WORKLOAD, explains=True)
    assert cluster.warnings == []
    cluster.create("configmaps", "web", {"data": {"a": "b"}}, explains=True)
    assert cluster.warnings == []


def test_which_kinds_nothing_acts_on() -> None:
    """A controller that is added takes its kind out of this list, with the kind's `keeper`."""
    assert {kind.resource for kind in KINDS if kind.idle} == {
        "apiservices.apiregistration.k8s.io",
        "certificatesigningrequests.certificates.k8s.io",
        "flowschemas.flowcontrol.apiserver.k8s.io",
        "ingresses.networking.k8s.io",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "resourceclaims.resource.k8s.io",
        "runtimeclasses.node.k8s.io",
        "servicecidrs.networking.k8s.io",
        "volumeattachments.storage.k8s.io",
    }
