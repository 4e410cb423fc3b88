"""Expressions of the Common Expression Language (cel.dev) over a pod and a node: compiled once, bounded in cost."""
