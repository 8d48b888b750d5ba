"""Assignments as flows through networks: the solvers, and the strategies for plain groups and racks made of them."""
