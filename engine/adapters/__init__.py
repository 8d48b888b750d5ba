"""One module per outside system; the only folder that imports a client library."""
