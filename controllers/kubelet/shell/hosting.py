"""The root of a node, as a container sees it that mounts it (`kubectl debug node/n1`), and `chroot` into it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.programs import wrong
from controllers.kubelet.shell.running import Running


def _chroot(call: Call) -> Running:
    """`chroot FOLDER COMMAND`: without a command it is a shell that reads what is sent."""
    words = [word for word in call.arguments if word != "--"]
    shell = call.shell
    if not words:
        return (yield from wrong(call, "missing operand", 125))
    top = shell.path(words[0]).rstrip("/")
    if top and not shell.is_folder(top):
        return (yield from wrong(call, f"cannot change root directory to '{words[0]}': No such file or directory", 125))
    kept, folder = shell.inside, shell.folder
    files = {path[len(top) :]: text for path, text in shell.files().items() if path.startswith(f"{top}/")}
    folders = frozenset(path[len(top) :] for path in kept.folders if path.startswith(f"{top}/"))
    # What a node has is not an image's.
    image = kept.image if not top else ""
    shell.inside = replace(kept, files=files, folders=folders, image=image, mounted=(), made=(), fixed=(), writable=())
    shell.folder = "/"
    try:
        return (yield from shell.invoke(words[1:] or ["sh"], call.stdin))
    finally:
        shell.inside, shell.folder = kept, folder


HOSTING: Final[dict[str, Program]] = {"chroot": _chroot}
