"""Semantic rules: what a well-typed document must still fulfil, worded as upstream words it."""
