"""What a container sees of the kernel: its control groups (v2) with what it may have of cpu and memory, its processes.

Source: pkg/kubelet/cm (helpers_linux.go, cgroup_v2_manager_linux.go, qos_container_manager_linux.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scheduler_core.api.quantity import QuantityError, milli_value, value

ROOT: Final = "/sys/fs/cgroup"
"""Where a container finds its own group, and a node those of all its pods."""

PROCESSORS: Final = 4
"""How many processors a container sees."""

_KEYS: Final = ("requests", "limits")
_PERIOD_US: Final = 100_000
_QUOTA_US_MIN: Final = 1_000
_SHARES_MIN, _SHARES_MAX = 2, 262_144
_CONTROLLERS: Final = "cpuset cpu io memory hugetlb pids rdma misc\n"
_Amounts = Mapping[str, Any]


def own_group(pod: Mapping[str, Any], container: Mapping[str, Any]) -> dict[str, str]:
    """Return path → text of a container's own group."""
    given = _given(pod, container)
    return {f"{ROOT}/{name}": text for name, text in _files(*(_amounts(given.get(key)) for key in _KEYS)).items()}


def groups_of_node(pod: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return path → text of the pod's groups where a node's `/sys/fs/cgroup` is mounted."""
    spec, status = pod["spec"], pod.get("status") or {}
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    running = [*spec["containers"], *sidecars]
    top = f"{path}/{_slice(str(pod['metadata']['uid']), str(status.get('qosClass') or 'BestEffort'))}"
    found = {f"{top}/{name}": text for name, text in _files(*_of_pod(pod, running)).items()}
    ids = {one["name"]: str(one.get("containerID") or "") for one in _told(pod)}
    for one in running:
        scope = ids.get(one["name"], "").rpartition("//")[2]
        if scope:
            own = own_group(pod, one).items()
            found |= {f"{top}/cri-containerd-{scope}.scope/{name.rpartition('/')[2]}": text for name, text in own}
    return found


def processes(container: Mapping[str, Any]) -> dict[str, str]:
    """Return path → text of what the kernel tells of a container's first process, and of who asks."""
    first = [*(container.get("command") or ()), *(container.get("args") or ())]
    found: dict[str, str] = {}
    for number, name in (("1", str(first[0]).rpartition("/")[2] if first else "main"), ("self", "sh")):
        head = f"Name:\t{name[:15]}\nState:\tS (sleeping)\nPid:\t{number if number == '1' else 7}\n"
        found[f"/proc/{number}/status"] = f"{head}Threads:\t1\nCpus_allowed_list:\t0-{PROCESSORS - 1}\n"
        found[f"/proc/{number}/cgroup"] = "0::/\n"
    return found


def _of_pod(pod: Mapping[str, Any], running: list[Mapping[str, Any]]) -> Iterator[dict[str, int]]:
    """Yield what a pod requests and where it ends: it ends where all of its containers do."""
    level = pod["spec"].get("resources") or {}
    for key in _KEYS:
        each = [_amounts(_given(pod, one).get(key)) for one in running]
        names = {name for one in each for name in one}
        if key == "limits":
            names = {name for name in names if all(one.get(name) for one in each)}
        yield {name: sum(one.get(name, 0) for one in each) for name in names} | _amounts(level.get(key))


def _given(pod: Mapping[str, Any], container: Mapping[str, Any]) -> _Amounts:
    """Return the amounts that a container runs with: a resize that is not in force yet does not count."""
    told: _Amounts | None = next((one for one in _told(pod) if one["name"] == container.get("name")), None)
    return (told or {}).get("resources") or container.get("resources") or {}


def _told(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    status = pod.get("status") or {}
    for key in ("containerStatuses", "initContainerStatuses"):
        yield from status.get(key) or ()


def _amounts(quantities: Any) -> dict[str, int]:
    """Return millicores and bytes."""
    found: dict[str, int] = {}
    for name, read in (("cpu", milli_value), ("memory", value)):
        try:
            found[name] = read((quantities or {})[name])
        except (KeyError, QuantityError, TypeError):
            continue
    return found


def _files(requests: dict[str, int], limits: dict[str, int]) -> dict[str, str]:
    quota_us = max(_QUOTA_US_MIN, limits["cpu"] * _PERIOD_US // 1000) if limits.get("cpu") else "max"
    shares = min(max(requests.get("cpu", 0) * 1024 // 1000, _SHARES_MIN), _SHARES_MAX)
    return {
        "cgroup.controllers": _CONTROLLERS,
        "cpu.max": f"{quota_us} {_PERIOD_US}\n",
        "cpu.weight": f"{(shares - 2) * 9999 // 262_142 + 1}\n",
        "memory.max": f"{limits.get('memory') or 'max'}\n",
    }


def _slice(uid: str, qos: str) -> str:
    """Return the folder of a pod's group, as systemd spells it: a Guaranteed pod stands beside the other classes."""
    within = "kubepods" if qos == "Guaranteed" else f"kubepods-{qos.lower()}"
    above = "kubepods.slice/" if qos == "Guaranteed" else f"kubepods.slice/{within}.slice/"
    return f"{above}{within}-pod{uid.replace('-', '_')}.slice"
