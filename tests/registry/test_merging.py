"""What the generated models leave out stands in `controllers/registry/merging.py`, made from upstream's own schema.

`--update-golden` writes the module anew from the OpenAPI of v1.34 that the package kubernetes-validate carries.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from controllers.kinds.table import KINDS
from controllers.registry import merging
from controllers.registry.schema import Model, model
from controllers.registry.strategic import strategic_merge

FILE = Path(merging.__file__)
SPEC = find_spec("kubernetes_validate")
HEAD = '''"""How fields merge, and what maps hold: what the generated models leave out of upstream's schema.

Made from the OpenAPI of v1.34 (`pytest tests/registry/test_merging.py --update-golden`, then `make fmt`).
Structs are named as in the models: `core_v1.PodSpec`.
"""

from __future__ import annotations

from typing import Final, Literal
'''
TABLES = {
    "MERGE_KEYS": ("dict[tuple[str, str], str]", "(struct, list) → the field of its items by which they merge."),
    "SETS": ("frozenset[tuple[str, str]]", "(struct, list of scalars) that merge as sets."),
    "REPLACED": ("frozenset[tuple[str, str]]", "(struct, field) that a strategic merge patch replaces whole."),
    "MAP_VALUES": (
        'dict[tuple[str, str], Literal["bytes", "quantity", "time", "texts", "any"]]',
        "(struct, map) → what it holds where it is not text, nor a struct.",
    ),
    "MAP_STRUCTS": ("dict[tuple[str, str], str]", "(struct, map) → the struct that its values are."),
    "LIST_KEYS": (
        "dict[tuple[str, str], tuple[str, ...]]",
        "(struct, list) → the fields that tell its items apart when fields have owners; none: the list is a set.",
    ),
    "ATOMIC_MAPS": (
        "frozenset[tuple[str, str]]",
        "(struct, field) of maps and structs that have one owner as a whole.",
    ),
    "GRANULAR": (
        "frozenset[tuple[str, str]]",
        "(struct, field) whose parts have owners, though the struct that they hold has one elsewhere.",
    ),
    "ATOMIC_STRUCTS": ("frozenset[str]", "Structs that have one owner as a whole, wherever they stand."),
    "STRATEGIES": ("dict[tuple[str, str], str]", "(struct, field) → its strategies of merging, as they are published."),
    "LIST_TYPES": (
        'dict[tuple[str, str], Literal["atomic", "map", "set"]]',
        "(struct, list) → how it merges when fields have owners, where upstream says so.",
    ),
}


def definitions() -> dict[str, Any]:
    assert SPEC is not None
    assert SPEC.submodule_search_locations is not None
    folder = Path(next(iter(SPEC.submodule_search_locations))) / "kubernetes-json-schema" / "v1.34.0-local"
    found: dict[str, Any] = json.loads((folder / "_definitions.json").read_text())["$defs"]
    return found


def struct_of(name: str) -> str:
    """Return `core_v1.PodSpec` for `io.k8s.api.core.v1.PodSpec`."""
    *_, group, version, struct = name.split(".")
    return f"{group}_{version}.{struct}"


def is_known(key: str) -> bool:
    try:
        return bool(model(key))
    except (KeyError, AttributeError):  # no struct, or another name of a scalar
        return False


def held_by(field: dict[str, Any]) -> str:
    """Return what the values of a map are, a scalar or a struct; empty where they are text or the field is no map."""
    values = field.get("additionalProperties")
    if not isinstance(values, dict):
        return ""
    if str(values.get("$ref", "")).endswith(".Quantity"):
        return "quantity"
    if values.get("format") == "byte":
        return "bytes"
    if values.get("type") in ("array", ["array", "null"]):
        return "texts" if "string" in values["items"]["type"] else "any"
    struct = str(values.get("$ref", "")).rpartition("/")[2]
    if struct.endswith(".Time"):
        return "time"
    if "JSONSchemaProps" in struct:
        # It holds itself, and is read where definitions are (controllers/custom).
        return "any"
    return struct_of(struct) if struct else ""


def upstream() -> dict[str, Any]:
    """Return the tables that the schema of v1.34 gives."""
    keys: dict[tuple[str, str], str] = {}
    values: dict[tuple[str, str], str] = {}
    structs: dict[tuple[str, str], str] = {}
    owned: dict[tuple[str, str], tuple[str, ...]] = {}
    told: dict[tuple[str, str], str] = {}
    listed: dict[tuple[str, str], str] = {}
    sets, replaced, whole, whole_structs, granular = set(), set(), set(), set(), set()
    for name, struct in definitions().items():
        key = struct_of(name) if name.count(".") > 3 else ""
        # Versions that are not stable are not served.
        if not key or "alpha" in key or "beta" in key or not is_known(key):
            continue
        if struct.get("x-kubernetes-map-type") == "atomic":
            whole_structs.add(key)
        for field, entry in struct.get("properties", {}).items():
            strategies = str(entry.get("x-kubernetes-patch-strategy", "")).split(",")
            merge_key = entry.get("x-kubernetes-patch-merge-key")
            if merge_key and "merge" in strategies:
                keys[key, field] = merge_key
            elif "merge" in strategies:
                sets.add((key, field))
            if strategies != [""]:
                told[key, field] = ",".join(strategies)
            if "x-kubernetes-list-type" in entry:
                listed[key, field] = entry["x-kubernetes-list-type"]
            if "replace" in strategies:
                replaced.add((key, field))
            if held := held_by(entry):
                (structs if "." in held else values)[key, field] = held
            if owned_by(entry) is not None:
                owned[key, field] = owned_by(entry) or ()
            if entry.get("x-kubernetes-map-type") == "atomic":
                whole.add((key, field))
            if entry.get("x-kubernetes-map-type") == "granular":
                granular.add((key, field))
    return {
        "MERGE_KEYS": keys,
        "SETS": frozenset(sets),
        "REPLACED": frozenset(replaced),
        "MAP_VALUES": values,
        "MAP_STRUCTS": structs,
        "LIST_KEYS": owned,
        "ATOMIC_MAPS": frozenset(whole),
        "GRANULAR": frozenset(granular),
        "ATOMIC_STRUCTS": frozenset(whole_structs),
        "STRATEGIES": told,
        "LIST_TYPES": listed,
    }


def owned_by(field: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the keys of a list whose items have owners of their own, none for a set; None: it has one owner.

    Where the type of a list is not told, its patch strategy says it (k8s.io/kube-openapi, schemaconv).
    """
    listed = field.get("x-kubernetes-list-type")
    if listed == "map":
        return tuple(field["x-kubernetes-list-map-keys"])
    if listed is not None:
        return () if listed == "set" else None
    if "merge" not in str(field.get("x-kubernetes-patch-strategy", "")).split(","):
        return None
    merge_key = field.get("x-kubernetes-patch-merge-key")
    return (merge_key,) if merge_key else ()


