"""A scenario read from its document, with the path of every field that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.flags.table import wrong_flags
from controllers.kinds.table import KINDS, find_kind
from controllers.registry.kind import Kind
from controllers.scenario.shape import DEFAULT_UNTIL_SECONDS, Action, Scenario, Start
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request
from scheduler_core.eras import read_spec
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.profiles.era import below

UNTIL_SECONDS_MAX: Final = 30 * 24 * 3600
"""A month of simulated time: longer is taken for a slip."""

NODES_MAX: Final = 10_000
"""Nodes that one entry may count."""

_TOP: Final = frozenset(
    {"name", "template", "replicas", "pace", "kubelets", "until", "nodes", "objects", "scheduler", "steps"}
)
_NODE: Final = frozenset(
    {"count", "name", "cpu", "memory", "pods", "gpu", "zone", "labels", "taints", "resources", "annotations"}
)
_ACTIONS: Final = ("apply", "delete", "patch", "scale", "fault", "clock", "scheduler", "flags", "client", "verdict")


def read(document: Any, templates: Mapping[str, Start], plugins: PluginRegistry | None = None) -> Scenario:
    """Return the scenario that a document describes.

    Args:
        document: as read from the file.
        templates: what it may begin with.
        plugins: scheduler plugins that are installed beside the in-tree ones.

    Raises:
        ApiError: 400, with the path of every field that is wrong.
    """
    causes: list[Cause] = []
    if not isinstance(document, dict):
        raise bad_request("a scenario is a mapping; see docs/scenarios.md")
    _check_known(document, _TOP, "", causes)
    start = Start((), 1, 0)
    template = document.get("template", "empty")
    if template in templates:
        start = templates[template]
    else:
        causes.append(Cause("template", f"{template!r} is not one of {', '.join(sorted(templates))}"))
    scenario = Scenario(
        name=str(document.get("name", "")),
        replicas=_number(document, "replicas", start.replicas, 1, 9, causes),
        pace=_number(document, "pace", start.pace, 0, 60_000, causes),
        kubelets=bool(document.get("kubelets", True)),
        until_ms=_milliseconds(document.get("until", DEFAULT_UNTIL_SECONDS), "until", causes),
    )
    scenario.objects = [*start.objects, *read_nodes(_listed(document, "nodes", causes), "nodes", causes)]
    for index, found_object in enumerate(_listed(document, "objects", causes)):
        if kind_of(found_object, f"objects[{index}]", causes) is not None:
            scenario.objects.append(found_object)
    for index, step in enumerate(_listed(document, "steps", causes)):
        read_step(step, f"steps[{index}]", scenario.actions, plugins, causes)
    scenario.scheduler = _scheduler(document.get("scheduler"), "scheduler", plugins, causes)
    if causes:
        texts = "; ".join(f"{cause.field}: {cause.message}" for cause in causes)
        raise bad_request(f"the scenario cannot be read: {texts}", causes)
    scenario.actions.sort(key=lambda action: action.at_ms)
    return scenario


def named_kind(argument: Document) -> Kind | None:
    """Return the kind that a step names by `kind` alone, or by apiVersion and kind."""
    if "apiVersion" in argument:
        return find_kind(argument["apiVersion"], str(argument.get("kind")))
    return next((kind for kind in KINDS if kind.kind == argument.get("kind")), None)


def _check_known(document: Document, known: frozenset[str], path: str, causes: list[Cause]) -> None:
    for key in document:
        if key not in known:
            causes.append(Cause(f"{path}{key}", f"unknown field; known are {', '.join(sorted(known))}"))


def _listed(document: Document, key: str, causes: list[Cause]) -> list[Document]:
    value = document.get(key)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        return value
    causes.append(Cause(key, "must be a list of mappings"))
    return []


def _number(document: Document, key: str, default: int, least: int, most: int, causes: list[Cause]) -> int:
    value = document.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    causes.append(Cause(key, f"must be a whole number from {least} to {most}"))
    return default


def _milliseconds(value: Any, path: str, causes: list[Cause]) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= UNTIL_SECONDS_MAX:
        return round(value * 1000)
    causes.append(Cause(path, f"must be seconds from 0 to {UNTIL_SECONDS_MAX}"))
    return 0


def _scheduler(spec: Any, path: str, plugins: PluginRegistry | None, causes: list[Cause]) -> Document | None:
    """Return a scheduler's spec, read as a session's is."""
    if spec is None:
        return None
    if not isinstance(spec, dict):
        causes.append(Cause(path, "must be a mapping"))
        return None
    try:
        read_spec(spec, plugins)
    except ApiError as wrong:
        causes.extend(below(wrong, path).causes)
    return spec


def kind_of(document: Document, path: str, causes: list[Cause]) -> Kind | None:
    """Return the kind of an object that is written out; None where there is no such kind, or the object has no name."""
    kind = find_kind(str(document.get("apiVersion")), str(document.get("kind")))
    if kind is None:
        causes.append(Cause(path, f"no kind {document.get('kind')!r} in {document.get('apiVersion')!r} is served"))
    elif not isinstance(document.get("metadata"), dict) or not document["metadata"].get("name"):
        causes.append(Cause(f"{path}.metadata.name", "is required"))
        return None
    return kind


def read_nodes(entries: list[Document], where: str, causes: list[Cause]) -> list[Document]:
    """Return the nodes that shorthand entries describe; `where` is the list's path."""
    nodes: list[Document] = []
    for index, entry in enumerate(entries):
        path = f"{where}[{index}]"
        _check_known(entry, _NODE, f"{path}.", causes)
        count = _number(entry, "count", 1, 1, NODES_MAX, causes)
        capacity = {"cpu": str(entry.get("cpu", 4)), "memory": str(entry.get("memory", "16Gi"))}
        capacity["pods"] = str(entry.get("pods", 110))
        if entry.get("gpu"):
            capacity["nvidia.com/gpu"] = str(entry["gpu"])
        capacity.update({key: str(value) for key, value in (entry.get("resources") or {}).items()})
        labels = dict(entry.get("labels") or {})
        if entry.get("zone"):
            labels["topology.kubernetes.io/zone"] = str(entry["zone"])
        prefix = entry.get("name", "node")
        if not isinstance(prefix, str):
            causes.append(Cause(f"{path}.name", f"must be a text: YAML reads it as {prefix!r}, so write it in quotes"))
            continue
        for number in range(count):
            name = (
                prefix if count == 1 and "name" in entry else f"{prefix}-{len(nodes) + 1 if count == 1 else number + 1}"
            )
            metadata: Document = {"name": name, "labels": {**labels, "kubernetes.io/hostname": name}}
            if entry.get("annotations"):
                metadata["annotations"] = dict(entry["annotations"])
            spec: Document = {"taints": entry["taints"]} if entry.get("taints") else {}
            status = {"capacity": capacity, "allocatable": capacity}
            nodes.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status})
    return nodes


