"""Questions about who may what: oneself, somebody else, and whose token that is. Answered, never stored.

Source: pkg/registry/authorization, pkg/registry/authentication and their validation, v1.34. What a person may follows
from their role in the session (`classroom/roles`), not from Roles and bindings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from clustersim.apiserver import impersonating
from clustersim.apiserver.impersonating import AUTHENTICATION
from clustersim.apiserver.messages import Request, Response, checked_body, json_response, warned
from clustersim.apiserver.negotiation import check_acceptable, wanted
from clustersim.apiserver.patching import check_options, manager_of
from clustersim.apiserver.routes import unknown_path
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.classroom import rbac, roles
from clustersim.classroom.access import decide, decide_path
from clustersim.classroom.accounttokens import ISSUER, NotGood, bearer_of
from clustersim.classroom.auth import ACCOUNT, COMPONENT, TEACHER, Principal, principal_of
from clustersim.store import open_store
from controllers.kinds.rbac import bootstrap
from controllers.kinds.table import TABLE
from controllers.log.stamps import wire_time
from controllers.registry import fields, goorder
from controllers.registry.fieldowners.managers import Scope, updated
from scheduler_core.api.errors import Cause, bad_request, invalid, method_not_allowed

AUTHORIZATION: Final = "authorization.k8s.io"


class Asked(NamedTuple):
    """A question: its spec, its metadata with who owns what of it, who asks, and the namespace in its path."""

    spec: Mapping[str, Any]
    metadata: Mapping[str, Any]
    principal: Principal
    request: Request
    namespace: str


class Review(NamedTuple):
    """One kind of question, and what answers it."""

    group: str
    plural: str
    kind: str
    answer: Callable[[Asked], dict[str, Any]]
    namespaced: bool = False
    about_others: bool = False
    """Whether only who may read everything may ask it."""


def review_of(path: str) -> tuple[Review, str] | None:
    """Return what a path asks and the namespace in it; None: it asks nothing of this kind."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] != ["apis"] or parts[2:3] != ["v1"] or len(parts) not in (4, 6):
        return None
    namespace = parts[4] if len(parts) == 6 and parts[3] == "namespaces" else ""
    for review in REVIEWS:
        if (review.group, review.plural, review.namespaced) == (parts[1], parts[-1], bool(namespace)):
            return review, namespace
    return None


def answer(request: Request, principal: Principal) -> Response:
    """Answer a review.

    Raises:
        ApiError: 400, 403, 405, 406, 422.
    """
    found = review_of(request.path)
    if found is None:
        raise unknown_path(request.path)
    review, namespace = found
    if request.method != "POST":
        raise method_not_allowed()
    if review.about_others and principal.role != COMPONENT:
        # Upstream's roles of components may ask: they have others' requests to their own servers reviewed.
        roles.check(principal, "create", f"{review.plural}.{review.group}", namespace)
    check_acceptable(request)
    wanted(request, tables=False)
    check_options(request, "CreateOptions")
    schema = f"{review.group.partition('.')[0]}_v1.{review.kind}"
    document, warnings = checked_body(request, review.kind, schema, review.group)
    metadata = _metadata(document, namespace)
    time = wire_time(session_unix_ms(open_store(principal.session_id)))
    owned = updated(
        Scope(schema, f"{review.group}/v1"), None, {**document, "metadata": metadata}, None, manager_of(request), time
    )
    if owned:
        metadata["managedFields"] = owned
    spec = document.get("spec")
    asked = Asked(spec if isinstance(spec, dict) else {}, metadata, principal, request, namespace)
    head = {"kind": review.kind, "apiVersion": f"{review.group}/v1", "metadata": metadata}
    return warned(lambda: json_response({**head, **review.answer(asked)}, 201), warnings)


