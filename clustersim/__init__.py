"""The Django side: store, REST, websockets, classroom, workers."""

from typing import Final

__version__: Final = "0.1.0"
