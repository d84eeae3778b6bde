"""Makes random changes to the bytes of a file."""
import struct

import numpy as np

_NUMBERS = (0, 1, 2, 3, 7, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**32,
            2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 0x7F800000, 0x7FC00000, 0xFF800000, 0x7FF0000000000000)
_TOKENS = (b"nan", b"-nan", b"inf", b"1e999", b"-1e999", b"1e-999", b"0x1p3", b"", b'"', b'""', b'"a,b"', b'a"b', b"?",
           b"NA", b"-", b".", b"+1", b"1_000", b"1,5", b"1;5", b"99999999999999999999", b"-9223372036854775809", b"1:1",
           b"0:1", b"-1:1", b"16777217:1", b"4000000000:1", b"\x1b[31m", b"\xe2\x80\xae", b"\xff\xfe", b"\x00", b"\x0c",
           b"\xef\xbb\xbf", b"\r", b"sep=;\n", b"# c\n", b"a b", b"=1+1", b"1" * 5000, b"\xc3", b"\xed\xa0\x80", b"1e5",
           b"2026-11-27", b"12:30", b"10%", b"$5", b"(5)", "−1".encode())


def mutated(random, data, others, text=False):
    """Makes one to three changes; `others` are files of the same kind."""
    for _ in range((1, 1, 1, 2, 3)[random.integers(0, 5)]):
        changes = _CHANGES + (_TEXT_CHANGES if text else ())
        data = changes[random.integers(0, len(changes))](random, data, others)
    return data


def _place(random, data):
    """Returns a random place, often among the first 128."""
    size = len(data) if random.random() < 0.65 else min(len(data), 128)
    return int(random.integers(0, size + 1))


def _flip(random, data, others):
    at = _place(random, data)
    return data[:at] + bytes(octet ^ 1 << int(random.integers(0, 8)) for octet in data[at : at + 1]) + data[at + 1 :]


def _octet(random, data, others):
    at = _place(random, data)
    return data[:at] + bytes([int(random.integers(0, 256))]) + data[at + 1 :]


def _number(random, data, others):
    """Changes a number of 2, 4 or 8 bytes, in either byte order, often to one near it."""
    size, letter = ((2, "H"), (4, "I"), (8, "Q"))[random.integers(0, 3)]
    at = _place(random, data) // size * size
    if at + size > len(data):
        return data
    letter = "<>"[int(random.random() < 0.2)] + letter
    value = _NUMBERS[random.integers(0, len(_NUMBERS))]
    if random.random() < 0.4:
        value = struct.unpack_from(letter, data, at)[0] + int(random.integers(-2, 3))
    return data[:at] + struct.pack(letter, value % 2 ** (8 * size)) + data[at + size :]


def _cut(random, data, others):
    return data[: random.integers(0, len(data) + 1)]


def _longer(random, data, others):
    return data + bytes(int(random.integers(1, 64)))


def _drop(random, data, others):
    at = _place(random, data)
    return data[:at] + data[at + int(random.integers(1, 40)) :]


def _twice(random, data, others):
    at, size = _place(random, data), int(random.integers(1, 200))
    return data[:at] + data[at : at + size] * int(random.integers(2, 5)) + data[at + size :]


def _zeros(random, data, others):
    at, size = _place(random, data), int(random.integers(1, 40))
    return data[:at] + bytes(len(data[at : at + size])) + data[at + size :]


def _cross(random, data, others):
    other = others[random.integers(0, len(others))]
    at = _place(random, data)
    return data[:at] + other[at:]


def _token(random, data, others):
    """Replaces the text between two separators."""
    token = _TOKENS[random.integers(0, len(_TOKENS))]
    ends = [i for i, octet in enumerate(data) if octet in b",;\t\n :"]
    if not ends:
        return token
    which = int(random.integers(0, len(ends)))
    begin = ends[which - 1] + 1 if which else 0
    return data[:begin] + token + data[ends[which] :]


def _line(random, data, others):
    lines = data.split(b"\n")
    at = int(random.integers(0, len(lines)))
    how = random.integers(0, 4)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines[at : at + 1] = [lines[at]] * int(random.integers(2, 4))
    elif how == 2:
        lines[at] += b"\r"
    else:
        lines.insert(at, np.random.default_rng(at).bytes(5))
    return b"\n".join(lines)


_CHANGES = (_flip,) * 4 + (_octet, _octet) + (_number,) * 6 + (_cut, _longer, _drop, _twice, _zeros, _cross)
_TEXT_CHANGES = (_token,) * 8 + (_line,) * 4
