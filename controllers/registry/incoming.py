"""A document's way in: from what a client sent to what the store keeps, for creates and for changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.flags.apiserver import ETCD_PREFIX
from controllers.flags.held import flags_of
from controllers.log.operations import Create, Operation, Patch, Update
from controllers.log.stamps import wire_time
from controllers.log.store import Stored, Transaction, copy_object
from controllers.log.transaction import OBJECT_BYTES_MAX
from controllers.registry import additions, reading, spelling
from controllers.registry import metadata as metadata_rules
from controllers.registry.context import Context, user_info
from controllers.registry.kind import Kind, Subresource
from controllers.registry.repeats import Run
from controllers.registry.schema import fill, model
from controllers.registry.subresources import check_version, names_version
from scheduler_core.api.document import Document, child
from scheduler_core.api.errors import ApiError, Cause, bad_request, conflict, invalid

GENERATE_NAME_MAX: Final = 58
"""Letters kept of generateName, so that five more fit a 63 letter label."""

GENERATE_ATTEMPTS: Final = 8
"""Suffixes tried before a generated name is given up; 27^5 suffixes make even the second one rare."""


_KEPT: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
"""Metadata that the server owns: a change never touches it."""


class Current:
    """What admission may look up, through the transaction that will hold the write."""

    def __init__(
        self,
        transaction: Transaction,
        unix_ms: int,
        looked_up: set[str] | None = None,
        *,
        dry_run: bool = False,
        user: Mapping[str, Any] | None = None,
    ) -> None:
        """Look through a transaction; `looked_up` takes the resources that somebody asked about.

        `user` is the UserInfo of whoever writes; None: it follows from the actor.
        """
        self._transaction = transaction
        self._looked_up: set[str] = set() if looked_up is None else looked_up
        self.now = wire_time(unix_ms)
        self.plugins = transaction.plugins
        self.user = user_info(transaction.actor) if user is None else user
        self.dry_run = dry_run

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return another object."""
        self._looked_up.add(resource)
        stored = self._transaction.get(resource, namespace, name)
        return stored.object if stored is not None else None

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a resource."""
        self._looked_up.add(resource)
        return [stored.object for stored in self._transaction.list(resource, namespace)]


Mutate = Callable[[Document, str], None]
"""Lets admission change a document; the text is how refusals call it."""


Own = Callable[[Mapping[str, Any] | None, Mapping[str, Any], Any], Sequence[Document] | None]
"""(object before, object as it is asked for, managed fields that were sent) → the managed fields to store."""


def new_document(
    kind: Kind,
    operation: Create,
    context: Context,
    transaction: Transaction,
    mutate: Mutate,
    own: Own | None = None,
) -> Document:
    """Return the complete document of a create, accepted but not yet put.

    Raises:
        ApiError: 400, 403, 404 or 422, with the fields that are wrong.
    """
    with context.step("registry", "decode") as read:
        document, missing = reading.decoded(kind, operation.object, {}, context)
        metadata = child(document, "metadata")
        version = metadata.pop("resourceVersion", "")
        if operation.replaces:
            uid, name = metadata.get("uid"), str(metadata.get("name") or "")
            if uid:
                home = operation.namespace if kind.namespaced else ""
                raise _other_uid(kind, (home, name), uid, "", transaction, dry_run=context.dry_run)
            check_version(version or "0")
        elif names_version(version) and not context.dry_run:
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        _check_namespace(kind, metadata, operation.namespace)
    # A name that will be made is not known yet to what mutates.
    title = str(metadata.get("name") or metadata.get("generateName") or "")
    _name_it(kind, metadata, operation.namespace, context, transaction)
    unix_ms = context.epoch_ms + transaction.now_ms
    _name_owners_once(metadata, context, late=False)
    metadata["uid"] = context.new_uid()
    metadata["creationTimestamp"] = wire_time(unix_ms)
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"):
        metadata.pop(key, None)
    if kind.generation and kind.first_generation:
        metadata["generation"] = kind.first_generation
    elif not metadata.get("generation", 1):
        del metadata["generation"]
    metadata_rules.drop_empty(metadata)
    owned = None if own is None else _owned_at_first(kind, document, operation.object, own, context)
    if context.creator:
        metadata["annotations"] = {**metadata.get("annotations", {}), **context.creator}
    kind.prepare(document)
    kind.defaults(document)
    if context.field_manager and not kind.kept_in and isinstance(document.get("status"), dict):
        # What the engine writes is whole.
        fill(document["status"], model(kind.schema).fields["status"].model)
    filled = None if read is None else additions.added(kind, operation.object, document)
    if filled is not None:
        additions.tell(read, filled.own)
    if owned:
        metadata["managedFields"] = owned
    mutate(document, title)
    with context.step("registry", "strategy") as ruled:
        causes = kind.admit(
            document, Current(transaction, unix_ms, context.looked_up, dry_run=context.dry_run, user=context.user)
        )
        causes += metadata_rules.validate(metadata, kind.names, any_finalizers=kind.any_finalizers)
        causes += _as_sent(lambda document: kind.validate(document) + kind.validate_new(document), document, context)
        _refuse(kind, metadata["name"], causes, reading.still_missing(kind, missing, document))
        reading.tell_zeroes(kind, missing, document)
        kind.settle(document)
    if filled is not None:
        additions.tell(ruled, filled.systems)
    if version and context.dry_run:
        # What is not stored is shown with the one that was sent.
        metadata["resourceVersion"] = version
    return _arranged(document)


def _owned_at_first(
    kind: Kind, document: Document, given: Document, own: Own, context: Context
) -> Sequence[Document] | None:
    """Return the managed fields of a new object: what was sent and its defaults, not what is put to it here."""
    plain = copy_object(document)
    kind.defaults(plain)
    return own(None, _listed(plain, context), _sent(given))


def _listed(document: Document, context: Context) -> Document:
    """Return a document with the empty lists that were sent where null is stored: whoever sends them owns them."""
    listed = {path: empty for path, empty in context.emptied.items() if reading.is_there(document, path)}
    return reading.with_empty(document, listed) if listed else document


def _sent(given: Mapping[str, Any]) -> Any:
    """Return the managed fields in a body, as they were sent: empty ones mean something."""
    metadata = given.get("metadata")
    return metadata.get("managedFields") if isinstance(metadata, Mapping) else None


def repeated_document(
    run: Run,
    kind: Kind,
    operation: Create,
    transaction: Transaction,
    new_uid: Callable[[], str],
    new_suffix: Callable[[], str],
) -> Document | None:
    """Return the document of a create that repeats those before it; None where it has to go its own way."""
    home = operation.namespace if kind.namespaced else ""
    if operation.form is None:
        name = _free_name(kind, operation.object["metadata"]["generateName"], home, new_suffix, transaction)
    else:
        name = operation.form.values[0]
        if transaction.get(kind.stored_resource, home, name) is not None:
            return None
    return run.next(name, new_uid(), operation.form, new_suffix)


def changed_document(
    kind: Kind,
    stored: Stored,
    changed: Document,
    subresource: Subresource | None,
    context: Context,
    transaction: Transaction,
    mutate: Mutate,
    own: Own | None = None,
    *,
    operation: Operation,
) -> Document:
    """Return the complete document of an update or patch (`operation`), accepted but not yet put.

    Raises:
        ApiError: 400, 409 (another resourceVersion or uid) or 422.
    """
    old, patched = stored.object, isinstance(operation, Patch)
    if not isinstance(changed, dict):
        raise bad_request("the body is not an object")
    if patched:
        changed = reading.as_served(kind, changed)
    if not _is_read(changed.get("metadata")):
        reading.decoded(
            kind, {key: changed[key] for key in ("apiVersion", "kind", "metadata") if key in changed}, {}, context
        )
    try:
        strict = bool(context.field_manager)
        _check_preconditions(kind, stored, changed, transaction, strict=strict, dry_run=context.dry_run)
    except ApiError:
        if not patched and context.field_manager:
            # Upstream reads the whole body before it looks at what is stored.
            reading.decoded(kind, changed, {}, context)
        raise
    if subresource is not None:
        document = _changed_part(kind, stored, changed, subresource, context)
        if own is not None:
            _own(document, old, None, own, context)
        mutate(document, stored.name)
        return document
    with context.step("registry", "decode") as read:
        document, missing = reading.decoded(kind, changed, old, context)
    # What is equal is shared with the stored document, which others hold: never write into it.
    metadata = document["metadata"] = dict(child(document, "metadata"))
    fixed = metadata_rules.unchanged(metadata, old["metadata"])
    _keep_metadata(metadata, old["metadata"], named=bool(context.field_manager))
    if not context.dry_run:
        # Storage keeps none; what is not stored is shown with the one that was sent.
        metadata.pop("selfLink", None)
    metadata_rules.drop_empty(metadata)
    _name_owners_once(metadata, context, late=patched)
    asked: Document = {}
    for part in kind.subresources:
        if part.part:
            if not part.reset:
                asked[part.part] = document.get(part.part)
            _restore(document, old, part.part)
    labelled = any(metadata.get(key) != old["metadata"].get(key) for key in ("labels", "annotations"))
    changes = {key for key in document.keys() | old.keys() if not _equal(document.get(key), old.get(key))} - {
        "metadata"
    }
    causes: list[Cause] = []
    touched = bool(changes) or labelled or document.keys() != old.keys()
    if touched:
        for key, part in document.items():
            if part is old.get(key) and isinstance(part, (dict, list)):
                document[key] = copy_object({key: part})[key]
        kind.defaults(document)
    if own is not None:
        _own(document, old, _sent(changed), own, context, asked)
    metadata = document["metadata"]
    if read is not None:
        told = additions.changed(kind, old, document)
        additions.tell(read, told.own + told.systems)
    if changes or document.keys() != old.keys():
        mutate(document, stored.name)
    with context.step("registry", "strategy") as ruled:
        if touched:
            current = Current(transaction, context.epoch_ms + transaction.now_ms, dry_run=context.dry_run)
            causes = kind.admit_update(document, old, current)

            def rules(document: Document) -> list[Cause]:
                # Rules of changes are asked of what stays as it was, too; many look at annotations.
                general = [] if kind.ratchets else kind.validate(document) * kind.rule_checks
                return general + kind.validate_update(document, old)

            causes += _as_sent(rules, document, context)
        if kind.spelled:
            now = spelling.of_document(kind, document, operation, context.spelled)
            causes += spelling.unchanged(kind, document, old, stored.data, now)
        lacking = reading.still_missing(kind, missing, document)
        if fixed or metadata != old["metadata"]:
            causes = (
                metadata_rules.validate_change(
                    metadata,
                    old["metadata"],
                    kind.names,
                    kind.metadata_checks,
                    any_finalizers=kind.any_finalizers,
                    fixed=fixed,
                )
                + causes
            )
        _refuse(kind, stored.name, causes, lacking)
        reading.tell_zeroes(kind, missing, document)
    # What defaults have filled is no longer empty.
    emptied = any(not reading.is_there(document, path) for path in context.emptied)
    _bump_generation(kind, document, old, emptied=emptied)
    if ruled is not None and metadata.get("generation") != old["metadata"].get("generation"):
        additions.tell(ruled, [f"~ metadata.generation: {metadata['generation']}"])
    _forget_times(metadata, document, old)
    return _arranged(document)


def _name_owners_once(metadata: Document, context: Context, *, late: bool) -> None:
    warning = metadata_rules.without_repeated_owners(metadata, late=late)
    if warning:
        context.warnings.append(warning)


def _own(
    document: Document,
    old: Document,
    sent: Any,
    own: Own,
    context: Context,
    asked: Mapping[str, Any] | None = None,
) -> None:
    """Write into a changed document who owns what of it now. Its metadata may be shared: it is made anew.

    `asked` has the parts as they were sent that the write leaves as they are, and that count all the same.
    """
    told = _listed(metadata_rules.without_creator({**document, **asked} if asked else document), context)
    owned = own(metadata_rules.without_creator(old), told, sent)
    metadata = {key: value for key, value in document["metadata"].items() if key != "managedFields"}
    document["metadata"] = {**metadata, "managedFields": owned} if owned else metadata


def _forget_times(metadata: Document, document: Document, old: Document) -> None:
    """Leave the managed fields as they were where nothing but their times would change."""
    before, after = old["metadata"].get("managedFields"), metadata.get("managedFields")
    if before is after or not before or not after or len(before) != len(after):
        return
    for one, other in zip(before, after, strict=True):
        if {**one, "time": ""} != {**other, "time": ""}:
            return
    if {**document, "metadata": {**metadata, "managedFields": before}} == old:
        metadata["managedFields"] = before


def other_object(kind: Kind, stored: Stored, uid: Any) -> ApiError:
    """Return the 422 of a patch that makes an object another one."""
    # Upstream looks once for every kind, and in the kind's own rules.
    cause = Cause("metadata.uid", f'Invalid value: "{uid}": field is immutable', "FieldValueInvalid")
    return invalid(kind.kind, kind.group, stored.name, [cause] * (1 + kind.metadata_checks[1]))


def same(document: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether a change changes nothing: then it takes no revision."""
    return _equal(document, old)


