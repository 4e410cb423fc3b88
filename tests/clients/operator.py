"""An operator of kopf for `widgets.shop.example.com`: a config map for each, and a word about it in its status.

Run with `kopf run`; nothing of it is imported by tests. As kopf asks of operators its handlers may run twice, and what
fails they try again, after a second here instead of a minute.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import kopf
import kubernetes

DONE = "shop.example.com/done"
AGAIN = 1.0
"""Seconds."""


@contextlib.contextmanager
def already(status: int) -> Iterator[None]:
    """Pass over an answer that says that it was done before."""
    try:
        yield
    except kubernetes.client.ApiException as error:
        if error.status != status:
            raise


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.persistence.finalizer = DONE
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix="shop.example.com")
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix="shop.example.com")


@kopf.on.login()
def login(**arguments: Any) -> Any:
    return kopf.login_via_client(**arguments)


@kopf.on.create("shop.example.com", "v1", "widgets", backoff=AGAIN)
def create(spec: kopf.Spec, name: str, namespace: str, body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"colour": spec["colour"]}}
    kopf.adopt(child)
    with already(409):
        kubernetes.client.CoreV1Api().create_namespaced_config_map(namespace, child)
    kopf.info(body, reason="Painted", message=f"in {spec['colour']}")
    patch.status["painted"] = spec["colour"]


@kopf.on.update("shop.example.com", "v1", "widgets", field="spec.colour", backoff=AGAIN)
def update(new: str, name: str, namespace: str, patch: kopf.Patch, **_: Any) -> None:
    kubernetes.client.CoreV1Api().patch_namespaced_config_map(name, namespace, {"data": {"colour": new}})
    patch.status["painted"] = new


@kopf.timer("shop.example.com", "v1", "widgets", interval=0.2)
def tick(status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    if status.get("painted") and not status.get("dry"):
        patch.status["dry"] = True


@kopf.on.delete("shop.example.com", "v1", "widgets", backoff=AGAIN)
def delete(name: str, namespace: str, **_: Any) -> None:
    with already(404):
        kubernetes.client.CoreV1Api().delete_namespaced_config_map(name, namespace)
