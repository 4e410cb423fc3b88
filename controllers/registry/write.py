"""One operation on its way through the registry: by its verb, with admission, owners and what it warns of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, assert_never

import msgspec

from controllers.flags.flag import Flags
from controllers.flags.held import flags_of
from controllers.log.draft import Draft
from controllers.log.operations import Bind, Create, Delete, Operation, Patch, Update
from controllers.log.stamps import wire_time
from controllers.log.store import ObjectTooLarge, RevisionConflict, Stored, Transaction
from controllers.log.transaction import check_size
from controllers.registry import admission, deletion, incoming, owning, patching, reading, spelling
from controllers.registry.admission import Chain, Chosen, Passing, Verb
from controllers.registry.checking import too_deep
from controllers.registry.context import Context
from controllers.registry.kind import Kind, Subresource
from controllers.registry.metadata import without_creator
from controllers.registry.patch import in_order, unreadable
from controllers.registry.subresources import names_version
from controllers.registry.table import Kinds
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, already_exists, bad_request, conflict, not_found, renamed


class Write:
    """One operation under way (`kind.Writing`)."""

    def __init__(self, kinds: Kinds, chain: Chain, transaction: Transaction, context: Context) -> None:
        self._kinds = kinds
        self._chain = chain
        self.transaction = transaction
        self.context = context
        self._settled: tuple[Sequence[Document] | None] | None = None
        """The managed fields that what is applied gives its object, once they are known."""
        self._kind: Kind | None = None
        """Of what is written; it is asked for again and again."""
        self._asked: Kind | None = None
        """The version in which the object is written, where that is not the one in which it is stored."""

    def apply(self, operation: Operation) -> Stored:
        """Carry the operation out and return what is stored, in the version that it asks in.

        Raises:
            ApiError: refused; nothing was put.
        """
        kind = self._kind = self.kind_of(operation.resource)
        if kind.stored_as is not None:
            self._asked = kind
            try:
                stored = self._apply(kind.stored_as, self._stored_form(kind, kind.stored_as, operation))
            except ApiError as error:
                raise renamed(error, kind.stored_as.resource, kind.resource) from error
            return stored.shown_as(msgspec.json.encode(kind.outward(stored.object)))
        return self._apply(kind, operation)

    def _apply(self, kind: Kind, operation: Operation) -> Stored:
        match operation:
            case Create() if not operation.subresource:
                return self._create(kind, operation)
            case Create() | Bind():
                return self._post(kind, operation)
            case Update():
                return self._update(kind, operation)
            case Patch() if operation.patch_type == "apply":
                return self._apply_patch(kind, operation)
            case Patch():
                return self._patch(kind, operation)
            case Delete():
                return self.delete(operation)
            case _:
                assert_never(operation)

    def _stored_form(self, kind: Kind, stored_as: Kind, operation: Operation) -> Operation:
        """Return what a write of a further version of a kind asks of the stored one."""
        match operation:
            case Create() | Update():
                body = kind.inward(reading.checked(kind, operation.object, self.context))
                return replace(operation, resource=stored_as.resource, object=body)
            case Patch() | Delete():
                return replace(operation, resource=stored_as.resource)
            case _:
                return operation

    def existing(self, resource: str, namespace: str, name: str) -> Stored:
        """Return an object that has to be there.

        Raises:
            ApiError: 404.
        """
        kind = self.kind_of(resource)
        stored = self.transaction.get(kind.stored_resource, namespace, name)
        if stored is None:
            raise not_found(kind.stored_resource, name)
        return kind.shown(stored) if kind.kept_in else stored

    def place_of(self, operation: Operation) -> str:
        """Return the group resource under which what an operation writes is stored."""
        kind = self._kinds.find_resource(operation.resource)
        return kind.kept_in or operation.resource if kind is not None else operation.resource

    def put(self, resource: str, document: Document | Draft, *, expected: int) -> Stored:
        """Put a document in the place that its metadata names.

        Raises:
            ApiError: 409, it is not at that revision; 413.
        """
        kind = self.kind_of(resource)
        draft = document if isinstance(document, Draft) else Draft(document)
        if kind.kept_in:
            draft = Draft(kind.inward(draft.object))
            resource = kind.kept_in
        metadata = draft.object["metadata"]
        place = (resource, metadata.get("namespace", ""), metadata["name"])
        if self.context.marks is None:
            return self._put(kind, place, draft, expected)
        with self.context.step("store"):
            return self._put(kind, place, draft, expected)

    def _put(self, kind: Kind, place: tuple[str, str, str], draft: Draft, expected: int) -> Stored:
        try:
            if self.context.dry_run:
                stored = _tried(place, draft, expected)
            else:
                stored = self.transaction.put(*place, draft, expected=expected)
            return kind.shown(stored) if kind.kept_in else stored
        except RevisionConflict as error:
            raise conflict(place[0], place[2]) from error
        except ObjectTooLarge as error:
            raise incoming.too_large(kind, place[2], error.size) from error

    def delete(self, operation: Delete) -> Stored:
        """Delete an object, or mark it where something holds it; return its last state.

        Raises:
            ApiError: 404, 409.
        """
        kind = self.kind_of(operation.resource)
        stored = self.existing(kind.resource, operation.namespace, operation.name)
        deletion.check_preconditions(kind, stored, operation)
        passing = self._admission("delete", kind, stored.namespace, stored)
        passing.mutate({}, stored.name)
        passing.validate({}, stored.name)
        if kind.orphans_warning and not operation.propagation and kind.orphans_warning not in self.context.warnings:
            self.context.warnings.append(kind.orphans_warning)
        document = deletion.marked(kind, stored.object, operation, self.context.unix_ms)
        first = "deletionTimestamp" not in stored.object["metadata"]
        ends = deletion.is_final(kind, document) and not (first and kind.marked_first)
        draft = Draft(document, spelling.kept(kind, stored.data))
        self.context.check(operation, stored, None if ends else draft)
        changed = not reading.is_same(document, stored.object)
        in_steps = kind.graceful and (first or stored.object["metadata"].get("deletionGracePeriodSeconds"))
        if ends and not (changed and in_steps):
            return self._remove(stored, None)
        if not changed:
            return stored
        marked = self.put(kind.resource, draft, expected=stored.revision)
        if not ends or self.context.dry_run:
            return marked
        # Whoever watches sees first that it ends at once, then that it has gone.
        return self._remove(self.existing(kind.resource, operation.namespace, operation.name), None)

    def kind_of(self, resource: str) -> Kind:
        """Return the kind of a resource that is served.

        Raises:
            ApiError: 404.
        """
        if self._kind is not None and self._kind.resource == resource:
            return self._kind
        kind = self._kinds.find_resource(resource)
        if kind is None:
            raise ApiError(404, "NotFound", f"the server doesn't have a resource type {resource!r}")
        return kind

    def _create(self, kind: Kind, operation: Create) -> Stored:
        passing = self._admission("create", kind, operation.namespace, None)
        own = self._own(kind, None)
        document = incoming.new_document(kind, operation, self.context, self.transaction, passing.mutate, own)
        name = document["metadata"]["name"]
        version = "" if self.context.dry_run else document["metadata"].pop("resourceVersion", "")
        there = self.transaction.get(kind.stored_resource, operation.namespace, name)
        draft = Draft(document, spelling.of_document(kind, document, operation, self.context.spelled))
        if there is None:
            self.context.check(operation, None, draft)
        self._warn(kind, document)
        charges = passing.validate(document, name)
        if names_version(version):
            # The store looks at this: after all rules, and whatever has that name already.
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        if there is not None:
            with self.context.step("store"):
                raise already_exists(
                    kind.stored_resource,
                    name,
                    leaving="deletionTimestamp" in there.object["metadata"],
                    drawn=bool(document["metadata"].get("generateName")),
                )
        self._pay(kind, draft, charges)
        if self.context.run is not None and not charges and not kind.kept_in:
            self.context.run.learn(document, operation.form, self.context.drawn)
        return self._followed(kind, self.put(kind.resource, draft, expected=0))

    def _chosen(self, verb: Verb, kind: Kind, subresource: str) -> tuple[Flags, Chosen]:
        """Return the flags in force, and the plugins that have a say in such a write."""
        flags = flags_of(self.transaction)
        chosen = self._chain.of(flags, verb, kind, subresource)
        # Whoever follows the request sees those, too, that have nothing to go by.
        return flags, chosen if self.context.marks is not None else chosen.where(self.transaction.holds)

    def _admission(
        self,
        verb: Verb,
        kind: Kind,
        namespace: str,
        old: Stored | None,
        subresource: str = "",
        shown: Subresource | None = None,
        asked: tuple[Flags, Chosen] | None = None,
    ) -> Passing:
        """Return the chain as it stands before one write.

        `shown`: the subresource in whose form it was sent; `asked`: what `_chosen` says of it, if somebody has asked.
        """
        flags, chosen = asked or self._chosen(verb, kind, subresource)
        asks = chosen.mutating or chosen.validating
        return Passing(
            chosen,
            verb,
            kind,
            subresource,
            namespace,
            None if old is None else old.object,
            incoming.Current(self.transaction, self.context.unix_ms, self.context.looked_up) if asks else None,
            self.context,
            flags,
            admission.Way(self._kinds, self._asked or kind, shown),
        )

    def _pay(self, kind: Kind, draft: Draft, charges: list[admission.Charge]) -> None:
        """Store what quotas were charged, in the transaction of what they were charged for."""
        if not charges:
            return
        try:
            check_size(draft.data())
        except ObjectTooLarge as error:
            # Nothing is charged for what cannot be stored.
            raise incoming.too_large(kind, draft.object["metadata"]["name"], error.size) from error
        for resource, quota in charges:
            metadata = quota["metadata"]
            stored = self.existing(resource, metadata["namespace"], metadata["name"])
            self.put(resource, quota, expected=stored.revision)

    def _post(self, kind: Kind, operation: Create | Bind) -> Stored:
        subresource = kind.subresource(operation.subresource)
        if subresource is None or subresource.post is None:
            why = f"create is not supported on {operation.resource}/{operation.subresource}"
            raise ApiError(405, "MethodNotAllowed", why)
        asked = self._chosen("create", kind, operation.subresource)
        if asked[1].mutating or asked[1].validating:
            passing = self._admission("create", kind, operation.namespace, None, operation.subresource, asked=asked)
            body = subresource.sent(operation)
            name = _name_in(body)
            passing.mutate(body, name)
            passing.validate(body, name)
        return subresource.post(self, operation)

    def _update(self, kind: Kind, operation: Update) -> Stored:
        try:
            stored = self.existing(kind.resource, operation.namespace, operation.name)
        except ApiError:
            shown = kind.subresource(operation.subresource)
            if self.context.field_manager and (shown is None or not shown.schema):
                incoming.check_sent(kind, operation, self.context)
            elif self.context.field_manager and isinstance(metadata := operation.object.get("metadata"), dict):
                incoming.check_place(kind, metadata, operation.namespace, operation.name)
            raise
        subresource = _written(kind, operation.subresource)
        if subresource is None or subresource.change is None or subresource.view is None:
            return self._replace(kind, stored, operation.object, operation, subresource)
        return self._change(kind, stored, operation.object, operation, subresource)

    def _change(
        self, kind: Kind, stored: Stored, body: Document, operation: Update | Patch, subresource: Subresource
    ) -> Stored:
        """Change an object through a subresource that shows it in a form of its own; return it in that form."""
        assert subresource.change is not None
        assert subresource.view is not None
        if self.context.field_manager and not subresource.schema:
            # Upstream reads the whole body, whatever of it counts.
            body, _ = reading.decoded(kind, body, {}, self.context)
        changed = subresource.change(stored, body)
        ruled = kind if subresource.rules is None else replace(kind, validate_update=subresource.rules)
        replaced = self._replace(ruled, stored, changed, operation, None, subresource)
        if subresource.warning and replaced is not stored:
            self.context.warnings.append(subresource.warning)
        return replaced.shown_as(msgspec.json.encode(subresource.view(replaced.object)))

    def _patch(self, kind: Kind, operation: Patch) -> Stored:
        if too_deep(operation.patch):
            raise bad_request("the patch is nested too deeply")
        stored = self.existing(kind.resource, operation.namespace, operation.name)
        subresource = _written(kind, operation.subresource)
        view = subresource.view if subresource is not None else None
        if operation.patch_type == "strategic" and not kind.strategic:
            raise ApiError(415, "UnsupportedMediaType", patching.UNSUPPORTED_PATCH)
        asked = self._asked or kind
        schema = (subresource.schema if subresource is not None else "") or asked.schema
        if operation.patch_type == "strategic":
            # Merging takes it apart; whoever asked may ask again.
            operation = replace(operation, patch=deepcopy(operation.patch))
        changed = patching.patched(patching.target_of(asked, stored, subresource), operation, schema)
        try:
            if operation.patch_type != "strategic" and view is None:
                patching.check_version(asked, changed, stored.name, self.context)
            taken = changed
            if asked is not kind:
                taken = asked.inward(reading.checked(asked, changed, self.context))
            if subresource is not None and subresource.body is not None:
                taken = patching.check_form(kind, subresource, changed, operation, self.context)
            return self._take(kind, stored, taken, operation, subresource)
        except reading.Unreadable as error:
            if isinstance(changed.get("metadata"), dict):
                changed = without_creator(changed)
            if error.causes and subresource is None and not kind.kept_in:
                error = reading.first_wrong(asked, in_order(operation, changed, schema)) or error
            raise unreadable(operation, changed, error, schema) from error

    def _take(
        self, kind: Kind, stored: Stored, changed: Document, operation: Patch, subresource: Subresource | None
    ) -> Stored:
        """Put what a patch made in the place of what is stored."""
        view = subresource.view if subresource is not None else None
        metadata = changed.get("metadata") or {}
        uid = metadata.get("uid") if isinstance(metadata, dict) else None
        if uid and uid != stored.uid and self.context.field_manager and subresource is not None and view is not None:
            self._refuse_other(kind, stored, changed, subresource)
        if view is None and (not isinstance(metadata, dict) or not metadata.get("name")):
            # Upstream reads all of it before it looks whose it is.
            reading.decoded(kind, changed, {}, self.context)
        if isinstance(metadata, dict) and not metadata.get("name"):
            raise incoming.nameless(stored.name)
        if view is not None:
            return self._update(
                kind, Update(kind.resource, operation.namespace, operation.name, changed, operation.subresource)
            )
        return self._replace(kind, stored, changed, operation, subresource)

    def _refuse_other(self, kind: Kind, stored: Stored, changed: Document, subresource: Subresource) -> None:
        """Refuse what a patch made of another object's form; what else is wrong with a Scale is told first."""
        uid = changed["metadata"]["uid"]
        if subresource.body is None or subresource.change is None:
            raise incoming.other_object(kind, stored, uid)
        subresource.change(stored, changed)
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stored.uid}"
        raise conflict(patching.part_of(kind, subresource), stored.name, why)

    def _own(self, kind: Kind, subresource: Subresource | None, body: Any = None) -> incoming.Own | None:
        """Return what tells who owns the fields of an object after this write of `body`; None: nobody is told of."""
        if self._settled is not None:
            (settled,) = self._settled
            return lambda old, new, sent: settled
        name = self.context.field_manager
        if not name:
            return None
        return owning.written(self._asked or kind, subresource, body, name, wire_time(self.context.unix_ms))

    def _apply_patch(self, kind: Kind, operation: Patch) -> Stored:
        """Apply a configuration on the server's side: it creates what is not there."""
        if too_deep(operation.patch):
            raise bad_request("the patch is nested too deeply")
        subresource = _written(kind, operation.subresource)
        asked = self._asked or kind
        document, owners, stored = owning.application(asked, subresource, operation, self.transaction, self.context)
        reading.report_applied_twice(self.context)
        self._settled = (owners,)
        try:
            return self._take_applied(kind, asked, subresource, operation, document, stored)
        except reading.Unreadable as error:
            raise owning.unreadable(asked, operation.patch, document, error) from error

    def _take_applied(
        self,
        kind: Kind,
        asked: Kind,
        subresource: Subresource | None,
        operation: Patch,
        document: Document,
        stored: Stored | None,
    ) -> Stored:
        """Put what came of applying a configuration in the place of what is stored."""
        if asked is not kind:
            document = asked.inward(reading.checked(asked, document, self.context))
        if kind.check_applied is not None:
            kind = replace(kind, check=kind.check_applied)
        if stored is None:
            self.context.created = True
            self.context.spelled = spelling.rewritten(kind, document)
            return self._create(kind, Create(kind.resource, operation.namespace, document, replaces=True))
        if kind.spelled and reading.is_same(_unowned(document), _unowned(stored.object)):
            # What is applied and changes nothing leaves what is stored to the letter.
            self.context.spelled = spelling.as_stored(kind, stored.data)
        if subresource is None or subresource.view is None:
            return self._replace(kind, stored, document, operation, subresource)
        return self._change(kind, stored, document, operation, subresource)

    def _replace(
        self,
        kind: Kind,
        stored: Stored,
        changed: Document,
        operation: Operation,
        subresource: Subresource | None,
        shown_as: Subresource | None = None,
    ) -> Stored:
        """Put `changed` in the place of `stored`, unless that changes nothing.

        `shown_as` is the subresource in whose form the change was asked for.
        """
        name = subresource.name if subresource is not None else ""
        passing = self._admission("update", kind, stored.namespace, stored, name, shown_as)
        body = operation.object if isinstance(operation, Update) else None
        own = self._own(kind, shown_as or subresource, body)
        document = incoming.changed_document(
            kind,
            stored,
            changed,
            subresource,
            self.context,
            self.transaction,
            passing.mutate,
            own,
            operation=operation,
        )
        draft = Draft(document, spelling.of_document(kind, document, operation, self.context.spelled))
        self.context.check(operation, stored, draft)
        charges = passing.validate(document, stored.name)
        if deletion.is_final(kind, document):
            if subresource is None:
                self._warn_changed(kind, document, stored.object)
            return self._remove(stored, draft)
        if reading.is_same(document, stored.object):
            if subresource is None and kind.warns_changed is not None:
                self.context.warnings.extend(kind.warns_changed(document, stored.object))
            elif subresource is None and not kind.generation:
                # Where generations count changes, upstream warns of those alone.
                self.context.warnings.extend(kind.warns(document))
            return stored
        if subresource is None:
            self._warn(kind, document, stored.object)
        self._pay(kind, draft, charges)
        return self._followed(kind, self.put(kind.resource, draft, expected=stored.revision))

    def _followed(self, kind: Kind, stored: Stored) -> Stored:
        """Return what was stored, once the server has written what follows from it; it is told as it was before."""
        if self.context.dry_run or not kind.follows:
            return stored
        followed = kind.follow(stored.object, incoming.Current(self.transaction, self.context.unix_ms))
        if followed is not None:
            self.put(kind.resource, followed, expected=stored.revision)
        return stored

    def _warn(self, kind: Kind, document: Document, old: Mapping[str, Any] | None = None) -> None:
        if old is None:
            told = self.context.warnings
            told.extend(kind.warns_made(document))
            told.extend(kind.warns_spec(document))
            told.extend(kind.warns(document))
        else:
            self._warn_changed(kind, document, old)
        if not self.context.explains:
            return
        self.context.warnings.extend(kind.explains(document))
        if kind.idle:
            why = f"{kind.api_version} {kind.kind} is stored, but no controller of this cluster acts on it"
            self.context.warnings.append(why)

    def _warn_changed(self, kind: Kind, document: Document, old: Mapping[str, Any]) -> None:
        """Warn of what a change leaves, also where nothing of it is stored since the object goes with it."""
        told = self.context.warnings
        if kind.warns_changed is not None:
            told.extend(kind.warns_changed(document, old))
            return
        if document["metadata"].get("generation") != old["metadata"].get("generation"):
            told.extend(kind.warns_spec(document))
        told.extend(kind.warns(document))

    def _remove(self, stored: Stored, draft: Draft | None) -> Stored:
        """Remove an object; `draft` is what a change would have made of it that made it go."""
        # The DELETED row has a revision of its own: whoever deletes is told of that one, and whoever takes away what
        # held an object of the last one that it had. Watches see what was stored: that change never is.
        last = stored if draft is None else stored.shown_as(draft.data())
        if self.context.dry_run:
            return last
        try:
            gone = self.transaction.delete(stored.resource, stored.namespace, stored.name, expected=stored.revision)
        except RevisionConflict as error:
            raise conflict(stored.resource, stored.name) from error
        return gone if draft is None else last


def _unowned(document: Document) -> Document:
    """Return an object without what tells who wrote it."""
    document = without_creator(document)
    metadata = {key: value for key, value in document["metadata"].items() if key != "managedFields"}
    return {**document, "metadata": metadata}


def _name_in(body: Document) -> str:
    """Return the name in the metadata of what is POSTed to a subresource; empty where there is none."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _tried(place: tuple[str, str, str], draft: Draft, expected: int) -> Stored:
    """Return what a dry run would have stored.

    Raises:
        ObjectTooLarge: as a put would.
    """
    data = draft.data()
    check_size(data)
    return Stored(*place, draft.object["metadata"].get("uid", ""), expected, data)


def _written(kind: Kind, name: str) -> Subresource | None:
    """Return the subresource that a PUT or PATCH names; None: the object itself.

    Raises:
        ApiError: 405, it is not written in this way.
    """
    if not name:
        return None
    subresource = kind.subresource(name)
    if subresource is None or not (subresource.part or subresource.change):
        raise ApiError(405, "MethodNotAllowed", f"update is not supported on {kind.resource}/{name}")
    return subresource
