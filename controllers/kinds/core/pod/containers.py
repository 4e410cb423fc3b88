"""Rules of containers: names, images, ports, mounts, and what else they are told.

Source: pkg/apis/core/validation (validateContainers, validateInitContainers, validateContainerCommon), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controllers.kinds.core import resources
from controllers.kinds.core.pod import handlers, references, security
from controllers.registry import fields
from scheduler_core.api.errors import Cause

CONTAINERS_MAX: Final = 1000
"""Containers of one pod; a real node stops far earlier, and each is walked by every rule."""

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY: Final = ("Disabled", "Enabled", "IfPossible")
_NOT_INITIAL: Final = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"
_NEVER_EPHEMERAL: Final = (
    "ports", "resources", "resizePolicy", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
    "restartPolicyRules",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Around:
    """What a container's rules know of its pod."""

    spec: Mapping[str, Any]
    volumes: Mapping[str, Mapping[str, Any]]
    """The volumes that are good, by name."""
    claims: frozenset[str]
    """The names of its resource claims."""

    @property
    def grace(self) -> int | None:
        """Return the seconds that the pod has to end."""
        return self.spec.get("terminationGracePeriodSeconds")


def containers(field: str, around: Around) -> list[Cause]:
    """Check the containers of all kinds of a pod spec at `field`."""
    for key in ("containers", "initContainers"):
        if len(around.spec.get(key) or ()) > CONTAINERS_MAX:
            return [fields.not_allowed(f"{field}.{key}", f"must have at most {CONTAINERS_MAX} items")]
    listed: Sequence[Mapping[str, Any]] = around.spec.get("containers") or ()
    causes = [] if listed else [fields.required(f"{field}.containers")]
    names: set[str] = set()
    for index, container in enumerate(listed):
        where = f"{field}.containers[{index}]"
        causes += _common(where, container, around)
        name = container.get("name") or ""
        causes += [fields.duplicate(f"{where}.name", name)] if name in names else []
        names.add(name)
        causes += _running(where, container, around)
    causes += _host_ports(f"{field}.containers", listed)
    for index, container in enumerate(around.spec.get("initContainers") or ()):
        causes += _initial(f"{field}.initContainers", index, container, names, around)
    return causes + _ephemeral(f"{field}.ephemeralContainers", around)


def _initial(field: str, index: int, container: Mapping[str, Any], names: set[str], around: Around) -> list[Cause]:
    where = f"{field}[{index}]"
    causes = _common(where, container, around)
    name = container.get("name") or ""
    causes += [fields.duplicate(f"{where}.name", name)] if name in names else []
    names.update(filter(None, (name,)))
    causes += _host_ports(field, [container])
    if container.get("restartPolicy") == "Always":
        return causes + _running(where, container, around)
    held = [key for key in ("lifecycle", *handlers.PROBES) if container.get(key) is not None]
    return causes + [fields.not_allowed(f"{where}.{key}", _NOT_INITIAL) for key in held]


def _ephemeral(field: str, around: Around) -> list[Cause]:
    others = {one.get("name") for key in ("containers", "initContainers") for one in around.spec.get(key) or ()}
    names = set(others)
    causes: list[Cause] = []
    for index, container in enumerate(around.spec.get("ephemeralContainers") or ()):
        where, name = f"{field}[{index}]", container.get("name") or ""
        causes += _common(where, container, around) + _padded(where, container)
        causes += [fields.duplicate(f"{where}.name", name)] if name in names else []
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in others:
            causes.append(fields.not_found(f"{where}.targetContainerName", target))
        held = [key for key in _NEVER_EPHEMERAL if container.get(key) or (key == "lifecycle" and key in container)]
        causes += [fields.not_allowed(f"{where}.{key}", _NOT_EPHEMERAL) for key in held]
        for position, mount in enumerate(container.get("volumeMounts") or ()):
            places = [key for key in ("subPath", "subPathExpr") if mount.get(key)]
            causes += [fields.not_allowed(f"{where}.volumeMounts[{position}].{key}", _NOT_EPHEMERAL) for key in places]
    return causes


