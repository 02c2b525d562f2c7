#!/usr/bin/env python3
"""Makes a ZIP archive that every machine makes equal: names in order, the time SOURCE_DATE_EPOCH, two kinds of modes.

    zip_folder.py ARCHIVE FOLDER NAME...        the names are files and folders in FOLDER; . is everything in it
"""
import os
import sys
import time
import zipfile
from pathlib import Path


def main(archive, folder, names):
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    when = max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0))
    files = set()
    for name in names:
        path = folder / name
        files.update([path] if path.is_file() else (below for below in path.rglob("*") if below.is_file()))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
        for path in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), when)
            entry.create_system = 3
            entry.external_attr = (0o100755 if os.access(path, os.X_OK) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, path.read_bytes(), compresslevel=9)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
