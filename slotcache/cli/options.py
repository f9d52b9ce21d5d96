"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class VerbatimOwner(StrEnum):
    """Who may share answers to questions that are known only by their own text."""

    CUSTOMER = "customer"
    SHARED = "shared"


DomainOption = Annotated[
    str, typer.Option("--domain", "-d", help="A shipped domain, a domain file or a folder of domain files.")
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
