"""Reads frames, which are columns with names, of pandas, polars, Arrow, and of libraries with a protocol for frames.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional

import numpy as np

from .._core._errors import InvalidArgument, Unavailable
from ._cells import KINDS, NUMBERS, Cells, cells_of, missing, with_gaps
from ._digits import WHOLE, offset_helps
from ._host import _warn_host_copy

if TYPE_CHECKING:
    from .._core._types import Array, Bool


_KNOWN = ("builtins", "numpy", "torch", "cupy", "jax", "jaxlib", "pandas", "polars", "pyarrow")


class Frame(NamedTuple):
    """Holds columns with names.

    Attributes
    ----------
    names : list
    column : function
        Returns the column at a place, as an object of its library.
    dummies : str
        The call that converts a column of texts to columns of 0 and 1; ``{}`` is its name.
    array : str
        The expression that converts a column to an array of NumPy; ``{}`` if the column needs none.
    whole : function, optional
        Returns all columns as one array, if they are numbers of NumPy's dtypes.
    """

    names: list[Any]
    column: Callable[[int], Any]
    dummies: str
    array: str = "{}"
    whole: Optional[Callable[[], Any]] = None

    def arrays(self) -> list[Array]:
        """Return the columns, each of its own dtype."""
        return [np.asarray(self.column(place)) for place in range(len(self.names))]

    def values(self, what: str, exact: bool = False, gaps: bool = False) -> Array:
        """Return all columns side by side; refuse by its name a column that holds no numbers, or not in every row.

        `exact`: also refuses a whole number that is rounded beside floats. `gaps`: values may be missing, and become
        NaN.
        """
        if self.whole is None:
            columns = self.checked(what, "x", KINDS, gaps)
            together = side_by_side(columns)
            if (exact or gaps) and together.dtype.kind == "f":
                self.check_exact(what, columns)
            return together
        together = np.asarray(self.whole())
        if together.dtype.kind == "f" and not (good := _counting(together, gaps)).all():
            row, place = (int(i) for i in np.argwhere(~good)[0])
            self._refuse_value(row, place, str(together[row, place]), what)
        return together

    def checked(self, what: str, name: str, refused: tuple[str, ...], gaps: bool = False) -> list[Array]:
        """Return the columns; refuse missing values, unless there may be `gaps`, and cells of a kind in `refused`.
        `name` is the frame in advice.
        """
        columns = self._with_gaps(what) if gaps else self.arrays()
        for place, column in enumerate(columns):
            of = f"{name}[{self.names[place]!r}]"
            cells = cells_of(column, self.array.format(of))
            if column.ndim != 1:  # structs and arrays of polars
                cells = Cells("lists", f"{column.shape[1]} numbers in each cell", f"numpy.asarray({of})")
            elif column.dtype.kind == "f" and not (good := _counting(column, gaps)).all():
                row = int(np.argmin(good))
                self._refuse_value(row, place, str(column[row]), what)
            elif cells is not None and cells.kind in ("numbers", "nothing") and missing(column).any():
                self._refuse_value(int(np.argmax(missing(column))), place, "nan", what)
            if cells is not None and cells.kind in refused:
                dtype = _dtype(self.column(place))
                raise InvalidArgument(
                    f"{what}: column {self.names[place]!r} has dtype {dtype} and holds {cells.shown}; "
                    + self._advice(place, cells)
                )
        return columns

    def _with_gaps(self, what: str) -> list[Array]:
        """Return the columns, with NaN where a value is missing; refuse whole numbers that are rounded beside them."""
        columns = []
        for place, (column, name) in enumerate(zip(self.arrays(), self.names)):
            columns.append(with_gaps(column, f"{what}: column {name!r}"))
            kind = str(_dtype(self.column(place))).lower().partition("[")[0]  # "int64[pyarrow]" of pandas
            if column.dtype.kind == "f" and kind in ("int64", "uint64"):
                if (large := np.abs(column) >= WHOLE).any():  # its library rounded them
                    self._refuse_whole(int(np.argmax(large)), place, "a whole number", True, what)
        return columns

    def check_exact(self, what: str, columns: Optional[list[Array]] = None) -> None:
        """Refuse whole numbers that float64 would round. `columns`: those of `arrays`."""
        for place, column in enumerate(self.arrays() if columns is None else columns):
            if column.dtype.kind not in "iu" or column.dtype.itemsize < 8 or not column.size:
                continue
            large = (column > 2**53) | (column < -(2**53))
            if large.any():
                row = int(np.argmax(large))
                self._refuse_whole(row, place, str(column[row]), offset_helps(column), what)

    def _refuse_whole(self, row: int, place: int, value: str, offset_helps: bool, what: str) -> None:
        offset = "subtract a common offset, the same from rows and queries, or "
        raise InvalidArgument(
            f"{what}: row {row}, column {place} ({self.names[place]!r}) holds {value}, beyond 2^53, up to which "
            f"float64 holds all whole numbers; {offset if offset_helps else ''}make the column float64, which rounds it"
        )

    def _advice(self, place: int, cells: Cells) -> str:
        if cells.kind == "lists" and cells.advice:
            return f"pass {cells.advice}, with other columns numpy.column_stack([..., {cells.advice}])"
        if cells.kind == "dates":
            return f"put seconds in its place, from the same moment in rows and queries: {cells.advice}"
        if cells.kind == "complex":
            return "make two columns of it, of its real and its imaginary parts, or leave it out"
        if cells.kind == "texts" and not cells.advice:
            return f"make numbers of it ({self.dummies.format(repr(self.names[place]))}) or leave it out"
        return f"put {cells.advice} in its place, or leave it out" if cells.advice else "leave it out"

    def _refuse_value(self, row: int, place: int, value: str, what: str) -> None:
        shown = value.replace("nan", "NaN")
        raise InvalidArgument(
            f"{what}: row {row}, column {place} ({self.names[place]!r}) holds {shown}; fill it in, or leave the row out"
        )


def _counting(values: Array, gaps: bool) -> Bool:
    """Say which values are taken: the finite ones, and missing ones if there may be `gaps`."""
    good: Bool = np.isfinite(values)
    return good | np.isnan(values) if gaps else good


def side_by_side(columns: list[Array]) -> Array:
    """Convert columns to an array [rows, columns] of the dtype that holds all their numbers, or of objects."""
    plain = all(column.dtype.kind in NUMBERS for column in columns)
    kind = np.result_type(*(column.dtype for column in columns)) if plain and columns else np.dtype(object)
    together = np.empty((len(columns[0]) if columns else 0, len(columns)), kind)
    for place, column in enumerate(columns):
        together[:, place] = column
    return together


def known(x: Any, what: str) -> Any:
    """Return `x`; convert it to a frame of an imported library if it only has a protocol for frames, or is not in
    memory here.
    """
    module = type(x).__module__.partition(".")[0]
    if module == "cudf":
        size = x.memory_usage()
        _warn_host_copy(what, f"a {type(x).__name__} of cuDF", int(getattr(size, "sum", lambda: size)()))
        return x.to_pandas()
    if module == "dask" and hasattr(x, "columns"):
        return x.compute()
    if module == "pyarrow" and hasattr(x, "read_all"):  # a stream of batches
        return x.read_all()
    if module == "pyarrow" and type(x).__name__ == "RecordBatch":  # scikit-learn does not see its names
        return importlib.import_module(module).Table.from_batches([x])
    if module in _KNOWN or (hasattr(x, "columns") and hasattr(x, "iloc")):
        return x
    if hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__"):
        return _read_arrow(x, what)
    return _interchanged(x, what) if hasattr(x, "__dataframe__") else x


def frame_of(x: Any, what: str) -> Optional[Frame]:
    """Return `x`, a result of `known`, as a frame; None if it is none."""
    module = type(x).__module__.partition(".")[0]
    if module == "polars" and hasattr(x, "collect"):
        raise InvalidArgument(f"{what}: a frame that is not computed yet; pass x.collect()")
    if module == "polars" and hasattr(x, "get_columns"):
        return Frame(list(x.columns), x.to_series, "x.to_dummies({})")
    if module == "pyarrow" and hasattr(x, "column_names"):
        return Frame(list(x.column_names), x.column, "pandas.get_dummies(x.to_pandas())", "numpy.asarray({})")
    if not (hasattr(x, "columns") and hasattr(x, "iloc")):
        return None
    kinds = list(x.dtypes)
    plain = all(isinstance(kind, np.dtype) and kind.kind in NUMBERS for kind in kinds)
    of_bool = [kind.kind == "b" for kind in kinds if plain]  # pandas would put these beside numbers as objects
    wide = {kind.kind for kind in kinds if plain and kind.itemsize == 8}  # and round these beside floats
    whole = x.to_numpy if plain and any(of_bool) == all(of_bool) and len(wide) <= 1 else None
    return Frame(list(x.columns), lambda place: x.iloc[:, place], "pandas.get_dummies(x)", whole=whole)


def _read_arrow(x: Any, what: str) -> Any:
    """Read a table or a column with Arrow's PyCapsule protocol, by a library that reads it."""
    for name, table, column in (("pyarrow", "table", "chunked_array"), ("polars", "DataFrame", "Series")):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        try:
            return getattr(library, table)(x)
        except Exception:  # each library raises its own if it is a column
            return getattr(library, column)(x)
    if hasattr(x, "__array__") and np.ndim(x) == 1:  # one column, which has no names to compare
        return np.asarray(x)
    raise Unavailable(f"{what}: {type(x).__name__} speaks Arrow's protocol; install pyarrow or polars, which read it")


def _interchanged(x: Any, what: str) -> Any:
    """Read a frame with the dataframe interchange protocol, by a library that reads it."""
    for name in ("pyarrow.interchange", "pandas.api.interchange"):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.from_dataframe(x)
    raise Unavailable(f"{what}: {type(x).__name__} speaks __dataframe__; install pyarrow or pandas, which read it")


def _dtype(column: Any) -> Any:
    return getattr(column, "dtype", getattr(column, "type", ""))
