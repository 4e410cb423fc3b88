"""ServiceAccount: a pod runs as an account of its namespace, whose token it finds mounted.

Source: plugin/pkg/admission/serviceaccount.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.admission.common import on, unusable_name
from controllers.admission.namespacelifecycle import NAMESPACES
from controllers.log.sessiontime import CARRY_MS
from controllers.log.stamps import unix_ms_of
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api.booleans import TRUE
from scheduler_core.api.document import Document, at, child

ACCOUNTS: Final = "serviceaccounts"
DEFAULT: Final = "default"

YOUNG_MS: Final = CARRY_MS + 2_000
"""For so long after a namespace was made, in simulated milliseconds, pods may count on its account `default`: upstream
asks for it ten times in one to two seconds, for the controller that makes it. A session that has just woken may have
carried its time on by as much again."""

TOKEN_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN_SECONDS: Final = 3607
_VOLUME: Final = "kube-api-access-"
_MIRROR: Final = "kubernetes.io/config.mirror"
_ENFORCE: Final = "kubernetes.io/enforce-mountable-secrets"


def _mutate(attempt: Attempt) -> str:
    metadata, spec = attempt.document["metadata"], child(attempt.document, "spec")
    if _MIRROR in (metadata.get("annotations") or {}):
        return ""
    name = spec.get("serviceAccountName") or DEFAULT
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    account = _account(attempt, name)
    changed = [f"serviceAccountName {name}"]
    wanted = spec.get("automountServiceAccountToken", account.get("automountServiceAccountToken", True))
    volume = _mount(spec, attempt) if wanted else ""
    if volume:
        changed.append(f"volume {volume}")
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{"name": one.get("name", "")} for one in account["imagePullSecrets"]]
        changed.append("imagePullSecrets")
    return ", ".join(changed)


def _account(attempt: Attempt, name: str) -> Mapping[str, Any]:
    account = attempt.lookup.get(ACCOUNTS, attempt.namespace, name)
    if account is not None:
        return account
    if name == DEFAULT and _is_young(attempt):
        return {}
    where = f"{attempt.namespace}/{name}"
    why = unusable_name(name) or f'serviceaccount "{name}" not found'
    raise attempt.refuse(f"error looking up service account {where}: {why}")


def _is_young(attempt: Attempt) -> bool:
    home = attempt.lookup.get(NAMESPACES, "", attempt.namespace)
    made = None if home is None else home["metadata"].get("creationTimestamp")
    return made is not None and attempt.context.unix_ms - unix_ms_of(made) < YOUNG_MS


def _mount(spec: Document, attempt: Attempt) -> str:
    """Mount the token in each container that mounts nothing there; return the name of the volume that was added."""
    volumes = spec.get("volumes") or []
    present = next((one["name"] for one in volumes if str(one.get("name", "")).startswith(_VOLUME)), "")
    name = present or _VOLUME + attempt.context.new_suffix()
    needed = False
    for container in _containers(spec):
        mounts = container.get("volumeMounts") or []
        if not any(one.get("mountPath") == TOKEN_PATH for one in mounts):
            container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": TOKEN_PATH}]
            needed = True
    if present or not needed:
        return ""
    spec["volumes"] = [*volumes, {"name": name, "projected": _token()}]
    return name


def _token() -> Document:
    items = [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": items}},
        ],
        "defaultMode": 420,
    }


def _containers(spec: Mapping[str, Any]) -> Iterator[Document]:
    for part in ("initContainers", "containers"):
        yield from (one for one in spec.get(part) or () if isinstance(one, dict))


def _validate(attempt: Attempt) -> None:
    metadata, spec = attempt.document["metadata"], attempt.document["spec"]
    if _MIRROR in (metadata.get("annotations") or {}):
        _check_mirror(attempt, spec)
        return
    name = spec.get("serviceAccountName") or ""
    account = attempt.lookup.get(ACCOUNTS, attempt.namespace, name)
    annotations = (account or {}).get("metadata", {}).get("annotations") or {}
    if account is not None and annotations.get(_ENFORCE) in TRUE:
        why = _unlisted(account, spec)
        if why:
            raise attempt.refuse(why)


def _check_mirror(attempt: Attempt, spec: Mapping[str, Any]) -> None:
    if spec.get("serviceAccountName"):
        raise attempt.refuse("a mirror pod may not reference service accounts")
    for volume in spec.get("volumes") or ():
        if volume.get("secret"):
            raise attempt.refuse("a mirror pod may not reference secrets")
        if any(one.get("serviceAccountToken") for one in at(volume, "projected", "sources") or ()):
            raise attempt.refuse("a mirror pod may not use ServiceAccountToken volume projections")


def _unlisted(account: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """Return why a pod may not use a Secret that its account does not list; empty where it uses none."""
    listed = {one.get("name") for one in account.get("secrets") or ()}
    end = f"because service account {account['metadata']['name']} does not reference that secret"
    for volume in spec.get("volumes") or ():
        name = at(volume, "secret", "secretName")
        if name and name not in listed:
            return f'volume with secret.secretName="{name}" is not allowed {end}'
    for part, title in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(part) or ():
            who = f"{title} {container.get('name', '')}"
            for variable in container.get("env") or ():
                name = at(variable, "valueFrom", "secretKeyRef", "name")
                if name and name not in listed:
                    where = f'envVar {variable.get("name", "")} referencing secret.secretName="{name}"'
                    return f"{who} with {where} is not allowed {end}"
            for source in container.get("envFrom") or ():
                name = at(source, "secretRef", "name")
                if name and name not in listed:
                    return f'{who} with envFrom referencing secret.secretName="{name}" is not allowed {end}'
    pulls = {one.get("name") for one in account.get("imagePullSecrets") or ()}
    for index, one in enumerate(spec.get("imagePullSecrets") or ()):
        if one.get("name") not in pulls:
            return (
                f'imagePullSecrets[{index}].name="{one.get("name")}" is not allowed because service account '
                f"{account['metadata']['name']} does not reference that imagePullSecret"
            )
    return ""


PLUGIN: Final = Plugin(
    "ServiceAccount",
    "Gives pods an account of their namespace and mounts its token; refuses accounts that are not there.",
    watches=on("pods"),
    mutate=_mutate,
    validate=_validate,
)
