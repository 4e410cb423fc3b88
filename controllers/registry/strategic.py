"""Strategic merge patches: lists of structs merge by key, lists of scalars as sets where upstream says so.

Which list merges by which key stands in `merging`, made from upstream's schema.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from controllers.registry import decoding
from controllers.registry.gotext import printed, type_name
from controllers.registry.merging import MERGE_KEYS, REPLACED, SETS
from controllers.registry.schema import FieldType, Model, model
from scheduler_core.api.errors import ApiError, bad_request

_DIRECTIVE: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_ORDER: Final = "$setElementOrder/"
_DELETE: Final = "$deleteFromPrimitiveList/"


def _is_directive(key: str) -> bool:
    return key in (_DIRECTIVE, _RETAIN) or key.startswith((_ORDER, _DELETE))


def strategic_merge(document: dict[str, Any], patch: dict[str, Any], schema: str) -> dict[str, Any]:
    """Return the document with a strategic merge patch applied; `schema` names its struct (`core_v1.Pod`).

    The patch is left as upstream's library leaves it, and its sentences show it: without the orders and lists that were
    merged, and without what was dropped of it.

    Raises:
        ApiError: 400, 422 or 500, as upstream says where its library finds the patch malformed.
    """
    merged: dict[str, Any] = cut(_merge_struct(document, patch, model(schema)), model(schema))
    return merged


def cut(value: Any, struct: Model | None) -> Any:
    """Return a part of a patch with its whole numbers cut to the length of their fields, as Go cuts them.

    Those that no whole type of Go holds are floats, as JSON is decoded without a schema.
    """
    if isinstance(value, list):
        return [cut(item, struct) for item in value]
    if not isinstance(value, dict):
        return _number(value)
    whole = dict(value)
    for key, part in value.items():
        entry = struct.fields.get(key) if struct is not None else None
        if entry is not None and entry.scalar == "integer" and not entry.container:
            whole[key] = _cut_number(part, entry.item_name)
        else:
            inner = entry is not None and entry.model and entry.container != "map"
            whole[key] = cut(part, model(entry.model) if entry is not None and inner else None)
    return whole


def _number(value: Any) -> Any:
    large = isinstance(value, int) and not isinstance(value, bool) and not decoding.fits(value, "int64")
    return float(value) if large else value


def _cut_number(value: Any, type_name: str) -> Any:
    number = _number(value)
    if isinstance(number, float) and number.is_integer():
        return decoding.whole(number, type_name)
    if isinstance(number, int) and not isinstance(number, bool):
        return decoding.cut(number, type_name)
    return cut(number, None)


def _merge_struct(target: Any, patch: dict[str, Any], struct: Model | None) -> dict[str, Any]:
    current: dict[str, Any] = dict(target) if isinstance(target, dict) else {}
    if _DIRECTIVE in patch:
        if patch[_DIRECTIVE] == "replace":
            # It is taken as it stands: directives further in are fields that nobody knows.
            del patch[_DIRECTIVE]
            return deepcopy(patch)
        if patch[_DIRECTIVE] == "delete":
            return {}
        raise _failed(_unknown(patch))
    if _RETAIN in patch:
        retained = patch.pop(_RETAIN)
        said = [key for key, value in patch.items() if value is not None and not _is_directive(key)]
        if not isinstance(retained, list) or any(key not in retained for key in said):
            raise bad_request("invalid patch format of retainKeys")
        current = {key: value for key, value in current.items() if key in retained}
    for key in [key for key in patch if key.startswith(_ORDER)]:
        _merge_ordered(current, key.removeprefix(_ORDER), patch, struct)
    for key, value in list(patch.items()):
        if key.startswith(_DELETE):
            _delete_scalars(current, key.removeprefix(_DELETE), value)
        elif not _is_directive(key):
            _merge_field(current, key, value, struct)
    return current


def _merge_ordered(current: dict[str, Any], key: str, whole: dict[str, Any], struct: Model | None) -> None:
    """Merge a list for which `$setElementOrder` says the order; take both out of the patch (mergePatchIntoOriginal).

    Raises:
        ApiError: 500, they are no lists, or the list is unknown or stands in another order.
    """
    order, there, sent = whole.pop(_ORDER + key), key in current, key in whole
    existing, patch = current.get(key, []), whole.get(key, [])
    for one in (order, existing, patch):
        _check_list(one)
    entry = _listed(key, struct)
    merge_key = MERGE_KEYS.get((struct.key if struct is not None else "", key), "")
    _check_order(patch, order, merge_key)
    whole.pop(key, None)
    if not there and not sent:
        return
    if not there:
        merged = _undirected(patch)
    else:
        merged = _merge_lists(existing, patch, key, struct, entry) if sent else list(existing)
    if merge_key:
        for item in merged:
            _check_keyed(item, merge_key)
            _check_sought(order, item[merge_key], merge_key)
        for item in order:
            _check_keyed(item, merge_key)
    current[key] = _arranged(merged, order, existing, merge_key)


def _listed(key: str, struct: Model | None) -> FieldType:
    """Return the field of a list that a directive names.

    Raises:
        ApiError: 500, there is no such field, or it is no list.
    """
    if struct is None:
        raise _failed("merging an object in json but data type is not struct, instead is: map")
    entry = struct.fields.get(key)
    if entry is None:
        raise _failed(f'unable to find api field in struct {struct.name} for the json field "{key}"')
    if entry.container != "list":
        raise _failed("expected slice or array type, but got: struct")
    return entry


def _check_list(value: Any) -> None:
    if not isinstance(value, list):
        raise _failed(f"expected a []interface {{}}, but received a {_go_type(value)}")


def _check_keyed(item: Any, merge_key: str) -> None:
    """Refuse a member of a list that nothing tells apart.

    Raises:
        ApiError: 500.
    """
    if not isinstance(item, dict):
        raise _failed(f"expected a map[string]interface {{}}, but received a {_go_type(item)}")
    if merge_key not in item:
        raise _failed(f"map: {printed(item)} does not contain declared merge key: {merge_key}")


def _check_sought(order: list[Any], name: Any, merge_key: str) -> None:
    """Refuse what is no struct in front of what is looked for in an order (findMapInSliceBasedOnKeyValue).

    Raises:
        ApiError: 500.
    """
    for index, item in enumerate(order):
        if not isinstance(item, dict):
            raise _failed(f"value for key {index} is not a map")
        if item.get(merge_key) == name:
            return


def _go_type(value: Any) -> str:
    """Return a value's type as `%s` prints one that reflection tells."""
    if value is None:
        return "%!s(<nil>)"
    return "int64" if isinstance(value, int) and not isinstance(value, bool) else type_name(value)


