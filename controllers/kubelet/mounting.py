"""Whether a pod's claims can be mounted: containers start only when all are bound.

Source: pkg/kubelet/volumemanager/populator (desired_state_of_world_populator.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from controllers.kit.informer import Lister
from controllers.kit.pods import volumes_of_claims

CSI_DRIVERS = "clustersim.io/csi-drivers"
"""Annotation of a node: the CSI drivers that run there and how many volumes each can attach, `a.example.dev=25,b`."""

_TOPOLOGY = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def why_not_mounted(pod: Mapping[str, Any], claims: Lister) -> str:
    """Return what the kubelet says of a pod whose claims are not bound; empty where all are."""
    wrong: dict[str, str] = {}
    for volume, key in volumes_of_claims(pod):
        namespace, _, name = key.partition("/")
        claim = claims.get(namespace, name)
        if claim is None:
            why = f'failed to fetch PVC from API server: persistentvolumeclaims "{name}" not found'
        elif "deletionTimestamp" in claim["metadata"]:
            why = "can't start pod because PVC is being deleted"
        elif (claim.get("status") or {}).get("phase") != "Bound":
            why = "PVC is not bound"
        else:
            continue
        wrong[volume] = f"error processing PVC {key}: {why}"
    if not wrong:
        return ""
    volumes = " ".join(wrong)
    return (
        f"Unable to attach or mount volumes: unmounted volumes=[{volumes}], unattached volumes=[], "
        f"failed to process volumes=[{volumes}]: {', '.join(wrong.values())}"
    )


def csi_node(node: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the CSINode of a node that says which drivers run there; None where it says nothing.

    A driver tells places apart by the zone and region labels that the node has.
    """
    metadata = node["metadata"]
    asked = (metadata.get("annotations") or {}).get(CSI_DRIVERS)
    if not asked:
        return None
    keys = [key for key in _TOPOLOGY if key in (metadata.get("labels") or {})]
    drivers: list[dict[str, Any]] = []
    for entry in asked.split(","):
        name, _, count = entry.strip().partition("=")
        driver: dict[str, Any] = {"name": name, "nodeID": metadata["name"], "topologyKeys": keys}
        if count.isdecimal():
            driver["allocatable"] = {"count": int(count)}
        drivers.append(driver)
    owner = {"apiVersion": "v1", "kind": "Node", "name": metadata["name"], "uid": metadata["uid"]}
    return {"metadata": {"name": metadata["name"], "ownerReferences": [owner]}, "spec": {"drivers": drivers}}


_SOURCES = (("configMap", "configmaps", "name"), ("secret", "secrets", "secretName"))


def objects_of_volumes(pod: Mapping[str, Any]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield (volume, group resource, name, keys) of each ConfigMap and Secret that a pod's volumes need."""
    for volume in pod["spec"].get("volumes") or ():
        sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
        for number, source in enumerate(sources):
            for field, resource, name in _SOURCES:
                wanted = source.get(field)
                # In a projected volume a Secret is called by `name`, too.
                named = (wanted or {}).get("name" if number else name)
                if named and not (wanted or {}).get("optional"):
                    yield volume["name"], resource, named, [one["key"] for one in wanted.get("items") or ()]


def why_not_made(found: Mapping[str, Any] | None, resource: str, name: str, keys: Iterable[str]) -> str:
    """Return why a volume cannot be made of a ConfigMap or Secret; empty where it can.

    Source: pkg/volume/configmap/configmap.go, pkg/volume/secret/secret.go (MakePayload), v1.34.
    """
    if found is None:
        return f'{singular(resource)} "{name}" not found'
    held = {**(found.get("data") or {}), **(found.get("binaryData") or {})}
    missing = next((key for key in keys if key not in held), None)
    if missing is None:
        return ""
    if resource == "secrets":
        return f"references non-existent secret key: {missing}"
    return f"configmap references non-existent config key: {missing}"


def objects_of_environment(container: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (group resource, name, key or nothing) of each ConfigMap and Secret that an environment needs."""
    for entry in container.get("envFrom") or ():
        for field, resource in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
            wanted = entry.get(field) or {}
            if wanted.get("name") and not wanted.get("optional"):
                yield resource, wanted["name"], ""
    for entry in container.get("env") or ():
        source = entry.get("valueFrom") or {}
        for field, resource in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
            wanted = source.get(field) or {}
            if wanted.get("name") and not wanted.get("optional"):
                yield resource, wanted["name"], str(wanted.get("key") or "")


def singular(resource: str) -> str:
    """Return how a kubelet calls one object of a resource: `configmap`, `secret`."""
    return resource.removesuffix("s")
