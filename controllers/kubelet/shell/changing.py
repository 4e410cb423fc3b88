"""Programs that change files and folders.

Source: POSIX.1-2024, Utilities; busybox for wording and for what is left out.
"""

from __future__ import annotations

from typing import Final

from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.programs import options, wrong
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX, Running, Wrote

_BLOCK: Final = 512
_SIZES: Final = {"c": 1, "w": 2, "b": _BLOCK, "k": 1024, "K": 1024, "M": 1024**2, "G": 1024**3}
_ENDLESS: Final = {"/dev/zero": "\0", "/dev/urandom": "?", "/dev/random": "?"}


def _touch(call: Call) -> Running:
    given, names = options(call, "dtr")
    code = 0
    for name in names:
        if "c" in given and call.shell.read(name) is None:
            continue
        if call.shell.is_folder(name):
            continue
        problem = call.shell.write(name, "", more=True)
        if problem:
            code = yield from wrong(call, f"{name}: Read-only file system")
    return code


def _mkdir(call: Call) -> Running:
    given, names = options(call, "m")
    code = 0
    for name in names:
        path = call.shell.path(name)
        if call.shell.read(name) is not None or (call.shell.is_folder(name) and "p" not in given):
            code = yield from wrong(call, f"can't create directory '{name}': File exists")
        elif call.inside.is_read_only(path):
            code = yield from wrong(call, f"can't create directory '{name}': Read-only file system")
        elif not call.shell.is_folder(name):
            call.shell.change(f"{path}/", "")
    return code


def _rmdir(call: Call) -> Running:
    code = 0
    for name in options(call)[1]:
        path = call.shell.path(name)
        within = [one for one in call.shell.files() if one.startswith(f"{path}/")]
        if within == [f"{path}/"]:
            call.shell.change(within[0], None)
        else:
            why = "Directory not empty" if within else "No such file or directory"
            code = yield from wrong(call, f"'{name}': {why}")
    return code


def _rm(call: Call) -> Running:
    given, names = options(call)
    code = 0
    for name in names:
        path = call.shell.path(name)
        deep = given.keys() & {"r", "R"}
        gone = [one for one in call.shell.files() if one == path or (one.startswith(path + "/") and deep)]
        if call.inside.is_read_only(path):
            code = yield from wrong(call, f"can't remove '{name}': Read-only file system")
        elif gone:
            for one in gone:
                call.shell.change(one, None)
        elif "f" not in given:
            why = "is a directory" if call.shell.is_folder(name) else "No such file or directory"
            code = yield from wrong(call, f"'{name}' {why}" if why[0] == "i" else f"can't remove '{name}': {why}")
    return code


def _copied(call: Call) -> Running:
    """Copy or move files."""
    given, names = options(call)
    if len(names) < 2:
        return (yield from wrong(call, "missing file operand"))
    *sources, target = names
    code = 0
    for name in sources:
        path = call.shell.path(name)
        into = call.shell.path(target) + (f"/{path.rpartition('/')[2]}" if call.shell.is_folder(target) else "")
        deep = call.name == "mv" or given.keys() & {"r", "R", "a"}
        files = call.shell.files()
        found = [one for one in files if one == path or (deep and one.startswith(path + "/"))]
        if not found:
            call.shell.misses(name)
            code = yield from wrong(call, f"can't stat '{name}': No such file or directory")
        for one in found:
            problem = "" if one.endswith("/") else call.shell.write(into + one[len(path) :], files[one], more=False)
            if problem:
                code = yield from wrong(call, problem)
            elif call.name == "mv":
                call.shell.change(one, None)
    return code


def _dd(call: Call) -> Running:
    given = dict(word.partition("=")[::2] for word in call.arguments)
    size, count = _size(given.get("bs", "")) or _BLOCK, given.get("count", "")
    source, target = given.get("if", ""), given.get("of", "")
    wanted = size * int(count) if count.isdecimal() and len(count) < 9 else VALUE_LENGTH_MAX
    if source in _ENDLESS:
        text = _ENDLESS[source] * min(wanted, VALUE_LENGTH_MAX)
    else:
        read = (yield from call.input()) if not source else call.shell.read(source)
        if read is None:
            call.shell.misses(source)
            return (yield from wrong(call, f"can't open '{source}': No such file or directory"))
        text = read[:wanted]
        wanted = len(text.encode())
    if target:
        problem = call.shell.write(target, text, more=False)
        if problem:
            return (yield from wrong(call, problem.replace("create", "open")))
    else:
        yield Wrote(1, text)
    whole, part = divmod(wanted, size)
    blocks = f"{whole}+{1 if part else 0} records"
    yield Wrote(2, f"{blocks} in\n{blocks} out\n{wanted} bytes copied, 0.000100 seconds\n")
    return 0


def _size(text: str) -> int:
    """Return an amount of bytes as `dd` reads it; 0 where it is none."""
    number = text.rstrip("cwbkKMGB").removesuffix("i")
    if not number.isdecimal() or len(number) > 9:
        return 0
    return int(number) * _SIZES.get(text[len(number) :][:1], 1)


CHANGING: Final[dict[str, Program]] = {
    "touch": _touch, "mkdir": _mkdir, "rmdir": _rmdir, "rm": _rm, "cp": _copied, "mv": _copied, "dd": _dd,
}  # fmt: skip
