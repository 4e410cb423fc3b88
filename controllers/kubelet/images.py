"""Images: their names, their sizes, and how long a pull takes."""

from __future__ import annotations

from typing import Final

from scheduler_core.api.draw import draw

SIZE_MIN_BYTES: Final = 20_000_000
SIZE_MAX_BYTES: Final = 400_000_000
"""Sizes of images are drawn between these, by name: no registry is asked, and one name has one size everywhere."""

PULL_BASE_MS: Final = 200
PULL_BYTES_PER_MS: Final = 100_000
"""A pull takes 200 ms plus the image at 100 MB/s."""

CHECK_MS: Final = 200
"""What a pull of an image that is there already takes: the registry is asked for its digest."""


def normalised(image: str) -> str:
    """Return the name with its tag, `:latest` where it has none: as image locality compares names."""
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"


def size_bytes(image: str) -> int:
    """Return the size of an image."""
    return SIZE_MIN_BYTES + draw(0, "image-size", normalised(image), below=SIZE_MAX_BYTES - SIZE_MIN_BYTES)


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
