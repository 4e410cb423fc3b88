"""Questions about oneself: may I, and who am I."""

from __future__ import annotations

from typing import Any, Final

from clustersim.apiserver.messages import Request, Response, decode_body, json_response
from clustersim.apiserver.routes import unknown_path
from clustersim.classroom import roles
from clustersim.classroom.auth import Principal
from controllers.kinds.table import SERVED, find_resource
from scheduler_core.api.errors import ApiError, bad_request, method_not_allowed

_PATHS: Final = {
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews": "SelfSubjectRulesReview",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews": "SelfSubjectReview",
}


def is_review(path: str) -> bool:
    """Return whether a path asks about the caller."""
    return path.rstrip("/") in _PATHS


def answer(request: Request, principal: Principal) -> Response:
    """Answer a review.

    Raises:
        ApiError: 400, 405.
    """
    kind = _PATHS.get(request.path.rstrip("/"))
    if kind is None:
        raise unknown_path(request.path)
    if request.method != "POST":
        raise method_not_allowed()
    document = decode_body(request)
    if document.get("kind") not in (None, kind):
        raise bad_request(f"the kind in the data does not match the expected kind {kind}")
    status = {
        "SelfSubjectAccessReview": _access,
        "SelfSubjectRulesReview": _rules,
        "SelfSubjectReview": _who,
    }[kind](document, principal)
    group = request.path.split("/")[2]
    answered = {"kind": kind, "apiVersion": f"{group}/v1", "metadata": {}, "status": status}
    if isinstance(document.get("spec"), dict):
        answered["spec"] = document["spec"]
    return json_response(answered, 201)


def _access(document: dict[str, Any], principal: Principal) -> dict[str, Any]:
    spec = document.get("spec")
    attributes = spec.get("resourceAttributes") if isinstance(spec, dict) else None
    if not isinstance(attributes, dict):
        path = spec.get("nonResourceAttributes") if isinstance(spec, dict) else None
        if not isinstance(path, dict):
            raise bad_request("spec needs resourceAttributes or nonResourceAttributes")
        allowed = str(path.get("verb", "")).lower() in ("get", "head")
        return {
            "allowed": allowed,
            "reason": "everybody in the session reads discovery and versions" if allowed else "",
        }
    values = {
        key: str(attributes.get(key) or "") for key in ("verb", "group", "resource", "namespace", "name", "subresource")
    }
    plural, _, inner = values["resource"].partition("/")
    resource = f"{plural}.{values['group']}" if values["group"] not in ("", "*") else plural
    subresource = values["subresource"] or inner
    return decide(principal, values["verb"], resource, values["namespace"], values["name"], subresource)


def decide(
    principal: Principal, verb: str, resource: str, namespace: str, name: str, subresource: str
) -> dict[str, Any]:
    """Return the status of an access review."""
    if resource != "*" and find_resource(resource) is None:
        return {"allowed": False, "reason": f"no resource {resource!r} is served here"}
    try:
        roles.check(principal, verb, resource, namespace, name, subresource)
    except ApiError as error:
        return {"allowed": False, "reason": error.message}
    return {"allowed": True, "reason": f"the role {principal.role} may"}


def _rules(document: dict[str, Any], principal: Principal) -> dict[str, Any]:
    spec = document.get("spec")
    namespace = str(spec.get("namespace") or "") if isinstance(spec, dict) else ""
    rules = []
    for kind in SERVED:
        home = namespace if kind.namespaced else ""
        verbs = [verb for verb in kind.verbs if decide(principal, verb, kind.resource, home, "", "")["allowed"]]
        if verbs:
            rules.append({"verbs": verbs, "apiGroups": [kind.group], "resources": [kind.plural]})
    return {"resourceRules": rules, "nonResourceRules": [], "incomplete": False}


def _who(document: dict[str, Any], principal: Principal) -> dict[str, Any]:
    return {
        "userInfo": {
            "username": principal.slug,
            "uid": str(principal.participant_id),
            "groups": [f"clustersim:{principal.role}", "system:authenticated"],
            "extra": {"clustersim.io/name": [principal.name], "clustersim.io/namespace": [principal.namespace]},
        }
    }
