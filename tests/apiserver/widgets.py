"""Kinds that tests of custom resources define: widgets."""

from __future__ import annotations

from typing import Any

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "replicas": {"type": "integer", "default": 2},
        "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "word": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "either": {"x-kubernetes-int-or-string": True},
        "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port"],
            "items": {
                "type": "object",
                "required": ["port"],
                "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}},
            },
        },
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"spec": SPEC, "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}}},
}


def definition(schema: Any = None, plural: str = "widgets", kind: str = "Widget", **spec: Any) -> dict[str, Any]:
    """Return a definition of one version with status and scale."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or SCHEMA},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "shortNames": [plural[:2]], "categories": ["all"]},
            "versions": [version],
            **spec,
        },
    }


def widget(name: str = "a", **spec: Any) -> dict[str, Any]:
    """Return an instance."""
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def messages(answer: Any) -> list[str]:
    """Return field and message of every cause of a refusal."""
    return [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]
