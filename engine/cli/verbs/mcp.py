"""`evenkeel mcp`: the same answers for agents, over the Model Context Protocol."""

from __future__ import annotations

import signal

from ..options import Bootstrap, ClusterName, Every, Samples, Stored, epilog

EPILOG = epilog(
    [
        "evenkeel mcp --bootstrap broker1:9092",
        "evenkeel mcp --cluster prod             # a cluster of evenkeel.toml",
        "evenkeel mcp --from cluster.recording",
    ],
    [0, 1, 2, 4],
    "An agent's client starts it and talks to it over standard input and output. Configure it as "
    '{"mcpServers": {"evenkeel": {"command": "evenkeel", "args": ["mcp", "--bootstrap", "broker1:9092"]}}}. '
    "It needs the extra mcp: pip install 'evenkeel[mcp]'.",
    "Tools: list_groups, explain_group, forecast, what_if, how_to_switch, readiness; history with "
    "EVENKEEL_DATABASE_URL. All are read-only, and answer with the values of --json of advise, whatif, runbook, "
    "readiness and query.",
    "The first question about a live cluster takes --samples snapshots. Each further question takes one more, unless "
    "the newest is younger than 5 seconds.",
)


def mcp(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    samples: Samples = 3,
    every: Every = 5,
) -> None:
    """Answer agents over the Model Context Protocol."""
    from ..agent_tools import Snapshots
    from ..mcp_server import server

    served = server(Snapshots(bootstrap, cluster, stored, samples=samples, every=every))
    # Ctrl-C would wait for the thread that reads standard input; there is nothing to put away
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    served.run("stdio")
