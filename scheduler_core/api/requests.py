"""What a pod asks of a node: the sums of `k8s.io/component-helpers/resource` as kube-scheduler 1.34 applies them.

Amounts are `dict[str, int]`: millicores for `cpu`, whole units for everything else. A resource that was written with
the amount 0 stays in the dict with 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from scheduler_core.api.label_names import qualified_name_errors
from scheduler_core.api.pod import Container, ContainerStatus, Pod, Quantities
from scheduler_core.api.quantity import amount, counted, nano_of

Amounts = dict[str, int]

NON_ZERO_DEFAULTS: Final[Quantities] = {"cpu": "100m", "memory": "200Mi"}
"""What scoring counts for a container that asks for no cpu, or no memory, at all."""


def amounts(quantities: Quantities) -> Amounts:
    """Return written quantities as integers, each rounded up on its own.

    Raises:
        QuantityError: a quantity cannot be read.
    """
    return {resource: amount(resource, quantity) for resource, quantity in quantities.items()}


def _nanos(quantities: Quantities) -> Amounts:
    """Return written quantities exactly, in units of 10^-9: sums are rounded once, at the end."""
    return {resource: nano_of(quantity) for resource, quantity in quantities.items()}


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    for resource, number in more.items():
        total[resource] = total.get(resource, 0) + number


def _raise_to(total: Amounts, floor: Mapping[str, int]) -> None:
    for resource, number in floor.items():
        if number > total.get(resource, -1):
            total[resource] = number


def resized(pod: Pod) -> tuple[ContainerStatus, ...]:
    """Return what is told of containers that were given other amounts than they ask for: a resize of them is under way.

    Kubelets tell amounts of all that runs. Where those are what the spec says they count for nothing, so that pods of
    one template stay alike.
    """
    told = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    if not any(one.resources is not None for one in told):
        return ()
    asked = {one.name: one.resources.requests for one in (*pod.spec.containers, *pod.spec.init_containers)}
    return tuple(one for one in told if one.resources is not None and _differs(one, asked.get(one.name)))


def _differs(status: ContainerStatus, asked: Quantities | None) -> bool:
    given = {} if status.resources is None else status.resources.requests
    return given != asked or (bool(status.allocated_resources) and status.allocated_resources != asked)


def _container_nanos(
    container: Container, statuses: Mapping[str, ContainerStatus], infeasible: bool, defaults: Quantities
) -> Amounts:
    """Return one container's requests, its running resize included, with `defaults` for what it leaves unsaid."""
    total = _nanos(container.resources.requests)
    if not statuses and not defaults:
        return total
    status = statuses.get(container.name)
    if status is not None and status.resources is not None:
        actual = _nanos(status.resources.requests)
        _raise_to(actual, _nanos(status.allocated_resources))
        if infeasible:
            total = actual
        else:
            _raise_to(total, actual)
    for resource, number in _nanos(defaults).items():
        total.setdefault(resource, number)
    return total


def is_pod_level(resource: str) -> bool:
    """Return whether `spec.resources` of a pod may set this resource for the pod as a whole."""
    return resource in ("cpu", "memory") or resource.startswith("hugepages-")


def pod_requests(
    pod: Pod, defaults: Quantities | None = None, *, pod_level: bool = True, running: bool = True
) -> Amounts:
    """Return what the pod asks of a node.

    max(containers + sidecars, each init container's peak with the sidecars started before it), pod-level requests over
    that, overhead on top.

    Args:
        pod: the pod.
        defaults: quantities for containers that leave a resource unsaid, as scoring wants them; none for fitting.
        pod_level: whether the pod's own `spec.resources` count.
        running: whether what its containers were given counts too, as for pods on nodes.

    Raises:
        QuantityError: a quantity cannot be read.
    """
    spec = pod.spec
    defaults = defaults or {}
    statuses = {status.name: status for status in resized(pod)} if running else {}
    infeasible = bool(statuses) and pod.is_resize_infeasible
    total: Amounts = {}
    for container in spec.containers:
        if not total:
            total = _container_nanos(container, statuses, infeasible, defaults)
            continue
        _add(total, _container_nanos(container, statuses, infeasible, defaults))
    if spec.init_containers:
        peak: Amounts = {}
        sidecars: Amounts = {}
        for container in spec.init_containers:
            is_sidecar = container.restart_policy == "Always"
            asked = _container_nanos(container, statuses if is_sidecar else {}, infeasible, defaults)
            if is_sidecar:
                _add(total, asked)
                _add(sidecars, asked)
                asked = dict(sidecars)
            else:
                _add(asked, sidecars)
            _raise_to(peak, asked)
        _raise_to(total, peak)
    if pod_level and spec.resources is not None:
        for resource, number in _nanos(spec.resources.requests).items():
            if is_pod_level(resource):
                total[resource] = number
    if spec.overhead:
        _add(total, _nanos(spec.overhead))
    return {resource: counted(resource, number) for resource, number in total.items() if is_counted(resource)}


def has_pod_level_requests(pod: Pod) -> bool:
    """Return whether `spec.resources` of the pod asks for anything that it may."""
    resources = pod.spec.resources
    return resources is not None and any(is_pod_level(resource) for resource in resources.requests)


def non_zero_requests(pod: Pod) -> tuple[int, int]:
    """Return (millicores, bytes) that scoring counts for a pod on a node.

    With pod-level requests the defaults only stand in for a resource that neither pod nor containers name, not even
    with 0.
    """
    defaults = NON_ZERO_DEFAULTS
    if has_pod_level_requests(pod):
        real = pod_requests(pod)
        defaults = {resource: number for resource, number in defaults.items() if resource not in real}
    sums = pod_requests(pod, defaults)
    return sums.get("cpu", 0), sums.get("memory", 0)


def asks_for_everything_scored(pod: Pod) -> bool:
    """Return whether scoring counts what fitting counts: no default, pod-level request or resize makes a difference."""
    spec = pod.spec
    if spec.resources is not None or resized(pod):
        return False
    return all(
        NON_ZERO_DEFAULTS.keys() <= one.resources.requests.keys() for one in (*spec.init_containers, *spec.containers)
    )


@lru_cache(maxsize=4096)
def is_extended(resource: str) -> bool:
    """Return whether a resource is an extended one: it has a domain, and not Kubernetes' own, and can have a quota."""
    if "/" not in resource or "kubernetes.io/" in resource or resource.startswith("requests."):
        return False
    return not qualified_name_errors(f"requests.{resource}")


def is_scalar(resource: str) -> bool:
    """Return whether the scheduler counts the resource though it is none of cpu, memory and ephemeral storage."""
    if is_extended(resource) or "kubernetes.io/" in resource:
        return True
    return resource.startswith(("hugepages-", "attachable-volumes-"))


def is_counted(resource: str) -> bool:
    """Return whether the scheduler counts the resource at all."""
    return resource in ("cpu", "memory", "ephemeral-storage") or is_scalar(resource)


def pod_host_ports(pod: Pod) -> tuple[tuple[str, str, int], ...]:
    """Return (protocol, host IP, port) of every host port that containers and sidecars take, with defaults filled."""
    found: list[tuple[str, str, int]] = []
    sidecars = (one for one in pod.spec.init_containers if one.restart_policy == "Always")
    for container in (*sidecars, *pod.spec.containers):
        for port in container.ports:
            if port.host_port > 0:
                found.append((port.protocol or "TCP", port.host_ip or "0.0.0.0", port.host_port))
    return tuple(found)
