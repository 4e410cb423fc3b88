"""Pod garbage collection: pods whose node is gone go, too."""

from controllers.podgc.controller import PodGCController

__all__ = ["PodGCController"]
