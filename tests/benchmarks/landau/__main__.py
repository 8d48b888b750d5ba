"""
`python -m tests.benchmarks.landau`: how many members, and how much moves, by heuristics and by `balanced`.

Keeps its figures in `results.json` beside it and draws `tests/benchmarks/landau.png`. Exit status 1 when a heuristic
needs fewer members or moves less than `balanced` does at every price.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.landau import results
from tests.benchmarks.landau.heuristics import HEURISTICS
from tests.benchmarks.landau.priced import PRICES
from tests.benchmarks.landau.sequences import DELTAS, STARTS, sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the sequences; print, keep and draw what came of all of them so far."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.landau", description=__doc__)
    parser.add_argument(
        "--delta", type=int, action="append", choices=DELTAS, help="play this one only; repeatable"
    )
    parser.add_argument("--shown", action="store_true", help="play nothing; show what was kept")
    parser.add_argument("--published", type=Path, metavar="FOLDER", help="compare with his figures")
    options = parser.parse_args(arguments)
    if options.published:
        sys.stdout.write("".join(f"{line}\n" for line in compared(options.published)))
        return 0
    for delta in () if options.shown else options.delta or DELTAS:
        print(f"delta {delta} ...", file=sys.stderr, flush=True)
        rates = sequence(delta)
        points = {n: results.of_heuristic(h, rates) for n, h in HEURISTICS.items()}
        points |= {results.ours(price): results.of_balanced(price, rates) for price in PRICES}
        results.save({**results.load(), delta: points})
    kept = results.load()
    sys.stdout.write("".join(f"{line}\n" for line in results.table(kept)))
    results.picture(kept)
    unbeaten = results.unbeaten(kept)
    for each in unbeaten:
        print(f"not beaten: {each}", file=sys.stderr)
    return int(bool(unbeaten))


def compared(folder: Path) -> list[str]:
    """
    The lines of a table: his figures and those of our heuristics, over the four ways his sequences begin.

    Members are told above the fewest any heuristic has on average, since his sequences are not published.
    """
    lines = ["| delta | heuristic | R-score | his | members above the fewest | his |"]
    lines.append("| ---: | --- | ---: | ---: | ---: | ---: |")
    for delta in DELTAS:
        mine, his = [], []
        for start in STARTS:
            name = "uniform_start.csv" if start is None else f"speed_{start}.csv"
            rates = sequence(delta, start)
            mine.append({n: results.of_heuristic(h, rates) for n, h in HEURISTICS.items()})
            his.append(results.published(folder / name)[delta])
        for name in HEURISTICS:
            cells = []
            for figure in ("r_score", "members"):
                for each in (mine, his):
                    values = [getattr(one[name], figure) for one in each]
                    if figure == "members":
                        least = [min(p.members for p in one.values()) for one in each]
                        values = [v / n - 1 for v, n in zip(values, least, strict=True)]
                    mean = sum(values) / len(values)
                    cells.append(f"{mean:.1f}" if figure == "r_score" else f"{mean:.1%}")
            lines.append(f"| {delta} | {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
