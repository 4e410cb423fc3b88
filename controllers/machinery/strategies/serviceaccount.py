"""ServiceAccounts: kept and shown; no token is made from them."""

from __future__ import annotations

from typing import Final

from controllers.machinery.strategies.columns import AGE, NAME
from controllers.machinery.strategy import Column, Strategy

STRATEGY: Final = Strategy(
    columns=(
        NAME,
        Column("Secrets", "integer", "Secrets it names.", lambda doc, age: len(doc.get("secrets") or ())),
        AGE,
    ),
)
