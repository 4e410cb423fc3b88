"""Programs that count and look at the kernel: `expr`, `sysctl`."""

from __future__ import annotations

from typing import Final

from controllers.kubelet.shell.arithmetic import Fixed, value_of
from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.programs import options, wrong
from controllers.kubelet.shell.running import Running, Wrote

KERNEL: Final = "/proc/sys/"
"""Where the kernel's parameters are files."""


def _expr(call: Call) -> Running:
    words = list(call.arguments)
    if len(words) == 3 and words[1] in ("=", "!="):
        value = int((words[0] == words[2]) == (words[1] == "="))
    else:
        value = value_of(" ".join(words), Fixed(lambda _: ""))
    yield Wrote(1, f"{value}\n")
    return 0 if value else 1


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
