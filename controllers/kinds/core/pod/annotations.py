"""Rules of a pod's annotations that say something to Kubernetes.

Source: pkg/apis/core/validation (ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from controllers.kinds.core import scheduling
from controllers.kinds.core.pod.security import visited
from controllers.registry import fields
from controllers.registry.gojson import syntax_error
from controllers.registry.gotext import json_name
from scheduler_core.api.errors import Cause

MIRROR: Final = "kubernetes.io/config.mirror"
_TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP: Final = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
APPARMOR_WARNING: Final = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,9}", re.ASCII)


def validate(document: Mapping[str, Any], where: str = "metadata.annotations") -> list[Cause]:
    """Check the annotations of a pod, or of a template of pods, as sentences about them call them."""
    given: Mapping[str, str] = (document.get("metadata") or {}).get("annotations") or {}
    if not given:
        return []
    spec = document.get("spec") or {}
    causes: list[Cause] = []
    if MIRROR in given and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        causes.append(fields.bad(f"{where}[{MIRROR}]", given[MIRROR], why))
    if given.get(_TOLERATIONS):
        causes += _tolerations(where, given[_TOLERATIONS])
    cost = given.get(_COST)
    if cost is not None and not (_WHOLE.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        causes.append(fields.bad(f"{where}[{_COST}]", cost, "must be a 32bit integer"))
    for key, value in given.items():
        if key == _SECCOMP_POD or key.startswith(_SECCOMP):
            causes += _seccomp(f"{where}.{key}", value)
    names = {container.get("name") for _, container in visited("spec", spec)}
    for key, value in given.items():
        if not key.startswith(APPARMOR):
            continue
        name = key.removeprefix(APPARMOR)
        if name not in names:
            causes.append(fields.bad(f"{where}[{key}]", name, "container not found"))
        if value not in ("", "runtime/default", "unconfined") and not value.startswith("localhost/"):
            causes.append(fields.bad(f"{where}[{key}]", value, f'invalid AppArmor profile name: "{value}"'))
    return causes


def _tolerations(where: str, text: str) -> list[Cause]:
    """Check tolerations as pods once had them."""
    why = syntax_error(text)
    read = None if why else msgspec.json.decode(text)
    if read is not None and not isinstance(read, list):
        why = f"json: cannot unmarshal {json_name(read)} into Go value of type []core.Toleration"
    if why:
        return [fields.bad(where, _TOLERATIONS, why)]
    listed = [one for one in read or () if isinstance(one, dict)]
    return scheduling.tolerations(f"{where}.{_TOLERATIONS}", listed)


def _seccomp(where: str, value: str) -> list[Cause]:
    if value in ("runtime/default", "docker/default", "unconfined"):
        return []
    if value.startswith("localhost/"):
        return fields.relative_path(where, value.removeprefix("localhost/"))
    return [fields.bad(where, value, "must be a valid seccomp profile")]


def take_profiles(document: dict[str, Any]) -> None:
    """Write into the fields of a new pod what its annotations say of AppArmor (applyAppArmorVersionSkew)."""
    given: Mapping[str, str] = (document.get("metadata") or {}).get("annotations") or {}
    spec = document.get("spec") or {}
    if not any(key.startswith(APPARMOR) for key in given) or (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container in (one for key in _CONTAINERS for one in spec.get(key) or ()):
        profile = _profile(given.get(f"{APPARMOR}{container.get('name')}", ""))
        context = container.get("securityContext") or {}
        if profile is not None and profile != of_pod and context.get("appArmorProfile") is None:
            container["securityContext"] = {**context, "appArmorProfile": profile}


def _profile(annotation: str) -> dict[str, str] | None:
    if annotation in ("runtime/default", "unconfined"):
        return {"type": "RuntimeDefault" if annotation == "runtime/default" else "Unconfined"}
    local = annotation.removeprefix("localhost/")
    return {"type": "Localhost", "localhostProfile": local} if local and local != annotation else None


def warns_of_profiles(document: Mapping[str, Any]) -> list[str]:
    """Tell of annotations of a new pod that stand where a field should."""
    given: Mapping[str, str] = (document.get("metadata") or {}).get("annotations") or {}
    spec = document.get("spec") or {}
    told = []
    for _, container in visited("spec", spec):
        key = f"{APPARMOR}{container.get('name')}"
        profile = (container.get("securityContext") or {}).get("appArmorProfile")
        if key in given and profile == _profile(given[key]):
            told.append(f"metadata.annotations[{key}]: {APPARMOR_WARNING}")
    return told


def validate_new(document: Mapping[str, Any]) -> list[Cause]:
    """Check that the annotations of a new pod and its fields say the same."""
    given: Mapping[str, str] = (document.get("metadata") or {}).get("annotations") or {}
    if not any(key == _SECCOMP_POD or key.startswith((_SECCOMP, APPARMOR)) for key in given):
        return []
    spec = document.get("spec") or {}
    whole = spec.get("securityContext") or {}
    causes = _match(
        "spec.securityContext.seccompProfile", given.get(_SECCOMP_POD), whole.get("seccompProfile"), "seccomp"
    )
    contexts = [(at, one.get("name"), one.get("securityContext") or {}) for at, one in visited("spec", spec)]
    for where, name, context in contexts:
        place = f"{where}.securityContext.seccompProfile"
        causes += _match(place, given.get(f"{_SECCOMP}{name}"), context.get("seccompProfile"), "seccomp")
    if (spec.get("os") or {}).get("name") == "windows":
        return causes
    for where, name, context in contexts:
        profile = context.get("appArmorProfile") or whole.get("appArmorProfile")
        place = f"{where}.securityContext.appArmorProfile"
        causes += _match(place, given.get(f"{APPARMOR}{name}"), profile, "apparmor")
    return causes


def _match(where: str, annotation: str | None, profile: Mapping[str, Any] | None, what: str) -> list[Cause]:
    if annotation is None or profile is None:
        return []
    told = profile.get("type")
    default = ("runtime/default", "docker/default") if what == "seccomp" else ("runtime/default",)
    good = {
        "Unconfined": annotation == "unconfined",
        "RuntimeDefault": annotation in default,
        "Localhost": annotation.startswith("localhost/"),
    }
    if not good.get(told or "", True):
        return [fields.not_allowed(f"{where}.type", f"{what} type in annotation and field must match")]
    if told == "Localhost" and annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
        why = f"{what} profile in annotation and field must match"
        return [fields.not_allowed(f"{where}.localhostProfile", why)]
    return []