def _merge_field(current: dict[str, Any], key: str, value: Any, struct: Model | None) -> None:
    if value is None:
        current.pop(key, None)
        return
    entry = struct.fields.get(key) if struct is not None else None
    inner = model(entry.model) if entry is not None and entry.model and entry.container != "map" else None
    place = (struct.key if struct is not None else "", key)
    if isinstance(value, dict) and isinstance(current.get(key), dict) and place in REPLACED:
        current[key] = deepcopy(value)
        return
    if isinstance(value, dict) and isinstance(current.get(key), dict):
        current[key] = _merge_struct(current[key], value, inner)
        return
    if isinstance(value, list) and isinstance(current.get(key), list):
        current[key] = _merge_lists(current[key], value, key, struct, entry)
        return
    # Where there was nothing the patch is taken as it stands: what it says twice stays twice.
    _discard(value)
    taken = _undirected(value)
    if taken is None:
        current.pop(key, None)
    else:
        current[key] = deepcopy(taken)


def _merge_lists(
    existing: list[Any], patch: list[Any], key: str, struct: Model | None, entry: FieldType | None
) -> list[Any]:
    place = (struct.key if struct is not None else "", key)
    merge_key = MERGE_KEYS.get(place)
    if merge_key is not None and entry is not None:
        _check_alike(existing, patch)
        return _merge_list(existing, patch, merge_key, model(entry.model))
    if place in SETS:
        _check_alike(existing, patch)
        merged: list[Any] = []
        for item in (*existing, *patch):
            if item not in merged:
                merged.append(item)
        return _arranged(merged, patch, existing)
    # What replaces a list is taken as it stands: directives in it are fields that nobody knows.
    return list(patch)


def _failed(why: str) -> ApiError:
    """Return what upstream answers where its library gives up: 500, without a reason."""
    return ApiError(500, "", why)


def _check_order(patch: list[Any], order: Any, merge_key: str) -> None:
    """Refuse a list that stands in another order than `$setElementOrder` says (validatePatchWithSetOrderList).

    Raises:
        ApiError: 500.
    """
    plain = [item for item in patch if not (isinstance(item, dict) and _DIRECTIVE in item)]
    if not order or not plain:
        return
    left = iter(order)
    for item in plain:
        if not any(_is_named_alike(item, one, merge_key) for one in left):
            why = (
                f"The order in patch list:\n{printed(patch)}\n doesn't match $setElementOrder list:\n{printed(order)}\n"
            )
            raise _failed(why)


def _is_named_alike(item: Any, other: Any, merge_key: str) -> bool:
    if not merge_key:
        return bool(item == other)
    for one in (item, other):
        if not isinstance(one, dict):
            _check_keyed(one, merge_key)
    for one in (item, other):
        _check_keyed(one, merge_key)
    return bool(item[merge_key] == other[merge_key])


