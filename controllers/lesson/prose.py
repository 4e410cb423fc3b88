"""The prose of a lesson: `en.md` and `zh.md`, read into blocks that a page can show without trusting them.

`# <step id>` begins a step, `## scene`, `## hint`, `## ask`, `## reveal` and `## so` its parts. In them: paragraphs,
lists (`- `), quotes (`> `), code between fences, `**strong**`, `*emphasis*`, `` `code` ``, and `[440](=<expression>)`,
a number with the expression that it comes from; `[4](=)` is a number that the script fixes. Nothing else is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said

PARTS: Final = ("scene", "ask", "hint", "reveal", "so")
"""Headings of the second level, in the order of a step."""

TEXT_CHARS_MAX: Final = 200_000
"""Characters of one language's file; a longer one is refused."""

Kind = Literal["p", "li", "quote", "code"]


class Part(NamedTuple):
    """A piece of a block: `kind` is text, strong, em, code or number.

    `expression` is what a number comes from; None elsewhere, empty for one that the script fixes.
    """

    kind: str
    text: str
    expression: str | None = None


class Block(NamedTuple):
    """A paragraph, an entry of a list, a quote or code; `line` counts from 1 in the file."""

    kind: Kind
    parts: tuple[Part, ...]
    line: int

    def document(self) -> dict[str, object]:
        """Return the block as the session API shows it."""
        return {"kind": self.kind, "parts": [{part.kind: part.text} for part in self.parts]}


Prose = Mapping[str, Mapping[str, tuple[Block, ...]]]
"""Step → part → blocks."""

_SPAN: Final = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>[^*]+)\*\*"
    r"|\*(?P<em>[^*\s][^*]*)\*"
    r"|\[(?P<number>[^\]\[]*)\]\(=(?P<expression>(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\)"
)
_WORD: Final = re.compile(r"[A-Za-z0-9_]+(?:[-./:_][A-Za-z0-9_]+)*", re.ASCII)
_HEADING: Final = re.compile(r"(#{1,2})\s+(\S.*?)\s*$")


def read_prose(text: str, file: str, causes: list[Cause]) -> Prose:
    """Return a file's prose; what is wrong is added to `causes`, placed by file and line."""
    if len(text) > TEXT_CHARS_MAX:
        causes.append(
            Cause(
                file,
                said(
                    "package.long",
                    "{text} characters: at most {text_chars_max}",
                    text=len(text),
                    text_chars_max=TEXT_CHARS_MAX,
                ),
            )
        )
        return {}
    found: dict[str, dict[str, tuple[Block, ...]]] = {}
    step = part = ""
    lines: list[tuple[int, str]] = []

    def close() -> None:
        blocks = tuple(_blocks(lines))
        if step and part:
            found[step][part] = blocks
            causes.extend(Cause(f"{file}:{line}", message) for line, message in _bare_numbers(blocks))
        elif blocks:
            causes.append(
                Cause(
                    f"{file}:{blocks[0].line}",
                    said("package.textBefore", "text stands before the first heading of a part"),
                )
            )
        lines.clear()

    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading is None:
            lines.append((number, line))
            continue
        close()
        if len(heading[1]) == 1:
            step, part = heading[2], ""
            if step in found:
                causes.append(
                    Cause(f"{file}:{number}", said("package.stepPartTwice", "a second part {step!r}", step=step))
                )
            found[step] = {}
            continue
        part = heading[2].lower()
        if part not in PARTS:
            causes.append(
                Cause(
                    f"{file}:{number}",
                    said("package.noPart", "no part {part!r}; there are {known}", part=part, known=", ".join(PARTS)),
                )
            )
        elif part in found.get(step, {}):
            causes.append(
                Cause(
                    f"{file}:{number}",
                    said("package.partTwice", "a second part {part!r} in {step!r}", part=part, step=step),
                )
            )
    close()
    return found


def numbers(blocks: tuple[Block, ...]) -> Iterator[tuple[Block, Part]]:
    """Yield the numbers that come from an expression."""
    for block in blocks:
        for part in block.parts:
            if part.kind == "number" and part.expression:
                yield block, part


def _blocks(lines: list[tuple[int, str]]) -> Iterator[Block]:
    kind: Kind = "p"
    begun, held = 0, [""]
    held.clear()

    def made() -> Iterator[Block]:
        if held:
            text = ("\n" if kind == "code" else " ").join(held)
            yield Block(kind, (Part("code", text),) if kind == "code" else tuple(_parts(text)), begun)
        held.clear()

    fenced = False
    for number, line in lines:
        if line.startswith("```"):
            yield from made()
            fenced, kind, begun = not fenced, "code", number + 1
            continue
        if fenced:
            held.append(line)
            continue
        stripped = line.strip()
        opens: Kind = "li" if stripped.startswith("- ") else "quote" if stripped.startswith("> ") else "p"
        if not stripped:
            yield from made()
            kind = "p"
        elif opens == "li" or (opens == "quote" and kind != "quote") or kind == "code":
            yield from made()
            kind, begun = opens, number
            held.append(stripped if opens == "p" else stripped[2:])
        elif held:
            held.append(stripped[2:] if opens == "quote" else stripped)
        else:
            kind, begun = opens, number
            held.append(stripped if opens == "p" else stripped[2:])
    yield from made()


def _parts(text: str) -> Iterator[Part]:
    at = 0
    for span in _SPAN.finditer(text):
        if span.start() > at:
            yield Part("text", text[at : span.start()])
        at = span.end()
        kind = next(name for name in ("code", "strong", "em", "number") if span[name] is not None)
        yield Part(kind, span[kind], span["expression"] if kind == "number" else None)
    if at < len(text):
        yield Part("text", text[at:])


def _bare_numbers(blocks: tuple[Block, ...]) -> Iterator[tuple[int, str]]:
    """Yield numbers that stand in the text without saying where they come from; in names (`n1`) they may."""
    for block in blocks:
        for part in block.parts:
            if part.kind not in ("text", "strong", "em"):
                continue
            for word in _WORD.findall(part.text):
                if word[0].isdigit():
                    yield block.line, f"the number {word} has no expression: write [{word}](=<expression>)"
