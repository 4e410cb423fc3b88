"""Expressions of API objects (CEL): compiled with upstream's messages, priced before they run, evaluated."""
