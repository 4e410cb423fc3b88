"""PodSecurity: a namespace's labels say how much its pods may do on their node.

Source: k8s.io/pod-security-admission/admission. Audit annotations are not kept: nothing here reads an audit log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from controllers.admission.namespacelifecycle import NAMESPACES
from controllers.admission.podsecuritychecks import LATEST, Finding, findings
from controllers.registry.admission import Attempt, Plugin, Verb
from controllers.registry.kind import Kind
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause, invalid

PODS: Final = "pods"
LEVELS: Final = ("privileged", "baseline", "restricted")
_LABEL: Final = "pod-security.kubernetes.io/"
_VERSION: Final = re.compile(r"v1\.(0|[1-9][0-9]*)")

TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "deployments.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "podtemplates": ("template",),
    "replicasets.apps": ("spec", "template"),
    "replicationcontrollers": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
}
"""Kind that makes pods → where their template is."""


class Bound(NamedTuple):
    """What one mode asks for."""

    level: str = "privileged"
    version: str = "latest"

    @property
    def minor(self) -> int:
        """Return the minor version of the policy."""
        return LATEST if self.version == "latest" else int(self.version.removeprefix("v1."))

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"


class Policy(NamedTuple):
    """What a namespace's labels ask for, and what is wrong with them."""

    enforce: Bound
    warn: Bound
    wrong: tuple[Cause, ...] = ()


def policy_of(labels: Mapping[str, str]) -> Policy:
    """Return what labels ask for; what cannot be read fails closed for enforcing, open for warning."""
    wrong: list[Cause] = []
    bounds: dict[str, Bound] = {}
    for mode in ("enforce", "audit", "warn"):
        level, version = labels.get(_LABEL + mode), labels.get(f"{_LABEL}{mode}-version")
        if level is not None and level not in LEVELS:
            wrong.append(_cause(_LABEL + mode, level, f"must be one of {', '.join(LEVELS)}"))
            level = "restricted" if mode == "enforce" else "privileged"
        if version is not None and version != "latest" and _VERSION.fullmatch(version) is None:
            wrong.append(_cause(f"{_LABEL}{mode}-version", version, 'must be "latest" or "v1.x"'))
            version = "latest"
        bounds[mode] = Bound(level or "privileged", version or "latest")
    enforce, warn = bounds["enforce"], bounds["warn"]
    if _LABEL + "warn" not in labels and labels.get(_LABEL + "enforce") in LEVELS[1:]:
        # Who is bound is warned of the same.
        version = warn.version if f"{_LABEL}warn-version" in labels else enforce.version
        warn = Bound(enforce.level, version)
    return Policy(enforce, warn, tuple(wrong))


def _cause(label: str, value: str, why: str) -> Cause:
    return Cause(f"metadata.labels[{label}]", f'Invalid value: "{value}": {why}')


def _told(found: Iterable[Finding]) -> str:
    return ", ".join(f"{reason} ({detail})" if detail else reason for reason, detail in found)


def _watches(verb: Verb, kind: Kind, subresource: str) -> bool:
    if verb == "delete" or subresource:
        return False
    return kind.resource in (PODS, NAMESPACES) or kind.resource in TEMPLATES


def _validate(attempt: Attempt) -> None:
    if attempt.kind.resource == NAMESPACES:
        _namespace(attempt)
        return
    home = attempt.lookup.get(NAMESPACES, "", attempt.namespace)
    policy = policy_of((home or {"metadata": {}})["metadata"].get("labels") or {})
    if attempt.kind.resource != PODS:
        template = at(attempt.document, *TEMPLATES[attempt.kind.resource]) or {}
        _warn(attempt, policy.warn, template.get("metadata") or {}, template.get("spec") or {})
        return
    metadata, spec = attempt.document["metadata"], attempt.document["spec"]
    if attempt.old is not None and not _is_significant(spec, attempt.old["spec"]):
        return
    found = findings(policy.enforce.level, policy.enforce.minor, metadata, spec)
    if found:
        raise attempt.refuse(f'violates PodSecurity "{policy.enforce}": {_told(found)}')
    _warn(attempt, policy.warn, metadata, spec)


def _warn(attempt: Attempt, bound: Bound, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
    found = findings(bound.level, bound.minor, metadata, spec)
    if found:
        attempt.context.warnings.append(f'would violate PodSecurity "{bound}": {_told(found)}')


def _is_significant(spec: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether a change of a pod may matter: its containers or their images."""
    parts = ("containers", "initContainers", "ephemeralContainers")
    return any(
        [one.get("image") for one in spec.get(part) or ()] != [one.get("image") for one in old.get(part) or ()]
        for part in parts
    )


def _namespace(attempt: Attempt) -> None:
    """Refuse labels that cannot be read; warn of pods that a stricter level would not have let in."""
    name = attempt.document["metadata"]["name"]
    new = policy_of(attempt.document["metadata"].get("labels") or {})
    old = None if attempt.old is None else policy_of(attempt.old["metadata"].get("labels") or {})
    if new.wrong and (old is None or new.wrong != old.wrong):
        raise invalid("Namespace", "", name, new.wrong)
    if old is None or new.enforce == old.enforce or new.enforce.level == "privileged":
        return
    relaxed = LEVELS.index(new.enforce.level) <= LEVELS.index(old.enforce.level)
    if relaxed and new.enforce.version == old.enforce.version:
        return
    pods: dict[str, list[str]] = {}
    for pod in attempt.lookup.list(PODS, name):
        found = findings(new.enforce.level, new.enforce.minor, pod["metadata"], pod["spec"])
        if found:
            pods.setdefault(", ".join(reason for reason, _ in found), []).append(pod["metadata"]["name"])
    if pods:
        attempt.context.warnings.append(
            f'existing pods in namespace "{name}" violate the new PodSecurity enforce level "{new.enforce}"'
        )
        attempt.context.warnings += sorted(f"{_names(names)}: {reasons}" for reasons, names in pods.items())


def _names(names: list[str]) -> str:
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other {'pod' if others == 1 else 'pods'})"


PLUGIN: Final = Plugin(
    "PodSecurity",
    "Refuses pods beyond the level that their namespace's labels enforce, and warns of those beyond its other level.",
    watches=_watches,
    validate=_validate,
)
