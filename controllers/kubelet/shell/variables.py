"""The variables of a shell: texts, arrays, what programs see of them, and what a function has of its own.

Source: POSIX.1-2024, Shell Command Language, 2.5; the Bash Reference Manual, 5 and 6.7.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Final

from controllers.kubelet.shell.arithmetic import value_of
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX
from controllers.kubelet.shell.tree import Unplayable

ARRAY_LENGTH_MAX: Final = 4_096
"""Elements of an array; what a script comes to that makes a longer one is not known."""

Elements = dict[int | str, str]


class Trouble(Exception):
    """What ends a shell that is no terminal: a name without a value, a sum that comes to nothing."""

    def __init__(self, text: str, code: int) -> None:
        """Say what is wrong, and how the shell ends."""
        super().__init__(text)
        self.text, self.code = text, code


@dataclass(slots=True)
class Own:
    """What the names that a function has made its own meant before; None where they meant nothing."""

    texts: dict[str, str | None] = field(default_factory=dict)
    arrays: dict[str, Elements | None] = field(default_factory=dict)


class Variables(ABC):
    """What a shell does with variables; who is one has these."""

    __slots__ = ()

    variables: dict[str, str]
    arrays: dict[str, Elements]
    keyed: set[str]
    """Arrays whose elements have names."""
    exported: set[str]
    readonly: set[str]
    numeric: set[str]
    """Variables whose values are sums."""
    options: set[str]
    calls: list[Own]
    """Of functions that are being called, the innermost last."""

    def environment(self) -> dict[str, str]:
        """Return the variables that programs see."""
        return {name: text for name, text in self.variables.items() if name in self.exported}

    def put(self, name: str, text: str, index: str | None = None, *, more: bool = False) -> None:
        """Give a variable or an element of an array a value; `more`: add to the one that it has.

        Raises:
            Trouble: it cannot be changed.
            Unplayable: the array is too long.
        """
        if name in self.readonly:
            raise Trouble(f"{name}: readonly variable", 1)
        if name in self.numeric:
            text, more = str(value_of(f"{self.held(name) or 0}+({text})" if more else text, self)), False
        if index is None and name not in self.arrays:
            self.variables[name] = ((self.variables.get(name, "") if more else "") + text)[:VALUE_LENGTH_MAX]
            if "a" in self.options:
                self.exported.add(name)
            return
        elements = self.arrays.get(name)
        if elements is None:
            before = self.variables.pop(name, None)
            elements = self.arrays[name] = {} if before is None else {0: before}
        key = self.key(name, index or "0")
        elements[key] = ((elements.get(key, "") if more else "") + text)[:VALUE_LENGTH_MAX]
        if len(elements) > ARRAY_LENGTH_MAX:
            raise Unplayable("an array is too long")

    def put_all(self, name: str, items: list[tuple[str | None, str]], *, more: bool = False) -> None:
        """Make a variable an array of (index or None: the next one, text)."""
        if name in self.readonly:
            raise Trouble(f"{name}: readonly variable", 1)
        if not more:
            self.variables.pop(name, None)
            self.arrays[name] = {}
        elif name not in self.arrays:
            before = self.variables.pop(name, None)
            self.arrays[name] = {} if before is None else {0: before}
        following = self._following(name)
        for index, text in items:
            key = following if index is None else self.key(name, index)
            self.put(name, text, str(key))
            following = key + 1 if isinstance(key, int) else following

    def _following(self, name: str) -> int:
        return max((key for key in self.arrays[name] if isinstance(key, int)), default=-1) + 1

    def key(self, name: str, index: str) -> int | str:
        """Return the key of an element: a sum, counted from the end where it is negative.

        Raises:
            Trouble: there is no such place.
        """
        if name in self.keyed:
            return index
        number = value_of(index, self)
        if number < 0:
            number += self._following(name) if name in self.arrays else 0
        if number < 0:
            raise Trouble(f"{name}[{index}]: bad array subscript", 1)
        return number

    def elements(self, name: str) -> Elements:
        """Return the elements of an array in order; a text is an array of one."""
        found = self.arrays.get(name)
        if found is None:
            return {0: self.variables[name]} if name in self.variables else {}
        return found if name in self.keyed else dict(sorted(found.items(), key=lambda one: int(one[0])))

    def element(self, name: str, index: str) -> str | None:
        """Return an element of an array; None where there is none."""
        if name not in self.arrays:
            return self.variables.get(name) if self.key(name, index) == 0 else None
        return self.arrays[name].get(self.key(name, index))

    def held(self, name: str) -> str | None:
        """Return a variable's text, of an array its first; None where it has none."""
        if name in self.arrays:
            return self.arrays[name].get("0" if name in self.keyed else 0)
        return self.variables.get(name)

    def drop(self, name: str, index: str | None = None) -> None:
        """Take a variable or an element of an array away."""
        if name in self.readonly:
            raise Trouble(f"{name}: readonly variable", 1)
        if index is not None and name in self.arrays:
            self.arrays[name].pop(self.key(name, index), None)
        else:
            self.variables.pop(name, None)
            self.arrays.pop(name, None)
            self.keyed.discard(name)
            self.exported.discard(name)

    def make_own(self, name: str) -> None:
        """Let the function that is being called have a variable of its own."""
        own = self.calls[-1]
        if name not in own.texts:
            own.texts[name] = self.variables.pop(name, None)
            own.arrays[name] = self.arrays.pop(name, None)

    def leave(self) -> None:
        """A function ends: what was its own means again what it meant before."""
        own = self.calls.pop()
        for name, text in own.texts.items():
            self.variables.pop(name, None)
            self.arrays.pop(name, None)
            if text is not None:
                self.variables[name] = text
            before = own.arrays[name]
            if before is not None:
                self.arrays[name] = before

    # -- numbers ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def variable(self, name: str) -> str | None:
        """Return what `$name` is; None where it is not set."""

    def number_text(self, name: str, index: str | None) -> str:
        """Return what a name in a sum holds."""
        return (self.variable(name) if index is None else self.element(name, index)) or ""

    def put_number(self, name: str, index: str | None, value: int) -> None:
        """Give a name in a sum a value."""
        self.put(name, str(value), index)

    def is_keyed(self, name: str) -> bool:
        """Return whether the elements of an array have names."""
        return name in self.keyed
