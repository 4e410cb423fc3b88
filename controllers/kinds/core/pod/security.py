"""Rules of security contexts, of pods and containers, and of what a pod's operating system rules out.

Source: pkg/apis/core/validation (validatePodSpecSecurityContext, ValidateSecurityContext, validateWindows …), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields, internal
from scheduler_core.api import dns_names
from scheduler_core.api.errors import Cause

ID_MAX: Final = 2**31 - 1
_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL: Final = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?")
_NET_SYSCTLS: Final = ("net.",)
_IPC_SYSCTLS: Final = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
_APPARMOR_PATH_MAX: Final = 4095
_GMSA_MAX: Final = 64 * 1024
_KINDS: Final = ("initContainers", "containers", "ephemeralContainers")

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS: Final = re.compile(r'[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}')
_DNS: Final = re.compile(
    r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*"
)
_NO_USER: Final = re.compile(r'["/\\:;|=,\+\*\?<>@\[\]]')

_NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"
_OF_PODS: Final = (
    ("securityContext", "appArmorProfile"), ("securityContext", "seLinuxOptions"), ("", "hostUsers"), ("", "hostPID"),
    ("", "hostIPC"), ("securityContext", "seccompProfile"), ("securityContext", "fsGroup"),
    ("securityContext", "fsGroupChangePolicy"), ("securityContext", "sysctls"), ("", "shareProcessNamespace"),
    ("securityContext", "runAsUser"), ("securityContext", "runAsGroup"), ("securityContext", "supplementalGroups"),
    ("securityContext", "supplementalGroupsPolicy"), ("securityContext", "seLinuxChangePolicy"),
)  # fmt: skip
"""(holder, member) of what a pod of Windows cannot have, in upstream's order."""
_OF_CONTAINERS: Final = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


