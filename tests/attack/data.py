"""Draws random rows and queries: kinds of data, element types, and layouts of arrays in memory."""
import numpy as np

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])  # kith's type for PyTorch's bfloat16
ELEMENTS = ("f32", "f16", "bf16", "u8", "i8", "f64", "i32", "bool")
_LARGEST = {"f16": 65504.0, "u8": 255.0, "i8": 128.0, "i32": 2.0**30}


def _whole(random, shape, low, high):
    return random.integers(low, high, shape).astype(np.float64)


def _clusters(random, shape):
    centers = random.normal(size=(random.integers(1, 5), shape[1])) * 10
    return centers[random.integers(0, len(centers), shape[0])] + random.normal(size=shape) * 10.0 ** -random.integers(0, 6)


def _one_column(random, shape):
    values = np.full(shape, random.normal())
    values[:, random.integers(0, shape[1])] = random.normal(size=shape[0])
    return values


def _ulps(random, shape):
    base = np.broadcast_to(random.normal(size=shape[1]).astype(np.float32), shape)
    return (base.view(np.uint32) + random.integers(0, 3, shape).astype(np.uint32)).view(np.float32)


def _cancelling(random, shape):
    values = random.normal(size=shape)
    values[:, : shape[1] // 2] *= 2.0 ** random.integers(0, 40)
    return values


def _binades(random, shape):
    return random.choice([-1.0, 1.0], shape) * 2.0 ** random.uniform(-60, 60, shape)


def _products(random, shape):
    """Returns rows whose products are tiny or near the largest float, depending on the rows."""
    return random.uniform(-1, 1, shape) * 10.0 ** random.uniform(-22, 19.5, (shape[0], 1))


KINDS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "uniform": lambda random, shape: random.random(shape),
    "equal": lambda random, shape: np.broadcast_to(random.normal(size=shape[1]), shape),
    "line": lambda random, shape: np.arange(shape[0])[:, None] * random.normal() + np.zeros(shape),
    "zeros": lambda random, shape: np.zeros(shape),
    "signed zeros": lambda random, shape: random.choice([0.0, -0.0], shape),
    "bits": lambda random, shape: _whole(random, shape, 0, 2),
    "small grid": lambda random, shape: _whole(random, shape, -3, 4),
    "grid of bytes": lambda random, shape: _whole(random, shape, 0, 256),
    "signed bytes": lambda random, shape: _whole(random, shape, -128, 128),
    "halves": lambda random, shape: _whole(random, shape, -40, 40) * 0.5,
    "far grid": lambda random, shape: _whole(random, shape, 0, 4) + 2.0 ** random.integers(0, 24),
    "one column": _one_column,
    "clusters": _clusters,
    "ulps": _ulps,
    "offset": lambda random, shape: random.normal(size=shape) + 10.0 ** random.integers(2, 8),
    "binades": _binades,
    "products": _products,
    "cancelling": _cancelling,
    "huge": lambda random, shape: random.uniform(-1, 1, shape) * 3e38,
    "roots of huge": lambda random, shape: random.uniform(-1, 1, shape) * 2e19,
    "subnormal": lambda random, shape: random.integers(-64, 64, shape) * 2.0**-149,
    "roots of subnormal": lambda random, shape: random.uniform(-1, 1, shape) * 1e-22,
}


def draw_values(random, kind, shape):
    """Returns float32 values of a kind; sometimes rows occur several times."""
    values = np.array(KINDS[kind](random, shape), np.float32, order="C")
    if shape[0] > 1 and random.random() < 0.15:
        values = values[random.integers(0, max(1, shape[0] // 3), shape[0])]
    return values


def stored(random, values, element):
    """Returns an array of the element type that resembles the values, and the float32 value of each element."""
    largest = float(np.abs(values).max(initial=0.0))
    scale = 1.0
    if element in _LARGEST and largest > _LARGEST[element]:
        scale = _LARGEST[element] / largest
    if element in ("u8", "i8", "i32", "f16") and 0 < largest < 1:
        scale = min(_LARGEST[element], 50.0) / largest
    scaled = values.astype(np.float64) * scale
    if element == "f32":
        array = values
    elif element == "f16":
        array = scaled.astype(np.float16)
    elif element == "bf16":
        high = (values.view(np.uint32) >> 16).astype(np.uint16)
        return high.view(BFLOAT16), (high.astype(np.uint32) << 16).view(np.float32)
    elif element == "u8":
        array = np.rint(np.abs(scaled)).astype(np.uint8)
    elif element in ("i8", "i32"):
        array = np.rint(scaled).astype(np.int32)
        if element == "i8":
            array = np.minimum(array, 127).astype(np.int8)
    elif element == "bool":
        array = values > 0
    else:
        array = values * (1 + random.integers(-8, 9, values.shape) * 2.0**-30)
    return array, array.astype(np.float32)


def draw_queries(random, rows, kind, m):
    """Returns rows of the same kind, training rows themselves, rows one float beside them, or zeros."""
    dims = rows.shape[1]
    queries = draw_values(random, kind, (m, dims))
    how = random.integers(0, 6)
    if how in (1, 2) and m:
        some = random.random(m) < 0.7
        queries[some] = rows[random.integers(0, len(rows), int(some.sum()))]
    if how == 2 and m:
        beside = random.random(queries.shape) < 0.2
        up = np.nextafter(queries, np.float32(random.choice([-1, 1]) * np.inf))
        queries = np.where(beside & np.isfinite(up), up, queries)
    if how == 3:
        queries[:] = 0
    if how == 4:
        queries[random.random(m) < 0.5] = 0
    return np.ascontiguousarray(queries, np.float32)


def without_zero_rows(array):
    """Puts a one into each zero row, because `cosine` needs rows with a direction."""
    numbers = array["bfloat16"] & 0x7FFF if array.dtype == BFLOAT16 else array
    empty = ~(numbers != 0).any(axis=1)
    if not empty.any():
        return array
    array = array.copy()
    array[empty, 0] = np.array((0x3F80,), BFLOAT16) if array.dtype == BFLOAT16 else 1
    return array


def laid_out(random, array):
    """Returns the same numbers in another memory layout, and the name of the layout."""
    rows, columns = array.shape
    how = LAYOUTS[random.integers(0, len(LAYOUTS))] if random.random() < 0.5 else "as it is"
    if how == "Fortran":
        return np.asfortranarray(array), how
    if how == "reversed":
        return np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1], how
    if how == "every third row":
        wide = np.zeros((3 * rows, columns), array.dtype)
        wide[::3] = array
        return wide[::3], how
    if how == "every second column":
        wide = np.zeros((rows, 2 * columns), array.dtype)
        wide[:, 1::2] = array
        return wide[:, 1::2], how
    if how == "in wider rows":
        wide = np.zeros((rows, columns + 3), array.dtype)
        wide[:, 2:-1] = array
        return wide[:, 2:-1], how
    if how == "unaligned":
        octets = np.zeros(array.nbytes + 1, np.uint8)
        odd = octets[1:].view(array.dtype).reshape(array.shape)
        odd[:] = array
        return odd, how
    if how == "other byte order" and array.dtype != BFLOAT16:
        return array.astype(array.dtype.newbyteorder(">")), how
    if how == "read-only":
        array = array.copy()
        array.setflags(write=False)
        return array, how
    if how == "one row, repeated" and rows and (array == array[:1]).all():
        return np.broadcast_to(array[0], array.shape), how
    return array, "as it is"


LAYOUTS = ("Fortran", "reversed", "every third row", "every second column", "in wider rows", "unaligned",
           "other byte order", "read-only", "one row, repeated")
