"""One module per outside system, and the history in memory; the only folder that imports a client library."""
