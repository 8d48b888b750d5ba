"""The tests of evenkeel."""
