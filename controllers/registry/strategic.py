"""Strategic merge patches: lists of structs merge by key, lists of scalars as sets where upstream says so.

Which list merges by which key stands in `merging`, made from upstream's schema.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from controllers.registry import decoding
from controllers.registry.gotext import printed, type_name
from controllers.registry.merging import MERGE_KEYS, REPLACED, SETS
from controllers.registry.schema import Model, model
from scheduler_core.api.errors import ApiError, bad_request

_DIRECTIVE: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_ORDER: Final = "$setElementOrder/"
_DELETE: Final = "$deleteFromPrimitiveList/"


def _is_directive(key: str) -> bool:
    return key in (_DIRECTIVE, _RETAIN) or key.startswith((_ORDER, _DELETE))


def strategic_merge(document: dict[str, Any], patch: dict[str, Any], schema: str) -> dict[str, Any]:
    """Return the document with a strategic merge patch applied; `schema` names its struct (`core_v1.Pod`).

    Raises:
        ApiError: 400, 422 or 500, as upstream says where its library finds the patch malformed.
    """
    return _merge_struct(document, cut(patch, model(schema)), model(schema))


def cut(value: Any, struct: Model) -> Any:
    """Return a part of a patch with its whole numbers cut to the length of their fields, as Go cuts them."""
    if isinstance(value, list):
        return [cut(item, struct) for item in value]
    if not isinstance(value, dict):
        return value
    whole = dict(value)
    for key, part in value.items():
        entry = struct.fields.get(key)
        if entry is None:
            continue
        if entry.model and entry.container != "map":
            whole[key] = cut(part, model(entry.model))
        elif entry.scalar == "integer" and isinstance(part, int) and not isinstance(part, bool):
            whole[key] = decoding.cut(part, entry.item_name)
    return whole


def _merge_struct(target: Any, patch: dict[str, Any], struct: Model | None) -> dict[str, Any]:
    current: dict[str, Any] = dict(target) if isinstance(target, dict) else {}
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        # It is taken as it stands: directives further in are fields that nobody knows.
        return {key: deepcopy(value) for key, value in patch.items() if key != _DIRECTIVE}
    if directive == "delete":
        return {}
    if directive is not None:
        raise _failed(_unknown(patch))
    retained = patch.get(_RETAIN)
    if retained is not None:
        said = [key for key, value in patch.items() if value is not None and not _is_directive(key)]
        if not isinstance(retained, list) or any(key not in retained for key in said):
            raise bad_request("invalid patch format of retainKeys")
        current = {key: value for key, value in current.items() if key in retained}
    for key, value in patch.items():
        if key.startswith(_DELETE):
            _delete_scalars(current, key.removeprefix(_DELETE), value)
        elif not _is_directive(key):
            _merge_field(current, key, value, patch, struct)
    for key in patch:
        if key.startswith(_ORDER) and key.removeprefix(_ORDER) not in patch:
            _merge_field(current, key.removeprefix(_ORDER), [], patch, struct)
    return current


def _merge_field(current: dict[str, Any], key: str, value: Any, patch: dict[str, Any], struct: Model | None) -> None:
    if value is None:
        current.pop(key, None)
        return
    entry = struct.fields.get(key) if struct is not None else None
    inner = model(entry.model) if entry is not None and entry.model else None
    place = (struct.key if struct is not None else "", key)
    if isinstance(value, dict) and isinstance(current.get(key), dict) and place in REPLACED:
        current[key] = deepcopy(value)
        return
    if isinstance(value, dict) and isinstance(current.get(key), dict):
        current[key] = _merge_struct(current[key], value, inner)
        return
    if not isinstance(value, list):
        taken = _undirected(_discarded(value))
        if taken is None:
            current.pop(key, None)
        else:
            current[key] = taken
        return
    merge_key = MERGE_KEYS.get(place)
    if _ORDER + key in patch:
        _check_order(value, patch[_ORDER + key], merge_key or "")
    existing = current.get(key) if isinstance(current.get(key), list) else []
    order = patch.get(_ORDER + key)
    if not isinstance(current.get(key), list):
        # Where there was nothing the patch is taken as it stands: what it says twice stays twice.
        current[key] = _undirected(_discarded(value))
    elif merge_key is not None and inner is not None:
        _check_alike(existing or [], value)
        current[key] = _merge_list(existing or [], value, merge_key, inner, order)
    elif place in SETS:
        merged_set = [*(existing or [])]
        merged_set += [item for item in value if item not in merged_set]
        merged_set = _arranged(merged_set, value, existing or [])
        current[key] = _arranged(merged_set, order, existing or []) if isinstance(order, list) else merged_set
    else:
        # What replaces a list is taken as it stands: directives in it are fields that nobody knows.
        current[key] = list(value)


def _failed(why: str) -> ApiError:
    """Return what upstream answers where its library gives up: 500, without a reason."""
    return ApiError(500, "", why)


def _check_order(patch: list[Any], order: Any, merge_key: str) -> None:
    """Refuse a list that stands in another order than `$setElementOrder` says (validatePatchWithSetOrderList).

    Raises:
        ApiError: 500.
    """
    if not isinstance(order, list):
        raise _failed(f"expected a []interface {{}}, but received a {type_name(order)}")
    plain = [item for item in patch if not (isinstance(item, dict) and _DIRECTIVE in item)]
    if not order or not plain:
        return
    left = iter(order)
    for item in plain:
        name = item.get(merge_key) if merge_key and isinstance(item, dict) else item
        if not any((one.get(merge_key) if merge_key and isinstance(one, dict) else one) == name for one in left):
            why = (
                f"The order in patch list:\n{printed(patch)}\n doesn't match $setElementOrder list:\n{printed(order)}\n"
            )
            raise _failed(why)


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
    return f"unknown patch type: {printed(patch[_DIRECTIVE])} in map: {printed(patch)}"


def _merge_list(existing: list[Any], patch: list[Any], merge_key: str, inner: Model, order: Any) -> list[Any]:
    if any(isinstance(item, dict) and item.get(_DIRECTIVE) == "replace" for item in patch):
        return [deepcopy(item) for item in patch if not (isinstance(item, dict) and _DIRECTIVE in item)]
    result = list(existing)
    plain = [item for item in patch if isinstance(item, dict) and item.get(_DIRECTIVE) != "delete"]
    for item in patch:
        if item.get(_DIRECTIVE) not in (None, "delete"):
            raise _failed(_unknown(item))
        if merge_key not in item:
            raise _failed(f"map: {printed(item)} does not contain declared merge key: {merge_key}")
        where = _positions(result, item, merge_key, inner)
        if item.get(_DIRECTIVE) == "delete":
            result = [other for index, other in enumerate(result) if index not in where]
        elif where:
            result[where[0]] = _merge_struct(result[where[0]], item, inner)
        else:
            result.append(deepcopy(item))
    for item in order if isinstance(order, list) else ():
        if isinstance(item, dict) and merge_key not in item:
            raise _failed(f"map: {printed(item)} does not contain declared merge key: {merge_key}")
    result = _arranged(result, plain, existing, merge_key)
    return _arranged(result, order, existing, merge_key) if isinstance(order, list) else result


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


def _discarded(value: Any) -> Any:
    """Return a part of a patch without the nulls in its maps, as it enters where nothing of its type was."""
    if isinstance(value, dict):
        return {key: _discarded(item) for key, item in value.items() if item is not None}
    return [_discarded(item) for item in value] if isinstance(value, list) else value


def _undirected(value: Any) -> Any:
    """Return a part of a patch without the maps that have a directive; None: it is one (removeDirectives)."""
    if isinstance(value, dict):
        if _DIRECTIVE in value:
            return None
        kept = {key: _undirected(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None}
    if isinstance(value, list):
        return [_undirected(item) for item in value if not (isinstance(item, dict) and _DIRECTIVE in item)]
    return value
