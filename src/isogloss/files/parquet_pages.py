"""The pages of a Parquet file: to what size each unpacks, by the headers alone, before anything is unpacked."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

MAGIC = b"PAR1"
MOST_DEPTH = 16  # of the structures in a footer; the format has six
MOST_FOOTER = 200_000_000  # bytes
HEADER = 65_536  # bytes in which the header of a page ends, its statistics included
ROW_GROUPS, COLUMNS, CHUNK_DATA = 4, 1, 3  # numbers of the format's fields
PACKED_SIZE, DATA_OFFSET, DICTIONARY_OFFSET = 7, 9, 11
UNPACKED_PAGE, PACKED_PAGE = 2, 3
NUMBER_TYPES, TRUE, FALSE, BYTE, DOUBLE, TEXT, LISTS, STRUCTURE = (4, 5, 6), 1, 2, 3, 7, 8, (9, 10), 12


def page_sizes(file: BinaryIO) -> Iterator[int]:
    """The bytes to which each page unpacks; ValueError where the file is not Parquet or its structure is broken."""
    try:
        for chunk in _column_chunks(file):
            offset, size = chunk.get(DICTIONARY_OFFSET) or chunk[DATA_OFFSET], chunk[PACKED_SIZE]
            end = min(offset, chunk[DATA_OFFSET]) + size
            while offset < end:
                file.seek(offset)
                header = file.read(HEADER)
                page, length = _read_structure(header, 0, depth=MOST_DEPTH)
                if page[PACKED_PAGE] < 0 or page[UNPACKED_PAGE] < 0:
                    raise ValueError("a page of negative size")
                yield page[UNPACKED_PAGE]
                offset += length + page[PACKED_PAGE]
    except (AttributeError, IndexError, KeyError, OSError, OverflowError, TypeError) as error:
        raise ValueError("the structure is broken") from error


def _column_chunks(file: BinaryIO) -> Iterator[Mapping[int, Any]]:
    """The descriptions of all columns of all row groups, from the end of the file."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or length > min(size - 8, MOST_FOOTER):
        raise ValueError("no footer")
    file.seek(size - 8 - length)
    footer, _ = _read_structure(file.read(length), 0, depth=MOST_DEPTH)
    for group in footer.get(ROW_GROUPS, ()):
        yield from (column[CHUNK_DATA] for column in group.get(COLUMNS, ()))


# ---- the compact protocol of Thrift, in which headers and footers are written


def _read_structure(raw: bytes, at: int, *, depth: int) -> tuple[dict[int, Any], int]:
    """The fields of a structure by their numbers, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while raw[at]:
        step, kind = raw[at] >> 4, raw[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _read_number(raw, at)
        fields[number], at = (
            (kind == TRUE, at) if kind in (TRUE, FALSE) else _read_value(raw, at, kind=kind, depth=depth)
        )
    return fields, at + 1


def _read_value(raw: bytes, at: int, *, kind: int, depth: int) -> tuple[Any, int]:
    """A value of that type; texts are passed over."""
    if depth < 0:
        raise ValueError("nested too deeply")
    if kind in NUMBER_TYPES:
        return _read_number(raw, at)
    if kind == TEXT:
        length, at = _read_unsigned(raw, at)
        return None, at + length
    if kind in LISTS:
        length, inner = raw[at] >> 4, raw[at] & 15
        at += 1
        if length == 15:
            length, at = _read_unsigned(raw, at)
        if length > len(raw):  # each value takes a byte or more
            raise ValueError("a list longer than the file")
        values = []
        for _ in range(length):
            value, at = (None, at + 1) if inner in (TRUE, FALSE) else _read_value(raw, at, kind=inner, depth=depth - 1)
            values.append(value)
        return values, at
    if kind == STRUCTURE:
        return _read_structure(raw, at, depth=depth - 1)
    if kind in (BYTE, DOUBLE):
        return None, at + (1 if kind == BYTE else 8)
    raise ValueError(f"a value of the unknown type {kind}")


def _read_number(raw: bytes, at: int) -> tuple[int, int]:
    """A signed number in the zigzag form: 0, -1, 1, -2 are 0, 1, 2, 3."""
    value, at = _read_unsigned(raw, at)
    return (value >> 1) ^ -(value & 1), at


def _read_unsigned(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while raw[at] & 128:
        value |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
    return value | raw[at] << shift, at + 1
