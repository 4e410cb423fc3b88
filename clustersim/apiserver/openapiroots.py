"""OpenAPI v3 of what is no resource: versions, groups, where keys are told; a document each, as upstream has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from clustersim.apiserver import openapischema
from clustersim.apiserver.discovery import VERSION
from clustersim.apiserver.messages import JSON, PROTOBUF, YAML
from clustersim.apiserver.openid import CONFIGURATION, KEY_SET, KEYS

_API: Final = (JSON, PROTOBUF, YAML)
_INFO: Final = "io.k8s.apimachinery.pkg.version.Info"
_FREE: Final = ("emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor")
"""What a version may leave out."""


@lru_cache(8)
def documents(groups: tuple[str, ...]) -> Mapping[str, bytes]:
    """Return the documents by the names that the index has for them."""
    told = {"api": _of_struct("api", "APIVersions"), "apis": _of_struct("apis", "APIGroupList")}
    told |= {f"apis/{group}": _of_struct(f"apis/{group}", "APIGroup") for group in groups}
    told["version"] = _document("version", {"$ref": f"#/components/schemas/{_INFO}"}, (JSON,), {_INFO: _version()})
    told[CONFIGURATION.strip("/")] = _document(CONFIGURATION.strip("/"), {"type": "string"}, (JSON,), {})
    told[KEYS.strip("/")] = _document(KEYS.strip("/"), {"type": "string"}, (KEY_SET,), {})
    heads = {"openapi": "3.0.0", "info": openapischema.INFO}
    return {name: msgspec.json.encode(heads | document) for name, document in told.items()}


def _of_struct(path: str, struct: str) -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    openapischema.add(f"meta_v1.{struct}", schemas)
    for name in ("APIVersions", "APIGroupList", "APIGroup"):
        openapischema.note_kind(f"meta_v1.{name}", ("", "v1", name), schemas)
    reference = {"$ref": f"#/components/schemas/{openapischema.name_of(f'meta_v1.{struct}')}"}
    return _document(path, reference, _API, schemas)


def _document(path: str, schema: dict[str, Any], produced: Sequence[str], schemas: dict[str, Any]) -> dict[str, Any]:
    content = {media: {"schema": schema} for media in produced}
    responses = {"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}}
    components = {**({"schemas": schemas} if schemas else {}), "securitySchemes": openapischema.SECURITY}
    return {"paths": {f"/{path}/": {"get": {"responses": responses}}}, "components": components}


def _version() -> dict[str, Any]:
    text = {"type": "string"}
    properties = {name: text if name in _FREE else {**text, "default": ""} for name in sorted(VERSION)}
    required = [name for name in VERSION if name not in _FREE]
    return {"type": "object", "required": required, "properties": properties}
