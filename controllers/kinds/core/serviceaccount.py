"""ServiceAccounts: kept and shown; no token is made from them."""

from __future__ import annotations

from typing import Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry.kind import Column, Kind

KIND: Final = Kind(
    "ServiceAccount",
    "serviceaccounts",
    short_names=("sa",),
    rank=3,
    returned_when_deleted=True,
    columns=(
        NAME,
        Column("Secrets", "integer", "Secrets it names.", lambda doc, age: len(doc.get("secrets") or ())),
        AGE,
    ),
)
