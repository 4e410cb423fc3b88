"""What Go says of a text that is no JSON: the first character that does not fit, and where.

Source: encoding/json/scanner.go of Go 1.24, whose states these are.
"""

from __future__ import annotations

from typing import Final

_END: Final = "unexpected end of JSON input"
_SPACE: Final = " \t\r\n"
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}
_ESCAPES: Final = 'bfnrt\\/"'
_HEX: Final = "0123456789abcdefABCDEF"
_DIGITS: Final = "0123456789"


class _Wrong(Exception):
    """The text ends here as JSON."""


def syntax_error(text: str) -> str:
    """Return what Go says is wrong with a text, empty where nothing is."""
    try:
        place = _value(text, 0)
        rest = text[place:].lstrip(_SPACE)
        if rest:
            return _unexpected(rest[0], "after top-level value")
    except _Wrong as wrong:
        return str(wrong)
    return ""


def _unexpected(letter: str, where: str) -> str:
    if letter == "'":
        shown = "'\\''"
    elif letter == '"':
        shown = "'\"'"
    elif ord(letter) > 127:
        # Go tells of the first byte alone.
        shown = f"'{letter.encode()[:1].decode('latin-1')}'"
    elif letter.isprintable() and letter != "\\":
        shown = f"'{letter}'"
    else:
        code = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}.get(letter, f"\\x{ord(letter):02x}")
        shown = f"'{code}'"
    return f"invalid character {shown} {where}"


def _at(text: str, place: int, where: str, allowed: str) -> str:
    """Return the character at a place, which has to be one of these."""
    if place >= len(text):
        raise _Wrong(_END)
    if text[place] not in allowed:
        raise _Wrong(_unexpected(text[place], where))
    return text[place]


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _value(text: str, place: int) -> int:
    """Return where the value that begins at a place ends. What is open stands in a list: depth costs no stack."""
    holders: list[str] = []
    while True:
        place = _skip(text, place)
        if place >= len(text):
            raise _Wrong(_END)
        letter = text[place]
        if letter == "{":
            place = _skip(text, place + 1)
            if place < len(text) and text[place] == "}":
                place += 1
            else:
                place = _key(text, place)
                holders.append("{")
                continue
        elif letter == "[":
            place = _skip(text, place + 1)
            if place >= len(text) or text[place] != "]":
                holders.append("[")
                continue
            place += 1
        else:
            place = _scalar(text, place)
        done = _after(text, place, holders)
        if done is None:
            return place
        place = done
        if not holders:
            return place


def _after(text: str, place: int, holders: list[str]) -> int | None:
    """Return where the next value begins, or the outermost one ends; None: nothing is open."""
    while holders:
        place = _skip(text, place)
        if holders[-1] == "{":
            if _at(text, place, "after object key:value pair", ",}") == ",":
                return _key(text, _skip(text, place + 1))
        elif _at(text, place, "after array element", ",]") == ",":
            return place + 1
        holders.pop()
        place += 1
        if not holders:
            return place
    return None


def _key(text: str, place: int) -> int:
    """Return the place after an object's key and its colon."""
    _at(text, place, "looking for beginning of object key string", '"')
    place = _skip(text, _string(text, place + 1))
    _at(text, place, "after object key", ":")
    return place + 1


def _scalar(text: str, place: int) -> int:
    letter = text[place]
    if letter == '"':
        return _string(text, place + 1)
    if letter in _LITERALS:
        word = _LITERALS[letter]
        for offset in range(1, len(word)):
            _at(text, place + offset, f"in literal {word} (expecting '{word[offset]}')", word[offset])
        return place + len(word)
    if letter == "-" or letter in _DIGITS:
        return _number(text, place)
    raise _Wrong(_unexpected(letter, "looking for beginning of value"))


def _string(text: str, place: int) -> int:
    while True:
        if place >= len(text):
            raise _Wrong(_END)
        letter = text[place]
        if letter == '"':
            return place + 1
        if letter < " ":
            raise _Wrong(_unexpected(letter, "in string literal"))
        if letter == "\\":
            place += 1
            if _at(text, place, "in string escape code", _ESCAPES + "u") == "u":
                for offset in range(1, 5):
                    _at(text, place + offset, "in \\u hexadecimal character escape", _HEX)
                place += 4
        place += 1


def _number(text: str, place: int) -> int:
    if text[place] == "-":
        place += 1
        _at(text, place, "in numeric literal", _DIGITS)
    if text[place] == "0":
        place += 1
    else:
        place = _digits(text, place)
    if place < len(text) and text[place] == ".":
        _at(text, place + 1, "after decimal point in numeric literal", _DIGITS)
        place = _digits(text, place + 1)
    if place < len(text) and text[place] in "eE":
        place += 1
        if place < len(text) and text[place] in "+-":
            place += 1
        _at(text, place, "in exponent of numeric literal", _DIGITS)
        place = _digits(text, place)
    return place


def _digits(text: str, place: int) -> int:
    while place < len(text) and text[place] in _DIGITS:
        place += 1
    return place
