#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small LAS files of every version and point format as a start for the fuzzer.

usage: make_seeds.py FOLDER
"""

import pathlib
import struct
import sys

BYTES = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67]
HEADER = {0: 227, 1: 227, 2: 227, 3: 235, 4: 375, 5: 393}


def vlr(user, record, payload, reserved=0):
    return struct.pack("<H16sHH32s", reserved, user, record, len(payload), b"seed") + payload


def evlr(user, record, payload):
    return struct.pack("<H16sHQ32s", 0, user, record, len(payload), b"seed") + payload


def extra_bytes(kind, options, name):
    entry = bytearray(192)
    struct.pack_into("<BB32s", entry, 2, kind, options, name)
    struct.pack_into("<d", entry, 112, 0.01)
    struct.pack_into("<d", entry, 136, 5.0)
    return bytes(entry)


def las(minor, form, points, with_records):
    extra = 9 if with_records else 0
    length = BYTES[form] + extra
    records = b""
    for i in range(points):
        body = struct.pack("<iiiH", 1000 * i, -7 * i, i, 500 + i)
        body += bytes([0x09, 2, i, 7]) if form < 6 else bytes([0x11, 0x08, 2, 7])
        records += body.ljust(BYTES[form], b"\x01") + bytes(range(extra))
    front = b""
    if with_records:
        front += vlr(b"LASF_Spec", 4, extra_bytes(3, 8, b"Ring") + extra_bytes(10, 24, b"time of day")[:192])
        front += vlr(b"LASF_Projection", 2112, b'LOCAL_CS["seed"]\0')
        front += vlr(b"LASF_Projection", 34735, bytes(8), 0xAABB)
    offset = HEADER[minor] + len(front)
    end = offset + len(records)
    back = b""
    wave_start = 0
    evlrs = 0
    encoding = 0x10 if minor >= 4 else 0
    if with_records and minor >= 4:
        back = evlr(b"LASF_Projection", 2112, b"text\0") + evlr(b"LASF_Spec", 65535, bytes(40))
        wave_start = end + 65
        evlrs = 2
        encoding |= 2
    elif with_records and minor == 3:
        back = evlr(b"LASF_Spec", 65535, bytes(40))
        wave_start = end
        encoding |= 2
    head = struct.pack("<4sHH16sBB32s32sHHHIIBHI5I", b"LASF", 1, encoding, bytes(16), 1, minor, b"seed", b"seed", 1, 2024,
                       HEADER[minor], offset, 3 if with_records else 0, form, length,
                       points if form < 6 or minor < 4 else 0, *([points, 0, 0, 0, 0] if form < 6 else [0] * 5))
    head += struct.pack("<12d", 0.01, 0.001, 0.5, 0.0, 100.0, -5.0, 10.0 * points, 0.0, 100.0, 0.0, 50.0, -5.0)
    if minor >= 3:
        head += struct.pack("<Q", wave_start)
    if minor >= 4:
        head += struct.pack("<QIQ15Q", end if evlrs else 0, evlrs, points, points, *([0] * 14))
    if minor >= 5:
        head += struct.pack("<ddH", 1.0, 0.0, 3)
    assert len(head) == HEADER[minor]
    return head + front + records + back


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for minor in range(6):
        for form in range(11):
            for with_records in (False, True):
                name = f"1.{minor}-{form}{'-records' if with_records else ''}.las"
                (folder / name).write_bytes(las(minor, form, 3, with_records))
    (folder / "empty.las").write_bytes(las(2, 1, 0, False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
