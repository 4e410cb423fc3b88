"""Discovery: which groups, versions and resources are served; plain and aggregated."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Container, Sequence
from functools import lru_cache
from typing import Any, Final

from clustersim.apiserver import openid
from clustersim.apiserver.caching import VARIES, tag_of, tagged
from clustersim.apiserver.health import CHECKS
from clustersim.apiserver.messages import Request, Response, json_response
from clustersim.apiserver.negotiation import aggregated_version, check_acceptable, plain_media
from clustersim.apiserver.reviews import REVIEWS
from clustersim.apiserver.routes import unknown_path
from controllers.custom.naming import version_order
from controllers.kinds.table import COMPUTED, TABLE
from controllers.registry.kind import Kind, Subresource
from controllers.registry.table import Kinds

VERSION: Final = {
    "major": "1",
    "minor": "34",
    "emulationMajor": "1",
    "emulationMinor": "34",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "33",
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


def answer(request: Request, kinds: Kinds = TABLE) -> Response:
    """Answer /api, /apis, /api/v1, /apis/<group> and /apis/<group>/<version> with the kinds of a session.

    Raises:
        ApiError: 404.
    """
    parts = tuple(part for part in request.path.split("/") if part)
    served = served_of(kinds)
    if parts == ("api",):
        check_acceptable(request)
    if len(parts) == 1 and (version := aggregated_version(request)):
        response = json_response(served.aggregated(parts[0] == "api", version))
        response.content_type = f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
        response.headers += [VARIES, ("cache-control", "public")]
        return tagged(request, response, tag_of(response.body))
    if parts == ("api",):
        document: dict[str, Any] | None = {
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [
                {"clientCIDR": "0.0.0.0/0", "serverAddress": request.headers.get("host", "")}
            ],
        }
    elif parts == ("apis",):
        document = {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [served.group(name) for name in served.groups if name],
        }
    elif parts[0] == "apis" and len(parts) == 2 and parts[1] in served.groups:
        plain_media(request)
        document = {"kind": "APIGroup", "apiVersion": "v1", **served.group(parts[1])}
    elif parts[0] == "api" and len(parts) == 2:
        document = served.resources("", parts[1])
    elif parts[0] == "apis" and len(parts) == 3:
        document = served.resources(parts[1], parts[2])
    else:
        document = None
    if document is None:
        raise unknown_path(request.path, kinds)
    if request.method == "GET" and len(parts) == (2 if parts[0] == "api" else 3):
        check_acceptable(request)
        plain_media(request)
    return json_response(document)


def root_paths(kinds: Kinds = TABLE) -> list[str]:
    """Return the paths that the root of the API tells of."""
    served = served_of(kinds)
    groups = [f"/apis/{group}" for group in served.groups if group]
    versions = [f"/apis/{group}/{version}" for group, version in served.group_versions if group]
    checks = [f"/{name}/{check}" for name, checks in CHECKS.items() for check in checks]
    others = ["/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/openapi/v3/", *openid.PATHS, "/version"]
    roots = ["/api", "/api/v1", "/apis", "/apis/"]
    return sorted([*roots, *groups, *versions, *(f"/{name}" for name in CHECKS), *checks, *others])


def storage_version_hash(kind: Kind) -> str:
    """Return what changes when objects of a kind are stored as another version (apiserver, StorageVersionHash)."""
    stored = kind.stored_as or kind
    version = stored.kept_as or stored.version
    digest = hashlib.sha256(f"{stored.group}/{version}/{stored.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _rank(name: str, defined: Container[str]) -> str:
    """Return by what a resource or a part of one is put in order; parts of what is defined follow it as they come."""
    owner = name.partition("/")[0]
    return owner if owner in defined else name


def told(kind: Kind) -> list[Subresource]:
    """Return the subresources of a kind that anything may be done with."""
    return [subresource for subresource in kind.subresources if subresource.verbs]


def body_of(kind: Kind, subresource: Subresource) -> tuple[str, str, str]:
    """Return group, version and kind of what is sent to a subresource and read from it."""
    return subresource.body or (kind.group, kind.version, kind.kind)


def served_of(kinds: Kinds) -> Served:
    """Return what a session with these kinds serves."""
    return _served(tuple(kinds.served), tuple(kinds.computed))


def group_versions(kinds: Kinds = TABLE) -> tuple[tuple[str, str], ...]:
    """Return every (group, version) that is served."""
    return served_of(kinds).group_versions


@lru_cache(16)
def _served(kinds: tuple[Kind, ...], computed: tuple[Kind, ...]) -> Served:
    return Served(kinds, computed)


class Served:
    """What a session serves, by groups and versions."""

    def __init__(self, kinds: Sequence[Kind], computed: Sequence[Kind]) -> None:
        """Take the kinds of a session: upstream's groups in its order, then those that are ours, then the others."""
        self._kinds = (*kinds, *computed)
        found: dict[str, dict[str, None]] = {group: {} for group in _ORDER}
        for kind in (*TABLE.served, *computed):
            found.setdefault(kind.group, {})[kind.version] = None
        for review in REVIEWS:
            found.setdefault(review.group, {})["v1"] = None
        defined = sorted({(kind.group, kind.version) for kind in kinds if kind.kept_in})
        for group, version in sorted(defined, key=lambda one: (one[0], version_order(one[1]))):
            found.setdefault(group, {})[version] = None
        self.groups = {group: tuple(versions) for group, versions in found.items() if versions}

    @property
    def group_versions(self) -> tuple[tuple[str, str], ...]:
        """Return every (group, version) that is served."""
        return tuple((group, version) for group, versions in self.groups.items() for version in versions)

    def group(self, name: str) -> dict[str, Any]:
        """Return an APIGroup, without its kind."""
        versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in self.groups[name]]
        return {"name": name, "versions": versions, "preferredVersion": versions[0]}

    def of(self, group: str, version: str) -> list[Kind]:
        """Return the kinds of a group and version."""
        return [kind for kind in self._kinds if (kind.group, kind.version) == (group, version)]

    def _created_only(self, group: str, version: str) -> list[tuple[str, str, bool]]:
        """Return (kind, plural, whether namespaced) of what is created and never stored."""
        collections = [
            (subresource.body[2], subresource.collection, kind.namespaced)
            for kind in self._kinds
            for subresource in kind.subresources
            if subresource.collection and subresource.body is not None and subresource.body[:2] == (group, version)
        ]
        return collections + [
            (review.kind, review.plural, review.namespaced)
            for review in REVIEWS
            if (review.group, "v1") == (group, version)
        ]

    def resources(self, group: str, version: str) -> dict[str, Any] | None:
        """Return the APIResourceList of a group and version; None: it is not served."""
        if version not in self.groups.get(group, ()):
            return None
        listed: list[dict[str, Any]] = []
        for kind in self.of(group, version):
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
            if kind not in COMPUTED:
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
        for created, plural, namespaced in self._created_only(group, version):
            listed.append(
                {
                    "name": plural,
                    "singularName": created.lower(),
                    "namespaced": namespaced,
                    "kind": created,
                    "verbs": ["create"],
                }
            )
        # Of kinds that are defined the parts stand in the order in which they were added.
        defined = {kind.plural for kind in self.of(group, version) if kind.kept_in}
        listed.sort(key=lambda entry: _rank(str(entry["name"]), defined))
        name = f"{group}/{version}" if group else version
        # Upstream leaves the version of the list out for the core group.
        versioned = {"apiVersion": "v1"} if group else {}
        return {"kind": "APIResourceList", **versioned, "groupVersion": name, "resources": listed}

    def aggregated(self, core: bool, version: str) -> dict[str, Any]:
        """Return the APIGroupDiscoveryList of the core group, or of all others."""
        items = []
        for group, versions in self.groups.items():
            if (group == "") is not core:
                continue
            items.append(
                {
                    "metadata": {"name": group} if group else {},
                    "versions": [
                        {"version": name, "freshness": "Current", "resources": self._aggregated_resources(group, name)}
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

    def _aggregated_resources(self, group: str, version: str) -> list[dict[str, Any]]:
        resources: list[dict[str, Any]] = []
        for kind in self.of(group, version):
            entry: dict[str, Any] = {
                "resource": kind.plural,
                "responseKind": _response_kind("", "", kind.kind),
                "scope": "Namespaced" if kind.namespaced else "Cluster",
                "singularResource": kind.singular,
                "verbs": list(kind.verbs),
            }
            if kind.short_names:
                entry["shortNames"] = list(kind.short_names)
            if kind.categories:
                entry["categories"] = list(kind.categories)
            for subresource in sorted(told(kind), key=lambda one: one.name):
                sub_group, sub_version, sub_kind = body_of(kind, subresource)
                other = (sub_group, sub_version) if (sub_group, sub_version) != (group, version) else ("", "")
                response = _response_kind(*other, sub_kind)
                entry.setdefault("subresources", []).append(
                    {"subresource": subresource.name, "responseKind": response, "verbs": list(subresource.verbs)}
                )
            resources.append(entry)
        for created, plural, namespaced in self._created_only(group, version):
            resources.append(
                {
                    "resource": plural,
                    "responseKind": _response_kind("", "", created),
                    "scope": "Namespaced" if namespaced else "Cluster",
                    "singularResource": created.lower(),
                    "verbs": ["create"],
                }
            )
        return sorted(resources, key=lambda entry: str(entry["resource"]))


def _response_kind(group: str, version: str, kind: str) -> dict[str, str]:
    """Return what a resource answers with; what lies in its own group and version does not repeat them."""
    return {"group": group, "version": version, "kind": kind}
