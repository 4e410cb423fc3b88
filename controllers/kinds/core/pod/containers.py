"""Rules of containers: names, images, ports, environment, probes, mounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from controllers.kinds.core import resources
from controllers.registry import fields
from scheduler_core.api.errors import Cause

CONTAINERS_MAX: Final = 1000
"""Containers of one pod; a real node stops far earlier, and each is walked by every rule."""

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")


def containers(field: str, spec: Mapping[str, Any], volumes: frozenset[str]) -> list[Cause]:
    """Check spec.containers and spec.initContainers of a pod spec at `field`."""
    causes: list[Cause] = []
    if not spec.get("containers"):
        causes.append(fields.required(f"{field}.containers"))
    names: set[str] = set()
    for key in ("initContainers", "containers"):
        listed: Sequence[Mapping[str, Any]] = spec.get(key) or ()
        if len(listed) > CONTAINERS_MAX:
            return [fields.not_allowed(f"{field}.{key}", f"must have at most {CONTAINERS_MAX} items")]
        for index, container in enumerate(listed):
            where = f"{field}.{key}[{index}]"
            name = container.get("name") or ""
            if name in names:
                causes.append(fields.duplicate(f"{where}.name", name))
            names.add(name)
            causes += _container(where, container, volumes, initial=key == "initContainers")
    return causes + _host_ports(field, spec)


def _container(where: str, container: Mapping[str, Any], volumes: frozenset[str], *, initial: bool) -> list[Cause]:
    name = container.get("name") or ""
    causes = fields.label_name(f"{where}.name", name) if name else [fields.required(f"{where}.name")]
    image = container.get("image") or ""
    if not image:
        causes.append(fields.required(f"{where}.image"))
    elif image != image.strip():
        causes.append(fields.bad(f"{where}.image", image, "must not have leading or trailing whitespace"))
    causes += fields.one_of(f"{where}.imagePullPolicy", container.get("imagePullPolicy"), _PULL_POLICIES)
    policies = ("File", "FallbackToLogsOnError")
    causes += fields.one_of(f"{where}.terminationMessagePolicy", container.get("terminationMessagePolicy"), policies)
    causes += _ports(where, container.get("ports") or ())
    causes += _environment(where, container.get("env") or ())
    causes += resources.requirements(f"{where}.resources", container.get("resources"))
    causes += _mounts(where, container.get("volumeMounts") or (), volumes)
    restart = container.get("restartPolicy")
    if restart is not None:
        if not initial:
            causes.append(fields.not_allowed(f"{where}.restartPolicy", "may not be set for non-init containers"))
        causes += fields.one_of(f"{where}.restartPolicy", restart, ("Always",))
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(key) is None:
            continue
        if initial and restart != "Always":
            causes.append(
                fields.not_allowed(f"{where}.{key}", "may not be set for init containers without restartPolicy=Always")
            )
        causes += _probe(f"{where}.{key}", container[key], exactly_one=key in ("livenessProbe", "startupProbe"))
    return causes


def _ports(where: str, ports: Sequence[Mapping[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        place = f"{where}.ports[{index}]"
        name = port.get("name") or ""
        if name:
            causes += fields.port_name(f"{place}.name", name)
            if name in names:
                causes.append(fields.duplicate(f"{place}.name", name))
            names.add(name)
        if not port.get("containerPort"):
            causes.append(fields.required(f"{place}.containerPort"))
        else:
            causes += fields.port_number(f"{place}.containerPort", port["containerPort"])
        if "hostPort" in port:
            causes += fields.port_number(f"{place}.hostPort", port["hostPort"])
        causes += fields.one_of(f"{place}.protocol", port.get("protocol"), _PROTOCOLS, needed=True)
    return causes


def _host_ports(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Refuse one host port asked for twice within a pod: no node could ever give it."""
    causes: list[Cause] = []
    taken: set[tuple[str, str, int]] = set()
    for index, container in enumerate(spec.get("containers") or ()):
        for position, port in enumerate(container.get("ports") or ()):
            number = port.get("hostPort")
            if not number:
                continue
            where = f"{field}.containers[{index}].ports[{position}]"
            triple = (port.get("protocol") or "TCP", port.get("hostIP") or "", number)
            if triple in taken:
                causes.append(fields.duplicate(f"{where}.hostPort", f"{triple[0]}/{triple[1]}/{number}"))
            taken.add(triple)
            if spec.get("hostNetwork") and number != port.get("containerPort"):
                why = "must match `hostPort` when `hostNetwork` is true"
                causes.append(fields.bad(f"{where}.containerPort", port.get("containerPort"), why))
    return causes


def _environment(where: str, variables: Sequence[Mapping[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    for index, variable in enumerate(variables):
        place = f"{where}.env[{index}]"
        causes += fields.env_name(f"{place}.name", variable.get("name") or "")
        source = variable.get("valueFrom")
        if source is None:
            continue
        if variable.get("value"):
            why = "may not be specified when `value` is not empty"
            causes.append(fields.bad(f"{place}.valueFrom", "", why))
        if len(source) != 1:
            why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
            causes.append(fields.bad(f"{place}.valueFrom", "", why))
    return causes


def _mounts(where: str, mounts: Sequence[Mapping[str, Any]], volumes: frozenset[str]) -> list[Cause]:
    causes: list[Cause] = []
    paths: set[str] = set()
    for index, mount in enumerate(mounts):
        place = f"{where}.volumeMounts[{index}]"
        name, path = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            causes.append(fields.required(f"{place}.name"))
        elif name not in volumes:
            causes.append(Cause(f"{place}.name", f"Not found: {fields.shown(name)}", "FieldValueNotFound"))
        if not path:
            causes.append(fields.required(f"{place}.mountPath"))
        elif path in paths:
            causes.append(fields.bad(f"{place}.mountPath", path, "must be unique"))
        paths.add(path)
    return causes


def _probe(where: str, probe: Mapping[str, Any], *, exactly_one: bool) -> list[Cause]:
    given = [key for key in _HANDLERS if probe.get(key) is not None]
    causes: list[Cause] = []
    if not given:
        causes.append(fields.required(where, "must specify a handler type"))
    for key in given[1:]:
        causes.append(fields.not_allowed(f"{where}.{key}", "may not specify more than 1 handler type"))
    for key in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        causes += fields.non_negative(f"{where}.{key}", probe.get(key))
    if exactly_one and probe.get("successThreshold", 1) != 1:
        causes.append(fields.bad(f"{where}.successThreshold", probe["successThreshold"], "must be 1"))
    for key in ("httpGet", "tcpSocket", "grpc"):
        handler = probe.get(key)
        if handler is None:
            continue
        port = handler.get("port")
        if port is None:
            causes.append(fields.required(f"{where}.{key}.port"))
        elif isinstance(port, int):
            causes += fields.port_number(f"{where}.{key}.port", port)
        else:
            causes += fields.port_name(f"{where}.{key}.port", port)
    return causes


def named(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield all containers, init containers first."""
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()
