"""`evenkeel admin migrate`: the history database as this version needs it."""

from __future__ import annotations

from typing import Annotated

from ..command_end import complain
from ..options import epilog, option

EPILOG = epilog(
    [
        "evenkeel admin migrate --dry-run                            # what would be applied",
        "EVENKEEL_DATABASE_URL=postgresql://evenkeel@db/evenkeel evenkeel admin migrate",
    ],
    [0, 2, 5],
    "All migrations run in one transaction. If there are none, it does nothing, so you can run it before every start.",
)


def migrate(
    dry_run: Annotated[
        bool, option("--dry-run", "List the migrations that would be applied.")
    ] = False,
    release: Annotated[
        bool,
        option(
            "--release",
            "Let another installation write the database, once the one that writes it is gone.",
        ),
    ] = False,
) -> None:
    """Migrate the history database to the schema of this version."""
    from ...adapters import postgres
    from ..database import database, secret_url

    settings, where = database()
    complain(f"database: {where}")
    url = secret_url(settings)
    names = list(postgres.pending(url) if dry_run else postgres.migrate(url, tell=complain))
    for one in names:
        print(f"{'would apply' if dry_run else 'applied'} {one}")
    if not names:
        print("nothing to apply: the schema is this version's")
    if release:
        owner = postgres.release(url, dry_run=dry_run)
        done = "would release" if dry_run else "released"
        print(
            f"{done} it from the installation with {owner}"
            if owner
            else "nothing to release: no installation writes it"
        )
