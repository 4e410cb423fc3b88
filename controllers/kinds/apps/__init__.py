"""Kinds of the group apps."""
