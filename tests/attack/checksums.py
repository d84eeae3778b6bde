"""Corrects the checksums of kith's own files after a change: docs/contract.md, sections 9, 10 and 13."""
import struct

_MASK = 2**64 - 1
_PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
HEAD = 4096  # bytes of an index file's head


def _turned(value, bits):
    return (value << bits | value >> (64 - bits)) & _MASK


def _round(sum_of, word):
    return _turned((sum_of + word * _PRIMES[1]) & _MASK, 31) * _PRIMES[0] & _MASK


def xxh64(data):
    """Returns XXH64 with seed 0 (Collet)."""
    first, second, third, fourth, fifth = _PRIMES
    at, size = 0, len(data)
    if size >= 32:
        lanes = [(first + second) & _MASK, second, 0, -first & _MASK]
        for words in struct.iter_unpack("<4Q", data[: size // 32 * 32]):
            lanes = [_round(lane, word) for lane, word in zip(lanes, words)]
        at = size // 32 * 32
        sum_of = sum(_turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & _MASK
        for lane in lanes:
            sum_of = ((sum_of ^ _round(0, lane)) * first + fourth) & _MASK
    else:
        sum_of = fifth
    sum_of = (sum_of + size) & _MASK
    for (word,) in struct.iter_unpack("<Q", data[at : at + (size - at) // 8 * 8]):
        sum_of = (_turned(sum_of ^ _round(0, word), 27) * first + fourth) & _MASK
    at += (size - at) // 8 * 8
    if size - at >= 4:
        word = struct.unpack_from("<I", data, at)[0]
        sum_of = (_turned(sum_of ^ word * first & _MASK, 23) * second + third) & _MASK
        at += 4
    for octet in data[at:]:
        sum_of = _turned(sum_of ^ octet * fifth & _MASK, 11) * first & _MASK
    for bits, prime in ((33, second), (29, third)):
        sum_of = (sum_of ^ sum_of >> bits) * prime & _MASK
    return sum_of ^ sum_of >> 32


def fnv(data):
    """Returns FNV-1a of 64 bits."""
    sum_of = 0xCBF29CE484222325
    for octet in data:
        sum_of = (sum_of ^ octet) * 0x100000001B3 & _MASK
    return sum_of


def _number(value):
    return struct.pack("<Q", value)


def mended_index(data, sizes):
    """Corrects an index file whose body is at most one MiB; with `sizes` also the sizes in its head."""
    if len(data) < HEAD + 16:
        return data
    body = data[HEAD:-16]
    sum_of = _number(xxh64(_number(xxh64(body))))
    data = data[:-16] + sum_of + _number(xxh64(sum_of))
    if sizes:
        data = data[:24] + _number(len(data)) + _number(len(body)) + data[40:]
    return data[: HEAD - 8] + _number(xxh64(data[: HEAD - 8])) + data[HEAD:]


def mended_model(data, sizes):
    if len(data) < 32:
        return data
    if sizes:
        data = data[:16] + _number(len(data)) + data[24:]
    return data[:-8] + _number(fnv(data[:-8]))


def mended_checkpoint(data, sizes):
    return data[:-8] + _number(xxh64(data[:-8]))
