"""What a kind is: its names on the wire and what it adds to the common way of a document, one value a kind.

How to add one: docs/adding-a-kind.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec

from controllers.log.draft import Draft
from controllers.log.operations import Bind, Create, Delete
from controllers.log.store import Stored, Transaction
from controllers.registry.checking import Report
from controllers.registry.computed import Computed
from controllers.registry.context import Context
from controllers.registry.fieldowners.types import Type
from controllers.registry.metadata import Names
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause
from scheduler_core.framework.registry import PluginRegistry

CLUSTERSIM_GROUP: Final = "clustersim.io"
"""The group of command objects: clock, replicas, scheduler configuration, replays."""

VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")

Mask = Mapping[str, Any]
"""A tree of field names: `True` takes a field whole, a mask takes these fields of it (of each element, when the field
is a list). `"*": True` takes every other field too, and `False` leaves one out."""


class Lookup(Protocol):
    """What admission may look up: other objects as the transaction sees them, and which plugins are installed."""

    plugins: PluginRegistry | None
    """Scheduler plugins beside the in-tree ones."""
    user: Mapping[str, Any]
    """The UserInfo of whoever writes."""
    dry_run: bool
    """Whether nothing will be stored."""

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return another object."""

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a resource."""

    @property
    def now(self) -> str:
        """Return the wire timestamp of this write."""


class Writing(Protocol):
    """One write under way, as a subresource's own way of writing sees it."""

    transaction: Transaction
    context: Context

    def kind_of(self, resource: str) -> Kind:
        """Return a kind.

        Raises:
            ApiError: 404, there is no such resource.
        """

    def existing(self, resource: str, namespace: str, name: str) -> Stored:
        """Return an object.

        Raises:
            ApiError: 404.
        """

    def put(self, resource: str, document: Document | Draft, *, expected: int) -> Stored:
        """Store a complete document that is known to be good, in the place of revision `expected`."""

    def delete(self, operation: Delete) -> Stored:
        """Delete an object as a DELETE would; returns its last state."""


def _nothing(document: Document) -> None:
    return None


