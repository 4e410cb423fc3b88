"""Homework of a session: who has which seed, what they answered, and what the engine says of it."""
