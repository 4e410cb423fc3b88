"""Programs that work on names of files, and on what files hold as bytes.

Source: POSIX.1-2024, Utilities (basename, dirname, expr, ln); coreutils for what stands in no standard.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.programs import inputs, options, wrong
from controllers.kubelet.shell.running import Running, Wrote

_SUMS: Final = {"md5sum": "md5", "sha1sum": "sha1", "sha256sum": "sha256", "sha512sum": "sha512"}
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _basename(call: Call) -> Running:
    given, names = options(call, "s")
    if not names:
        return (yield from wrong(call, "missing operand"))
    many = bool(given.keys() & {"a", "s"})
    end = given.get("s", "") if many else (names[1] if len(names) > 1 else "")
    for name in names if many else names[:1]:
        base = name.rstrip("/").rpartition("/")[2] or ("/" if name else "")
        yield Wrote(1, (base.removesuffix(end) if end and base != end else base) + "\n")
    return 0


def _dirname(call: Call) -> Running:
    names = options(call)[1]
    if not names:
        return (yield from wrong(call, "missing operand"))
    for name in names:
        head, slash, _ = name.rstrip("/").rpartition("/")
        yield Wrote(1, (head.rstrip("/") or slash or ("/" if name.startswith("/") else ".")) + "\n")
    return 0


def _realpath(call: Call) -> Running:
    code = 0
    for name in options(call)[1]:
        path = call.shell.path(name)
        if call.shell.read(name) is None and not call.shell.is_folder(name) and not call.shell.is_folder(f"{path}/.."):
            call.shell.misses(name)
            code = yield from wrong(call, f"{name}: No such file or directory")
        else:
            yield Wrote(1, path + "\n")
    return code


def _mktemp(call: Call) -> Running:
    given, names = options(call, "p")
    folder = given.get("p") or call.shell.variables.get("TMPDIR") or "/tmp"
    pattern = names[0] if names else f"{folder}/tmp.XXXXXX"
    pattern = f"{folder}/{pattern}" if given.keys() & {"p", "t"} and "/" not in pattern else pattern
    stem = pattern.rstrip("X")
    if len(pattern) - len(stem) < 3:
        return (yield from wrong(call, f"too few X's in template '{pattern[:80]}'"))
    turn = call.inside.chance(call.shell.steps_left) << 32 | call.inside.chance(call.shell.steps_left + 1)
    name = stem + "".join(_LETTERS[turn // 62**at % 62] for at in range(len(pattern) - len(stem)))
    if "u" not in given:
        if call.inside.is_read_only(call.shell.path(name)):
            return (yield from wrong(call, f"{name}: Read-only file system"))
        call.shell.change(call.shell.path(name) + ("/" if "d" in given else ""), "")
    yield Wrote(1, name + "\n")
    return 0


def _ln(call: Call) -> Running:
    """Link a file: it is there under both names, as it is now."""
    given, names = options(call)
    if len(names) < 2:
        return (yield from wrong(call, "missing file operand"))
    source, target = names[0], names[1]
    shell = call.shell
    if "s" in given and not source.startswith("/"):
        source = f"{shell.path(target).rpartition('/')[0]}/{source}"
    text = shell.read(source)
    if text is None:
        if "s" not in given:
            return (yield from wrong(call, f"{source}: No such file or directory"))
        # Where a link leads that leads to a folder, or to nothing yet, is not kept.
        shell.unknown.add(call.name)
        return 0
    into = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if shell.is_folder(target) else target
    if shell.read(into) is not None and "f" not in given:
        return (yield from wrong(call, f"{into}: File exists"))
    problem = shell.write(into, text, more=False)
    return (yield from wrong(call, problem)) if problem else 0


def _modes(call: Call) -> Running:
    """`chmod`, `chown`, `chgrp`: whose files are, and who may what with them, is not kept."""
    names = [word for word in call.arguments if not word.startswith("-")][1:]
    code = 0
    for name in names:
        path = call.shell.path(name)
        if call.shell.read(name) is None and not call.shell.is_folder(name) and call.inside.is_volume(path):
            code = yield from wrong(call, f"{name}: No such file or directory")
        elif call.inside.is_read_only(path):
            code = yield from wrong(call, f"{name}: Read-only file system")
    return code


def _install(call: Call) -> Running:
    given, names = options(call, "mogt")
    if "d" in given:
        return (yield from call.shell.invoke(["mkdir", "-p", *names], call.stdin))
    if "t" in given:
        names = [*names, given["t"]]
    if "D" in given and len(names) > 1:
        yield from call.shell.invoke(["mkdir", "-p", call.shell.path(names[-1]).rpartition("/")[0] or "/"], call.stdin)
    return (yield from call.shell.invoke(["cp", *names], call.stdin))


def _base64(call: Call) -> Running:
    given, names = options(call, "w")
    for name, text in (yield from inputs(call, names)):
        if text is None:
            return (yield from wrong(call, f"{name}: No such file or directory"))
        if given.keys() & {"d", "D"} or "--decode" in call.arguments:
            try:
                yield Wrote(1, base64.b64decode("".join(text.split()), validate=True).decode(errors="replace"))
            except binascii.Error:
                return (yield from wrong(call, "invalid input"))
            continue
        data = base64.b64encode(text.encode()).decode()
        width = int(given["w"]) if given.get("w", "").isdecimal() and len(given["w"]) < 7 else 76
        lines = [data[at : at + width] for at in range(0, len(data), width)] if width else [data]
        yield Wrote(1, "\n".join(lines) + ("\n" if width else ""))
    return 0


def _sum(call: Call) -> Running:
    names = options(call)[1]
    code = 0
    for name, text in (yield from inputs(call, names)):
        if text is None:
            code = yield from wrong(call, f"{name}: No such file or directory")
        else:
            digest = hashlib.new(_SUMS[call.name], text.encode(), usedforsecurity=False).hexdigest()
            yield Wrote(1, f"{digest}  {name}\n")
    return code


PATHS: Final[dict[str, Program]] = {
    "basename": _basename, "dirname": _dirname, "realpath": _realpath, "readlink": _realpath, "mktemp": _mktemp,
    "ln": _ln, "chmod": _modes, "chown": _modes, "chgrp": _modes, "install": _install, "base64": _base64,
    **dict.fromkeys(_SUMS, _sum),
}  # fmt: skip
