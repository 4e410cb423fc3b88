"""Which writes a policy or a webhook is asked about: rules, selectors, equivalent versions.

Source: k8s.io/apiserver/pkg/admission/plugin/policy/matching, …/plugin/webhook/predicates, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from controllers.log.store import copy_object
from controllers.registry.admission import Attempt, Verb
from controllers.registry.kind import CLUSTERSIM_GROUP, Kind
from scheduler_core.api.selectors import LabelSelector, Selector, read_selector, selects

GROUP: Final = "admissionregistration.k8s.io"
EXEMPT: Final = frozenset(
    f"{plural}.{GROUP}"
    for plural in (
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    )
)
"""What nobody is asked about, so that a rule can always be taken away again."""

_NAMESPACES: Final = "namespaces"
_OPERATIONS: Final[Mapping[str, str]] = {"create": "CREATE", "update": "UPDATE", "delete": "DELETE"}


def watches(verb: Verb, kind: Kind, subresource: str) -> bool:
    """Return whether somebody may be asked about such a write: command objects lead the session, whatever is asked."""
    return kind.group != CLUSTERSIM_GROUP and kind.resource not in EXEMPT


class Asked(NamedTuple):
    """One write in the version in which somebody is asked about it."""

    kind: Kind
    document: Mapping[str, Any] | None
    """None for deletes."""
    old: Mapping[str, Any] | None


def asked_in(attempt: Attempt, kind: Kind) -> Asked:
    """Return a write in one version of its kind."""

    def shown(document: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if document is None:
            return None
        if attempt.shown is not None and attempt.shown.view is not None:
            return attempt.shown.view(document)
        if kind is attempt.kind:
            return document
        return kind.outward(attempt.kind.inward(copy_object(dict(document))))

    return Asked(kind, None if attempt.verb == "delete" else shown(attempt.document), shown(attempt.old))


def subresource_of(attempt: Attempt) -> str:
    """Return the subresource through which a write was asked for."""
    return attempt.shown.name if attempt.shown is not None else attempt.subresource


def request_of(attempt: Attempt, kind: Kind) -> dict[str, Any]:
    """Return the AdmissionRequest without its objects: `kind` is the version in which somebody is asked."""
    part = subresource_of(attempt)
    subresource = attempt.kind.subresource(part) if part else None
    body = subresource.body if subresource is not None else None

    def kind_of(one: Kind) -> dict[str, str]:
        group, version, name = body or (one.group, one.version, one.kind)
        return {"group": group, "version": version, "kind": name}

    def resource_of(one: Kind) -> dict[str, str]:
        return {"group": one.group, "version": one.version, "resource": one.plural}

    return {
        "kind": kind_of(kind),
        "resource": resource_of(kind),
        "subResource": part,
        "requestKind": kind_of(attempt.asked),
        "requestResource": resource_of(attempt.asked),
        "requestSubResource": part,
        "name": name_of(attempt),
        "namespace": place_of(attempt),
        "operation": _OPERATIONS[attempt.verb],
        "userInfo": dict(attempt.context.user_info),
        "dryRun": attempt.context.dry_run,
        "options": {
            "kind": f"{attempt.verb.capitalize()}Options",
            "apiVersion": "meta.k8s.io/v1",
            **({"fieldManager": attempt.context.field_manager} if attempt.context.field_manager else {}),
        },
    }


def name_of(attempt: Attempt) -> str:
    """Return the name in a request: none yet where it is made up."""
    if attempt.verb != "create" or subresource_of(attempt):
        return attempt.title
    return str(attempt.document["metadata"].get("name", ""))


def place_of(attempt: Attempt) -> str:
    """Return the namespace of a request; of one for a namespace its own name, as upstream's."""
    return attempt.title if attempt.kind.resource == _NAMESPACES else attempt.namespace


def match(attempt: Attempt, resources: Mapping[str, Any]) -> Kind | None:
    """Return the version in which MatchResources, or a webhook with its `rules`, ask about a write; None: not."""
    if not in_namespace(attempt, resources.get("namespaceSelector")):
        return None
    if not _by_labels(attempt, resources.get("objectSelector")):
        return None
    exact = resources.get("matchPolicy") == "Exact"
    if _by_rules(attempt, resources.get("excludeResourceRules") or (), exact=exact) is not None:
        return None
    rules = resources.get("resourceRules") or resources.get("rules") or ()
    if not rules and "rules" not in resources:
        return attempt.asked
    return _by_rules(attempt, rules, exact=exact)


def in_namespace(attempt: Attempt, written: Mapping[str, Any] | None) -> bool:
    """Return whether a namespace selector takes a write; what belongs to the whole cluster is always taken."""
    selector = _selector(written)
    if selector == ():
        return True
    if attempt.kind.resource == _NAMESPACES:
        home: Mapping[str, Any] | None = attempt.old if attempt.verb == "delete" else attempt.document
    elif attempt.namespace:
        home = attempt.lookup.get(_NAMESPACES, "", attempt.namespace)
    else:
        return True
    return selects(selector, _labels(home))


def _by_labels(attempt: Attempt, written: Mapping[str, Any] | None) -> bool:
    selector = _selector(written)
    if selector == ():
        return True
    documents = [] if attempt.verb == "delete" else [attempt.document]
    if attempt.old is not None:
        documents.append(dict(attempt.old))
    return any(selects(selector, _labels(one)) for one in documents)


def _labels(document: Mapping[str, Any] | None) -> Mapping[str, str]:
    return ((document or {}).get("metadata") or {}).get("labels") or {}


def select(written: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the objects that a label selector selects."""
    selector = _selector(written)
    return [one for one in documents if selects(selector, _labels(one))]


def _selector(written: Mapping[str, Any] | None) -> Selector:
    if not written:
        return ()
    return _read(msgspec.json.encode(written))


@lru_cache(maxsize=512)
def _read(data: bytes) -> Selector:
    return read_selector(msgspec.json.decode(data, type=LabelSelector))


def _versions(attempt: Attempt) -> Iterator[Kind]:
    """Yield the versions of a write's kind, the one that was asked for first."""
    yield attempt.asked
    for kind in attempt.kinds.served:
        if kind is not attempt.asked and kind.stored_resource == attempt.kind.stored_resource:
            yield kind


def _by_rules(attempt: Attempt, rules: Sequence[Mapping[str, Any]], *, exact: bool) -> Kind | None:
    for kind in _versions(attempt):
        if any(_takes(rule, attempt, kind) for rule in rules):
            return kind
        if exact:
            return None
    return None


def _takes(rule: Mapping[str, Any], attempt: Attempt, kind: Kind) -> bool:
    names = rule.get("resourceNames")
    return (
        _among(_OPERATIONS[attempt.verb], rule.get("operations"))
        and _among(kind.group, rule.get("apiGroups"))
        and _among(kind.version, rule.get("apiVersions"))
        and any(_is_resource(one, kind.plural, subresource_of(attempt)) for one in rule.get("resources") or ())
        and _is_scope(rule.get("scope"), attempt)
        and (not names or attempt.title in names)
    )


def _among(value: str, words: Sequence[str] | None) -> bool:
    return words is not None and (value in words or "*" in words)


def _is_resource(written: str, plural: str, subresource: str) -> bool:
    resource, _, part = written.partition("/")
    return resource in ("*", plural) and part in ("*", subresource)


def _is_scope(scope: str | None, attempt: Attempt) -> bool:
    if scope in (None, "*"):
        return True
    return (scope == "Namespaced") == bool(attempt.namespace and attempt.kind.resource != _NAMESPACES)
