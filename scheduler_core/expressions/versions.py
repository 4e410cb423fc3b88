"""Semantic versions in expressions.

Source: k8s.io/apiserver/pkg/cel/library (semverlib.go), v1.34, and semver.org 2.0.0, whose words for what is no version
are those of github.com/blang/semver.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.expressions.declaring import Function, Own, Way, part

SEMVER: Final = "kubernetes.Semver"
_UINT64: Final = 2**64
_LETTERS: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_PARTS: Final = ("major", "minor", "patch")


def _number(text: str, of: str) -> int:
    if not text or not (text.isascii() and text.isdigit()):
        if text:
            raise ValueError(f'Invalid character(s) found in {of} number "{text}"')
        raise ValueError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f'{of.capitalize()} number must not contain leading zeroes "{text}"')
    if int(text) >= _UINT64:
        raise ValueError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _before(text: str) -> tuple[bool, int, str]:
    """Return a part of what stands behind the hyphen, as it is compared: numbers first, by their size."""
    if not text:
        raise ValueError("Prerelease is empty")
    if text.isascii() and text.isdigit():
        if len(text) > 1 and text[0] == "0":
            raise ValueError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return False, int(text), ""
    if not _LETTERS.issuperset(text):
        raise ValueError(f'Invalid character(s) found in prerelease "{text}"')
    return True, 0, text


def _read(text: str) -> tuple[tuple[int, int, int], tuple[tuple[bool, int, str], ...]]:
    """Return a version as it is compared: its numbers, and what stands behind the hyphen."""
    if not text:
        raise ValueError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise ValueError("No Major.Minor.Patch elements found")
    rest, plus, build = parts[2].partition("+")
    last, hyphen, before = rest.partition("-")
    numbers = tuple(_number(one, of) for one, of in zip((*parts[:2], last), _PARTS, strict=True))
    found = tuple(_before(one) for one in before.split(".")) if hyphen else ()
    for one in build.split(".") if plus else ():
        if not one:
            raise ValueError("Build meta data is empty")
        if not _LETTERS.issuperset(one):
            raise ValueError(f'Invalid character(s) found in build meta data "{one}"')
    return (numbers[0], numbers[1], numbers[2]), found


def version_of(text: str) -> Own:
    """Return a semantic version as expressions have it.

    Raises:
        ValueError: it is none; the text is upstream's.
    """
    _read(text)
    # What was built of it tells no two versions apart.
    return {SEMVER: text.partition("+")[0]}


def _tolerant(text: str, normalize: bool) -> Own:
    """Return a version that may begin with v, have zeros in front and lack its last numbers."""
    if not normalize:
        return version_of(text)
    text = text.removeprefix("v")
    parts = text.split(".", 2)
    for index, one in enumerate(parts):
        stripped = one.lstrip("0")
        parts[index] = stripped if stripped and stripped[0].isdigit() else ("0" + stripped if one != stripped else one)
    if len(parts) < 3:
        if any(letter in parts[-1] for letter in "+-"):
            raise ValueError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return version_of(".".join(parts))


def _is(text: str, normalize: bool = False) -> bool:
    try:
        _tolerant(text, normalize)
    except ValueError:
        return False
    return True


def _compared(one: Own, other: Own) -> int:
    first, second = _read(part(one, SEMVER)), _read(part(other, SEMVER))
    # Without anything behind the hyphen a version comes after those with something there.
    left, right = (first[0], not first[1], first[1]), (second[0], not second[1], second[1])
    return (left > right) - (left < right)


def _numbered(index: int) -> Way:
    return Way("int", (SEMVER,), lambda one: _read(part(one, SEMVER))[0][index], member=True)


LESS: Final = Way("bool", (SEMVER, SEMVER), lambda one, other: _compared(one, other) < 0, member=True)
GREATER: Final = Way("bool", (SEMVER, SEMVER), lambda one, other: _compared(one, other) > 0, member=True)
COMPARED: Final = Way("int", (SEMVER, SEMVER), _compared, member=True)
"""Quantities have methods of these names, too."""

FUNCTIONS: Final = (
    Function("semver", Way(SEMVER, ("string",), version_of), Way(SEMVER, ("string", "bool"), _tolerant)),
    Function("isSemver", Way("bool", ("string",), _is), Way("bool", ("string", "bool"), _is)),
    *(Function(name, _numbered(index)) for index, name in enumerate(_PARTS)),
)