def _equal(value: Any, old: Any) -> bool:
    """Return whether two values are the same JSON; true is no 1, though Python takes the two for equal."""
    if value is old or value != old:
        return value is old
    return msgspec.json.encode(value, order="deterministic") == msgspec.json.encode(old, order="deterministic")


def too_large(kind: Kind, name: str, size: int) -> ApiError:
    """Return the 413 of a document larger than one may be stored."""
    return ApiError(
        413,
        "RequestEntityTooLarge",
        f'{kind.plural} "{name}" has {size} bytes, at most {OBJECT_BYTES_MAX} can be stored; make it smaller',
        kind=kind.plural,
        group=kind.group,
        name=name,
    )


def _check_namespace(kind: Kind, metadata: Document, namespace: str) -> None:
    if not kind.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace") not in (None, "", namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    metadata["namespace"] = namespace


def _name_it(kind: Kind, metadata: Document, namespace: str, context: Context, transaction: Transaction) -> None:
    prefix = metadata.get("generateName")
    if metadata.get("name"):
        return
    if not prefix:
        # Told with whatever else is wrong.
        metadata["name"] = ""
        return
    home = namespace if kind.namespaced else ""
    metadata["name"] = _free_name(kind, prefix, home, context.new_suffix, transaction)


def _free_name(kind: Kind, prefix: str, home: str, new_suffix: Callable[[], str], transaction: Transaction) -> str:
    name = ""
    for _ in range(GENERATE_ATTEMPTS):
        name = prefix[:GENERATE_NAME_MAX] + new_suffix()
        if transaction.get(kind.stored_resource, home, name) is None:
            break
    return name


