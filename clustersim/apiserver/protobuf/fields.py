"""The field tables of the messages: what `fields.txt` says, by message and number."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

MAGIC: Final = b"k8s\x00"
"""How a body begins; an envelope (`runtime.Unknown`) with one object in it follows."""

_FILE: Final = Path(__file__).with_name("fields.txt")
_META: Final = "meta_v1"
_LIST: Final = "List"


class Field(NamedTuple):
    """One field of a message: its number, its name in JSON (empty: its parts stand among the others), what it holds."""

    number: int
    name: str
    form: str
    """A letter of `fields.txt`, or a message's name."""
    container: str
    """`[]`, `{}`, or nothing."""
    pointer: bool
    told: bool
    """Whether JSON tells it when it is zero."""

    @property
    def is_message(self) -> bool:
        """Return whether it holds a message of the tables."""
        return "." in self.form


@cache
def messages() -> dict[str, str]:
    """Return the fields of each message as the file has them, by `core_v1.PodSpec`."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return dict(line.split(":", 1) for line in lines if not line.startswith("#"))


@cache
def fields_of(message: str) -> tuple[Field, ...]:
    """Return a message's fields in the order of their numbers, as Go writes them.

    Raises:
        KeyError: no such message.
    """
    if message not in messages():
        return (
            Field(1, "metadata", f"{_META}.ListMeta", "", False, False),
            Field(2, "items", message.removesuffix(_LIST), "[]", False, True),
        )
    return tuple(_parsed(message))


def _parsed(message: str) -> Iterator[Field]:
    module = message.partition(".")[0]
    for entry in filter(None, messages()[message].strip().split(", ")):
        number, name, form = entry.split(" ")
        told, form = form.endswith("!"), form.removesuffix("!")
        container = form[:2] if form[:2] in ("[]", "{}") else ""
        form = form.removeprefix(container)
        pointer, form = form.startswith("*"), form.removeprefix("*")
        if len(form) > 1 and "." not in form:
            form = f"{module}.{form}"
        yield Field(int(number), name.removeprefix("+"), form, container, pointer, told)


def is_known(api_version: str, kind: str) -> bool:
    """Return whether there is a message of a kind: of each that upstream serves, of no custom resource."""
    return bool(message_of(api_version, kind))


@cache
def _known(message: str) -> bool:
    if message in messages():
        return True
    # Every kind has a list, which is written alike.
    of = message.removesuffix(_LIST)
    return of != message and of in messages() and fields_of(of)[0][1:3] == ("metadata", f"{_META}.ObjectMeta")


def message_of(api_version: str, kind: str) -> str:
    """Return the message of a kind, empty where there is none.

    The options of requests are sent in the version of what they are about.
    """
    group, _, version = api_version.rpartition("/")
    if "." in group and not group.endswith(".k8s.io"):
        return ""
    found = f"{group.partition('.')[0] or 'core'}_{version}.{kind}"
    if _known(found):
        return found
    found = f"{_META}.{kind}"
    return found if _known(found) else ""
