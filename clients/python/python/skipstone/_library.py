"""What is wrong with the native library in this package, if anything: missing, damaged, for another system or CPU, or
of another version. The system's loader tells none of these apart."""

import platform
import re
import struct
import sys
from importlib import machinery, metadata
from pathlib import Path

_REMEDY = "install the wheel for this system again: pip install --force-reinstall FILE.whl"
_SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
_CPUS = {"x86_64": "x86-64", "amd64": "x86-64", "aarch64": "ARM64", "arm64": "ARM64", "i686": "x86", "i386": "x86"}


def fault(version: str | None = None, folder: Path = Path(__file__).parent) -> str | None:
    """Why the library in the folder cannot be loaded, with the remedy. `version` is what it said of itself."""
    if version is not None:
        return _of_another_version(version)
    files = [file for suffix in machinery.EXTENSION_SUFFIXES if (file := folder / f"skipstone{suffix}").is_file()]
    if files:
        return _damaged(files[0])
    others = [file for file in sorted(folder.glob("skipstone.*")) if file.suffix in (".so", ".pyd")]
    if others:
        python = sys.version.split()[0]
        return _damaged(others[0]) or f"{others[0]} is not a library for this Python, {python}: {_REMEDY}"
    return f"{folder / 'skipstone.abi3.so'}: the native library is missing: {_REMEDY}"


def explained(error: ImportError) -> str:
    """The text of an error of the system's loader, for a library in which nothing else was found."""
    return f"the native library cannot be loaded ({error}): it needs glibc 2.17 on Linux, macOS 11; else {_REMEDY}"


def _of_another_version(version: str) -> str | None:
    try:
        package = metadata.version("skipstone")
    except metadata.PackageNotFoundError:
        return None  # copied, not installed: there is nothing to compare with
    if _normal(package) == _normal(version):
        return None
    return f"the native library is version {version}, and the package is version {package}: {_REMEDY}"


def _normal(version: str) -> str:
    """Cargo's 1.2.0-rc.1 is Python's 1.2.0rc1 (PEP 440)."""
    shorter = version.replace("alpha", "a").replace("beta", "b")
    return re.sub(r"[-.]?(a|b|rc)[-.]?(\d*)$", lambda part: part[1] + (part[2] or "0"), shorter)


def _damaged(file: Path) -> str | None:
    here = f"{_SYSTEMS.get(sys.platform, sys.platform)} on {_cpu()}"
    content = file.read_bytes()
    try:
        there, end = _described(content)
    except struct.error:
        there, end = "", len(content) + 1  # it ends within its own tables
    if there is None:
        return f"{file} is damaged: it is not a native library of any system: {_REMEDY}"
    if there and here not in there.split(" and "):
        return f"{file} is for {there}, and this is {here}: {_REMEDY}"
    if end > len(content):
        return f"{file} is damaged: it ends after {len(content)} bytes, before its own end: {_REMEDY}"
    return None


def _cpu() -> str:
    # A Python of 32 bits runs on a CPU of 64.
    cpu = _CPUS.get(platform.machine().lower(), platform.machine())
    return cpu if sys.maxsize > 2**32 else {"x86-64": "x86", "ARM64": "ARM"}.get(cpu, cpu)


def _described(content: bytes) -> tuple[str | None, int]:
    """System and CPU, and where the file ends by its own tables."""
    if content[:4] == b"\x7fELF":
        return _elf(content)
    if content[:2] == b"MZ":
        return _pe(content)
    if content[:4] == b"\xcf\xfa\xed\xfe":
        return _mach_o(content)
    return None, 0


def _elf(content: bytes) -> tuple[str, int]:
    (cpu,) = struct.unpack_from("<H", content, 18)
    there = "Linux on " + {62: "x86-64", 3: "x86", 183: "ARM64", 40: "ARM"}.get(cpu, f"CPU {cpu}")
    if content[4] != 2:
        return there, 0
    # Linkers put the table of sections at the end.
    (table,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    return there, table + size * count


def _pe(content: bytes) -> tuple[str | None, int]:
    (header,) = struct.unpack_from("<I", content, 0x3C)
    if content[header : header + 4] != b"PE\0\0":
        return None, 0  # a program for DOS
    cpu, count = struct.unpack_from("<HH", content, header + 4)
    (optional,) = struct.unpack_from("<H", content, header + 20)
    sections = (struct.unpack_from("<II", content, header + 24 + optional + 40 * i + 16) for i in range(count))
    there = "Windows on " + {0x8664: "x86-64", 0x14C: "x86", 0xAA64: "ARM64"}.get(cpu, f"CPU {cpu}")
    return there, max((size + start for size, start in sections), default=0)


def _mach_o(content: bytes) -> tuple[str, int]:
    cpu, _, _, commands = struct.unpack_from("<IIII", content, 4)
    end, at = 0, 32
    for _ in range(commands):
        kind, size = struct.unpack_from("<II", content, at)
        if kind == 0x19:  # a segment of 64 bits
            start, length = struct.unpack_from("<QQ", content, at + 40)
            end = max(end, start + length)
        at += max(8, size)
    return "macOS on " + {0x01000007: "x86-64", 0x0100000C: "ARM64"}.get(cpu, f"CPU {cpu}"), end
