"""Simulated time: of the world, of the machine that runs the tasks, and of the database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

import psycopg
import pytest

from evenkeel.engine.model import moments

PACE = 0.01
"""Simulated seconds for each real one: time goes on within a task, however busy the machine is."""

FUNCTIONS = """
CREATE SCHEMA simulated;
CREATE TABLE simulated.clock (moment timestamptz, real timestamptz, started timestamptz);
INSERT INTO simulated.clock VALUES (now(), now(), now());
CREATE FUNCTION simulated.now() RETURNS timestamptz STABLE LANGUAGE sql AS
$$ SELECT moment + (pg_catalog.now() - real) * {pace} FROM simulated.clock $$;
CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
$$ SELECT moment + (pg_catalog.clock_timestamp() - real) * {pace} FROM simulated.clock $$;
CREATE FUNCTION simulated.pg_postmaster_start_time() RETURNS timestamptz STABLE LANGUAGE sql AS
$$ SELECT started FROM simulated.clock $$;
"""
"""What a database answers in place of its own clock; before the tables are made, so that their defaults ask it, too."""


def simulated_database(administrator_url: str, database: str) -> None:
    """Let every session of a new database ask the simulated clock."""
    with psycopg.connect(administrator_url, dbname=database, autocommit=True) as server:
        server.execute(FUNCTIONS.format(pace=PACE).encode())
        server.execute("GRANT USAGE ON SCHEMA simulated TO PUBLIC")
        server.execute("GRANT SELECT ON simulated.clock TO PUBLIC")
    ask_simulated(administrator_url, database)


def ask_simulated(administrator_url: str, database: str) -> None:
    """The same of a copy, which takes over the tables of a database, but no setting."""
    path = f"ALTER DATABASE {database} SET search_path = public, simulated, pg_catalog"
    with psycopg.connect(administrator_url, autocommit=True) as server:
        server.execute(path.encode())


@dataclass
class Clock:
    """
    What time it is.

    Attributes:
        true: For the world, and for Slack.
        off: How far the clock of the tasks' machine is ahead.
        database_off: How far that of the database is.
        administrator: Address of the database for who sets its clock; None: it stands still.
    """

    true: datetime
    off: timedelta = timedelta()
    database_off: timedelta = timedelta()
    administrator: str | None = None
    _real: float = field(default_factory=time.monotonic)
    _connection: psycopg.Connection[tuple[object, ...]] | None = None

    def now(self) -> datetime:
        """What the machine of the tasks says."""
        return self.true + self.off + timedelta(seconds=(time.monotonic() - self._real) * PACE)

    def set(self, true: datetime) -> None:
        """Go on to a moment of the world."""
        self.true, self._real = true, time.monotonic()
        self.tell_database()

    def tell_database(self, *, started: bool = False) -> None:
        """Set the clock of the database, if it answers; *started*: its server has just begun."""
        if self.administrator is None:
            return
        moment = self.true + self.database_off
        values = {"moment": moment, "started": started}
        if started or self._connection is None:
            self.close()
            with suppress(psycopg.OperationalError):
                self._connection = psycopg.connect(self.administrator, autocommit=True)
        if self._connection is not None:
            try:
                self._connection.execute(SET, values)
            except psycopg.OperationalError:
                self.close()

    def close(self) -> None:
        """Let go of the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


SET = """
UPDATE simulated.clock SET moment = %(moment)s, real = pg_catalog.clock_timestamp(),
started = CASE WHEN %(started)s THEN %(moment)s ELSE started END
"""


@contextmanager
def told_by(clock: Clock) -> Iterator[None]:
    """While this lasts the engine's moments are those of the clock."""

    class Simulated(datetime):
        """A moment, and as the present one that of the clock."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return clock.now().astimezone(tz or UTC)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "datetime", Simulated)
        yield
