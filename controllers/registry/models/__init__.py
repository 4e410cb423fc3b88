"""The field tables of every kind: the generated models of v1.34 and this project's own, found as one package.

The generated modules (distribution `lightkube-models`) need a client library only for a decorator. This package puts
their folder on its own search path behind `_schema.py`, so that importing one (`controllers.registry.models.core_v1`)
runs nothing but class statements: milliseconds, and no client library.
"""

from __future__ import annotations

from importlib.util import find_spec


def _generated_folder() -> str:
    spec = find_spec("lightkube.models")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("install requirements.txt: the distribution lightkube-models is missing")
    return next(iter(spec.submodule_search_locations))


__path__.append(_generated_folder())
