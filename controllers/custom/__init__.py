"""Kinds that a session's CustomResourceDefinitions define: their schemas, and what follows from them."""
