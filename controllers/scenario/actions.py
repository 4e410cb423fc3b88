"""What a step of a scenario asks of the API."""

from __future__ import annotations

from typing import Final

from controllers.bootstrap import SCHEDULER, identity_of
from controllers.commands import REPLICAS
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.kinds.table import find_kind
from controllers.kit.client import Client
from controllers.log.operations import Create, Delete, Operation, Patch
from controllers.log.store import Store
from controllers.registry.kind import Kind
from controllers.scenario.reading import named_kind
from controllers.scenario.shape import Action
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

ACTOR: Final = "user:scenario"
"""Who writes what a scenario says."""


def act(store: Store, action: Action, actor: str = ACTOR, client: Client | None = None) -> None:
    """Carry out one action in somebody's name.

    Args:
        store: the session's.
        action: what to do.
        actor: who does it.
        client: writes it; None: one of its own.

    Raises:
        ApiError: it was refused; the message names the step.
    """
    client = client or Client(store)
    for operation in _operations(store, action):
        result = client.apply(operation, actor)
        if result.error is not None:
            raise refusal(action, result.error)


def refusal(action: Action, error: ApiError) -> ApiError:
    """Return the error of a refused action, whose message names the action."""
    return ApiError(error.code, error.reason, f"{action.told} was refused: {error.message}", causes=error.causes)


def _operations(store: Store, action: Action) -> list[Operation]:
    argument = action.argument
    match action.what:
        case "apply":
            return [_apply(store, document) for document in argument]
        case "delete":
            kind, namespace = _place(argument)
            grace = argument.get("gracePeriodSeconds")
            propagation = argument.get("propagation", "Background")
            name = argument["name"]
            return [Delete(kind.resource, namespace, name, grace_period_seconds=grace, propagation=propagation)]
        case "patch":
            kind, namespace = _place(argument)
            how = argument.get("type", "strategic")
            return [Patch(kind.resource, namespace, argument["name"], argument["patch"], how)]
        case "scale":
            namespace = argument.get("namespace", "default")
            resource = "deployments.apps" if "deployment" in argument else "replicasets.apps"
            name = argument.get("deployment") or argument["replicaset"]
            return [Patch(resource, namespace, name, {"spec": {"replicas": argument["replicas"]}}, "merge", "scale")]
        case "fault":
            return [_fault(store, argument, name) for name in _replicas(store, argument["replica"])]
        case "verdict":
            return [_verdict(store, argument)]
        case "scheduler":
            # The whole spec: what the new one does not name is gone.
            patch_spec = [{"op": "add", "path": "/spec", "value": argument}]
            return [Patch("schedulerconfigs.clustersim.io", "", "default", patch_spec, "json")]
        case "client":
            metadata = {"name": argument["name"]}
            spec = {key: value for key, value in argument.items() if key != "name"}
            if store.get(CLIENTS, "", argument["name"]) is not None:
                return [Patch(CLIENTS, "", argument["name"], {"spec": spec})]
            made_client = {"apiVersion": "clustersim.io/v1", "kind": "Client", "metadata": metadata, "spec": spec}
            return [Create(CLIENTS, "", made_client)]
        case "flags":
            document = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": FLAGS_NAME}}
            there = store.get(FLAGS, "", FLAGS_NAME) is not None
            made: list[Operation] = [] if there else [Create(FLAGS, "", document)]
            return [*made, Patch(FLAGS, "", FLAGS_NAME, {"spec": argument})]
        case _:
            return [Patch("clocks.clustersim.io", "", "clock", {"spec": argument})]


def _apply(store: Store, document: Document) -> Operation:
    """Create the object, or merge what is written into the one that is there."""
    kind = find_kind(document["apiVersion"], document["kind"])
    assert kind is not None, "kinds were checked when the scenario was read"
    name = document["metadata"]["name"]
    namespace = (document["metadata"].get("namespace") or "default") if kind.namespaced else ""
    if store.get(kind.resource, namespace, name) is None:
        return Create(kind.resource, namespace, document)
    return Patch(kind.resource, namespace, name, document, "strategic")


def _verdict(store: Store, argument: Document) -> Operation:
    """Say a word on a pod that Permit holds to the replica that the step names."""
    namespace, _, name = str(argument["pod"]).rpartition("/")
    pod = store.get("pods", namespace or "default", name)
    replica = argument.get("replica", identity_of(SCHEDULER, 0))
    stored = store.get("replicas.clustersim.io", "", replica)
    known = (stored.object["spec"].get("verdict") or {}) if stored is not None else {}
    told: Document = {"plugin": "", "message": "", **{key: argument[key] for key in _OF_VERDICTS if key in argument}}
    verdict = {**told, "id": int(known.get("id") or 0) + 1, "uid": pod.uid if pod is not None else ""}
    return Patch("replicas.clustersim.io", "", replica, {"spec": {"verdict": verdict}})


_OF_VERDICTS: Final = ("verdict", "plugin", "message")


def _replicas(store: Store, wanted: str) -> list[str]:
    """Return the replica of a name, or all of the component that is called so."""
    every = [stored for stored in store.list(REPLICAS)[0] if stored.object["spec"].get("component") == wanted]
    return [stored.name for stored in every] or [wanted]


def _fault(store: Store, argument: Document, name: str) -> Patch:
    stored = store.get(REPLICAS, "", name)
    known = (stored.object["spec"].get("fault") or {}) if stored is not None else {}
    fault = {key: value for key, value in argument.items() if key != "replica"}
    return Patch(REPLICAS, "", name, {"spec": {"fault": {**fault, "id": int(known.get("id") or 0) + 1}}})


def _place(argument: Document) -> tuple[Kind, str]:
    kind = named_kind(argument)
    assert kind is not None, "kinds were checked when the scenario was read"
    return kind, argument.get("namespace", "default") if kind.namespaced else ""
