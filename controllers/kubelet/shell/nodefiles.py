"""What a container finds that mounts the root of its node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_FOLDERS: Final = (
    "bin", "boot", "dev", "etc", "etc/kubernetes", "etc/kubernetes/manifests", "home", "lib", "media", "mnt", "opt",
    "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "usr/bin", "var", "var/lib", "var/lib/kubelet",
    "var/log", "var/log/containers", "var/log/pods",
)  # fmt: skip


def node_root(node: Mapping[str, Any], name: str, path: str) -> tuple[dict[str, str], set[str]]:
    """Return (path → text of files, folders) below the place where a node's root is mounted.

    Args:
        node: the node; empty where nothing is known of it.
        name: its name.
        path: where its root is mounted.
    """
    top = path.rstrip("/")
    system = str(((node.get("status") or {}).get("nodeInfo") or {}).get("osImage") or "Linux")
    files = {f"{top}/etc/hostname": f"{name}\n", f"{top}/etc/os-release": f'PRETTY_NAME="{system}"\n'}
    return files, {f"{top}/{folder}" for folder in _FOLDERS}
