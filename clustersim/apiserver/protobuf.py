"""Kubernetes' protobuf, decoded by field tables: kubectl sends a few bodies in it and does not fall back to JSON.

Only what kubectl creates in this form is in the tables. A field that is in no table is refused with 415, never dropped.
Source: `generated.proto` of k8s.io/api and k8s.io/apimachinery v0.34 (field numbers are wire contracts).
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any, Final

from scheduler_core.api.errors import ApiError, bad_request

MAGIC: Final = b"k8s\x00"

_MAX_DEPTH: Final = 24

# A field is `name:type`, type one of s(tring) i(nteger) b(oolean) y (bytes), or a message's name; `*` after it means
# repeated, `%` a map from strings, `?` that zero is meant when it is sent (a pointer in Go).
_TABLES: Final[dict[str, dict[int, str]]] = {
    "ObjectMeta": {
        1: "name:s", 2: "generateName:s", 3: "namespace:s", 4: "selfLink:s", 5: "uid:s", 6: "resourceVersion:s",
        7: "generation:i", 8: "creationTimestamp:Time", 9: "deletionTimestamp:Time",
        10: "deletionGracePeriodSeconds:i?", 11: "labels:s%", 12: "annotations:s%",
        13: "ownerReferences:OwnerReference*", 14: "finalizers:s*", 17: "managedFields:Ignored*",
    },
    "OwnerReference": {
        1: "kind:s", 3: "name:s", 4: "uid:s", 5: "apiVersion:s", 6: "controller:b?", 7: "blockOwnerDeletion:b?",
    },
    "LabelSelector": {1: "matchLabels:s%", 2: "matchExpressions:LabelSelectorRequirement*"},
    "LabelSelectorRequirement": {1: "key:s", 2: "operator:s", 3: "values:s*"},
    "Namespace": {1: "metadata:ObjectMeta", 2: "spec:NamespaceSpec", 3: "status:NamespaceStatus"},
    "NamespaceSpec": {1: "finalizers:s*"},
    "NamespaceStatus": {1: "phase:s", 2: "conditions:Ignored*"},
    "ConfigMap": {1: "metadata:ObjectMeta", 2: "data:s%", 3: "binaryData:y%", 4: "immutable:b?"},
    "PriorityClass": {
        1: "metadata:ObjectMeta", 2: "value:i?", 3: "globalDefault:b", 4: "description:s", 5: "preemptionPolicy:s",
    },
    "PodDisruptionBudget": {1: "metadata:ObjectMeta", 2: "spec:PodDisruptionBudgetSpec", 3: "status:Ignored"},
    "PodDisruptionBudgetSpec": {
        1: "minAvailable:IntOrString", 2: "selector:LabelSelector", 3: "maxUnavailable:IntOrString",
        4: "unhealthyPodEvictionPolicy:s",
    },
    "ResourceQuota": {1: "metadata:ObjectMeta", 2: "spec:ResourceQuotaSpec", 3: "status:ResourceQuotaStatus"},
    "ResourceQuotaSpec": {1: "hard:Quantity%", 2: "scopes:s*", 3: "scopeSelector:ScopeSelector"},
    "ScopeSelector": {1: "matchExpressions:ScopedResourceSelectorRequirement*"},
    "ScopedResourceSelectorRequirement": {1: "scopeName:s", 2: "operator:s", 3: "values:s*"},
    "ResourceQuotaStatus": {1: "hard:Quantity%", 2: "used:Quantity%"},
    "ServiceAccount": {
        1: "metadata:ObjectMeta", 2: "secrets:ObjectReference*", 3: "imagePullSecrets:LocalObjectReference*",
        4: "automountServiceAccountToken:b?",
    },
    "ObjectReference": {
        1: "kind:s", 2: "namespace:s", 3: "name:s", 4: "uid:s", 5: "apiVersion:s", 6: "resourceVersion:s",
        7: "fieldPath:s",
    },
    "LocalObjectReference": {1: "name:s"},
    "Service": {1: "metadata:ObjectMeta", 2: "spec:ServiceSpec", 3: "status:Ignored"},
    "ServiceSpec": {
        1: "ports:ServicePort*", 2: "selector:s%", 3: "clusterIP:s", 4: "type:s", 5: "externalIPs:s*",
        7: "sessionAffinity:s", 8: "loadBalancerIP:s", 9: "loadBalancerSourceRanges:s*", 10: "externalName:s",
        11: "externalTrafficPolicy:s", 12: "healthCheckNodePort:i", 13: "publishNotReadyAddresses:b",
    },
    "ServicePort": {
        1: "name:s", 2: "protocol:s", 3: "port:i", 4: "targetPort:IntOrString", 5: "nodePort:i", 6: "appProtocol:s?",
    },
    "Deployment": {1: "metadata:ObjectMeta", 2: "spec:DeploymentSpec", 3: "status:Ignored"},
    "DeploymentSpec": {
        1: "replicas:i?", 2: "selector:LabelSelector", 3: "template:PodTemplateSpec", 4: "strategy:DeploymentStrategy",
        5: "minReadySeconds:i", 6: "revisionHistoryLimit:i?", 7: "paused:b", 9: "progressDeadlineSeconds:i?",
    },
    "DeploymentStrategy": {1: "type:s", 2: "rollingUpdate:RollingUpdateDeployment"},
    "RollingUpdateDeployment": {1: "maxUnavailable:IntOrString", 2: "maxSurge:IntOrString"},
    "PodTemplateSpec": {1: "metadata:ObjectMeta", 2: "spec:PodSpec"},
    "Pod": {1: "metadata:ObjectMeta", 2: "spec:PodSpec", 3: "status:Ignored"},
    "PodSpec": {
        2: "containers:Container*", 3: "restartPolicy:s", 4: "terminationGracePeriodSeconds:i?",
        5: "activeDeadlineSeconds:i?", 6: "dnsPolicy:s", 7: "nodeSelector:s%", 8: "serviceAccountName:s",
        9: "serviceAccount:s", 10: "nodeName:s", 11: "hostNetwork:b", 12: "hostPID:b", 13: "hostIPC:b",
        14: "securityContext:Empty", 15: "imagePullSecrets:LocalObjectReference*", 16: "hostname:s", 17: "subdomain:s",
        19: "schedulerName:s", 20: "initContainers:Container*", 21: "automountServiceAccountToken:b?",
        22: "tolerations:Toleration*", 24: "priorityClassName:s", 25: "priority:i?", 27: "shareProcessNamespace:b?",
        30: "enableServiceLinks:b?", 31: "preemptionPolicy:s", 32: "overhead:Quantity%",
    },
    "Container": {
        1: "name:s", 2: "image:s", 3: "command:s*", 4: "args:s*", 5: "workingDir:s", 6: "ports:ContainerPort*",
        7: "env:EnvVar*", 8: "resources:ResourceRequirements", 13: "terminationMessagePath:s", 14: "imagePullPolicy:s",
        15: "securityContext:Empty", 16: "stdin:b", 17: "stdinOnce:b", 18: "tty:b", 20: "terminationMessagePolicy:s",
    },
    "ContainerPort": {1: "name:s", 2: "hostPort:i", 3: "containerPort:i", 4: "protocol:s", 5: "hostIP:s"},
    "EnvVar": {1: "name:s", 2: "value:s"},
    "ResourceRequirements": {1: "limits:Quantity%", 2: "requests:Quantity%"},
    "Toleration": {1: "key:s", 2: "operator:s", 3: "value:s", 4: "effect:s", 5: "tolerationSeconds:i?"},
    "SelfSubjectAccessReview": {
        1: "metadata:ObjectMeta", 2: "spec:SelfSubjectAccessReviewSpec", 3: "status:Ignored",
    },
    "SelfSubjectAccessReviewSpec": {
        1: "resourceAttributes:ResourceAttributes", 2: "nonResourceAttributes:NonResourceAttributes",
    },
    "ResourceAttributes": {
        1: "namespace:s", 2: "verb:s", 3: "group:s", 4: "version:s", 5: "resource:s", 6: "subresource:s", 7: "name:s",
    },
    "NonResourceAttributes": {1: "path:s", 2: "verb:s"},
    "SelfSubjectReview": {1: "metadata:ObjectMeta", 2: "status:Ignored"},
    "SelfSubjectRulesReview": {1: "metadata:ObjectMeta", 2: "spec:SelfSubjectRulesReviewSpec", 3: "status:Ignored"},
    "SelfSubjectRulesReviewSpec": {1: "namespace:s"},
    "DeleteOptions": {
        1: "gracePeriodSeconds:i?", 2: "preconditions:Preconditions", 3: "orphanDependents:b?",
        4: "propagationPolicy:s", 5: "dryRun:s*",
    },
    "Preconditions": {1: "uid:s", 2: "resourceVersion:s"},
    "Empty": {},
}  # fmt: skip

KINDS: Final = (
    "ConfigMap",
    "DeleteOptions",
    "Deployment",
    "Namespace",
    "Pod",
    "PodDisruptionBudget",
    "PriorityClass",
    "ResourceQuota",
    "SelfSubjectAccessReview",
    "SelfSubjectReview",
    "SelfSubjectRulesReview",
    "Service",
    "ServiceAccount",
)
"""Kinds whose protobuf bodies are read."""


def decode(body: bytes) -> dict[str, Any]:
    """Return the document of a protobuf body (the envelope `runtime.Unknown` with one object in it).

    Raises:
        ApiError: 400 malformed; 415 a kind or field that is not in the tables.
    """
    if not body.startswith(MAGIC):
        raise bad_request("the body is not Kubernetes protobuf: the first four bytes are wrong")
    api_version = kind = ""
    raw = b""
    for number, value in _fields(body[len(MAGIC) :]):
        if number == 1 and isinstance(value, bytes):
            envelope = {field: _text(text) for field, text in _fields(value)}
            api_version, kind = envelope.get(1, ""), envelope.get(2, "")
        elif number == 2 and isinstance(value, bytes):
            raw = value
    if kind not in KINDS:
        raise _unsupported(f"{kind[:80] or 'a body without a kind'}")
    return {"apiVersion": api_version, "kind": kind, **_message(raw, kind, 0)}


def _unsupported(what: str) -> ApiError:
    message = f"{what} is not read as protobuf here; send it as JSON or YAML (kubectl apply -f does)"
    return ApiError(415, "UnsupportedMediaType", message)


def _message(data: bytes, name: str, depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        raise bad_request("the protobuf body is nested too deeply")
    table = _TABLES[name]
    document: dict[str, Any] = {}
    for number, value in _fields(data):
        entry = table.get(number)
        if entry is None:
            raise _unsupported(f"field {number} of {name}")
        key, _, form = entry.partition(":")
        if form.startswith("Ignored"):
            continue
        if form.endswith("*"):
            document.setdefault(key, []).append(_value(value, form[:-1], depth))
        elif form.endswith("%"):
            pair = dict(_fields(_bytes(value)))
            item = _value(pair.get(2, b""), form[:-1], depth)
            document.setdefault(key, {})[_text(pair.get(1, b""))] = item
        else:
            decoded = _value(value, form.removesuffix("?"), depth)
            if form.endswith("?") or decoded not in ("", 0, False, None):
                document[key] = decoded
    return document


def _value(value: int | bytes, form: str, depth: int) -> Any:
    match form:
        case "s":
            return _text(value)
        case "i":
            number = _integer(value)
            return number - 2**64 if number >= 2**63 else number
        case "b":
            return bool(_integer(value))
        case "y":
            return b64encode(_bytes(value)).decode()
        case "Time":
            parts = dict(_fields(_bytes(value)))
            seconds = _integer(parts.get(1, 0))
            if not 0 < seconds < 253_402_300_800:
                return None
            return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case "Quantity":
            return _text(dict(_fields(_bytes(value))).get(1, b"0"))
        case "IntOrString":
            parts = dict(_fields(_bytes(value)))
            if _integer(parts.get(1, 0)):
                return _text(parts.get(3, b""))
            return _value(parts.get(2, 0), "i", depth)
        case _:
            return _message(_bytes(value), form, depth + 1)


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise bad_request("the protobuf body has a number where bytes belong")
    return value


def _integer(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise bad_request("the protobuf body has bytes where a number belongs")
    return value


def _text(value: int | bytes) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError as error:
        raise bad_request("the protobuf body has text that is not UTF-8") from error


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """Return the fields of one message: varints as numbers, length-delimited ones as bytes."""
    found: list[tuple[int, int | bytes]] = []
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        value: int | bytes
        match tag & 7:
            case 0:
                value, position = _varint(data, position)
            case 2:
                length, position = _varint(data, position)
                value = data[position : position + length]
                position += length
                if len(value) != length:
                    raise bad_request("the protobuf body ends early")
            case _:
                raise bad_request("the protobuf body has a field of a form that Kubernetes does not use")
        found.append((tag >> 3, value))
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise bad_request("the protobuf body ends early")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return number & (2**64 - 1), position
        shift += 7
