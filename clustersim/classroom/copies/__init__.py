"""Copies: forks of one moment, one a seat, which the teacher hands out or a student takes, and what becomes of them."""