def padded_images(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check, of pods alone, that no image is padded."""
    return [
        cause
        for key in ("containers", "initContainers")
        for index, container in enumerate(spec.get(key) or ())
        for cause in _padded(f"{field}.{key}[{index}]", container)
    ]


def _padded(where: str, container: Mapping[str, Any]) -> list[Cause]:
    image = container.get("image") or ""
    why = "must not have leading or trailing whitespace"
    return [] if image == image.strip() else [fields.bad(f"{where}.image", image, why)]


def _common(where: str, container: Mapping[str, Any], around: Around) -> list[Cause]:
    """Check what containers of all kinds have (validateContainerCommon)."""
    name = container.get("name") or ""
    causes = fields.label_name(f"{where}.name", name) if name else [fields.required(f"{where}.name")]
    causes += fields.missing(where, container, "image")
    policies = ("File", "FallbackToLogsOnError")
    told = container.get("terminationMessagePolicy")
    causes += fields.one_of(f"{where}.terminationMessagePolicy", told, policies, needed=True, ordered=False)
    causes += _ports(where, container.get("ports") or ())
    causes += references.environment(f"{where}.env", container.get("env") or ())
    causes += references.environment_from(f"{where}.envFrom", container.get("envFrom") or ())
    causes += _mounts(f"{where}.volumeMounts", container, around)
    causes += _devices(f"{where}.volumeDevices", container, around)
    causes += fields.one_of(f"{where}.imagePullPolicy", container.get("imagePullPolicy"), _PULL_POLICIES, needed=True)
    causes += resources.requirements(f"{where}.resources", container.get("resources"), around.claims)
    causes += _resize(f"{where}.resizePolicy", container.get("resizePolicy") or (), around)
    return causes + security.of_container(
        f"{where}.securityContext",
        container.get("securityContext"),
        host_users=around.spec.get("hostUsers") is not False,
    )


def _running(where: str, container: Mapping[str, Any], around: Around) -> list[Cause]:
    """Check what containers have that run on."""
    causes: list[Cause] = []
    if container.get("lifecycle") is not None:
        causes += handlers.lifecycle(f"{where}.lifecycle", container["lifecycle"], around.grace)
    for key in handlers.PROBES:
        if container.get(key) is not None:
            causes += handlers.probe(f"{where}.{key}", key, container[key], around.grace)
    return causes


def _resize(field: str, policies: Sequence[Mapping[str, Any]], around: Around) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        causes += [fields.duplicate(f"{field}[{index}]", name)] if name in seen else []
        seen.add(name)
        causes += fields.one_of(field, name, ("cpu", "memory"), needed=True)
        causes += fields.one_of(field, restart, ("NotRequired", "RestartContainer"), needed=True)
        if around.spec.get("restartPolicy") == "Never" and restart != "NotRequired":
            why = "must be 'NotRequired' when `restartPolicy` is 'Never'"
            causes.append(fields.bad(field, restart, why))
    return causes


def _ports(where: str, ports: Sequence[Mapping[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        place = f"{where}.ports[{index}]"
        name = port.get("name") or ""
        wrong = fields.port_name(f"{place}.name", name) if name else []
        if name in names and not wrong:
            wrong = [fields.duplicate(f"{place}.name", name)]
        names.update(() if wrong or not name else (name,))
        causes += wrong
        if not port.get("containerPort"):
            causes.append(fields.required(f"{place}.containerPort"))
        else:
            causes += fields.port_number(f"{place}.containerPort", port["containerPort"])
        if port.get("hostPort"):
            causes += fields.port_number(f"{place}.hostPort", port["hostPort"])
        causes += fields.one_of(f"{place}.protocol", port.get("protocol"), _PROTOCOLS, needed=True)
    return causes


def _host_ports(field: str, listed: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """Refuse one host port asked for twice: no node could ever give it."""
    causes: list[Cause] = []
    taken: set[str] = set()
    for index, container in enumerate(listed):
        for position, port in enumerate(container.get("ports") or ()):
            number = port.get("hostPort")
            if not number:
                continue
            told = f"{port.get('protocol') or ''}/{port.get('hostIP') or ''}/{number}"
            if told in taken:
                causes.append(fields.duplicate(f"{field}[{index}].ports[{position}].hostPort", told))
            taken.add(told)
    return causes


def host_network(field: str, spec: Mapping[str, Any], *, pod: bool) -> list[Cause]:
    """Check that ports on the node's network are the containers' own; templates may leave them out."""
    if not spec.get("hostNetwork"):
        return []
    causes: list[Cause] = []
    for index, container in enumerate(spec.get("containers") or ()):
        for position, port in enumerate(container.get("ports") or ()):
            host, own = port.get("hostPort") or 0, port.get("containerPort") or 0
            if (pod or host) and host != own:
                place = f"{field}.containers[{index}].ports[{position}].hostPort"
                causes.append(fields.bad(place, host, "must match `containerPort` when `hostNetwork` is true"))
    return causes


def _mounts(field: str, container: Mapping[str, Any], around: Around) -> list[Cause]:
    devices = {one.get("name"): one.get("devicePath") for one in container.get("volumeDevices") or ()}
    causes: list[Cause] = []
    paths: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        place, name, path = f"{field}[{index}]", mount.get("name") or "", mount.get("mountPath") or ""
        causes += [] if name else [fields.required(f"{place}.name")]
        causes += [] if name in around.volumes else [fields.not_found(f"{place}.name", name)]
        causes += [] if path else [fields.required(f"{place}.mountPath")]
        causes += [fields.bad(f"{place}.mountPath", path, "must be unique")] if path in paths else []
        paths.add(path)
        if name in devices:
            causes.append(fields.bad(f"{place}.name", name, "must not already exist in volumeDevices"))
        if path in devices.values():
            why = "must not already exist as a path in volumeDevices"
            causes.append(fields.bad(f"{place}.mountPath", path, why))
        below, told = mount.get("subPath") or "", mount.get("subPathExpr") or ""
        causes += fields.relative_path(f"{field}.subPath", below)
        if told and below:
            causes.append(fields.bad(f"{place}.subPathExpr", told, "subPathExpr and subPath are mutually exclusive"))
        causes += fields.relative_path(f"{field}.subPathExpr", told)
        causes += _propagation(field, mount, container)
    return causes


def _propagation(field: str, mount: Mapping[str, Any], container: Mapping[str, Any]) -> list[Cause]:
    told, only = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    causes = fields.set_one_of(f"{field}.mountPropagation", told, _PROPAGATIONS)
    if told == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        why = "Bidirectional mount propagation is available only to privileged containers"
        causes.append(fields.not_allowed(f"{field}.mountPropagation", why))
    place = f"{field}.recursiveReadOnly"
    causes += fields.set_one_of(place, only, _READ_ONLY)
    if only in ("Enabled", "IfPossible") and not mount.get("readOnly"):
        causes.append(fields.not_allowed(place, "may only be specified when readOnly is true"))
    if only in ("Enabled", "IfPossible") and told not in (None, "None"):
        why = "may only be specified when mountPropagation is None or not specified"
        causes.append(fields.not_allowed(place, why))
    return causes


def _devices(field: str, container: Mapping[str, Any], around: Around) -> list[Cause]:
    mounts = {one.get("name"): one.get("mountPath") for one in container.get("volumeMounts") or ()}
    causes: list[Cause] = []
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        place, name, path = f"{field}[{index}]", device.get("name") or "", device.get("devicePath") or ""
        volume = around.volumes.get(name)
        block = volume is not None and ("persistentVolumeClaim" in volume or "ephemeral" in volume)
        only = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        wrong: list[Cause | None] = [
            None if name else fields.required(f"{place}.name"),
            fields.bad(f"{place}.name", name, "must be unique") if name in names else None,
            fields.bad(f"{place}.name", name, only) if volume is not None and not block else None,
            fields.not_found(f"{place}.name", name) if volume is None else None,
            None if path else fields.required(f"{place}.devicePath"),
            fields.bad(f"{place}.devicePath", path, "must be unique") if path in paths else None,
        ]
        if fields.no_backsteps("", path):
            wrong.append(fields.bad(f"{place}.devicePath", path, "can not contain backsteps ('..')"))
        else:
            paths.add(path)
        if name in mounts:
            wrong.append(fields.bad(f"{place}.name", name, "must not already exist in volumeMounts"))
        if path in mounts.values():
            why = "must not already exist as a path in volumeMounts"
            wrong.append(fields.bad(f"{place}.devicePath", path, why))
        names.update(filter(None, (name,)))
        causes += [one for one in wrong if one is not None]
    return causes


def named(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield all containers, init containers first."""
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()