def visited(field: str, spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (where it lies, container) of every container of a pod spec at `field`."""
    for key in _KINDS:
        for index, container in enumerate(spec.get(key) or ()):
            yield f"{field}.{key}[{index}]", container


def of_pod(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check the security context of a pod spec, `field` being where the spec is."""
    context = spec.get("securityContext") or {}
    where = f"{field}.securityContext"
    causes: list[Cause] = []
    for key in ("fsGroup", "runAsUser", "runAsGroup"):
        causes += fields.within(f"{where}.{key}", context.get(key), 0, ID_MAX)
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        causes += fields.within(f"{where}.supplementalGroups[{index}]", group, 0, ID_MAX)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        causes.append(fields.bad(f"{where}.shareProcessNamespace", True, why))
    causes += _sysctls(f"{where}.sysctls", context.get("sysctls") or (), spec)
    policies = ("Always", "OnRootMismatch")
    causes += fields.set_one_of(f"{where}.fsGroupChangePolicy", context.get("fsGroupChangePolicy"), policies)
    causes += seccomp(f"{where}.seccompProfile", context.get("seccompProfile"))
    causes += _windows(f"{where}.windowsOptions", context.get("windowsOptions"))
    causes += _apparmor(f"{where}.appArmorProfile", context.get("appArmorProfile"))
    policies = ("Merge", "Strict")
    causes += fields.set_one_of(f"{where}.supplementalGroupsPolicy", context.get("supplementalGroupsPolicy"), policies)
    # Another needs a feature that is off in v1.34 (SELinuxMount).
    change = context.get("seLinuxChangePolicy")
    return causes + fields.set_one_of(f"{where}.seLinuxChangePolicy", change, ("Recursive",))


def _sysctls(field: str, entries: Sequence[Mapping[str, Any]], spec: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        name = entry.get("name") or ""
        where = f"{field}[{index}].name"
        if not name:
            causes.append(fields.required(where))
        elif len(name) > dns_names.SUBDOMAIN_LENGTH_MAX or not _SYSCTL.fullmatch(name):
            why = f"must have at most {dns_names.SUBDOMAIN_LENGTH_MAX} characters and match regex ^{_SYSCTL.pattern}$"
            causes.append(fields.bad(where, name, why))
        elif name in seen:
            causes.append(fields.duplicate(where, name))
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith(_NET_SYSCTLS):
            causes.append(fields.bad(where, name, "may not be specified when 'hostNetwork' is true"))
        elif spec.get("hostIPC") and dotted.startswith(_IPC_SYSCTLS):
            causes.append(fields.bad(where, name, "may not be specified when 'hostIPC' is true"))
        seen.add(name)
    return causes


def seccomp(where: str, profile: Mapping[str, Any] | None) -> list[Cause]:
    """Check a seccomp profile."""
    if profile is None:
        return []
    told, path = profile.get("type") or "", profile.get("localhostProfile")
    causes: list[Cause] = []
    if not told:
        causes.append(fields.required(f"{where}.type", "type is required when seccompProfile is set"))
    elif told not in _PROFILES:
        causes.append(fields.unsupported(f"{where}.type", told, _PROFILES))
    field = f"{where}.localhostProfile"
    if told == "Localhost":
        why = "must be set when seccomp type is Localhost"
        return [*causes, fields.required(field, why)] if path is None else causes + fields.relative_path(field, path)
    if path is not None:
        shown = fields.written({"Type": told, "LocalhostProfile": path})
        causes.append(fields.bad(field, shown, "can only be set when seccomp type is Localhost"))
    return causes


def _apparmor(where: str, profile: Mapping[str, Any] | None) -> list[Cause]:
    if profile is None:
        return []
    told, path = profile.get("type") or "", profile.get("localhostProfile")
    field = f"{where}.localhostProfile"
    if not told:
        return [fields.required(f"{where}.type", "type is required when appArmorProfile is set")]
    if told not in _PROFILES:
        return [fields.unsupported(f"{where}.type", told, _PROFILES)]
    if told != "Localhost":
        why = "can only be set when AppArmor type is Localhost"
        return [] if path is None else [fields.bad(field, path, why)]
    why = "must be set when AppArmor type is Localhost"
    if path is None:
        return [fields.required(field, why)]
    causes: list[Cause] = []
    if path.strip() != path:
        causes.append(fields.bad(field, path, "must not be padded with whitespace"))
    elif not path:
        causes.append(fields.required(field, why))
    return causes + ([fields.too_long(field, _APPARMOR_PATH_MAX)] if len(path) > _APPARMOR_PATH_MAX else [])


def _windows(where: str, options: Mapping[str, Any] | None) -> list[Cause]:
    if options is None:
        return []
    causes: list[Cause] = []
    name, text = options.get("gmsaCredentialSpecName"), options.get("gmsaCredentialSpec")
    if name is not None:
        causes += fields.subdomain(f"{where}.gmsaCredentialSpecName", name)
    field = f"{where}.gmsaCredentialSpec"
    if text is not None and not text:
        causes.append(fields.bad(field, text, "gmsaCredentialSpec cannot be an empty string"))
    elif text is not None and len(text) > _GMSA_MAX:
        causes.append(fields.bad(field, text, "gmsaCredentialSpec size must be under 64 KiB"))
    user = options.get("runAsUserName")
    field = f"{where}.runAsUserName"
    return causes + [fields.bad(field, user, f"runAsUserName{why}") for why in _user_errors(user)]


def _user_errors(text: str | None) -> Iterator[str]:
    """Yield what is wrong with a user of Windows, with or without a domain before a backslash."""
    if text is None:
        return
    parts = text.split("\\")
    if not text:
        yield " cannot be an empty string"
        return
    if _CONTROL.search(text):
        yield " cannot contain control characters"
        return
    if len(parts) > 2:
        yield " cannot contain more than one backslash"
        return
    domain, user = (parts[0] if len(parts) == 2 else ""), parts[-1]
    if len(domain) >= 256:
        yield "'s Domain length must be under 256 characters"
    if len(parts) == 2 and not (_NET_BIOS.fullmatch(domain) or _DNS.fullmatch(domain)):
        yield "'s Domain doesn't match the NetBios nor the DNS format"
    if not user:
        yield "'s User cannot be empty"
    elif len(user) > 104:
        yield "'s User length must not be longer than 104 characters"
    if user and not user.strip(". "):
        yield "'s User cannot contain only periods or spaces"
    if _NO_USER.search(user):
        yield "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def of_container(where: str, context: Mapping[str, Any] | None, *, host_users: bool) -> list[Cause]:
    """Check the security context of a container at `where`; `host_users`: whether its pod has the node's users."""
    if context is None:
        return []
    causes: list[Cause] = []
    for key in ("runAsUser", "runAsGroup"):
        causes += fields.within(f"{where}.{key}", context.get(key), 0, ID_MAX)
    mount = context.get("procMount")
    causes += fields.set_one_of(f"{where}.procMount", mount, ("Default", "Unmasked"))
    if host_users and mount == "Unmasked":
        causes.append(fields.bad(f"{where}.procMount", mount, "`hostUsers` must be false to use `Unmasked`"))
    causes += seccomp(f"{where}.seccompProfile", context.get("seccompProfile"))
    if context.get("allowPrivilegeEscalation") is False:
        shown = internal.shown(context, "core.SecurityContext")
        start = "cannot set `allowPrivilegeEscalation` to false and"
        if context.get("privileged"):
            causes.append(fields.bad(where, shown, f"{start} `privileged` to true"))
        added = (context.get("capabilities") or {}).get("add") or ()
        causes += [
            fields.bad(where, shown, f"{start} `capabilities.Add` CAP_SYS_ADMIN")
            for one in added
            if one == "CAP_SYS_ADMIN"
        ]
    causes += _windows(f"{where}.windowsOptions", context.get("windowsOptions"))
    return causes + _apparmor(f"{where}.appArmorProfile", context.get("appArmorProfile"))


def host_process(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check that the containers of a pod of Windows are all processes of the node, or none is."""

    def told(holder: Mapping[str, Any]) -> bool | None:
        options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
        return options.get("hostProcess")

    whole, causes = told(spec), []
    count = hosted = 0
    for where, container in visited(field, spec):
        count += 1
        own = told(container)
        if whole is not None and own is not None and whole != own:
            why = f"pod hostProcess value must be identical if both are specified, was {'true' if whole else 'false'}"
            causes.append(fields.bad(f"{where}.securityContext.windowsOptions.hostProcess", own, why))
        hosted += bool(whole if own is None else own)
    if hosted and hosted != count:
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        causes.append(fields.bad(field, "", why))
    if hosted and not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        causes.append(fields.bad(f"{field}.hostNetwork", False, why))
    return causes


def host_users(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check that a pod with users of its own shares nothing of the node's."""
    if spec.get("hostUsers") is not False:
        return []
    why = "when `hostUsers` is false"
    told = {"hostNetwork": "hostNetwork", "hostPID": "HostPID", "hostIPC": "HostIPC"}
    causes = [fields.not_allowed(f"{field}.{shown}", why) for key, shown in told.items() if spec.get(key)]
    devices = [where for where, container in visited(field, spec) if container.get("volumeDevices")]
    return causes + [fields.not_allowed(f"{where}.volumeDevices", why) for where in devices]


def operating_system(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check spec.os, and what that system has not."""
    if spec.get("os") is None:
        return []
    name = spec["os"].get("name") or ""
    if not name:
        return [fields.required(f"{field}.os.name")]
    if name not in ("linux", "windows"):
        return [fields.unsupported(f"{field}.os", name, ("linux", "windows"))]
    context = spec.get("securityContext") or {}
    if name == "linux":
        why = "windows options cannot be set for a linux pod"
        places = [f"{field}.securityContext"] if context.get("windowsOptions") is not None else []
        places += [
            f"{where}.securityContext"
            for where, container in visited(field, spec)
            if (container.get("securityContext") or {}).get("windowsOptions") is not None
        ]
        return [fields.not_allowed(f"{place}.windowsOptions", why) for place in places]
    held = [
        ".".join(filter(None, (field, holder, key)))
        for holder, key in _OF_PODS
        if (context if holder else spec).get(key) is not None
    ]
    held += [
        f"{where}.securityContext.{key}"
        for where, container in visited(field, spec)
        for key in _OF_CONTAINERS
        if (container.get("securityContext") or {}).get(key) is not None
    ]
    return [fields.not_allowed(place, _NOT_ON_WINDOWS) for place in held]
