"""A sentence that knows which one it is: its English, and beside it the key and the values by which a page says it in
another language.
"""

from __future__ import annotations

from typing import Any, Self


class Said(str):
    """A sentence in English with its `key` and `values`; `document` is its wire form.

    What is cut off it, or put together with it, is plain text again; `after` keeps what it is.
    """

    __slots__ = ("key", "values")

    key: str
    values: dict[str, Said | str | int | float]

    def after(self, head: str) -> Self:
        """Return the same sentence whose English begins with something that says nothing more to a person."""
        return self._with(head + self, self.key, self.values)

    @classmethod
    def _with(cls, english: str, key: str, values: dict[str, Said | str | int | float]) -> Self:
        made = cls(english)
        made.key, made.values = key, values
        return made

    def document(self) -> dict[str, Any]:
        """Return `{"key", "values"}`; a value that is a sentence itself is told in the same form."""
        told = {name: value.document() if isinstance(value, Said) else value for name, value in self.values.items()}
        return {"key": self.key, "values": told}


def said(key: str, english: str, /, **values: object) -> Said:
    """Return a sentence.

    Args:
        key: what it is called, for ever; other languages stand under it in `static/js/lib/text/`.
        english: what it says, with `{name}` for each of the values.
        values: what comes into its blanks; what is neither a number nor a sentence comes in as its text.
    """
    kept = {name: value if isinstance(value, Said | int | float) else str(value) for name, value in values.items()}
    return Said._with(english.format(**values), key, kept)
