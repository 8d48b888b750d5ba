"""Parquet: how tables are written so that a few groups of them can be read, and how these are."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from ...model.arrays import Flags, Ints, starts_of
from ...model.batch import count_by
from ...model.tables import FLOAT64, INT64, MOMENT, TEXT, Kind, KindError, Schema, Series, Table
from ...snapshots import shaped
from ..arrow import arrow_schema, from_arrow, to_arrow

ROW_GROUP = 8_192
"""Rows of a row group: the least that is read of a column. Smaller ones cost more to open than they spare."""

ROW_GROUP_BYTES = 64 << 20
"""No row group is larger in memory, except one of a single row: a row may be a list of 50,000 moves."""

AT_ONCE = 8 * ROW_GROUP
"""Rows in Arrow's form at a time while a table is written: of a million, ids that repeat are most of 100 MB."""

_BROKERS = frozenset({"leader", "coordinator", "replicas.list.element", "in_sync.list.element"})
"""Numbers that are names: few, in no order."""

_FOOTERS = 500
"""As many footers are kept."""

_COLUMNS = 100
"""As many columns are kept: those of a chunk of groups and of its past."""

_SELECTIONS = 8
"""As many selections of rows are kept: those of a chunk of groups from each dataset, and a few more."""

_MOVING = frozenset({INT64, FLOAT64, MOMENT})
"""Kinds of columns that differ from snapshot to snapshot."""

Written = tuple[str | bytes, ...]
"""A column as a file has it."""


class Place(NamedTuple):
    """Rows of a column: what it is read as, how it is written, the first row, and one past the last."""

    kind: Kind | None
    written: Written
    first: int
    end: int


Bound = tuple[str, str] | None
"""Least and greatest value of a column in a row group; None: not known."""


def writing(schema: pa.Schema) -> dict[str, Any]:
    """
    The options of `pq.ParquetWriter` for a dataset.

    Whole numbers and moments are near their neighbors: as differences they take up to a third less than with a
    dictionary, and half its time. Broken numbers rarely come twice, so that a dictionary of them is wasted. Higher
    levels of zstd take twice the time for a fifteenth of the size.
    """
    leaves = [leaf for field in schema for leaf in _leaves(field)]
    differences = [
        path
        for path, kind in leaves
        if (pa.types.is_integer(kind) or pa.types.is_timestamp(kind)) and path not in _BROKERS
    ]
    broken = {path for path, kind in leaves if pa.types.is_floating(kind)}
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [path for path, _ in leaves if path not in {*differences, *broken}],
        "column_encoding": dict.fromkeys(differences, "DELTA_BINARY_PACKED"),
        "write_statistics": True,
        "write_page_index": True,
    }


def write_table(table: Table, sink: Any, **place: Any) -> None:
    """
    Write a table.

    Args:
        table: The table.
        sink: A stream, or a path.
        place: Where the path is (`filesystem`).
    """
    schema = arrow_schema(table.schema)
    with pq.ParquetWriter(sink, schema, **place, **writing(schema)) as writer:
        for start in range(0, len(table), AT_ONCE):
            rows = to_arrow(table.slice(start, start + AT_ONCE))
            writer.write_table(rows, rows_per_group(rows))


