"""A native library that does not fit is an ImportError that says why: missing, damaged, for another system or CPU, or
of another version."""

import struct
from importlib import machinery, metadata
from pathlib import Path

import pytest
import skipstone
from skipstone import _library

NAME = f"skipstone{machinery.EXTENSION_SUFFIXES[-1]}"
LOADED = next(iter(Path(_library.__file__).parent.glob("skipstone.*")))


def said(folder: Path, content: bytes) -> str:
    (folder / NAME).write_bytes(content)
    return _library.fault(folder=folder) or ""


def elf(cpu: int) -> bytes:
    header = bytearray(b"\x7fELF\x02" + bytes(123))
    struct.pack_into("<H", header, 18, cpu)
    return bytes(header)


def test_the_loaded_library_has_no_fault() -> None:
    assert _library.fault() is None
    assert _library.fault(skipstone.__version__) is None


def test_a_missing_library_is_called_missing(tmp_path: Path) -> None:
    assert "is missing: install the wheel" in (_library.fault(folder=tmp_path) or "")


def test_a_library_of_another_python_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "skipstone.cpython-34m.so").write_bytes(LOADED.read_bytes())
    assert "not a library for this Python" in (_library.fault(folder=tmp_path) or "")


def test_a_library_without_its_end_is_called_damaged(tmp_path: Path) -> None:
    whole = LOADED.read_bytes()
    assert said(tmp_path, whole) == ""
    for length in (5, 40, len(whole) // 2, len(whole) - 1):
        assert f"is damaged: it ends after {length} bytes" in said(tmp_path, whole[:length])


def test_a_file_that_is_no_library_is_called_damaged(tmp_path: Path) -> None:
    for content in (b"", b"text", bytes(4_096)):
        assert "is damaged: it is not a native library" in said(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "there"),
    [
        (elf(40), "Linux on ARM,"),
        (elf(0x1234), "Linux on CPU 4660,"),
        (b"\xcf\xfa\xed\xfe" + struct.pack("<7I", 0x0100000C, 0, 6, 0, 0, 0, 0), "macOS on ARM64,"),
        (b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0\x4c\x01" + bytes(30), "Windows on x86,"),
    ],
)
def test_a_library_of_another_system_or_cpu_names_both(tmp_path: Path, content: bytes, there: str) -> None:
    text = said(tmp_path, content)
    assert f"is for {there} and this is " in text and "install the wheel" in text


def test_a_version_before_a_release_is_the_same_in_rust_and_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "0.2.0rc1")
    assert _library.fault("0.2.0-rc.1") is None
    assert "version 0.2.0-rc.2" in (_library.fault("0.2.0-rc.2") or "")
    assert _library.fault("0.2.0") is not None


def test_a_library_of_another_version_names_both() -> None:
    text = _library.fault("9.9.9") or ""
    assert "version 9.9.9" in text and f"version {metadata.version('skipstone')}" in text
