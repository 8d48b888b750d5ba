"""
The lake: a folder of Parquet files, on this machine or anywhere pyarrow can write (`s3://...`).

    <dataset>/cluster=<c>/day=<YYYY-MM-DD>/<snapshot_id>.<run>-<part>-<attempt>.parquet
    _manifests/<step>/cluster=<c>/day=<YYYY-MM-DD>/<snapshot_id>.json
    _installation

A manifest is written after the tables it speaks of and names their files; readers trust manifests only, so what a
crash leaves behind does not exist for them. A file never changes and no two have one name: a run that replaces another
writes beside it, its manifest takes the place of the other's in one step, and only then do the other's files go. So a
reader finds the old rows or the new ones, and one that is caught in between begins again. Nothing is ever renamed on an
object store, where that is a copy: there, a whole file is put at once.

An id tells its cluster and its day, so no file is ever searched for.

`store` (the port), `files` (file systems), `tables` (Parquet: what is written how, and which row groups are read).
"""

from .store import FileLake

__all__ = ["FileLake"]
