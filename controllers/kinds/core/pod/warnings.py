"""What whoever writes a pod, or a template of pods, is warned of.

Source: pkg/api/pod/warnings.go and pkg/api/node/util.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from controllers.kinds.core import volumes as storage
from controllers.kinds.core.pod import annotations as marks
from controllers.registry import addresses, fields
from scheduler_core.api import quantity
from scheduler_core.api.document import at
from scheduler_core.api.label_names import label_value_errors

_LABELS: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
"""Labels of nodes by which nobody should choose any more."""

_ANNOTATIONS: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'

_VOLUMES: Final = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageOS": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_WRITTEN: Final = {"storageOS": "storageos"}
"""Volumes that upstream's words call otherwise than the API does."""
_WHOLE: Final = 10**9
_PORT: Final = (
    ("Name", "name", ""),
    ("HostPort", "hostPort", 0),
    ("ContainerPort", "containerPort", 0),
    ("Protocol", "protocol", ""),
    ("HostIP", "hostIP", ""),
)
"""The fields of a port as upstream's internal struct prints them, and what stands for nothing."""
_BYTES: Final = ("memory", "ephemeral-storage")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_NO_SELECTOR: Final = "a null labelSelector results in matching no pod"


def pod(document: Mapping[str, Any]) -> list[str]:
    """Return the warnings of a pod."""
    return [
        *marks.warns_of_profiles(document),
        *host_name(document, "the Pod's hostname"),
        *of_template("", document),
    ]


def node_labels(where: str, keys: Iterable[str]) -> list[str]:
    """Return the warnings of labels of nodes that nobody should choose by any more."""
    return [f"{where}: {_LABELS[key]}" for key in keys if key in _LABELS]


def deprecated_volume(where: str, volume: Mapping[str, Any]) -> list[str]:
    """Return the warnings of a volume whose plugin is gone, or will be."""
    return [f"{where}.{key}: {why}" for key, why in _VOLUMES.items() if _WRITTEN.get(key, key) in volume]


def deprecated_label(where: str, key: str) -> list[str]:
    """Return the warning of a field that names a label of nodes that nobody should choose by any more."""
    return [f"{where}: {_LABELS[key]}"] if key in _LABELS else []


def deprecated_keys(where: str, selector: Mapping[str, Any]) -> list[str]:
    """Return the warnings of a selector, or a term of one, of nodes (pkg/api/node)."""
    labels = selector.get("matchLabels") or {}
    return [
        *_term(where, selector),
        *(f"{where}.matchLabels.{key}: {_LABELS[key]}" for key in labels if key in _LABELS),
    ]


def host_name(document: Mapping[str, Any], used_in: str = "Pod names and hostnames") -> list[str]:
    """Return the warning of a name that makes no host name; `used_in` says what it is used in."""
    wrong = fields.label_name("metadata.name", document["metadata"]["name"])
    if not wrong:
        return []
    why = " ".join(one.message.split(": ", 2)[-1] for one in wrong)
    text = f"this is used in {used_in}, which can result in surprising behavior; a DNS label is recommended"
    return [f"metadata.name: {text}: [{why}]"]


def of_template(prefix: str, document: Mapping[str, Any] | None) -> list[str]:
    """Return the warnings of a pod template at `prefix` (`spec.template.`; empty: of a pod)."""
    document = document or {}
    spec: Mapping[str, Any] = document.get("spec") or {}
    annotations: Mapping[str, str] = at(document, "metadata", "annotations") or {}
    told = [
        *_node_labels(f"{prefix}spec", spec),
        *_annotations(f"{prefix}metadata.annotations", annotations),
        *_volumes(f"{prefix}spec.volumes", spec),
        *_overlaps(spec),
        *_repeated(f"{prefix}spec", spec),
        *_fractions(f"{prefix}spec.overhead", spec.get("overhead")),
    ]
    if _SECCOMP_POD in annotations and at(spec, "securityContext", "seccompProfile") is None:
        told.append(f"{prefix}metadata.annotations[{_SECCOMP_POD}]: {_SECCOMP}")
    for where, container in _containers(f"{prefix}spec", spec):
        key = _SECCOMP_CONTAINER + str(container.get("name", ""))
        if key in annotations and at(container, "securityContext", "seccompProfile") is None:
            told.append(f"{prefix}metadata.annotations[{key}]: {_SECCOMP}")
        key = marks.APPARMOR + str(container.get("name", ""))
        if prefix and key in annotations and at(container, "securityContext", "appArmorProfile") is None:
            told.append(f"{prefix}metadata.annotations[{key}]: {marks.APPARMOR_WARNING}")
        told += _container(where, container)
    told += _ports(list(_containers(f"{prefix}spec", spec)))
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        why = "must be >= 0; negative values are invalid and will be treated as 1"
        told.append(f"{prefix}spec.terminationGracePeriodSeconds: {why}")
    return told + list(_selectors(f"{prefix}spec.affinity", spec.get("affinity") or {})) + _addresses(prefix, spec)