def read_step(
    step: Document, path: str, actions: list[Action], plugins: PluginRegistry | None, causes: list[Cause]
) -> None:
    """Read one step, `at` and what happens then, and add its actions."""
    at_ms = _milliseconds(step.get("at", 0), f"{path}.at", causes)
    _check_known(step, frozenset({"at", *_ACTIONS}), f"{path}.", causes)
    named = [what for what in _ACTIONS if what in step]
    if not named:
        causes.append(Cause(path, f"needs one of {', '.join(_ACTIONS)}"))
    for what in named:
        argument = step[what]
        where = f"{path}.{what}"
        if what == "apply":
            argument = argument if isinstance(argument, list) else [argument]
            for document in argument:
                if not isinstance(document, dict):
                    causes.append(Cause(where, "must be an object or a list of objects"))
                else:
                    kind_of(document, where, causes)
        elif what == "scheduler":
            _scheduler(argument, where, plugins, causes)
        elif what == "flags":
            causes.extend(wrong_flags(argument, f"{where}.") if _is_flags(argument) else [Cause(where, _FLAGS_SHAPE)])
        else:
            _check_argument(what, argument, where, causes)
        actions.append(Action(at_ms, what, argument, where))


_FLAGS_SHAPE: Final = "must be a mapping of components to mappings of flags to texts"


def _is_flags(argument: Any) -> bool:
    return isinstance(argument, dict) and all(
        isinstance(section, dict) and all(isinstance(text, str) for text in section.values())
        for section in argument.values()
    )


_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "delete": ("kind", "name"),
    "patch": ("kind", "name", "patch"),
    "scale": ("replicas",),
    "fault": ("replica", "kind"),
    "clock": (),
    "client": ("name",),
    "verdict": ("pod", "verdict"),
}


def _check_argument(what: str, argument: Any, where: str, causes: list[Cause]) -> None:
    if not isinstance(argument, dict):
        causes.append(Cause(where, "must be a mapping"))
        return
    for key in _REQUIRED[what]:
        if key not in argument:
            causes.append(Cause(f"{where}.{key}", "is required"))
    if what in ("delete", "patch") and "kind" in argument and named_kind(argument) is None:
        causes.append(Cause(f"{where}.kind", f"no kind {argument['kind']!r} is served"))
    if what == "scale" and "deployment" not in argument and "replicaset" not in argument:
        causes.append(Cause(where, "needs deployment or replicaset"))
