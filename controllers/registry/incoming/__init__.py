"""A document's way in: from what a client sent to what the store keeps, for creates and for changes."""

from controllers.registry.incoming.addressed import (
    check_place,
    check_sent,
    nameless,
    other_namespace,
    other_object,
    too_large,
)
from controllers.registry.incoming.changed import changed_document
from controllers.registry.incoming.current import Current
from controllers.registry.incoming.made import new_document, repeated_document
from controllers.registry.incoming.shared import Own

__all__ = [
    "Current",
    "Own",
    "changed_document",
    "check_place",
    "check_sent",
    "nameless",
    "new_document",
    "other_namespace",
    "other_object",
    "repeated_document",
    "too_large",
]
