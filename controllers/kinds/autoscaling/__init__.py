"""Kinds of the group autoscaling."""
