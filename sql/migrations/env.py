"""What Alembic runs to migrate: on the connection that is handed in, inside the transaction that is under way on it."""

from alembic import context

given = context.config.attributes
context.configure(
    connection=given["connection"],
    target_metadata=given.get("metadata"),
    compare_server_default=True,
    process_revision_directives=given.get("process_revision_directives"),
)
context.run_migrations()