def _nothing_worked_out(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return {}


def _follows_nothing(document: Mapping[str, Any], lookup: Lookup) -> Document | None:
    return None


def _as_shown(document: Mapping[str, Any], shown: Document) -> Document:
    return shown


def _complete(document: Document, old: Mapping[str, Any], now: str) -> None:
    return None


def _no_conditions(document: Mapping[str, Any]) -> None:
    return None


def _no_causes(document: Document) -> list[Cause]:
    return []


def _no_warnings(document: Mapping[str, Any]) -> Sequence[str]:
    return ()


def _no_change_causes(new: Document, old: Mapping[str, Any]) -> list[Cause]:
    return []


def _admit_all(document: Document, lookup: Lookup) -> list[Cause]:
    return []


def _admit_any_change(new: Document, old: Mapping[str, Any], lookup: Lookup) -> list[Cause]:
    return []


def _no_grace(document: Mapping[str, Any], asked: int | None) -> int:
    return 0


def _not_held(document: Mapping[str, Any]) -> bool:
    return False


def _calls_nobody(document: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    return ()


def _as_it_is(document: Document) -> Document:
    return document


def _copied(document: Mapping[str, Any]) -> Document:
    return dict(document)


def _replaced(old: Any, new: Any) -> Any:
    return new


def _sent(operation: Create | Bind) -> Document:
    return operation.object if isinstance(operation, Create) else {}


class Column(NamedTuple):
    """One column that `kubectl get` prints; priority 1 columns show with `-o wide`.

    `cell` gets the object and the age function (timestamp to `5m`, by session time).
    """

    name: str
    """Empty: a cell that no header stands above, as a printer of upstream has one."""
    type: Literal["string", "integer", "number", "boolean", "date"]
    description: str
    cell: Callable[[Any, Callable[[str | None], str]], Any]
    priority: int = 0
    source: str = ""
    """`<struct>#<field>` whose description in the schema describes the column; empty: `description` does."""
    names: bool = False
    """Its cells name an object, as those of the column `NAME` do."""
    form: str = ""
    """How clients may print its cells; empty: as its type is printed."""
    of: Callable[[Mapping[str, Any]], Any] | None = None
    """What cells of several columns follow from: worked out once a row, `cell` gets it in the object's place."""


Look = Callable[[str, str, str], Document | None]
"""(resource, namespace, name) → the object; None: it is not there."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where somebody wants to be led through the API server."""

    namespace: str
    name: str
    port: str
    """A number or a name; empty: none is asked for."""
    asked: str
    """All of it as it was asked for: `https:web:443`."""
    scheme: str = ""
    """`http` or `https`; empty: none is asked for, which means `http`."""


class Place(NamedTuple):
    """Where a way through the API server ends."""

    address: str
    port: int


Leads = Callable[[Look, Way], Sequence[Place]]
"""Returns where a way leads, one place or several that serve alike. Raises ApiError where it leads nowhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Subresource:
    """What lies under an object's path. The usual ones stand in `subresources`.

    A subresource either writes a `part` of the object, or shows the object in a form of its own (`view`, `change`), or
    does something of its own when it is POSTed to (`post`).
    """

    name: str
    _: KW_ONLY
    verbs: tuple[str, ...] = ("get", "patch", "update")
    """What may be done with it; nothing else is served."""
    body: tuple[str, str, str] | None = None
    """(group, version, kind) of what is sent and read; None: the object itself."""
    replicas: tuple[str, ...] = ("spec", "replicas")
    """Where in the object lies what a body of its own changes, whose owners it has."""
    schema: str = ""
    """The model of that body; empty: the object's."""
    part: str = ""
    """The field of the object that it writes; a write of the whole object leaves that field alone."""
    reset: bool = True
    """Whether nobody comes to own the part by a write of the whole object (upstream's GetResetFields)."""
    merged: Callable[[Any, Any], Any] = _replaced
    """(part before, part sent) → the part to store."""
    carries: tuple[Literal["labels", "annotations", "finalizers", "ownerReferences", "generateName"], ...] = ()
    """What of the metadata sent with it is stored too."""
    owns_carried: bool = True
    """Whether who writes it comes to own that (upstream's GetResetFields leaves it out)."""
    metadata_looks: str | None = None
    """As `Kind.metadata_looks`, where its rules look in another way; None: by those of changes, as often as they."""
    complete: Callable[[Document, Mapping[str, Any], str], None] = _complete
    """(object with the part and the metadata in their places, object before, wire time): puts defaults into them, and
    what the server knows of the part."""
    part_rules: Callable[[Document, Mapping[str, Any]], list[Cause]] = _no_change_causes
    """(object with the part in its place, object before) → what is wrong with it."""
    view: Callable[[Mapping[str, Any]], Document] | None = None
    """Object → what a GET shows; None: the object."""
    to_patch: Callable[[Mapping[str, Any], Document], Document] = _as_shown
    """(object, what a GET shows of it) → what a PATCH changes."""
    check_shown: Callable[[Mapping[str, Any]], None] | None = None
    """Raises ApiError where a GET cannot show it of an object; None: it can of every one."""
    collection: str = ""
    """A collection in the object's namespace to which it can be POSTed too; the body names the object there."""
    change: Callable[[Stored, Mapping[str, Any]], Document] | None = None
    """(object, body sent) → the whole object as it is asked for."""
    rules: Callable[[Document, Mapping[str, Any]], list[Cause]] | None = None
    """(whole object as it is asked for, object before) → causes, in the place of the kind's rules of changes."""
    columns: tuple[Column, ...] = ()
    """What `kubectl get --subresource` prints of its own form; empty: there is no table of it."""
    row_conditions: Callable[[Mapping[str, Any]], list[dict[str, str]] | None] = _no_conditions
    """What a row of that table says of the object as a whole."""
    converted: frozenset[str] = frozenset()
    """As `Kind.converted`."""
    warning: str = ""
    """What whoever changes an object through it is warned of."""
    post: Callable[[Writing, Create | Bind], Stored] | None = None
    """What a POST does; returns what it stored, or what it shows of it (`Stored.shown_as`)."""
    sent: Callable[[Create | Bind], Document] = _sent
    """What was POSTed, as a client sends it."""
    below: bool = False
    """Whether paths go on behind it (`proxy`)."""
    simulated: bool = False
    """Whether only a running process could answer it: the answer is made up from the kubelets' stages, or 501."""
    leads: Leads | None = None
    """Of a way through the API server: where it leads."""
    students: bool = False
    """Whether students write it in their own namespace, where they write the object."""
    components: bool = False
    """Whether components write it: a replica or a scheduler that runs elsewhere, with a token of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One kind. All functions work on complete, schema-checked documents."""

    kind: str
    plural: str
    _: KW_ONLY
    group: str = ""
    version: str = "v1"
    singular: str = ""
    """Empty: the kind in small letters."""
    list_kind: str = ""
    """What lists of it are called; empty: the kind and `List`."""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    verbs: tuple[str, ...] = VERBS
    stored_as: Kind | None = None
    """The kind as which its objects are stored, with the rules of this version of it; None: as they are."""
    inward: Callable[[Document], Document] = _as_it_is
    """A document of this version → the same as it is stored."""
    outward: Callable[[Mapping[str, Any]], Document] = _copied
    """A stored document → the same in this version; itself where there is nothing to change."""
    kept_in: str = ""
    """The group resource under which the objects of all versions are stored, where each version has rules of its own
    (custom resources); `inward` and `outward` lead there and back. Empty: they are stored as they are."""
    schema: str = ""
    """`<module>.<class>` in the generated models (`core_v1.Pod`) or in our own (`clustersim_v1.Clock`); empty:
    the class of the kind's name in the module of its group."""
    check: Callable[[Document], Report] | None = None
    """Normalises a document, or some members of one, and reports what it does not know; None: `schema` says it."""
    check_applied: Callable[[Document], Report] | None = None
    """As `check`, of what came of applying a configuration; None: the same."""
    owned: Type | None = None
    """What of its objects may be owned (managed fields); None: `schema` says it."""
    strategic: bool = True
    """Whether strategic merge patches are taken."""
    published: Mapping[str, Any] | None = None
    """Its schema as OpenAPI tells it (JSONSchemaProps); None: `schema` does."""
    subresources: tuple[Subresource, ...] = ()

    prepare: Callable[[Document], None] = _nothing
    """On create alone: what upstream's PrepareForCreate resets."""
    defaults: Callable[[Document], None] = _nothing
    """On every write."""
    settle: Callable[[Document], None] = _nothing
    """Once a new object or one with another status was accepted: what upstream fills in when it reads back what it
    stored."""
    admit: Callable[[Document, Lookup], list[Cause]] = _admit_all
    """On create, with a view of other objects."""
    admit_update: Callable[[Document, Mapping[str, Any], Lookup], list[Cause]] = _admit_any_change
    """On changes; it also carries over what the server had given the old one."""
    validate: Callable[[Document], list[Cause]] = _no_causes
    validate_new: Callable[[Document], list[Cause]] = _no_causes
    """On create alone, told after what `validate` finds."""
    validate_update: Callable[[Document, Mapping[str, Any]], list[Cause]] = _no_change_causes
    ratchets: bool = False
    """Whether changes are asked about by `validate_update` alone: what was good enough once stays so."""
    follow: Callable[[Mapping[str, Any], Lookup], Document | None] = _follows_nothing
    """What the API server itself makes of an object once it is written, a write of its own; None: nothing."""
    warns: Callable[[Mapping[str, Any]], Sequence[str]] = _no_warnings
    """What whoever writes an accepted object is warned of."""
    warns_made: Callable[[Mapping[str, Any]], Sequence[str]] = _no_warnings
    """What whoever makes one is warned of, beside that."""
    warns_spec: Callable[[Mapping[str, Any]], Sequence[str]] = _no_warnings
    """What whoever makes one, or changes what is asked of it (its generation), is warned of, beside that."""
    warns_changed: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[str]] | None = None
    """What whoever changes one is warned of in place of those, by what it is and was; None: the same."""
    explains: Callable[[Mapping[str, Any]], Sequence[str]] = _no_warnings
    """What an accepted object does otherwise here than in a real cluster (`Context.explains`)."""
    deprecated: str = ""
    """The warning that every request for it is answered with, as upstream has it; empty: none."""
    whole_rules: bool = False
    """Whether `validate` itself says what has to be there, as upstream does; otherwise what the schema requires has."""
    spelled: tuple[str, ...] = ()
    """Members that are stored with the spaces and in the order in which they were sent: another spelling of what may
    not change is a change (`spelling`)."""
    names: Names = "subdomain"
    """Which names its objects may have."""
    any_finalizers: bool = False
    """Whether finalizers may have short names that nobody knows."""
    metadata_looks: str = "cw"
    """How the kind's own rules look at changed metadata, look after look: `w` by the rules of creates, `c` by those of
    changes. Upstream tells a cause at each of them (what its ValidateUpdate calls)."""
    rule_checks: int = 1
    """How often a changed object is looked at by `validate`: upstream tells a cause as often (where both its strategy
    and its ValidateUpdate ask)."""
    made_by_put: bool = False
    """Whether a PUT of an object that is not there makes it."""
    unconditional: bool = True
    """Whether it is changed by a PUT that does not name the resourceVersion that it was made on."""
    names_itself: bool = False
    """Whether an object without a name gets a drawn one."""
    generation: bool = False
    """Whether metadata.generation counts changes."""
    first_generation: int = 1
    """What a new object's is then; 0: it gets none before it is changed."""
    generation_counts_annotations: bool = False
    generation_counts_empty: bool = False
    """Whether an empty list or map that is sent counts as a change (upstream's reflect.DeepEqual): none is stored."""
    generation_counts_off: bool = False
    """Whether what is left out because its feature is off counts as a change: upstream leaves it out afterwards."""
    compares_empty: tuple[str, ...] = ()
    """Members of which an empty one that is sent is another than none where they may not change (reflect.DeepEqual)."""
    generation_counts_labels: bool = False

    grace_seconds: Callable[[Mapping[str, Any], int | None], int] = _no_grace
    """(object, seconds that a delete asks for) → seconds that it gets to end."""
    collected: bool = True
    """Whether a delete may say what becomes of what belongs to it; of events it may not."""
    orphans: bool = False
    """Whether what belongs to it stays when a delete does not say what becomes of that, as clients of old expect it of
    ReplicationControllers and Jobs."""
    orphans_warning: str = ""
    """What whoever deletes one without saying so is warned of, as upstream has it."""
    marked_first: bool = False
    """Whether its first delete marks it and removes nothing, also where nothing holds it."""
    returned_when_deleted: bool = False
    """Whether a delete answers with the object that is gone, not with a Status."""
    lasting: frozenset[str] = frozenset()
    """Names of objects that are never deleted."""
    lasting_because: str = ""
    """How their deletion is refused."""
    delete_finalizer: str = ""
    """What the first delete puts among its finalizers, for a controller to take away; empty: nothing."""
    is_held: Callable[[Mapping[str, Any]], bool] = _not_held
    """Whether something besides metadata.finalizers keeps a deleted object for now."""
    mark_deleted: Callable[[Document], Document] = _as_it_is
    """What a delete makes of an object that stays for now, besides its metadata."""

    columns: tuple[Column, ...] = ()
    """What `kubectl get` prints."""
    row_conditions: Callable[[Mapping[str, Any]], list[dict[str, str]] | None] = _no_conditions
    """What a row of the table says of the object as a whole; None: nothing."""
    row_order: Callable[[Mapping[str, Any]], Any] | None = None
    """By what the rows of a table stand in order; None: by namespace and name, as lists do."""
    converted: frozenset[str] = frozenset()
    """Annotations that upstream writes with the whole object alone: tables and metadata do not show them."""
    selectable: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    """Field selectors besides metadata.name and metadata.namespace."""
    unselectable: str = "field label not supported: {}"
    """How another field is refused where there are some, as upstream words it for the kind."""
    printed: Mask = field(default_factory=dict)
    """What its columns and the conditions of its rows read besides the metadata; empty: anything."""
    page: Mask = field(default_factory=dict)
    """What the page gets of it besides the metadata (docs/protocol.md)."""
    page_annotations: frozenset[str] = frozenset()
    """Annotations that the page gets beside those under `clustersim.io/`."""
    page_worked_out: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _nothing_worked_out
    """Members that the page gets besides, which follow from the object (docs/protocol.md)."""
    kept_as: str = ""
    """The version in which it is stored, which discovery tells by a hash; empty: the one that it is served in."""
    key: str = ""
    """Under which name its objects stand in etcd, after the prefix: `minions`; empty: the plural."""
    rank: int = 50
    """In which order a file of objects is applied: smaller is earlier, for what others refer to."""
    keeper: str = ""
    """Which component makes its spec true: the name of a controller, `kubelet` or `session`; empty: none does. Whoever
    imports one of a kind that has a status and no keeper is told so."""
    asks: bool | None = None
    """Whether something should act on it; None: whether it has a status. What is only named by others asks for
    nothing: they do."""
    in_rows: bool = False
    """Whether it is written in rows, by turns with others that are, and no create of those goes by what is written:
    a run of creates that are alike goes on beside it (`repeats`)."""
    passing: bool = False
    """Whether its objects are told and forgotten (Events): the newest are enough, and nothing belongs to them."""

    exported: bool = True
    """Whether an export of the session takes its objects along: not what tells of its own processes alone (Leases)."""
    students: bool = True
    """Whether students write it in their own namespace, as upstream's role `edit` may. What is of the whole cluster
    they read alone, whatever stands here."""
    components: bool = False
    """Whether components write it whole (Leases, Events)."""
    component_verbs: frozenset[str] = frozenset()
    """What else components may do to it, as upstream's role of kube-scheduler has it (Pods: delete)."""
    secret: bool = False
    """Whether students read it in their own namespace alone, and viewers nowhere (Secrets)."""
    replicas: Callable[[Mapping[str, Any]], int] | None = None
    """How many pods its controller makes of one object; they count against what a student may keep before they are
    there. None: none."""
    computed: Computed | None = None
    """Which of its objects are computed when they are read, beside those that are stored. None: none."""
    calls: Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]] = _calls_nobody
    """(path, URL) of each address that the server would call for an object: the operator says which are allowed."""

    resource: str = field(init=False)
    """The group resource: `pods`, `deployments.apps`; of a further version in the same group with the version, as
    kubectl writes it: `horizontalpodautoscalers.v1.autoscaling`."""
    api_version: str = field(init=False)
    """What documents carry as apiVersion: `v1`, `apps/v1`."""

    def __post_init__(self) -> None:
        module = f"{self.group.partition('.')[0] or 'core'}_{self.version}"
        derived = {
            "singular": self.singular or self.kind.lower(),
            "list_kind": self.list_kind or f"{self.kind}List",
            "schema": self.schema or f"{module}.{self.kind}",
            "resource": ".".join(filter(None, (self._told_plural, self._told_version, self.group))),
            "key": self.key or (f"{self.group}/{self.plural}" if self.group == CLUSTERSIM_GROUP else self.plural),
            "api_version": f"{self.group}/{self.version}" if self.group else self.version,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def _told_plural(self) -> str:
        """Return the plural, with the version where the objects are kept in another (`widgets@v2`)."""
        return f"{self.plural}@{self.version}" if self.kept_in and self.kept_as != self.version else self.plural

    @property
    def _told_version(self) -> str:
        """Return the version where the group resource alone would be another's."""
        return self.version if self.stored_as is not None and self.stored_as.group == self.group else ""

    @property
    def stored_resource(self) -> str:
        """Return the group resource as which its objects are stored."""
        return self.stored_as.resource if self.stored_as is not None else self.kept_in or self.resource

    @property
    def converts(self) -> bool:
        """Return whether what is stored may be another version than this."""
        return self.stored_as is not None or bool(self.kept_in)

    def shown(self, stored: Stored) -> Stored:
        """Return a stored object in this version."""
        if not self.converts:
            return stored
        document = self.outward(stored.object)
        return stored if document is stored.object else stored.shown_as(msgspec.json.encode(document))

    @property
    def graceful(self) -> bool:
        """Return whether its objects get time to end."""
        return self.grace_seconds is not _no_grace

    @property
    def holds_itself(self) -> bool:
        """Return whether something of its own keeps a deleted object: then it has a way of its own to go."""
        return self.is_held is not _not_held

    @property
    def follows(self) -> bool:
        """Return whether a write of one of its objects is followed by another."""
        return self.follow is not _follows_nothing

    @property
    def idle(self) -> bool:
        """Return whether its objects ask for something that nothing in this cluster does."""
        asks = self.subresource("status") is not None if self.asks is None else self.asks
        return asks and not self.keeper

    def key_of(self, prefix: str, namespace: str, name: str) -> str:
        """Return the key of an object in etcd: `/registry/pods/default/web`."""
        parts = [part for part in (self.key, namespace if self.namespaced else "", name) if part]
        return "/".join([prefix, *parts])

    def subresource(self, name: str) -> Subresource | None:
        """Return a subresource, or None."""
        for one in self.subresources:
            if one.name == name:
                return one
        return None
