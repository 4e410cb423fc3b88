"""`tar`, as far as `kubectl cp` needs it to take files out of a container and to put some in.

Source: POSIX.1-2024, pax, ustar interchange format; staging/src/k8s.io/kubectl/pkg/cmd/cp, v1.34.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from tarfile import USTAR_FORMAT, TarError, TarInfo
from tarfile import open as tarfile_open
from typing import Final

from controllers.kubelet.keeping import FILE_LENGTH_MAX
from controllers.kubelet.shell.interpreter import Call
from controllers.kubelet.shell.programs import wrong
from controllers.kubelet.shell.running import Running, Wrote

_BLOCK: Final = 512


def tar(call: Call) -> Running:
    """Print an archive of files (`tar cf - PATH…`), or unpack one (`tar xf - -C PATH`)."""
    how, *rest = call.arguments or ("",)
    if "x" in how and "c" not in how:
        return (yield from _unpacked(call, rest))
    if how.lstrip("-") not in ("cf", "chf") or rest[:1] != ["-"] or len(rest) < 2:
        return (yield from wrong(call, "usage: tar cf - FILE..."))
    files, code = call.shell.files(), 0
    for name in rest[1:]:
        path = call.shell.path(name)
        within = sorted(one for one in files if one == path or one.startswith(path.rstrip("/") + "/"))
        # A folder that was made stands among the files.
        found = [one for one in within if not one.endswith("/")]
        if not found:
            code = 1
            yield from wrong(call, f"{name}: Cannot stat: No such file or directory")
            continue
        for one in found:
            member = (name.strip("/") + one[len(path) :]).strip("/")
            packed = _packed(member, files[one], call.shell.now_ms // 1000)
            if packed is None:
                code = yield from wrong(call, f"{member}: file name is too long")
            else:
                yield Wrote(1, packed)
    yield Wrote(1, "\0" * 2 * _BLOCK)
    return code


def _unpacked(call: Call, rest: Sequence[str]) -> Running:
    if rest[:1] != ["-"] or len(rest) not in (1, 3) or (len(rest) == 3 and rest[1] != "-C"):
        return (yield from wrong(call, "usage: tar xf - -C FOLDER"))
    folder = rest[2] if len(rest) == 3 else "."
    data, code = (yield from call.input()).encode(), 0
    try:
        with tarfile_open(fileobj=BytesIO(data), mode="r:") as archive:
            for member in archive:
                path = f"{folder}/{member.name}"
                if member.isdir():
                    call.shell.change(call.shell.path(path) + "/", "")
                held = archive.extractfile(member) if member.isfile() else None
                if held is None:
                    continue
                text = held.read(FILE_LENGTH_MAX + 1).decode(errors="replace")
                problem = "No space left on device" if len(text) > FILE_LENGTH_MAX else ""
                problem = problem or call.shell.write(path, text, more=False)
                if problem:
                    code = yield from wrong(call, f"{member.name}: {problem}")
    except TarError:
        return (yield from wrong(call, "short read"))
    return code


def _packed(name: str, text: str, seconds: int) -> str | None:
    """Return a file as it stands in an archive; None where its name has no place in this format."""
    data = text.encode()
    about = TarInfo(name)
    about.size, about.mtime, about.mode = len(data), seconds, 0o644
    try:
        return about.tobuf(USTAR_FORMAT).decode() + text + "\0" * (-len(data) % _BLOCK)
    except ValueError:
        return None
