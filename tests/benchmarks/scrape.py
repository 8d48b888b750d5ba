"""
`python -m tests.benchmarks.scrape [GROUPS ...]`: how long a scrape of `evenkeel serve` takes, and making its text.

All metrics of each group are known. The text is made after each snapshot, so that a scrape only sends it. Exit status 1
when a scrape of 10,000 groups takes longer than is asked.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.request import Request, urlopen

from evenkeel.engine.adapters.prometheus import MetricsPage, MetricsServer
from evenkeel.engine.model.assignments import AdviceState
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import ServedCluster, ServedGroup
from tests.benchmarks.measure import show

GROUPS = (1_000, 10_000)
ASKED_SECONDS, ASKED_OF = 1.0, 10_000
HEADINGS = ("groups", "series", "make s", "scrape s", "sent MB")
SCRAPER = {"Accept": "application/openmetrics-text;version=1.0.0", "Accept-Encoding": "gzip"}


def cluster(groups: int) -> ServedCluster:
    """A cluster of which everything is known."""
    return ServedCluster(
        cluster="prod",
        taken_at=datetime(2026, 3, 2, tzinfo=UTC),
        snapshot_seconds=3.25,
        advice_seconds=9.5,
        held={900.0: (80, 100), 3600.0: (79, 100)},
        promises=(0.9, 20),
        pipeline_incidents=0,
        groups=[
            ServedGroup(
                group_id=f"orders-{number:05}",
                diagnosis=Diagnosis.HEALTHY,
                lag=number,
                delay_seconds=number / 7,
                time_lag_seconds=number / 3,
                time_lag_at_least_seconds=number / 3,
                production_per_second=number / 9,
                consumption_per_second=number / 11,
                capacity_per_second=number / 5,
                utilization=5 / 9,
                cross_rack_bytes_per_second=number * 1e3 / 7,
                soon_lag=(number / 7, number / 6, number / 5),
                later_lag=(number / 5, number / 4, number / 3),
                drained=(0.0, number / 13, float("inf")),
                members=3,
                members_needed=3,
                members_useful=12,
                scaling_helps=False,
                advice=AdviceState.PROPOSED,
                open_incidents=0,
            )
            for number in range(groups)
        ],
    )


def measured(groups: int) -> dict[str, float]:
    """Seconds of making the text and of a scrape of it."""
    page, served = MetricsPage(groups, 180), cluster(groups)
    began = time.perf_counter()
    page.store([served])
    made = time.perf_counter() - began
    with MetricsServer(page, "127.0.0.1", 0) as server:
        began = time.perf_counter()
        with urlopen(Request(f"http://{server.address}/metrics", headers=SCRAPER)) as answer:
            sent = len(answer.read())
        scraped = time.perf_counter() - began
    series = sum(len(family.samples) for family in page.collect())
    return {"groups": groups, "series": series, "made": made, "scraped": scraped, "sent": sent}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scrape", description=__doc__)
    parser.add_argument("groups", nargs="*", type=int, default=GROUPS, help="how many, one by one")
    found = [measured(groups) for groups in parser.parse_args(arguments).groups]
    cells = [
        [
            f"{row['groups']:,}",
            f"{row['series']:,}",
            f"{row['made']:.1f}",
            f"{row['scraped']:.3f}",
            f"{row['sent'] / 1e6:.1f}",
        ]
        for row in found
    ]
    show("A scrape of evenkeel serve", HEADINGS, cells)
    return int(any(r["groups"] >= ASKED_OF and r["scraped"] > ASKED_SECONDS for r in found))


if __name__ == "__main__":
    sys.exit(main())
