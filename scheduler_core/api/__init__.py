"""Typed views of Kubernetes objects, quantities, selectors, the table of kinds, errors."""