def check_sent(kind: Kind, operation: Update, context: Context) -> None:
    """Refuse a body that is no change of the object that its path names: upstream looks before it looks for that.

    Raises:
        ApiError: 400.
    """
    reading.decoded(kind, operation.object, {}, context)
    metadata = operation.object.get("metadata")
    if isinstance(metadata, dict):
        check_place(kind, metadata, operation.namespace, operation.name)


def check_place(kind: Kind, metadata: Mapping[str, Any], namespace: str, name: str, *, needed: bool = False) -> None:
    """Refuse metadata of an object that lies elsewhere than a path leads; `needed`: it has to tell its name.

    Raises:
        ApiError: 400.
    """
    if kind.namespaced and metadata.get("namespace") not in (None, "", namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    sent = metadata.get("name")
    if sent not in (None, "", name):
        raise bad_request(f"the name of the object ({sent}) does not match the name on the URL ({name})")
    if needed and not sent:
        raise nameless(name)


def nameless(name: str) -> ApiError:
    """Return the 400 of an object that does not tell its name."""
    return bad_request(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")


def _check_preconditions(
    kind: Kind, stored: Stored, changed: Document, transaction: Transaction, *, strict: bool, dry_run: bool
) -> None:
    """Refuse a change of another object or version; `strict`: also one that names none where upstream asks for it.

    `dry_run`: upstream names the key as it is before it gets its prefix.
    """
    metadata = changed.get("metadata")
    if metadata is None:
        return
    check_place(kind, metadata, stored.namespace, stored.name)
    uid = metadata.get("uid")
    if uid not in (None, "", stored.uid):
        raise _other_uid(kind, (stored.namespace, stored.name), uid, stored.uid, transaction, dry_run=dry_run)
    version = metadata.get("resourceVersion")
    if version in (None, "", "0"):
        if strict and not kind.unconditional:
            why = "Invalid value: 0: must be specified for an update"
            cause = Cause("metadata.resourceVersion", why, "FieldValueInvalid")
            raise invalid(kind.plural, kind.group, stored.name, [cause])
    elif version != str(stored.revision):
        check_version(version)
        raise conflict(kind.stored_resource, stored.name)


def _other_uid(
    kind: Kind, place: tuple[str, str], asked: Any, uid: str, transaction: Transaction, *, dry_run: bool
) -> ApiError:
    """Return the 409 of a change that is meant for another object than lies at a place; `uid` empty: none does."""
    why = f"Precondition failed: UID in precondition: {asked}, UID in object meta: {uid}"
    key = kind.key_of("" if dry_run else flags_of(transaction)[ETCD_PREFIX], *place)
    failed = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
    return conflict(kind.stored_resource, place[1], failed)


def _is_read(metadata: Any) -> bool:
    """Return whether metadata is of the types by which an object and its version are told."""
    if not isinstance(metadata, dict):
        return metadata is None
    return all(isinstance(metadata.get(key) or "", str) for key in ("name", "namespace", "resourceVersion", "uid"))


def _changed_part(
    kind: Kind, stored: Stored, changed: Document, subresource: Subresource, context: Context
) -> Document:
    """Return the object with the part that a subresource writes, and the metadata that it takes along."""
    key, old = subresource.part, stored.object
    part = changed.get(key)
    if part is None and not kind.kept_in:
        part = {}
    written = {key: part} if part is not None else {}
    if context.field_manager:
        # Upstream reads the whole body, whatever of it counts; what the engine writes is well formed.
        written = {**changed, **written}
        if changed.get("metadata") is None:
            written.pop("metadata", None)
    decoded, _ = reading.decoded(kind, written, {}, context)
    context.emptied = {path: empty for path, empty in context.emptied.items() if path.startswith((key, "metadata"))}
    if context.field_manager and not kind.kept_in:
        # What the engine writes is whole.
        fill(decoded[key], model(kind.schema).fields[key].model)
    sent = decoded if "metadata" in written else changed
    metadata = {**old["metadata"], **_carried(kind, subresource, sent, old["metadata"], context)}
    for name in [name for name in subresource.carries if metadata.get(name) is None]:
        metadata.pop(name, None)
    document = {**old, "metadata": metadata}
    if key in decoded:
        document[key] = subresource.merged(old.get(key, {}), decoded[key])
    else:
        document.pop(key, None)
    subresource.complete(document, old, wire_time(context.unix_ms))
    causes: list[Cause] = []
    fixed: list[Cause] = []
    if context.field_manager and subresource.carries and isinstance(sent.get("metadata"), dict):
        fixed = metadata_rules.unchanged(sent["metadata"], old["metadata"])
    if fixed or any(metadata.get(name) != old["metadata"].get(name) for name in subresource.carries):
        _keep_metadata(metadata, old["metadata"], named=bool(context.field_manager))
        metadata_rules.drop_empty(metadata)
        looks = (0, kind.metadata_checks[1])
        causes = metadata_rules.validate_change(metadata, old["metadata"], kind.names, looks, fixed=fixed)
    causes += _as_sent(lambda document: subresource.part_rules(document, old), document, context)
    _refuse(kind, stored.name, causes)
    return document


def _carried(
    kind: Kind, subresource: Subresource, changed: Document, old: Mapping[str, Any], context: Context
) -> Document:
    """Return what a write of a part takes along of the metadata sent with it: all of it, as upstream.

    What the engine sends is a part of the metadata, which leaves the rest as it is.
    """
    sent = changed.get("metadata") or {}
    if context.field_manager:
        # What upstream's decoding writes stays, whatever is sent.
        fixed = {key: text for key, text in (old.get("annotations") or {}).items() if key in kind.converted}
        carried: Document = {name: sent.get(name) for name in subresource.carries}
        if fixed and "annotations" in carried:
            carried["annotations"] = {**(carried["annotations"] or {}), **fixed}
        return carried
    texts = ("labels", "annotations")
    return {
        name: dict(sent[name]) for name in texts if name in subresource.carries and isinstance(sent.get(name), dict)
    }


def _keep_metadata(metadata: Document, old: Mapping[str, Any], *, named: bool) -> None:
    """Put the metadata that the server owns in its place; `named`: it may say anew what its name was made from."""
    for key in _KEPT:
        if key in old:
            metadata[key] = old[key]
        else:
            metadata.pop(key, None)
    if "managedFields" in old:
        metadata["managedFields"] = old["managedFields"]
    else:
        metadata.pop("managedFields", None)
    if "generateName" in old and not named:
        metadata["generateName"] = old["generateName"]
    author = old.get("annotations", {}).get(metadata_rules.CREATED_BY)
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(metadata_rules.CREATED_BY, None)
    if author is not None:
        annotations[metadata_rules.CREATED_BY] = author
    metadata["annotations"] = annotations


def _restore(document: Document, old: Mapping[str, Any], key: str) -> None:
    if key in old:
        document[key] = old[key]
    else:
        document.pop(key, None)


def _bump_generation(kind: Kind, document: Document, old: Mapping[str, Any], *, emptied: bool) -> None:
    if not kind.generation:
        return
    parts = (document.keys() | old.keys()) - {"metadata", *(one.part for one in kind.subresources)}
    counts = any(not _equal(document.get(key), old.get(key)) for key in parts) or (
        emptied and kind.generation_counts_empty
    )
    if kind.generation_counts_annotations:
        counts = counts or document["metadata"].get("annotations") != old["metadata"].get("annotations")
    if kind.generation_counts_labels:
        counts = counts or document["metadata"].get("labels") != old["metadata"].get("labels")
    if counts:
        document["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _as_sent(rules: Callable[[Document], list[Cause]], document: Document, context: Context) -> list[Cause]:
    """Return what rules find wrong, their sentences with the empty lists and maps that were sent.

    They are as good as none (rules compare documents), and shown where the same is wrong either way.
    """
    causes = rules(document)
    if not causes or not context.emptied:
        return causes
    shown = rules(reading.with_empty(document, context.emptied))
    return shown if [_place(one) for one in shown] == [_place(one) for one in causes] else causes


def _place(cause: Cause) -> tuple[str, str]:
    return cause.field, cause.reason


def _refuse(kind: Kind, name: str, causes: Sequence[Cause], missing: Sequence[Cause] = ()) -> None:
    """Refuse what is wrong; what is missing is told only where the kind's own rules did not say so."""
    told = {cause.field for cause in causes}
    wrong = [*causes, *(cause for cause in missing if cause.field not in told)]
    if wrong:
        raise invalid(kind.kind, kind.group, name, wrong)


def _arranged(document: Document) -> Document:
    """Return the document with its envelope first, as people read it."""
    first = {key: document[key] for key in ("apiVersion", "kind", "metadata")}
    return {**first, **document}
