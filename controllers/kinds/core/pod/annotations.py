"""Rules of a pod's annotations that say something to Kubernetes.

Source: pkg/apis/core/validation (ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.core.pod.security import visited
from controllers.registry import fields
from scheduler_core.api.errors import Cause

MIRROR: Final = "kubernetes.io/config.mirror"
_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP: Final = "container.seccomp.security.alpha.kubernetes.io/"
_APPARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,9}", re.ASCII)


def validate(document: Mapping[str, Any]) -> list[Cause]:
    """Check the annotations of a pod."""
    given: Mapping[str, str] = (document.get("metadata") or {}).get("annotations") or {}
    if not given:
        return []
    spec, where = document.get("spec") or {}, "metadata.annotations"
    causes: list[Cause] = []
    if MIRROR in given and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        causes.append(fields.bad(f"{where}[{MIRROR}]", given[MIRROR], why))
    cost = given.get(_COST)
    if cost is not None and not (_WHOLE.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        causes.append(fields.bad(f"{where}[{_COST}]", cost, "must be a 32bit integer"))
    for key, value in given.items():
        if key == _SECCOMP_POD or key.startswith(_SECCOMP):
            causes += _seccomp(f"{where}.{key}", value)
    names = {container.get("name") for _, container in visited("spec", spec)}
    for key, value in given.items():
        if not key.startswith(_APPARMOR):
            continue
        name = key.removeprefix(_APPARMOR)
        if name not in names:
            causes.append(fields.bad(f"{where}[{key}]", name, "container not found"))
        if value not in ("", "runtime/default", "unconfined") and not value.startswith("localhost/"):
            causes.append(fields.bad(f"{where}[{key}]", value, f'invalid AppArmor profile name: "{value}"'))
    return causes


def _seccomp(where: str, value: str) -> list[Cause]:
    if value in ("runtime/default", "docker/default", "unconfined"):
        return []
    if value.startswith("localhost/"):
        return fields.relative_path(where, value.removeprefix("localhost/"))
    return [fields.bad(where, value, "must be a valid seccomp profile")]


def validate_new(document: Mapping[str, Any]) -> list[Cause]:
    """Check that the annotations of a new pod and its fields say the same."""
    given: Mapping[str, str] = (document.get("metadata") or {}).get("annotations") or {}
    if not any(key == _SECCOMP_POD or key.startswith((_SECCOMP, _APPARMOR)) for key in given):
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
        causes += _match(place, given.get(f"{_APPARMOR}{name}"), profile, "apparmor")
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