def _check_alike(existing: list[Any], patch: list[Any]) -> None:
    """Refuse lists whose members are not all of one type (sliceElementType).

    Raises:
        ApiError: 422, they are lists; 500.
    """
    kinds = {type_name(item) for item in (*existing, *patch)}
    if len(kinds) > 1:
        raise _failed(f"list element types are not identical: [{printed(existing)} {printed(patch)}]")
    if "[]interface {}" in kinds:
        raise ApiError(422, "Invalid", "lists of lists are not supported", extra={"details": {}})


def _unknown(patch: dict[str, Any]) -> str:
    directive = patch[_DIRECTIVE]
    shown = "%!s(<nil>)" if directive is None else printed(directive)
    if isinstance(directive, (bool, int, float)):
        shown = f"%!s({_go_type(directive)}={shown})"
    return f"unknown patch type: {shown} in map: {printed(patch)}"


def _merge_list(existing: list[Any], patch: list[Any], merge_key: str, inner: Model) -> list[Any]:
    if any(isinstance(item, dict) and item.get(_DIRECTIVE) == "replace" for item in patch):
        return [deepcopy(item) for item in patch if not (isinstance(item, dict) and _DIRECTIVE in item)]
    result = list(existing)
    plain = [item for item in patch if isinstance(item, dict) and item.get(_DIRECTIVE) != "delete"]
    for item in patch:
        if item.get(_DIRECTIVE) == "merge":
            raise _failed("merging lists cannot yet be specified in the patch")
        if item.get(_DIRECTIVE, "delete") != "delete":
            raise _failed(_unknown(item))
        _check_keyed(item, merge_key)
        where = _positions(result, item, merge_key, inner)
        if item.get(_DIRECTIVE) == "delete":
            result = [other for index, other in enumerate(result) if index not in where]
        elif where:
            result[where[0]] = _merge_struct(result[where[0]], item, inner)
        else:
            result.append(deepcopy(item))
    return _arranged(result, plain, existing, merge_key)


def _positions(items: list[Any], item: dict[str, Any], merge_key: str, inner: Model) -> list[int]:
    """Return where items with the same merge key lie.

    Ports may share a number under two protocols (a known weakness of upstream's single key); the protocol decides
    when the patch names one that is there.
    """
    found = [
        index
        for index, other in enumerate(items)
        if isinstance(other, dict) and other.get(merge_key) == item[merge_key]
    ]
    if len(found) > 1 and "protocol" in inner.fields and "protocol" in item:
        exact = [index for index in found if items[index].get("protocol", "TCP") == item["protocol"]]
        return exact or found
    return found


def _arranged(items: list[Any], order: list[Any], before: list[Any], merge_key: str = "") -> list[Any]:
    """Return the items of a list in the order that upstream gives them (normalizeElementOrder).

    Those that `order` names stand in its order, the others in that of `before`; where the two meet, what is in front in
    `before` stays in front, and what was not there comes first.

    Args:
        items: the merged list.
        order: the patch's items, or what its `$setElementOrder` says.
        before: the list as it was.
        merge_key: the name of the field that tells structs apart; empty for scalars.
    """

    def name_of(item: Any) -> str:
        return repr(item.get(merge_key) if isinstance(item, dict) else item)

    def ranks(of: list[Any]) -> dict[str, int]:
        return {name_of(item): index for index, item in reversed(list(enumerate(of)))}

    asked, known = ranks(order), ranks(before)
    named = sorted((item for item in items if name_of(item) in asked), key=lambda item: asked[name_of(item)])
    others = [item for item in items if name_of(item) not in asked]
    others.sort(key=lambda item: known.get(name_of(item), len(known)))
    result: list[Any] = []
    while named and others:
        one, other = known.get(name_of(named[0])), known.get(name_of(others[0]))
        other_first = one is not None and other is not None and other < one
        result.append((others if other_first else named).pop(0))
    return [*result, *named, *others]


def _delete_scalars(current: dict[str, Any], key: str, values: Any) -> None:
    existing = current.get(key)
    if isinstance(existing, list) and isinstance(values, list):
        current[key] = [item for item in existing if item not in values]


def _discard(value: Any) -> None:
    """Take the nulls out of the maps of a part of a patch that enters where nothing of its type was."""
    if isinstance(value, dict):
        for key in [key for key, item in value.items() if item is None]:
            del value[key]
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _discard(item)


def _undirected(value: Any) -> Any:
    """Return a part of a patch, the maps that have a directive taken out of it; None: it is one (removeDirectives)."""
    if isinstance(value, dict):
        if _DIRECTIVE in value:
            return None
        for key, item in list(value.items()):
            kept = _undirected(item)
            if kept is None and item is not None:
                del value[key]
            else:
                value[key] = kept
        return value
    if isinstance(value, list):
        return [_undirected(item) for item in value if not (isinstance(item, dict) and _DIRECTIVE in item)]
    return value
