"""The namespace controller: a namespace goes when everything in it has gone."""

from controllers.namespace.controller import NamespaceController

__all__ = ["NamespaceController"]
