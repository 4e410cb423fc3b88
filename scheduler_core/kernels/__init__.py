"""Arithmetic over NumPy arrays; knows no API type. Integers are int64 and wrap as Go's do."""