def written(tables: dict[str, Any]) -> str:
    parts = [HEAD]
    for name, (annotation, meaning) in TABLES.items():
        table = tables[name]
        if isinstance(table, dict):
            lines = [f"    {place!r}: {value!r},\n" for place, value in sorted(table.items())]
            body = "{\n" + "".join(lines) + "}"
        else:
            body = "frozenset(\n    {\n" + "".join(f"        {place!r},\n" for place in sorted(table)) + "    }\n)"
        parts.append(f'\n{name}: Final[{annotation}] = {body}\n"""{meaning}"""\n')
    return "".join(parts)


def test_the_tables_are_upstreams(pytestconfig: pytest.Config) -> None:
    tables = upstream()
    assert all(tables.values())
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(written(tables))
        return
    for name, table in tables.items():
        assert getattr(merging, name) == table


def test_every_field_of_the_tables_is_one_of_the_models() -> None:
    values = (merging.MAP_VALUES, merging.MAP_STRUCTS)
    tables = (merging.MERGE_KEYS, merging.SETS, merging.REPLACED, *values, merging.LIST_KEYS)
    for struct, field in (*(place for table in tables for place in table), *merging.ATOMIC_MAPS, *merging.GRANULAR):
        assert field in model(struct).fields
    assert all(model(struct).fields for struct in merging.ATOMIC_STRUCTS)


def test_every_kind_reaches_structs_that_merge() -> None:
    """The tables speak of what is served: each kind's metadata merges, and pods' containers do."""
    for kind in KINDS:
        assert ("meta_v1.ObjectMeta", "finalizers") in merging.SETS
        assert "meta_v1.ObjectMeta" in reached(model(kind.schema))
    assert "core_v1.PodSpec" in reached(model("apps_v1.Deployment"))


def reached(struct: Model, seen: set[str] | None = None) -> set[str]:
    seen = {struct.key} if seen is None else seen
    for field in struct.fields.values():
        if field.model and field.model not in seen:
            seen.add(field.model)
            reached(model(field.model), seen)
    return seen


def test_a_budgets_selector_is_replaced_whole() -> None:
    budget = {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}
    patch = {"spec": {"selector": {"matchLabels": {"tier": "db"}}}}
    merged = strategic_merge(budget, patch, "policy_v1.PodDisruptionBudget")
    assert merged["spec"] == {"minAvailable": 1, "selector": {"matchLabels": {"tier": "db"}}}


def test_a_gate_is_taken_away_by_its_name() -> None:
    pod = {"spec": {"schedulingGates": [{"name": "a"}, {"name": "b"}]}}
    patch = {"spec": {"schedulingGates": [{"name": "a", "$patch": "delete"}]}}
    assert strategic_merge(pod, patch, "core_v1.Pod")["spec"] == {"schedulingGates": [{"name": "b"}]}