def _metadata(document: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """Return the metadata of a question, in the namespace of its path.

    Raises:
        ApiError: 400, it names another namespace.
    """
    sent = {key: value for key, value in (document.get("metadata") or {}).items() if value and key != "managedFields"}
    home = sent.pop("namespace", "")
    if namespace:
        if home not in ("", namespace):
            why = "the namespace of the provided object does not match the namespace sent on the request"
            raise bad_request(why)
        sent["namespace"] = namespace
    return sent


def _own_access(asked: Asked) -> dict[str, Any]:
    _refuse(_attributes_wrong(asked.spec) + _selectors_wrong(asked.spec) + _more_than_asked(asked))
    return {"spec": asked.spec, "status": _access(asked.spec, asked.principal)}


def _more_than_asked(asked: Asked) -> list[Cause]:
    """Check that a question about rights is nothing but a question."""
    metadata, within = asked.metadata, " except for namespace" if asked.namespace else ""
    if metadata.keys() <= {"managedFields", *(("namespace",) if asked.namespace else ())}:
        return []
    shown = fields.written(goorder.in_order(metadata, "meta_v1.ObjectMeta"))
    return [fields.bad("metadata", shown, f"must be empty{within}")]


def _access_of(asked: Asked) -> dict[str, Any]:
    spec, principal, namespace = asked.spec, asked.principal, asked.namespace
    causes = _attributes_wrong(spec)
    user, groups = str(spec.get("user") or ""), spec.get("groups") or ()
    if not user and not groups:
        causes.append(fields.bad("spec.user", user, "at least one of user or group must be specified"))
    causes += _selectors_wrong(spec)
    attributes = spec.get("resourceAttributes")
    if namespace and isinstance(attributes, dict) and attributes.get("namespace") != namespace:
        given = str(attributes.get("namespace") or "")
        causes.append(fields.bad("spec.resourceAttributes.namespace", given, "must match metadata.namespace"))
    if namespace and isinstance(spec.get("nonResourceAttributes"), dict):
        shown = _shown_path(spec["nonResourceAttributes"])
        causes.append(fields.bad("spec.nonResourceAttributes", shown, "disallowed on this kind of request"))
    _refuse(causes + _more_than_asked(asked))
    # Who is asked about is in the groups that are named, and in no others.
    about = impersonating.somebody(principal, user, "", list(map(str, groups)))
    return {"spec": spec, "status": _access(spec, about)}


def _shown_path(path: Mapping[str, Any]) -> dict[str, str]:
    return {"Path": str(path.get("path") or ""), "Verb": str(path.get("verb") or "")}


def _attributes_wrong(spec: Mapping[str, Any]) -> list[Cause]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if isinstance(resource, dict) and isinstance(path, dict):
        why = "cannot be specified in combination with resourceAttributes"
        return [fields.bad("spec.nonResourceAttributes", _shown_path(path), why)]
    if not isinstance(resource, dict) and not isinstance(path, dict):
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [fields.bad("spec.resourceAttributes", None, why)]
    return []


def _selectors_wrong(spec: Mapping[str, Any]) -> list[Cause]:
    resource, where = spec.get("resourceAttributes"), "spec.resourceAttributes"
    if not isinstance(resource, dict):
        return []
    return [
        cause
        for key in ("fieldSelector", "labelSelector")
        if isinstance(resource.get(key), dict)
        for cause in _selector_wrong(f"{where}.{key}", resource[key], labels=key == "labelSelector")
    ]


def _selector_wrong(field: str, selector: Mapping[str, Any], *, labels: bool) -> list[Cause]:
    """Check a selector that a request would be limited to; operators that nobody knows yet are taken."""
    raw, requirements = selector.get("rawSelector") or "", selector.get("requirements") or ()
    if raw and requirements:
        return [fields.bad(f"{field}.rawSelector", raw, "may not specified at the same time as requirements")]
    if not raw and not requirements:
        why = f"when {field} is specified, requirements or rawSelector is required"
        return [fields.required(f"{field}.requirements", why)]
    causes: list[Cause] = []
    for index, one in enumerate(requirements):
        where, key = f"{field}.requirements[{index}]", one.get("key") or ""
        operator, values = one.get("operator") or "", one.get("values") or ()
        if not key and not labels:
            causes.append(fields.required(f"{where}.key", "must be specified"))
        if operator in ("In", "NotIn") and not values:
            causes.append(fields.required(f"{where}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist") and values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            causes.append(fields.not_allowed(f"{where}.values", why))
        if labels:
            causes += fields.qualified_name(f"{where}.key", key)
    return causes


def _refuse(causes: list[Cause]) -> None:
    if causes:
        # Upstream names no kind here.
        raise invalid("", AUTHORIZATION, "", causes)


def _access(spec: Mapping[str, Any], principal: Principal) -> dict[str, Any]:
    attributes = spec.get("resourceAttributes")
    if not isinstance(attributes, dict):
        asked = spec["nonResourceAttributes"]
        return decide_path(principal, str(asked.get("verb") or ""), str(asked.get("path") or ""))
    values = {
        key: str(attributes.get(key) or "") for key in ("verb", "group", "resource", "namespace", "name", "subresource")
    }
    plural, _, inner = values["resource"].partition("/")
    resource = f"{plural}.{values['group']}" if values["group"] not in ("", "*") else plural
    subresource = values["subresource"] or inner
    return decide(principal, values["verb"], resource, values["namespace"], values["name"], subresource)


def _rules(asked: Asked) -> dict[str, Any]:
    principal, namespace = asked.principal, str(asked.spec.get("namespace") or "")
    if not namespace:
        raise bad_request("no namespace on request")
    if principal.role == ACCOUNT:
        held, paths = rbac.rules_for(principal, namespace)
        told = {"resourceRules": held, "nonResourceRules": paths, "incomplete": False}
        return {"metadata": {}, "spec": {}, "status": told}
    own = [review for review in REVIEWS if not review.about_others]
    rules = [
        {
            "verbs": ["create"],
            "apiGroups": [group],
            "resources": [review.plural for review in own if review.group == group],
        }
        for group in (AUTHORIZATION, AUTHENTICATION)
    ]
    if principal.role == TEACHER:
        rules.append({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})
    else:
        for kind in TABLE.of(open_store(principal.session_id)).served:
            home = namespace if kind.namespaced else ""
            verbs = [verb for verb in kind.verbs if decide(principal, verb, kind.resource, home, "", "")["allowed"]]
            if verbs:
                rules.append({"verbs": verbs, "apiGroups": [kind.group], "resources": [kind.plural]})
    everything = [{"verbs": ["*"], "nonResourceURLs": ["*"]}] if principal.role == TEACHER else []
    read = [
        {"verbs": list(rule["verbs"]), "nonResourceURLs": list(rule["nonResourceURLs"])}
        for name in _READERS
        for rule in (bootstrap.role_of(name, ()) or {}).get("rules") or ()
        if rule.get("nonResourceURLs")
    ]
    told = {"resourceRules": rules, "nonResourceRules": read + everything, "incomplete": False}
    return {"metadata": {}, "spec": {}, "status": told}


_READERS: Final = ("system:public-info-viewer", "system:discovery", "system:service-account-issuer-discovery")
"""Upstream's roles that give everybody who has shown who they are what is no resource."""


def _who(asked: Asked) -> dict[str, Any]:
    now = wire_time(session_unix_ms(open_store(asked.principal.session_id)))
    return {"metadata": {"creationTimestamp": now}, "status": {"userInfo": asked.principal.info}}


def _whose(asked: Asked) -> dict[str, Any]:
    spec, principal = asked.spec, asked.principal
    token = spec.get("token")
    if not isinstance(token, str) or not token:
        raise bad_request("token is required for TokenReview in authentication")
    wanted_by = tuple(map(str, spec.get("audiences") or ()))
    found = principal_of(asked.request.code, token)
    try:
        bearer = None if found is not None else bearer_of(open_store(principal.session_id), token, wanted_by)
    except NotGood as why:
        return {"spec": spec, "status": {"user": {}, "error": f"[invalid bearer token, {why}]"}}
    if bearer is not None:
        user, audiences = bearer.user, bearer.audiences
    elif found is not None and (not wanted_by or ISSUER in wanted_by):
        user, audiences = dict(found.info), (ISSUER,)
    else:
        return {"spec": spec, "status": {"user": {}, "error": "invalid bearer token"}}
    return {"spec": spec, "status": {"authenticated": True, "user": user, "audiences": list(audiences)}}


REVIEWS: Final = (
    Review(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview", _who),
    Review(AUTHENTICATION, "tokenreviews", "TokenReview", _whose, about_others=True),
    Review(
        AUTHORIZATION,
        "localsubjectaccessreviews",
        "LocalSubjectAccessReview",
        _access_of,
        namespaced=True,
        about_others=True,
    ),
    Review(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview", _own_access),
    Review(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", _rules),
    Review(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview", _access_of, about_others=True),
)
