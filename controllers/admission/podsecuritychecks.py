"""What the levels of pod security forbid, each check a function of metadata and spec.

Source: k8s.io/pod-security-admission/policy. A check returns (what is forbidden, details), or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scheduler_core.api.document import at

Finding = tuple[str, str]
Spec = Mapping[str, Any]

LATEST: Final = 1_000
"""The minor version that `latest` stands for."""

_DEFAULT_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_SYSCTLS: Final[Mapping[str, int]] = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
}
"""Sysctl → the minor version since which it may be set."""

_SELINUX_TYPES: Final[Mapping[str, int]] = {
    "": 0,
    "container_t": 0,
    "container_init_t": 0,
    "container_kvm_t": 0,
    "container_engine_t": 31,
}
_GOOD_PROFILES: Final = ("RuntimeDefault", "Localhost")
_GOOD_VOLUMES: Final = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)
_APPARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"


def _containers(spec: Spec) -> Iterator[Mapping[str, Any]]:
    for part in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(part) or ()


def _quoted(items: Iterable[str]) -> str:
    return ", ".join(f'"{item}"' for item in items)


def _count(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"


def _who(names: list[str]) -> str:
    return f"{_count('container', len(names))} {_quoted(names)}"


def _setters(spec: Spec, is_bad: Callable[[Mapping[str, Any]], bool]) -> list[str]:
    """Return who sets something bad in a securityContext: `pod`, `containers "a", "b"`."""
    found = ["pod"] if is_bad(spec.get("securityContext") or {}) else []
    names = [one["name"] for one in _containers(spec) if is_bad(one.get("securityContext") or {})]
    return found + ([_who(names)] if names else [])


def _is_windows(spec: Spec, minor: int) -> bool:
    return minor >= 25 and at(spec, "os", "name") == "windows"


# -- baseline -------------------------------------------------------------------------------------------------------


def _apparmor(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    def kind(context: Mapping[str, Any]) -> Any:
        return at(context, "appArmorProfile", "type")

    def is_bad(context: Mapping[str, Any]) -> bool:
        return context.get("appArmorProfile") is not None and kind(context) not in _GOOD_PROFILES

    setters = _setters(spec, is_bad)
    contexts = [spec.get("securityContext") or {}, *(one.get("securityContext") or {} for one in _containers(spec))]
    values = sorted({str(kind(context)) for context in contexts if is_bad(context)})
    annotations = sorted(
        f'{key}="{value}"'
        for key, value in (metadata.get("annotations") or {}).items()
        if key.startswith(_APPARMOR) and value not in ("", "runtime/default") and not value.startswith("localhost/")
    )
    if annotations:
        values += annotations
        setters.append(_count("annotation", len(annotations)))
    if not setters:
        return None
    told = f"{' and '.join(setters)} must not set AppArmor profile type to {_quoted(values)}"
    return _count("forbidden AppArmor profile", len(values)), told


def _capabilities(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    added = {one["name"]: at(one, "securityContext", "capabilities", "add") or () for one in _containers(spec)}
    names = [name for name, found in added.items() if set(found) - _DEFAULT_CAPABILITIES]
    if not names:
        return None
    extra = sorted({one for found in added.values() for one in found} - _DEFAULT_CAPABILITIES)
    told = f"{_who(names)} must not include {_quoted(extra)} in securityContext.capabilities.add"
    return "non-default capabilities", told


def _host_namespaces(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return ("host namespaces", ", ".join(found)) if found else None


def _host_paths(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    names = [one["name"] for one in spec.get("volumes") or () if one.get("hostPath") is not None]
    return ("hostPath volumes", f"{_count('volume', len(names))} {_quoted(names)}") if names else None


def _host_ports(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    used = {
        one["name"]: [str(port["hostPort"]) for port in one.get("ports") or () if port.get("hostPort")]
        for one in _containers(spec)
    }
    names = [name for name, ports in used.items() if ports]
    if not names:
        return None
    ports = sorted({port for found in used.values() for port in found})
    verb = "uses" if len(names) == 1 else "use"
    return "hostPort", f"{_who(names)} {verb} {_count('hostPort', len(ports))} {', '.join(ports)}"


def _probe_hosts(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    if minor < 34:
        return None
    names, hosts = set[str](), set[str]()
    for one in _containers(spec):
        handlers = [one.get(f"{kind}Probe") or {} for kind in ("liveness", "readiness", "startup")]
        handlers += [at(one, "lifecycle", when) or {} for when in ("postStart", "preStop")]
        found = {at(handler, how, "host") for handler in handlers for how in ("httpGet", "tcpSocket")} - {None, ""}
        if found:
            names.add(one["name"])
            hosts |= found
    if not names:
        return None
    verb = "uses" if len(names) == 1 else "use"
    told = f"{_who(sorted(names))} {verb} {_count('probe or lifecycle host', len(hosts))} {_quoted(sorted(hosts))}"
    return "probe or lifecycle host", told


def _privileged(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    names = [one["name"] for one in _containers(spec) if at(one, "securityContext", "privileged")]
    return ("privileged", f"{_who(names)} must not set securityContext.privileged=true") if names else None


def _proc_mount(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    found = {one["name"]: at(one, "securityContext", "procMount") for one in _containers(spec)}
    bad = {name: kind for name, kind in found.items() if kind not in (None, "Default")}
    if not bad:
        return None
    kinds = _quoted(sorted(set(map(str, bad.values()))))
    return "procMount", f"{_who(list(bad))} must not set securityContext.procMount to {kinds}"


def _selinux(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    def options(context: Mapping[str, Any]) -> Mapping[str, Any]:
        return context.get("seLinuxOptions") or {}

    def is_typed_badly(context: Mapping[str, Any]) -> bool:
        return _SELINUX_TYPES.get(options(context).get("type") or "", LATEST + 1) > minor

    setters = _setters(
        spec, lambda one: is_typed_badly(one) or bool(options(one).get("user") or options(one).get("role"))
    )
    if not setters:
        return None
    contexts = [spec.get("securityContext") or {}, *(one.get("securityContext") or {} for one in _containers(spec))]
    types = sorted({str(options(one).get("type")) for one in contexts if is_typed_badly(one)})
    told = [f"{_count('type', len(types))} {_quoted(types)}"] if types else []
    told += [f"{key} may not be set" for key in ("user", "role") if any(options(one).get(key) for one in contexts)]
    return "seLinuxOptions", f"{' and '.join(setters)} set forbidden securityContext.seLinuxOptions: {'; '.join(told)}"


def _seccomp(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    if minor < 19:
        return None

    def is_bad(context: Mapping[str, Any]) -> bool:
        return context.get("seccompProfile") is not None and _profile(context) not in _GOOD_PROFILES

    setters = _setters(spec, is_bad)
    if not setters:
        return None
    contexts = [spec.get("securityContext") or {}, *(one.get("securityContext") or {} for one in _containers(spec))]
    values = _quoted(sorted({str(_profile(one)) for one in contexts if is_bad(one)}))
    return "seccompProfile", f"{' and '.join(setters)} must not set securityContext.seccompProfile.type to {values}"


def _profile(context: Mapping[str, Any]) -> Any:
    return at(context, "seccompProfile", "type")


def _sysctls(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    names = [one.get("name", "") for one in at(spec, "securityContext", "sysctls") or ()]
    bad = [name for name in names if _SYSCTLS.get(name, LATEST + 1) > minor]
    return ("forbidden sysctls", ", ".join(bad)) if bad else None


def _host_process(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    setters = _setters(spec, lambda one: bool(at(one, "windowsOptions", "hostProcess")))
    told = f"{' and '.join(setters)} must not set securityContext.windowsOptions.hostProcess=true"
    return ("hostProcess", told) if setters else None


# -- restricted -----------------------------------------------------------------------------------------------------


def _escalation(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    if _is_windows(spec, minor):
        return None
    names = [
        one["name"] for one in _containers(spec) if at(one, "securityContext", "allowPrivilegeEscalation") is not False
    ]
    told = f"{_who(names)} must set securityContext.allowPrivilegeEscalation=false"
    return ("allowPrivilegeEscalation != false", told) if names else None


def _few_capabilities(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    if _is_windows(spec, minor):
        return None
    keeping, adding, forbidden = list[str](), list[str](), set[str]()
    for one in _containers(spec):
        capabilities = at(one, "securityContext", "capabilities") or {}
        if "ALL" not in (capabilities.get("drop") or ()):
            keeping.append(one["name"])
        extra = set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}
        if extra:
            adding.append(one["name"])
            forbidden |= extra
    told = [f'{_who(keeping)} must set securityContext.capabilities.drop=["ALL"]'] if keeping else []
    if adding:
        told.append(f"{_who(adding)} must not include {_quoted(sorted(forbidden))} in securityContext.capabilities.add")
    return ("unrestricted capabilities", "; ".join(told)) if told else None


def _volumes(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    bad: dict[str, str] = {}
    for volume in spec.get("volumes") or ():
        kinds = [key for key, value in volume.items() if key != "name" and value is not None]
        if not any(kind in _GOOD_VOLUMES for kind in kinds):
            bad[volume["name"]] = kinds[0] if kinds else "unknown"
    if not bad:
        return None
    kinds, verb = sorted(set(bad.values())), "uses" if len(bad) == 1 else "use"
    told = f"{_count('volume', len(bad))} {_quoted(bad)} {verb} {_count('restricted volume type', len(kinds))}"
    return "restricted volume types", f"{told} {_quoted(kinds)}"


def _non_root(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    reason = "runAsNonRoot != true"
    setters = _setters(spec, lambda one: one.get("runAsNonRoot") is False)
    if setters:
        return reason, f"{' and '.join(setters)} must not set securityContext.runAsNonRoot=false"
    if at(spec, "securityContext", "runAsNonRoot"):
        return None
    names = [one["name"] for one in _containers(spec) if at(one, "securityContext", "runAsNonRoot") is None]
    return (reason, f"pod or {_who(names)} must set securityContext.runAsNonRoot=true") if names else None


def _user(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    setters = _setters(spec, lambda one: one.get("runAsUser") == 0) if minor >= 23 else []
    return ("runAsUser=0", f"{' and '.join(setters)} must not set runAsUser=0") if setters else None


def _must_seccomp(metadata: Spec, spec: Spec, minor: int) -> Finding | None:
    if minor < 19 or _is_windows(spec, minor):
        return None
    wrong = _seccomp(metadata, spec, minor)
    if wrong is not None or _profile(spec.get("securityContext") or {}) in _GOOD_PROFILES:
        return wrong
    names = [one["name"] for one in _containers(spec) if at(one, "securityContext", "seccompProfile") is None]
    told = f'pod or {_who(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return ("seccompProfile", told) if names else None


class Check(NamedTuple):
    """One check of a level, from a minor version on."""

    find: Callable[[Spec, Spec, int], Finding | None]
    since: int = 0
    replaces: Callable[[Spec, Spec, int], Finding | None] | None = None
    """The check of baseline that is not made where this one is (upstream's OverrideCheckIDs)."""


BASELINE: Final = (
    Check(_apparmor),
    Check(_capabilities),
    Check(_host_namespaces),
    Check(_host_paths),
    Check(_host_ports),
    Check(_probe_hosts),
    Check(_privileged),
    Check(_proc_mount),
    Check(_selinux),
    Check(_seccomp),
    Check(_sysctls),
    Check(_host_process),
)
RESTRICTED: Final = (
    *BASELINE,
    Check(_escalation, 8),
    Check(_few_capabilities, 22, _capabilities),
    Check(_volumes, replaces=_host_paths),
    Check(_non_root),
    Check(_user, 23),
    Check(_must_seccomp, 19, _seccomp),
)


def findings(level: str, minor: int, metadata: Spec, spec: Spec) -> list[Finding]:
    """Return what a level forbids of a pod, in upstream's order."""
    checks = [one for one in {"baseline": BASELINE, "restricted": RESTRICTED}.get(level, ()) if minor >= one.since]
    replaced = {one.replaces for one in checks}
    found = (check.find(metadata, spec, minor) for check in checks if check.find not in replaced)
    return [one for one in found if one is not None]
