"""IngressClasses: which controller answers for the Ingresses that name it.

Source: pkg/apis/networking (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE, text_of
from controllers.kinds.networking.references import local_object
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

CONTROLLER_LETTERS_MAX: Final = 250
"""Letters of a controller's name, as upstream."""

_SCOPES: Final = ("Cluster", "Namespace")


def _defaults(document: dict[str, Any]) -> None:
    parameters = child(document, "spec").get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    controller = spec.get("controller") or ""
    causes: list[Cause] = []
    if len(controller.encode()) > CONTROLLER_LETTERS_MAX:
        causes.append(fields.too_long("spec.controller", CONTROLLER_LETTERS_MAX))
    causes += fields.domain_path("spec.controller", controller)
    parameters = spec.get("parameters")
    return causes if parameters is None else causes + _parameters("spec.parameters", parameters)


def _parameters(where: str, parameters: Mapping[str, Any]) -> list[Cause]:
    causes = local_object(where, parameters)
    scope, namespace = parameters["scope"], parameters.get("namespace")
    if scope not in _SCOPES:
        causes.append(fields.unsupported(f"{where}.scope", scope, _SCOPES))
    elif scope == "Cluster" and namespace is not None:
        causes.append(fields.not_allowed(f"{where}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif scope == "Namespace" and namespace is None:
        causes.append(fields.required(f"{where}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif scope == "Namespace":
        causes += fields.label_name(f"{where}.namespace", str(namespace))
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    now, was = (at(document, "spec", "controller") or "" for document in (new, old))
    return fields.immutable("spec.controller", now, was) + _validate(new)


def _parameters_cell(document: Mapping[str, Any], age: Any) -> str:
    parameters = at(document, "spec", "parameters")
    if not parameters:
        return NONE
    group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


KIND: Final = Kind(
    "IngressClass",
    "ingressclasses",
    group="networking.k8s.io",
    namespaced=False,
    rank=6,
    generation=True,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    ratchets=True,
    columns=(
        NAME,
        Column(
            "Controller",
            "string",
            "Controller that is responsible for handling this class",
            text_of("spec", "controller"),
        ),
        Column("Parameters", "string", "A reference to a resource with additional parameters", _parameters_cell),
        AGE,
    ),
)
