#!/usr/bin/env python3
"""Makes a .nupkg of a folder: a ZIP archive with the content types and relations that NuGet's format (OPC) requires.

    pack.py FOLDER FILE.nupkg
"""
import sys
import zipfile
from pathlib import Path

CONTENT_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
{defaults}{overrides}</Types>
"""
RELATIONS = """<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{manifest}" Id="R1" />
</Relationships>
"""


def main(folder, archive):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    manifest = next(path for path in files if path.suffix == ".nuspec")
    extensions = sorted({path.suffix[1:] for path in files if path.suffix})
    defaults = "".join(f'  <Default Extension="{one}" ContentType="application/octet-stream" />\n' for one in extensions)
    bare = [path for path in files if not path.suffix]
    overrides = "".join(
        f'  <Override PartName="/{path.relative_to(folder).as_posix()}" ContentType="application/octet-stream" />\n' for path in bare)
    with zipfile.ZipFile(archive, "w") as package:
        add(package, "[Content_Types].xml", CONTENT_TYPES.format(defaults=defaults, overrides=overrides).encode())
        add(package, "_rels/.rels", RELATIONS.format(manifest=manifest.name).encode())
        for path in files:
            add(package, path.relative_to(folder).as_posix(), path.read_bytes())
    print(f"wrote {archive}")


def add(package, name, content):
    """An entry without a time of its own, so that the same files make the same archive."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    package.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
