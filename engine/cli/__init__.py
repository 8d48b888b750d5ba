"""The command line: one file per verb, plain functions under thin commands."""
