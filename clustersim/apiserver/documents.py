"""YAML as Kubernetes reads it: safe, without aliases, dates left as text."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import yaml

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _Base  # type: ignore[assignment]

MAX_YAML_BYTES: Final = 1024 * 1024
"""Bytes of a YAML body: reading it takes about a second, thirty times what JSON takes."""


class SafeLoader(_Base):
    """Leaves timestamps as strings, as JSON would."""


SafeLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}


def load(text: bytes) -> Any:
    """Return the one document of a text.

    Aliases are refused before anything is built: a few lines of them can stand for gigabytes.

    Raises:
        yaml.YAMLError: it cannot be read, has aliases, or holds several documents.
    """
    for event in yaml.parse(text, Loader=SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            where = f" (line {event.start_mark.line + 1})" if event.start_mark is not None else ""
            raise yaml.YAMLError(f"aliases are not read here, write the value out{where}")
    value = yaml.load(text, Loader=SafeLoader)
    try:
        # YAML has more than JSON: numbers as keys, sets, bytes, infinity. What JSON makes of them is what counts.
        return msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, msgspec.MsgspecError) as error:
        raise yaml.YAMLError(f"this cannot be written as JSON: {error}") from error