def _containers(where: str, spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in _CONTAINERS:
        for index, container in enumerate(spec.get(key) or ()):
            yield f"{where}.{key}[{index}]", container


def _node_labels(where: str, spec: Mapping[str, Any]) -> Iterator[str]:
    for key in spec.get("nodeSelector") or {}:
        if key in _LABELS:
            yield f"{where}.nodeSelector[{key}]: {_LABELS[key]}"
    affinity = at(spec, "affinity", "nodeAffinity") or {}
    rule = f"{where}.affinity.nodeAffinity."
    required = at(affinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms") or ()
    for index, term in enumerate(required):
        field = f"{rule}requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]"
        yield from _term(field, term)
    for index, one in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        field = f"{rule}preferredDuringSchedulingIgnoredDuringExecution[{index}].preference"
        yield from _term(field, one.get("preference") or {}, values=True)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        field, key = f"{where}.topologySpreadConstraints[{index}]", constraint.get("topologyKey")
        if key in _LABELS:
            yield f"{field}.topologyKey: {key} is {_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{field}.labelSelector: {_NO_SELECTOR}"


def _term(where: str, term: Mapping[str, Any], *, values: bool = False) -> Iterator[str]:
    """Tell of a term's keys; `values`: and of what no label can have."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key = expression.get("key")
        if key in _LABELS:
            yield f"{where}.matchExpressions[{index}].key: {key} is {_LABELS[key]}"
        for place, value in enumerate(expression.get("values") or () if values else ()):
            for why in label_value_errors(value):
                yield f"{where}.matchExpressions[{index}].values[{place}]: {value} is invalid, {why}"


def _annotations(where: str, annotations: Mapping[str, str]) -> Iterator[str]:
    for key, why in _ANNOTATIONS.items():
        if key in annotations:
            yield f"{where}[{key}]: {why}"


def _volumes(where: str, spec: Mapping[str, Any]) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        yield from deprecated_volume(f"{where}[{index}]", volume)
        claim = at(volume, "ephemeral", "volumeClaimTemplate", "spec")
        yield from storage.claimed(f"{where}[{index}].ephemeral.volumeClaimTemplate.spec", claim or {})


_Path = tuple[str, str]
"""A path in a volume, and from where it comes; empty: from where the volume does."""


def _overlaps(spec: Mapping[str, Any]) -> Iterator[str]:
    """Tell of files of one volume of which one lies upon another (warningsForOverlappingVirtualPaths)."""
    for volume in spec.get("volumes") or ():
        name = volume.get("name", "")
        for of, paths in _mapped(volume):
            yield from _collisions(f'volume "{name}" ({of}): overlapping paths', [], [(path, "") for path in paths])
        before: list[_Path] = []
        for source in at(volume, "projected", "sources") or ():
            if not source:
                yield f'volume "{name}" (Projected) has no sources provided'
                continue
            found = [(path, of) for of, paths in _mapped(source) for path in paths] or _made(source)
            yield from _collisions(f'volume "{name}" (Projected): overlapping paths', before, found)


def _mapped(volume: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield what a volume, or a source of a projected one, maps: (what it is, paths)."""
    for key, of, named in (
        ("configMap", "ConfigMap", "name"),
        ("secret", "Secret", "secretName"),
        ("downwardAPI", "DownwardAPI", ""),
    ):
        source = volume.get(key)
        if source is not None and source.get("items"):
            title = source.get(named) or source.get("name") or ""
            yield f'{of} "{title}"' if named else of, [item.get("path") or "" for item in source["items"]]


def _made(source: Mapping[str, Any]) -> list[_Path]:
    token, bundle = source.get("serviceAccountToken"), source.get("clusterTrustBundle")
    if token is not None:
        return [(token.get("path") or "", "ServiceAccountToken")]
    if bundle is not None:
        title = bundle["name"] if bundle.get("name") is not None else bundle.get("signerName") or ""
        return [(bundle.get("path") or "", f'ClusterTrustBundle "{title}"')]
    return []


def _collisions(title: str, before: list[_Path], found: list[_Path]) -> Iterator[str]:
    """Tell of each path that lies upon one before it, and remember it."""

    def shown(one: _Path) -> str:
        return f'"{one[0]}" ({one[1]})' if one[1] else f'"{one[0]}"'

    for path, of in found:
        mine = (path.rstrip("/"), of)
        for other in before if mine[0] else ():
            pair = (f"{mine[0]}/", f"{other[0]}/")
            if other[0] and (pair[0].startswith(pair[1]) or pair[1].startswith(pair[0])):
                yield f"{title}: {shown(mine)} with {shown(other)}"
        before.append(mine)


def _repeated(where: str, spec: Mapping[str, Any]) -> Iterator[str]:
    for field, key, what in (("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")):
        seen: set[str] = set()
        for index, item in enumerate(spec.get(field) or ()):
            value = item.get(key) or ""
            if value in seen:
                yield f'{where}.{field}[{index}].{key}: duplicate {what} "{value}"'
            seen.add(value)
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{where}.imagePullSecrets[{index}].name: invalid empty name ""'


def _fractions(where: str, amounts: Mapping[str, str] | None) -> Iterator[str]:
    for name in _BYTES:
        text = (amounts or {}).get(name)
        if text is not None and quantity.nano_of(text) % _WHOLE:
            yield f'{where}[{name}]: fractional byte value "{text}" is invalid, must be an integer'


def _container(where: str, container: Mapping[str, Any]) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in _BYTES:
        for key in ("limits", "requests"):
            amounts = resources.get(key) or {}
            yield from _fractions(f"{where}.resources.{key}", {name: amounts[name]} if name in amounts else None)
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name") or "", variable.get("value") or ""
        mention = f"$({name})"
        if name in seen and (variable.get("valueFrom") is not None or value == mention or mention not in value):
            why = f'hides previous definition of "{name}", which may be dropped when using apply'
            yield f"{where}.env[{index}]: {why}"
        seen.add(name)


def _ports(containers: list[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Tell of ports that get in each other's way, across all containers."""
    ports = [
        (f"{where}.ports[{index}]", port)
        for where, container in containers
        for index, port in enumerate(container.get("ports") or ())
    ]
    for position, (where, port) in enumerate(ports):
        if port.get("hostIP") and not port.get("hostPort"):
            told = " ".join(f"{name}:{port.get(key) or nothing}" for name, key, nothing in _PORT)
            yield f"{where}: hostIP set without hostPort: {{{told}}}"
        for other, before in ports[:position]:
            if all(port.get(key) == before.get(key) for key in ("containerPort", "protocol")):
                yield from _overlap(where, port, other, before)
    named: dict[str, str] = {}
    for where, port in ports:
        name = port.get("name")
        if name and name in named:
            why = f"services and probes that select ports by name will use {named[name]}"
            yield f'{where}: duplicate port name "{name}" with {named[name]}, {why}'
        elif name:
            named[name] = where


def _overlap(where: str, port: Mapping[str, Any], other: str, before: Mapping[str, Any]) -> Iterator[str]:
    hosts = port.get("hostPort") or 0, before.get("hostPort") or 0
    ips = port.get("hostIP") or "", before.get("hostIP") or ""
    if hosts[0] == hosts[1] and ips[0] == ips[1]:
        yield f"{where}: duplicate port definition with {other}"
    elif not all(hosts):
        yield f"{where}: overlapping port definition with {other}"
    elif hosts[0] == hosts[1] and bool(ips[0]) != bool(ips[1]):
        yield f"{where}: dangerously ambiguous port definition with {other}"


def _selectors(where: str, affinity: Mapping[str, Any]) -> Iterator[str]:
    for key in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(key) or {}
        for index, term in enumerate(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()):
            if term.get("labelSelector") is None:
                field = f"{where}.{key}.requiredDuringSchedulingIgnoredDuringExecution[{index}]"
                yield f"{field}.labelSelector: {_NO_SELECTOR}"
        for index, one in enumerate(rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
            if at(one, "podAffinityTerm", "labelSelector") is None:
                field = f"{where}.{key}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
                yield f"{field}.podAffinityTerm.labelSelector: {_NO_SELECTOR}"


def _addresses(prefix: str, spec: Mapping[str, Any]) -> list[str]:
    told: list[str] = []
    for index, server in enumerate(at(spec, "dnsConfig", "nameservers") or ()):
        told += addresses.warnings(f"{prefix}spec.dnsConfig.nameservers[{index}]", server)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        told += addresses.warnings(f"{prefix}spec.hostAliases[{index}].ip", alias.get("ip") or "")
    return told
