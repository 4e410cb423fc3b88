"""What form of an answer a client accepts: whole objects, tables, or metadata alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clustersim.apiserver.messages import Request

Form = Literal["objects", "table", "metadata"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The form of the answer, and how much of the object a table row carries."""

    form: Form
    include: str = "Metadata"


def wanted(request: Request) -> Wanted:
    """Return the first form of the Accept header that is served; anything unknown gets whole objects in JSON.

    Every answer is JSON: clients that ask for protobuf name JSON as their second choice, or take it undemanded.
    """
    include = request.query.get("includeObject", "") or "Metadata"
    for choice in request.headers.get("accept", "").split(","):
        parameters = _parameters(choice)
        form = parameters.get("as", "")
        if not form:
            return Wanted("objects", include)
        if parameters.get("g") != "meta.k8s.io" or parameters.get("v") != "v1":
            continue
        if form == "Table":
            return Wanted("table", include)
        if form in ("PartialObjectMetadata", "PartialObjectMetadataList"):
            return Wanted("metadata", include)
    return Wanted("objects", include)


def aggregated_version(request: Request) -> str:
    """Return the version of aggregated discovery that the client prefers, empty for the plain one."""
    for choice in request.headers.get("accept", "").split(","):
        parameters = _parameters(choice)
        if parameters.get("g") == "apidiscovery.k8s.io" and parameters.get("v") == "v2":
            return parameters["v"]
    return ""


def _parameters(choice: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in choice.split(";")[1:]:
        key, _, value = part.strip().partition("=")
        found[key] = value.strip('"')
    return found
