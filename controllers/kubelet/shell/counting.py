"""Programs that count and look at the kernel: `expr`, `sysctl`."""

from __future__ import annotations

import re
from typing import Final

from controllers.kubelet.shell.arithmetic import Fixed, Unreckonable, value_of
from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.patterns import compiled, of_basic
from controllers.kubelet.shell.programs import options, wrong
from controllers.kubelet.shell.running import Running, Wrote

_WHOLE: Final = re.compile(r"-?\d+", re.ASCII)

KERNEL: Final = "/proc/sys/"
"""Where the kernel's parameters are files."""


def _expr(call: Call) -> Running:
    words = [word for word in call.arguments if word != "--"]
    value: str | int
    try:
        value = _of_texts(words)
    except Unreckonable as problem:
        return (yield from wrong(call, "division by zero" if "division" in str(problem) else "syntax error", 2))
    yield Wrote(1, f"{value}\n")
    return 0 if value not in (0, "", "0") else 1


def _of_texts(words: list[str]) -> str | int:
    match words:
        case ["length", text]:
            return len(text)
        case ["substr", text, begin, length] if begin.isdecimal() and length.isdecimal() and len(begin + length) < 12:
            return text[max(0, int(begin) - 1) : int(begin) - 1 + int(length)]
        case ["index", text, letters]:
            return min((text.find(letter) + 1 for letter in letters if letter in text), default=0)
        case [text, ":", pattern] | ["match", text, pattern]:
            found = compiled(f"^({of_basic(pattern)})", posix=True).search(text)
            groups = () if found is None else found.groups()[1:]
            return (groups[0] or "") if groups else (0 if found is None else len(found.group(0)))
        case [left, "=" | "==" | "!=" | "<" | ">" | "<=" | ">=" as how, right] if not _WHOLE.fullmatch(left + right):
            return int({"=": left == right, "==": left == right, "!=": left != right, "<": left < right,
                        ">": left > right, "<=": left <= right, ">=": left >= right}[how])  # fmt: skip
        case [text]:
            return text
        case _:
            pass
    return value_of(" ".join("==" if word == "=" else word for word in words), Fixed(lambda _: ""))


def _sysctl(call: Call) -> Running:
    given, names = options(call)
    code = 0
    for name in names:
        text = call.shell.read(KERNEL + name.replace(".", "/"))
        if text is None:
            code = yield from wrong(call, f"error: '{name}' is an unknown key")
        else:
            yield Wrote(1, text if "n" in given else f"{name.replace('/', '.')} = {text}")
    return code


COUNTING: Final[dict[str, Program]] = {"expr": _expr, "sysctl": _sysctl}
