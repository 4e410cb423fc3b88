"""Stages as data: one module a kind. The first stage of a table that matches is played."""
