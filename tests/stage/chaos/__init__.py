"""
Ten minutes of hangs and kills, and what has to be true once they are over.

`plan` (what is done when, drawn from a seed), `targets` (the parts that can be hurt, and how), `promises` (what has to
hold), `run` (the program).
"""
