"""`python lag.py NAME` prints the lag of each group in the last snapshot of NAME.evenkeel. It needs only pyarrow."""

import io
import json
import sys
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

name = sys.argv[1]
key = ["snapshot_id", "topic", "partition"]
with zipfile.ZipFile(f"{name}.evenkeel") as recording:
    ends = pq.read_table(io.BytesIO(recording.read("partitions.parquet")))
    commits = pq.read_table(io.BytesIO(recording.read("commits.parquet")))
    manifests = json.loads(recording.read("recording.json"))["manifests"]
last = manifests[-1]["snapshot_id"]
commits = commits.select([*key, "group_id", "committed_offset"])
rows = commits.join(ends.select([*key, "end_offset"]), key, join_type="inner").to_pylist()
truth = json.loads(Path(f"{name}.truth.json").read_text())
for group in truth["groups"]:
    own = [r for r in rows if (r["snapshot_id"], r["group_id"]) == (last, group["group"])]
    known = [r for r in own if None not in r.values()]
    lag = sum(r["end_offset"] - r["committed_offset"] for r in known) if known else "unknown"
    print(group["group"], lag, *(trouble["what"] for trouble in group["troubles"]), sep=", ")
