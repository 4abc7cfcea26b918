#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small PCD, PLY, text or raw files as a start for the fuzzer.

usage: make_row_seeds.py pcd|ply|text|raw FOLDER
"""

import pathlib
import struct
import sys

VALUES = [(0.5, -1.25, 3e10, 7), (1.0, float("nan"), -0.0, 65535)]
CELLS = b"".join(struct.pack("<fffH", *row) for row in VALUES)
LINES = b"".join(b"%r %r %r %d\n" % row for row in VALUES)


def literal(data):
    """LZF code that is nothing but literal bytes."""
    code = b"".join(bytes([len(data[i:i + 32]) - 1]) + data[i:i + 32] for i in range(0, len(data), 32))
    return struct.pack("<II", len(code), len(data)) + code


def pcd():
    columns = b"".join(struct.pack("<ff", *(row[k] for row in VALUES)) for k in range(3))
    columns += struct.pack("<HH", *(row[3] for row in VALUES))
    size = b"WIDTH 1\nHEIGHT 2\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\n"
    head = b"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z i\nSIZE 4 4 4 2\nTYPE F F F U\nCOUNT 1 1 1 1\n" + size
    yield head + b"DATA ascii\n" + LINES
    yield (head + b"DATA ascii\n" + LINES).replace(b"\n", b"\r")
    yield head + b"DATA binary\n" + CELLS
    yield head + b"DATA binary_compressed\n" + literal(columns)
    copies = struct.pack("<II", 5, 12) + bytes([0, 65, 0xE0, 2, 0])
    yield b"FIELDS x y z\nWIDTH 1\nDATA binary_compressed\n" + copies
    yield b"FIELDS x _ y z n l\nSIZE 2 1 8 4 1 4\nTYPE I U F U U F\nCOUNT 1 3 1 1 2 0\nDATA binary\n" + bytes(range(38))


def ply():
    fields = b"property float x\nproperty float32 y\nproperty float z\nproperty ushort i\n"
    for form, body in ((b"ascii", LINES), (b"binary_little_endian", CELLS),
                       (b"binary_big_endian", b"".join(struct.pack(">fffH", *row) for row in VALUES))):
        head = b"ply\nformat " + form + b" 1.0\ncomment a\n"
        yield head + b"element vertex 2\n" + fields + b"end_header\n" + body
        if form == b"ascii":
            lists = b"2 1 2\n0\n" + b"".join(b"1 9 " + line + b"\n" for line in LINES.split(b"\n")[:2])
        else:
            lists = b"\x02ab\x00" + b"".join(b"\x01c" + body[i:i + 14] for i in (0, 14))
        yield (head + b"element face 2\nproperty list uchar char k\nelement vertex 2\nproperty list uchar uchar l\n" + fields +
               b"end_header\n" + lists)


def text():
    yield LINES
    yield b"2\n" + LINES.replace(b" ", b",")
    yield b"x;y;z;\"a b\"\r\n" + LINES.replace(b" ", b";").replace(b"\n", b"\r\n")
    yield b"// X Y Z i\n# more\n\n" + LINES.replace(b" ", b"\t")
    yield b"1 2 3 1532402927647951123 18446744073709551615\n+4 5e-3 .5 0 1"
    yield b"1 2 3 7 8\n1 2 9007199254740993 9007199254740993 -9007199254740993\n1 2 3 0.5 18446744073709551616\n"


def raw():
    yield struct.pack("<8f", *range(8))
    yield struct.pack("<9f", *range(9))
    yield LINES


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate({"pcd": pcd, "ply": ply, "text": text, "raw": raw}[kind]()):
        (folder / f"{kind}-{number}").write_bytes(data)


if __name__ == "__main__":
    main()
