"""What every session and scenario starts from: namespaces, the system's priority classes, the command objects."""

from __future__ import annotations

from typing import Final

from controllers.apiserver.documents import api_server
from controllers.registry.kind import CLUSTERSIM_GROUP
from scheduler_core.api.document import Document
from scheduler_core.framework.rules import CURRENT_ERA

NAMESPACES: Final = ("kube-system", "kube-public", "default", "kube-node-lease")

SYSTEM_PRIORITIES: Final = (
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
)
"""As kube-apiserver makes them."""

SCHEDULER: Final = "kube-scheduler"
CONTROLLER_MANAGER: Final = "kube-controller-manager"


def identity_of(component: str, number: int) -> str:
    """Return what a replica writes into Leases: `kube-scheduler-0`."""
    return f"{component}-{number}"


def initial_objects(
    *, replicas: int = 1, pace: int = 0, paused: bool = False, scheduler: Document | None = None
) -> list[Document]:
    """Return the documents to create, in order; for what they mean see `command_objects`."""
    return server_objects() + command_objects(replicas=replicas, pace=pace, paused=paused, scheduler=scheduler)


def server_objects() -> list[Document]:
    """Return what kube-apiserver makes when it starts, and the accounts that are there soon after."""
    documents: list[Document] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in NAMESPACES
    ]
    # As if the controller had been there before: pods may be made although time stands.
    documents += [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        for name in NAMESPACES
    ]
    for name, value, description in SYSTEM_PRIORITIES:
        documents.append(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "description": description,
            }
        )
    return documents + api_server()


def command_objects(
    *, replicas: int = 1, pace: int = 0, paused: bool = False, scheduler: Document | None = None
) -> list[Document]:
    """Return the command objects of a session.

    Args:
        replicas: of the scheduler and of the controller manager, each.
        pace: simulated milliseconds that a scheduling cycle spends at each extension point.
        paused: whether time stands.
        scheduler: spec of the scheduler's configuration (`schedulerconfigs.clustersim.io`); None: today's, as it comes.
    """
    documents = [_command("Clock", "clock", {"paused": paused, "rate": 1.0, "pace": pace})]
    for component in (SCHEDULER, CONTROLLER_MANAGER):
        for number in range(replicas):
            documents.append(_command("Replica", identity_of(component, number), {"component": component}))
    for number in range(replicas):
        documents.append(_command("Queue", identity_of(SCHEDULER, number), None))
    documents.append(_command("SchedulerConfig", "default", dict(scheduler or {"era": CURRENT_ERA})))
    return documents


def _command(kind: str, name: str, spec: Document | None) -> Document:
    document: Document = {"apiVersion": f"{CLUSTERSIM_GROUP}/v1", "kind": kind, "metadata": {"name": name}}
    if spec is not None:
        document["spec"] = spec
    return document
