"""Recordings: a series of snapshots as one small file, readable without any service."""

from .recording import RecordedCluster, Recording, open_recording, write_recording

__all__ = ["RecordedCluster", "Recording", "open_recording", "write_recording"]
