"""A way into a Postgres server: databases of tests and of the demo, each with a role of its own."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql

from evenkeel.engine.adapters.postgres.reader import READER

ADMINISTRATOR = "postgres"

_ROLE_AND_DATABASE = Path(__file__).resolve().parents[2] / "sql" / "database.sql"


class PostgresServer:
    """A server that is there, and an administrator's way into it."""

    def __init__(self, administrator_url: str, *, asks_for_passwords: bool = True) -> None:
        """
        Args:
            administrator_url: URL of a superuser, to any database of the server.
            asks_for_passwords: Whether roles need one; then each gets a random one.
        """
        self._administrator_url = administrator_url
        self._asks_for_passwords = asks_for_passwords
        self.passwords: dict[str, str] = {}
        """Those that roles were given, by the role."""

    def url(self, database: str, role: str) -> str:
        """URL of a database for a role that `create_database` has made."""
        parts = psycopg.conninfo.conninfo_to_dict(self.administrator_url)
        login = quote(role, safe="")
        if role in self.passwords:
            login += ":" + self.passwords[role]
        host, port = str(parts.get("host") or ""), parts.get("port")
        if not host or host.startswith("/"):
            options = {"host": host} if host else {}
            options |= {"port": str(port)} if port else {}
            return f"postgresql://{login}@/{quote(database)}?{urlencode(options, safe='/')}"
        return f"postgresql://{login}@{host}:{port or 5432}/{quote(database)}"

    @property
    def administrator_url(self) -> str:
        """URL of a superuser."""
        return self._administrator_url

    def database(self, name: str) -> str:
        """URL of a database whose owner is a role of the same name; both are made when missing."""
        self.create_database(name, name)
        return self.url(name, name)

    def create_database(self, name: str, role: str, *, template: str | None = None) -> None:
        """Make a role and a database that only this role may connect to, unless they are there.

        ``template`` is a database to copy; nobody may be connected to it.
        """
        with self._administrator() as connection:
            roles = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            databases = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
            for statement in _statements(name, role):
                made = " ".join(statement.as_string().split()[:2])
                if (made == "CREATE ROLE" and role in roles) or (
                    made == "CREATE DATABASE" and name in databases
                ):
                    continue
                if made == "CREATE DATABASE" and template is not None:
                    statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
                connection.execute(statement)
            if self._asks_for_passwords:
                self._give_password(connection, role)

    def create_reader(self, name: str = READER) -> None:
        """Make a role that may log in and reads what `migrate` grants it, unless it is there; `url` knows the way."""
        with self._administrator() as connection:
            known = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [name])
            made = "ALTER" if known.rowcount else "CREATE"
            role = sql.SQL("{} ROLE {} LOGIN").format(sql.SQL(made), sql.Identifier(name))
            connection.execute(role)
            if self._asks_for_passwords:
                self._give_password(connection, name)

    def drop_reader(self, name: str, *databases: str) -> None:
        """Remove a role with what was granted to it in these databases."""
        for database in databases:
            with psycopg.connect(self.administrator_url, dbname=database) as connection:
                connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
        self.drop_role(name)

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is connected to it."""
        with self._administrator() as connection:
            drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            connection.execute(drop.format(sql.Identifier(name)))

    def rename_database(self, name: str, new: str, *, comment: str) -> None:
        """Give a database another name, with a comment that `comment` tells; nobody may be connected to it."""
        old, called = sql.Identifier(name), sql.Identifier(new)
        with self._administrator() as connection, connection.transaction():
            about = sql.SQL("COMMENT ON DATABASE {} IS {}").format(old, sql.Literal(comment))
            connection.execute(about)
            connection.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(old, called))

    def comment(self, name: str) -> str | None:
        """The comment on a database; None without one, or without such a database."""
        question = (
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
        )
        with self._administrator() as connection:
            row = connection.execute(question, [name]).fetchone()
        return None if row is None else row[0]

    def drop_role(self, name: str) -> None:
        """Remove a role that owns nothing any more."""
        with self._administrator() as connection:
            connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))

    def _give_password(self, connection: psycopg.Connection[Any], role: str) -> None:
        self.passwords.setdefault(role, secrets.token_urlsafe(12))
        alter = sql.SQL("ALTER ROLE {} PASSWORD {}")
        connection.execute(alter.format(sql.Identifier(role), self.passwords[role]))

    def _administrator(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.administrator_url, autocommit=True)


def _statements(database: str, role: str) -> list[sql.Composed]:
    r"""``sql/database.sql`` for these names; what psql calls ``:"role"`` is an identifier, its ``\gexec`` left out."""
    lines = _ROLE_AND_DATABASE.read_text(encoding="utf-8").splitlines()
    code = "\n".join(line for line in lines if not line.startswith("--"))
    code = code.replace(':"role"', "{role}").replace(':"database"', "{database}")
    names = {"role": sql.Identifier(role), "database": sql.Identifier(database)}
    return [
        sql.SQL(part.strip()).format(**names)
        for part in code.split(";")
        if part.strip() and "\\gexec" not in part
    ]  # type: ignore[arg-type]
