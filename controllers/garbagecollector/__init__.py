"""The garbage collector: objects go with their owners."""

from controllers.garbagecollector.controller import GarbageCollector

__all__ = ["GarbageCollector"]
