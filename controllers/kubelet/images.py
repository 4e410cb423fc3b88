"""Images: their names, their sizes, and how long a pull takes."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple

from controllers.registry.gotext import quoted
from scheduler_core.api.draw import draw

SIZE_MIN_BYTES: Final = 20_000_000
SIZE_MAX_BYTES: Final = 400_000_000
"""Sizes of images are drawn between these, by name: no registry is asked, and one name has one size everywhere."""

SMALL_BYTES: Final = {
    "pause": 320_000, "hello-world": 12_000, "busybox": 2_200_000, "alpine": 3_700_000, "curl": 6_500_000,
}  # fmt: skip
"""The last part of the name of an image that everybody knows to be small → about how large it is."""

PULL_BASE_MS: Final = 200
PULL_BYTES_PER_MS: Final = 100_000
"""A pull takes 200 ms plus the image at 100 MB/s."""

CHECK_MS: Final = 200
"""What a pull of an image that is there already takes: the registry is asked for its digest."""


_DOCKER: Final = "docker.io"
_DOCKER_INDEX: Final = "index.docker.io"
_ID: Final = "sha256:"


_WORD: Final = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST: Final = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_NAME: Final = re.compile(
    rf"(?:(?:{_HOST}(?:\.{_HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_WORD}(?:/{_WORD})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)


def why_no_name(image: str) -> str:
    """Return why a kubelet takes a text for no image's name; empty where it does.

    Source: pkg/kubelet/images (applyDefaultImageTag), pkg/util/parsers, v1.34; github.com/distribution/reference.
    """
    domain, slash, path = image.partition("/")
    if not slash or not (set(domain) & set(".:") or domain == "localhost" or domain.lower() != domain):
        domain, path = _DOCKER, image
    if domain in (_DOCKER, _DOCKER_INDEX) and "/" not in path:
        path = f"library/{path}"
    remote = path.partition(":")[0]
    why = "invalid reference format"
    if remote.lower() != remote:
        why += f": repository name ({remote}) must be lowercase"
    elif _NAME.fullmatch(f"{domain}/{path}"):
        return ""
    name = quoted(image)
    return f"Failed to apply default image tag {name}: couldn't parse image name {name}: {why}"


def normalised(image: str) -> str:
    """Return the name with its tag, `:latest` where it has none: as image locality compares names."""
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"


class Image(NamedTuple):
    """An image as containerd knows it, however a pod spells its name."""

    full: str
    """`docker.io/library/nginx:1.27`; with the digest where the pod asks for one, which leaves no tag."""
    familiar: str
    """The same as people write it: `nginx:1.27`."""
    told: str
    """What a container's status calls it: its tag, or its id where it was asked for by digest."""
    digest: str
    """`docker.io/library/nginx@sha256:…`, which statuses call its id: the same on all machines."""


@lru_cache(maxsize=4096)
def image_of(name: str) -> Image:
    """Return the image that a name stands for; the id that a status tells of one stands for itself.

    Source: github.com/distribution/reference (ParseDockerRef), as containerd's CRI plugin reads names.
    """
    if name.startswith(_ID):
        return Image(name, name, name, name)
    name, _, digest = name.partition("@")
    domain, _, path = name.partition("/")
    if not path or not ("." in domain or ":" in domain or domain == "localhost"):
        domain, path = _DOCKER, name
    if domain == _DOCKER_INDEX:
        domain = _DOCKER
    tag = path.partition(":")[2] or "latest"
    path = path.partition(":")[0]
    if domain == _DOCKER and "/" not in path:
        path = f"library/{path}"
    place = f"{domain}/{path}"
    familiar = path.removeprefix("library/") if domain == _DOCKER else place
    if digest:
        full = f"{place}@{digest}"
        return Image(full, f"{familiar}@{digest}", f"{_ID}{_hash(full)}", full)
    full = f"{place}:{tag}"
    return Image(full, f"{familiar}:{tag}", full, f"{place}@{_ID}{_hash(full)}")


def listed_names(name: str) -> list[str]:
    """Return the names under which a node lists an image that was pulled by this one.

    The first two are containerd's. The others are as pods spell it: the scheduler compares names letter by letter, and
    would find no image of Docker's registry under its full name.
    """
    image = image_of(name)
    return list(dict.fromkeys((image.digest, image.full, image.familiar, normalised(name))))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def size_bytes(image: str) -> int:
    """Return the size of an image."""
    familiar = image_of(image).familiar
    small = SMALL_BYTES.get(familiar.partition("@")[0].rpartition("/")[2].partition(":")[0])
    if small is not None:
        return small + draw(0, "image-size", familiar, below=small // 10)
    return SIZE_MIN_BYTES + draw(0, "image-size", familiar, below=SIZE_MAX_BYTES - SIZE_MIN_BYTES)


def pull_ms(size: int) -> int:
    """Return how long a pull of this many bytes takes."""
    return PULL_BASE_MS + size // PULL_BYTES_PER_MS


def must_ask(image: str, policy: str) -> bool:
    """Return whether the registry is asked even when the image is there (imagePullPolicy)."""
    if policy:
        return policy == "Always"
    return normalised(image).endswith(":latest")


def seconds_text(milliseconds: int) -> str:
    """Return a duration as the kubelet prints it: `850ms`, `2.1s`."""
    return f"{milliseconds}ms" if milliseconds < 1_000 else f"{milliseconds / 1000:.3f}".rstrip("0").rstrip(".") + "s"
