"""Discovery: which groups, versions and resources are served; plain and aggregated. The same for every session."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any, Final

from clustersim.apiserver.messages import Request, Response, json_response
from clustersim.apiserver.negotiation import aggregated_version
from clustersim.apiserver.reviews import REVIEWS
from clustersim.apiserver.routes import unknown_path
from controllers.kinds.table import COMPUTED, SERVED
from controllers.registry.kind import Kind, Subresource

VERSION: Final = {
    "major": "1",
    "minor": "34",
    "gitVersion": "v1.34.1+clustersim",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2025-09-09T19:46:12Z",
    "goVersion": "",
    "compiler": "python",
    "platform": "simulated/any",
}


_ORDER: Final = (
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)
"""Upstream's priorities of its groups."""


def answer(request: Request) -> Response:
    """Answer /api, /apis, /api/v1, /apis/<group> and /apis/<group>/<version>.

    Raises:
        ApiError: 404.
    """
    parts = tuple(part for part in request.path.split("/") if part)
    version = aggregated_version(request)
    if parts in (("api",), ("apis",)) and version:
        response = json_response(_aggregated(parts[0] == "api", version))
        response.content_type = f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
        return response
    if parts == ("api",):
        document: dict[str, Any] | None = {
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [],
        }
    elif parts == ("apis",):
        document = {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name) for name in _groups() if name]}
    elif parts[0] == "apis" and len(parts) == 2 and parts[1] in _groups():
        document = {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1])}
    elif parts[0] == "api" and len(parts) == 2:
        document = _resources("", parts[1])
    elif parts[0] == "apis" and len(parts) == 3:
        document = _resources(parts[1], parts[2])
    else:
        document = None
    if document is None:
        raise unknown_path(request.path)
    return json_response(document)


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    """Return the versions of every group: upstream's in its order, then those that are ours."""
    found: dict[str, dict[str, None]] = {group: {} for group in _ORDER}
    for kind in (*SERVED, *COMPUTED):
        found.setdefault(kind.group, {})[kind.version] = None
    for review in REVIEWS:
        found.setdefault(review.group, {})["v1"] = None
    return {group: tuple(versions) for group, versions in found.items() if versions}


def group_versions() -> tuple[tuple[str, str], ...]:
    """Return every (group, version) that is served."""
    return tuple((group, version) for group, versions in _groups().items() for version in versions)


def _group(name: str) -> dict[str, Any]:
    versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in _groups()[name]]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _created_only(group: str, version: str) -> list[tuple[str, str, bool]]:
    """Return (kind, plural, whether namespaced) of what is created and never stored."""
    collections = [
        (subresource.body[2], subresource.collection, kind.namespaced)
        for kind in SERVED
        for subresource in kind.subresources
        if subresource.collection and subresource.body is not None and subresource.body[:2] == (group, version)
    ]
    return collections + [
        (review.kind, review.plural, review.namespaced)
        for review in REVIEWS
        if (review.group, "v1") == (group, version)
    ]


def _of(group: str, version: str) -> list[Kind]:
    return [kind for kind in (*SERVED, *COMPUTED) if (kind.group, kind.version) == (group, version)]


def _resources(group: str, version: str) -> dict[str, Any] | None:
    if version not in _groups().get(group, ()):
        return None
    listed: list[dict[str, Any]] = []
    for kind in _of(group, version):
        entry: dict[str, Any] = {
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": list(kind.verbs),
        }
        if kind.short_names:
            entry["shortNames"] = list(kind.short_names)
        if kind.categories:
            entry["categories"] = list(kind.categories)
        if kind in SERVED:
            entry["storageVersionHash"] = storage_version_hash(kind)
        listed.append(entry)
        for subresource in told(kind):
            sub_group, sub_version, sub_kind = body_of(kind, subresource)
            other = (sub_group, sub_version) != (group, version)
            listed.append(
                {
                    "name": f"{kind.plural}/{subresource.name}",
                    "singularName": "",
                    "namespaced": kind.namespaced,
                    **({"group": sub_group, "version": sub_version} if other else {}),
                    "kind": sub_kind,
                    "verbs": list(subresource.verbs),
                }
            )
    for created, plural, namespaced in _created_only(group, version):
        listed.append(
            {
                "name": plural,
                "singularName": created.lower(),
                "namespaced": namespaced,
                "kind": created,
                "verbs": ["create"],
            }
        )
    listed.sort(key=lambda entry: str(entry["name"]))
    name = f"{group}/{version}" if group else version
    # Upstream leaves the version of the list out for the core group.
    versioned = {"apiVersion": "v1"} if group else {}
    return {"kind": "APIResourceList", **versioned, "groupVersion": name, "resources": listed}


def storage_version_hash(kind: Kind) -> str:
    """Return what changes when objects of a kind are stored as another version (apiserver, StorageVersionHash)."""
    stored = kind.stored_as or kind
    version = stored.kept_as or stored.version
    digest = hashlib.sha256(f"{stored.group}/{version}/{stored.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def told(kind: Kind) -> list[Subresource]:
    """Return the subresources of a kind that anything may be done with."""
    return [subresource for subresource in kind.subresources if subresource.verbs]


def body_of(kind: Kind, subresource: Subresource) -> tuple[str, str, str]:
    """Return group, version and kind of what is sent to a subresource and read from it."""
    return subresource.body or (kind.group, kind.version, kind.kind)


@cache
def _aggregated(core: bool, version: str) -> dict[str, Any]:
    items = []
    for group, versions in _groups().items():
        if (group == "") is not core:
            continue
        items.append(
            {
                "metadata": {"name": group} if group else {},
                "versions": [
                    {"version": name, "freshness": "Current", "resources": _aggregated_resources(group, name)}
                    for name in versions
                ],
            }
        )
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }


def _aggregated_resources(group: str, version: str) -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = []
    for kind in _of(group, version):
        entry: dict[str, Any] = {
            "resource": kind.plural,
            "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "singularResource": kind.singular,
            "verbs": list(kind.verbs),
            "subresources": [],
        }
        if kind.short_names:
            entry["shortNames"] = list(kind.short_names)
        if kind.categories:
            entry["categories"] = list(kind.categories)
        for subresource in told(kind):
            sub_group, sub_version, sub_kind = body_of(kind, subresource)
            response = {"group": sub_group, "version": sub_version, "kind": sub_kind}
            entry["subresources"].append(
                {"subresource": subresource.name, "responseKind": response, "verbs": list(subresource.verbs)}
            )
        resources.append(entry)
    for created, plural, namespaced in _created_only(group, version):
        resources.append(
            {
                "resource": plural,
                "responseKind": {"group": group, "version": version, "kind": created},
                "scope": "Namespaced" if namespaced else "Cluster",
                "singularResource": created.lower(),
                "verbs": ["create"],
                "subresources": [],
            }
        )
    return resources