def rows_per_group(table: pa.Table) -> int:
    """How many rows of a table go into one row group."""
    size: int = table.nbytes
    return max(1, min(ROW_GROUP, len(table) * ROW_GROUP_BYTES // max(size, 1)))


def _leaves(field: pa.Field, above: str = "") -> Iterator[tuple[str, pa.DataType]]:
    """The paths under which Parquet knows what is in a column, each with its type."""
    path, kind = f"{above}{field.name}", field.type
    if pa.types.is_list(kind):
        yield from _leaves(pa.field("element", kind.value_type), f"{path}.list.")
    elif pa.types.is_struct(kind):
        for inner in kind:
            yield from _leaves(inner, f"{path}.")
    else:
        yield path, kind


@dataclass(frozen=True, kw_only=True, eq=False)
class Pick:
    """
    What is wanted of a dataset.

    Attributes:
        schema: The columns.
        among: Column -> the values it may have, ascending; a row without a value is not among them.
    """

    schema: Schema
    among: Mapping[str, Sequence[str]]

    @classmethod
    def of(
        cls,
        schema: Schema,
        columns: Sequence[str] | None,
        among: Mapping[str, Collection[str] | None],
    ) -> Pick:
        """
        Args:
            schema: That of the dataset.
            columns: Which of its columns; None: all.
            among: Column -> values; None: any.

        Raises:
            KeyError: The dataset has no such column.
        """
        filters = {name: values for name, values in among.items() if values is not None}
        for name in (*(columns or ()), *filters):
            if name not in schema:
                raise KeyError(name)
        return cls(
            schema=schema if columns is None else {name: schema[name] for name in columns},
            among={name: sorted(values) for name, values in filters.items()},
        )

    def of_snapshot(self, snapshot_id: str) -> Pick:
        """The same, of one snapshot only: a row group of a day's file may hold several."""
        return Pick(schema=self.schema, among={**self.among, "snapshot_id": [snapshot_id]})


class Footer:
    """What stands at the end of a file, and what it says of the values in its row groups."""

    def __init__(self, metadata: pq.FileMetaData) -> None:
        self.metadata = metadata
        self.names = metadata.schema.to_arrow_schema().names
        columns = [metadata.schema.column(i).path for i in range(len(metadata.schema))]
        self._index = {path: index for index, path in enumerate(columns)}
        self._leaves: dict[str, list[int]] = {}
        for index, path in enumerate(columns):
            self._leaves.setdefault(path.partition(".")[0], []).append(index)
        self._bounds: dict[tuple[str, int], Bound] = {}
        self._places: dict[tuple[str, int], list[tuple[str, str, int, int]]] = {}

    def row_groups(
        self, pick: Pick, within: tuple[int, int] | None, *, most_is_all: bool
    ) -> list[int]:
        """
        The row groups that may hold what is wanted, among *within* (first, one past the last).

        With *most_is_all* all of them where most do: that is known to whoever reads all (`FileReader.known`).
        """
        every = [*range(*(within or (0, self.metadata.num_row_groups)))]
        chosen: Iterable[int] = every
        for column, values in pick.among.items():
            if column not in self.names:
                raise KindError(f"column {column} is missing")
            chosen = [i for i in chosen if _may_hold(self._bound(column, i), values)]
        few = list(chosen)
        return every if most_is_all and 2 * len(few) > len(every) else few

    def written(self, file: pa.NativeFile, column: str, row_groups: Sequence[int]) -> Written:
        """A column of some row groups as the file has it: what is the same in two places holds the same values."""
        whole: list[str | bytes] = []
        for row_group in row_groups:
            for *how, start, size in self._pieces(column, row_group):
                whole += [*how, file.read_at(size, start)]
        return tuple(whole)

    def sizes(self, column: str, row_groups: Sequence[int]) -> tuple[int, ...]:
        """How many bytes a column has in each of some row groups."""
        return tuple(piece[-1] for i in row_groups for piece in self._pieces(column, i))

    def _pieces(self, column: str, row_group: int) -> list[tuple[str, str, int, int]]:
        """How each leaf of a column is compressed, its type, where it begins, and how many bytes it has."""
        key = (column, row_group)
        if key not in self._places:
            group = self.metadata.row_group(row_group)
            leaves = (group.column(index) for index in self._leaves.get(column, ()))
            self._places[key] = [
                (
                    each.compression,
                    each.physical_type,
                    each.dictionary_page_offset or each.data_page_offset,
                    each.total_compressed_size,
                )
                for each in leaves
            ]
        return self._places[key]

    def _bound(self, column: str, row_group: int) -> Bound:
        key = (column, row_group)
        if key not in self._bounds:
            told = self.metadata.row_group(row_group).column(self._index[column]).statistics
            is_told = told is not None and told.has_min_max
            self._bounds[key] = (told.min, told.max) if is_told else None
        return self._bounds[key]


def _may_hold(bound: Bound, values: Sequence[str]) -> bool:
    """Whether one of these sorted values may be between the bounds."""
    if bound is None:
        return bool(values)
    place = bisect_left(values, bound[0])
    return place < len(values) and values[place] <= bound[1]


class FileReader:
    """
    Reads files that never change, and keeps their footers, and columns that other files may have, too.

    It travels between processes without them.
    """

    def __init__(self, system: fs.FileSystem, *, remote: bool) -> None:
        """
        Args:
            remote: Whether few long reads are better than many short ones.
        """
        self._system, self.remote = system, remote
        self._footers: dict[tuple[str, int], Footer] = {}
        self._columns: dict[Place, Series] = {}
        self._selections: dict[tuple[Any, ...], _Selection] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _reader, (self._system, self.remote)

    def read(self, path: str, pick: Pick, within: tuple[int, int] | None = None) -> Table:
        """
        What is wanted of a file.

        Args:
            within: Only these row groups: the first, and one past the last.

        Raises:
            FileNotFoundError: There is no such file.
            pa.ArrowException: It is damaged.
            KindError: It lacks a column, or has one of another kind.
        """
        # read_table would add the folder names as columns, and is slower for one file
        with self._system.open_input_file(path) as file:
            footer = self._footer(path, file)
            return shaped(_Part(self, file, footer, pick).rows(within), pick.schema)

    def known(self, keys: Mapping[str, Place]) -> dict[str, Series]:
        """By name the columns that another file, or this one, has at their place."""
        found = {name: self._columns.pop(key, None) for name, key in keys.items()}
        there = {name: column for name, column in found.items() if column is not None}
        self.keep({keys[name]: column for name, column in there.items()})
        return there

    def keep(self, columns: Mapping[Place, Series]) -> None:
        """Keep columns for files that have them, too; those that were used last stay longest."""
        self._columns |= columns
        for oldest in [*self._columns][:-_COLUMNS]:
            self._columns.pop(oldest, None)

    def selection(
        self, telling: Table, among: Mapping[str, Sequence[str]], sizes: Sequence[int]
    ) -> _Selection:
        """
        The rows with certain values, out of row groups of some sizes; known where another file has these very columns.

        Args:
            telling: The columns that tell.
            among: Column -> the values it may have.
            sizes: Rows of each row group.
        """
        key = (*telling.columns.values(), *map(tuple, among.values()), *sizes)
        found = self._selections.pop(key, None)
        if found is None:
            masks = [telling[name].is_in(values) for name, values in among.items()]
            mask = np.logical_and.reduce(masks)
            found = _Selection(mask, sizes, most_is_all=not self.remote)
        self._selections[key] = found
        for oldest in [*self._selections][:-_SELECTIONS]:
            self._selections.pop(oldest, None)
        return found

    def _footer(self, path: str, file: pa.NativeFile) -> Footer:
        key = (path, file.size())
        if key not in self._footers:
            if len(self._footers) >= _FOOTERS:
                self._footers.clear()
            self._footers[key] = Footer(pq.read_metadata(file))
        return self._footers[key]


def _reader(system: fs.FileSystem, remote: bool) -> FileReader:
    return FileReader(system, remote=remote)


class _Selection:
    """
    Some rows out of row groups, and columns of these rows.

    Attributes:
        rows: The rows.
        holds: (row groups) those that are read for it: that hold one of the rows, with *most_is_all* all where most do.
        side: The rows to read of these: what is wanted lies side by side, mostly.
        there: Its rows among these; None: they are all.
    """

    def __init__(self, mask: Flags, sizes: Sequence[int], *, most_is_all: bool) -> None:
        self.rows = np.flatnonzero(mask)
        self.holds: Flags = count_by(mask, starts_of(sizes)) > 0
        self.holds |= most_is_all and 2 * np.count_nonzero(self.holds) > len(sizes)
        there = np.flatnonzero(mask[np.repeat(self.holds, sizes)])
        side = slice(int(there[0]), int(there[-1]) + 1) if len(there) else slice(0, 0)
        if 2 * (side.stop - side.start) > (total := int(self.holds @ np.array(sizes, np.int64))):
            side = slice(0, total)
        self.side = side
        is_all = side.stop - side.start == len(there)
        self.there: Ints | None = None if is_all else there - side.start
        self._taken: dict[Series, Series] = {}

    def of(self, column: Series, places: Ints | None, *, keep: bool) -> Series:
        """These rows of a column; kept, for files that have it, too."""
        if places is None:
            return column
        if not keep:
            return column.take(places)
        if column not in self._taken:
            self._taken[column] = column.take(places)
        return self._taken[column]


class _Part:
    """What is wanted of an open file."""

    def __init__(self, reader: FileReader, file: pa.NativeFile, footer: Footer, pick: Pick) -> None:
        self._reader, self._file, self._footer, self._pick = reader, file, footer, pick

    def rows(self, within: tuple[int, int] | None) -> Table:
        """
        The rows with certain values, out of some row groups.

        What is wanted lies in few of those whose bounds admit it: the columns that tell are read first, and all others
        only where there is a row to be had.
        """
        among, is_local = self._pick.among, not self._reader.remote
        row_groups = self._footer.row_groups(self._pick, within, most_is_all=is_local)
        sizes = [self._footer.metadata.row_group(i).num_rows for i in row_groups]
        columns = [name for name in self._pick.schema if name in self._footer.names]
        if not among:
            return self._table(row_groups, columns, slice(0, sum(sizes)))
        telling = self._table(row_groups, [*among], slice(0, sum(sizes)))
        chosen = self._reader.selection(telling, among, sizes)
        kept = [i for i, some in zip(row_groups, chosen.holds, strict=True) if some]
        others = [name for name in columns if name not in among]
        found = {
            name: chosen.of(telling[name], chosen.rows, keep=self._is_steady(name))
            for name in among
        }
        more = self._table(kept, others, chosen.side)
        for name in others:
            found[name] = chosen.of(more[name], chosen.there, keep=self._is_steady(name))
        return Table({name: found[name] for name in columns}, len(chosen.rows))

    def _is_steady(self, name: str) -> bool:
        """Whether other files may well have a column, too."""
        moves = self._pick.schema.get(name) in _MOVING or name == "snapshot_id"
        return not (self._reader.remote or moves)

    def _table(self, row_groups: Sequence[int], names: Sequence[str], rows: slice) -> Table:
        """Some columns of some rows of row groups; a column that is written as another was is not read again."""
        schema, size = self._pick.schema, rows.stop - rows.start
        keys: dict[str, Place] = {
            name: Place(
                kind=schema.get(name),
                written=(name, *self._written(name, row_groups)),
                first=rows.start,
                end=rows.stop,
            )
            for name in names
            if self._is_steady(name)
        }
        found = self._reader.known(keys)
        twins = self._twins([name for name in names if name not in found], row_groups)
        if missing := [name for name in names if name not in found and name not in twins]:
            texts = {name for name in missing if schema.get(name, TEXT) == TEXT}
            parquet = pq.ParquetFile(
                self._file,
                metadata=self._footer.metadata,
                read_dictionary=[*texts],  # each text once, as it is stored
                pre_buffer=self._reader.remote,
            )
            read = parquet.read_row_groups(row_groups, missing, use_threads=False)
            part = from_arrow(read.slice(rows.start, size), schema).columns
            self._reader.keep({keys[name]: part[name] for name in missing if name in keys})
            found |= part
        found |= {name: found[twin] for name, twin in twins.items()}
        return Table({name: found[name] for name in names}, size)

    def _twins(self, names: Sequence[str], row_groups: Sequence[int]) -> dict[str, str]:
        """Columns that move and are written as another one is: ends and last stable offsets, without transactions."""
        if self._reader.remote:
            return {}
        schema = self._pick.schema
        sizes = {
            name: (schema[name], self._footer.sizes(name, row_groups))
            for name in names
            if schema.get(name) in _MOVING
        }
        first, often = dict[tuple[Kind, Written], str](), Counter(sizes.values())
        like = {
            name: first.setdefault((schema[name], self._written(name, row_groups)), name)
            for name, size in sizes.items()
            if often[size] > 1
        }
        return {name: other for name, other in like.items() if name != other}

    def _written(self, name: str, row_groups: Sequence[int]) -> Written:
        return self._footer.written(self._file, name, row_groups)
