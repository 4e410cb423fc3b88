"""Fields that a body gives twice: clients are told, as upstream tells of them (strict decoding of JSON and YAML)."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec
import yaml

from clustersim.documents import text_of
from controllers.registry.context import Repeated
from controllers.registry.reading import YAML_ERRORS

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

_SPACED: Final = re.compile(rb'"\s+:')


def repeated_in_json(body: bytes, document: Any) -> Repeated | None:
    """Return what a JSON body says twice and where each of its fields stands; None where nothing is said twice.

    Args:
        body: JSON that can be read.
        document: what was read of it.
    """
    if _says_once(body, document):
        return None
    walk = _Walk()
    # Places are told as (place, key) pairs first: which path an object lies at is known at the end alone.
    walk.visit(json.loads(body, object_pairs_hook=_Pairs), "")
    return Repeated(tuple(walk.twice), walk.places) if walk.twice else None


def _says_once(body: bytes, document: Any) -> bool:
    """Return whether JSON that was read as `document` surely says nothing twice: it has as many fields as that."""
    return not _SPACED.search(body) and body.count(b'":') == msgspec.json.encode(document).count(b'":')


def repeated_in_applied(body: bytes, document: Any) -> Repeated | None:
    """Return what a configuration says twice, JSON or YAML, as a reader of YAML tells it."""
    if body.startswith(b"{") and _says_once(body, document):
        return None
    return repeated_in_yaml(body)


class _Pairs(list):  # type: ignore[type-arg]
    """The fields of one JSON object, in order."""


class _Walk:
    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.twice: list[tuple[int, str]] = []
        self._count = 0

    def visit(self, value: Any, path: str) -> None:
        if isinstance(value, _Pairs):
            seen: set[str] = set()
            for key, item in value:
                where = f"{path}.{key}" if path else key
                self._count += 1
                if key in seen:
                    self.twice.append((self._count, f'duplicate field "{where}"'))
                seen.add(key)
                self.places.setdefault(where, self._count)
                self.visit(item, where)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self.visit(item, f"{path}[{index}]")


def repeated_in_yaml(body: bytes) -> Repeated | None:
    """Return what a YAML body says twice, with the lines; None where nothing is said twice."""
    lines: list[str] = []
    # One entry a collection that is open: the keys so far (None in a list) and the key that waits for its value.
    above: list[tuple[set[str] | None, list[str]]] = [(None, [])]
    for event in yaml.parse(text_of(body), Loader=_Loader):
        opens = isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent))
        if opens or isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
            keys, waiting = above[-1]
            if keys is not None and waiting:
                key = waiting.pop()
                if key in keys and key != "<<" and event.start_mark is not None:
                    lines.append(f"line {event.start_mark.line + 1}: key {json.dumps(key)} already set in map")
                keys.add(key)
            elif keys is not None:
                waiting.append(event.value if isinstance(event, yaml.ScalarEvent) else "")
            if opens:
                above.append((set() if isinstance(event, yaml.MappingStartEvent) else None, []))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            above.pop()
        elif isinstance(event, yaml.DocumentEndEvent):
            # Nobody reads on.
            break
    if not lines:
        return None
    return Repeated(((0, YAML_ERRORS + "\n".join(f"  {line}" for line in lines)),), {})
