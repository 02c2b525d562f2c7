#!/usr/bin/env python3
"""The layout of the Unity package, by Unity's documented rules.

    layout.py check [PACKAGE]    every breach, a line each; exit code 1 if there is one
    layout.py metas [PACKAGE]    write the .meta files that are missing; those that are there stay as they are
    layout.py pack OUT LIBRARIES make OUT/com.skipstone.transport.tgz, which Unity installs, with the native libraries of a folder:
                                 either laid out as below Runtime/Plugins, or the one of this machine
    layout.py archive FILE       every breach in an archive, and each library in its place that is missing or for another system

Folders that end in `~` are hidden from Unity: they have no .meta themselves. The contents of a sample's folder have,
since a scene of the sample refers to its scripts by their guids.
"""
import gzip
import hashlib
import json
import platform
import re
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).parent / "com.skipstone.transport"

# Native libraries are added by a release: their .meta files are committed, so that their guids stay the same, but the
# libraries are not. Path: (platforms of Unity's importer that load it, its CPU).
PLUGINS = {
    "Runtime/Plugins/linux-x86_64/libskipstone.so": (["Editor", "Linux64"], "x86_64"),
    "Runtime/Plugins/linux-arm64/libskipstone.so": (["LinuxArm64"], "ARM64"),
    "Runtime/Plugins/windows-x86_64/skipstone.dll": (["Editor", "Win64"], "x86_64"),
    "Runtime/Plugins/macos/libskipstone.dylib": (["Editor", "OSXUniversal"], "AnyCPU"),
    "Runtime/Plugins/ios/libskipstone.a": (["iOS"], "AnyCPU"),
    "Runtime/Plugins/android-arm64/libskipstone.so": (["Android"], "ARM64"),
    "Runtime/Plugins/android-armv7/libskipstone.so": (["Android"], "ARMv7"),
    "Runtime/Plugins/android-x86_64/libskipstone.so": (["Android"], "x86_64"),
    "Runtime/Plugins/WebGL/Skipstone.jslib": (["WebGL"], "AnyCPU"),
}
EDITOR_SYSTEM = {"linux": "Linux", "windows": "Windows", "macos": "OSX"}

# Libraries that a release may lack: they are built with tools of Google's and Apple's.
MAY_BE_ABSENT = {plugin for plugin in PLUGINS if "/android-" in plugin or "/ios/" in plugin}
# The first bytes of a library for each system; an ELF file names its CPU in bytes 18 and 19.
MAGIC = {
    "Runtime/Plugins/linux-x86_64/libskipstone.so": b"\x7fELF\x02",
    "Runtime/Plugins/linux-arm64/libskipstone.so": b"\x7fELF\x02",
    "Runtime/Plugins/windows-x86_64/skipstone.dll": b"MZ",
    "Runtime/Plugins/macos/libskipstone.dylib": b"\xca\xfe\xba\xbe",
}

# Assemblies of others that ours refer to.
KNOWN_ASSEMBLIES = {
    "Unity.Netcode.Runtime", "Mirror", "FishNet.Runtime", "UnityEngine.TestRunner", "UnityEditor.TestRunner",
}
# Unity's own assets, which scenes and materials refer to.
BUILT_IN_GUIDS = {"0000000000000000e000000000000000", "0000000000000000f000000000000000", "00000000000000000000000000000000"}


def is_hidden(path):
    """Whether Unity ignores it, or a folder above it."""
    return any(part.endswith("~") or part.startswith(".") for part in path.parts)


def has_meta(path):
    """Whether it needs a .meta file; `path` is relative to the package. Samples' contents do."""
    parts = path.parts
    if parts[0] == "Samples~":
        return len(parts) > 2 and not any(part.startswith(".") for part in parts)
    return not is_hidden(path)


def entries(package):
    """All files and folders but .meta files, relative."""
    found = (path.relative_to(package) for path in sorted(package.rglob("*")))
    return [path for path in found if path.suffix != ".meta"]


def check(package):
    """All breaches, as lines."""
    breaches = []
    breaches += manifest(package)
    breaches += metas(package)
    breaches += assemblies(package)
    breaches += plugins(package)
    breaches += references(package)
    return breaches


def manifest(package):
    path = package / "package.json"
    if not path.is_file():
        return ["package.json: is missing"]
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return [f"package.json: {error}"]
    breaches = []
    name = fields.get("name", "")
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+){2,}", name) or len(name) > 50:
        breaches.append(f"package.json: `{name}` is no reversed domain name in small letters of 50 at most")
    if package.name != name:
        breaches.append(f"package.json: `{name}` lies in the folder {package.name}")
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", fields.get("version", "")):
        breaches.append("package.json: `version` is not MAJOR.MINOR.PATCH")
    if not re.fullmatch(r"20\d\d\.\d|6000\.\d+", fields.get("unity", "")):
        breaches.append("package.json: `unity` is not YEAR.RELEASE")
    for key in ("displayName", "description", "license"):
        if not fields.get(key):
            breaches.append(f"package.json: `{key}` is missing")
    for sample in fields.get("samples", []):
        if any(not sample.get(key) for key in ("displayName", "description", "path")):
            breaches.append("package.json: a sample needs displayName, description and path")
        elif not sample["path"].startswith("Samples~/") or not (package / sample["path"]).is_dir():
            breaches.append(f"package.json: the sample {sample['path']} is no folder in Samples~")
    listed = {sample.get("path") for sample in fields.get("samples", [])}
    for folder in sorted((package / "Samples~").glob("*/")):
        if f"Samples~/{folder.name}" not in listed:
            breaches.append(f"package.json: does not list Samples~/{folder.name}")
    for file in ("README.md", "CHANGELOG.md", "LICENSE.md", "Documentation~"):
        if not (package / file).exists():
            breaches.append(f"{file}: is missing")
    return breaches


def metas(package):
    breaches, owners = [], {}
    for path in entries(package):
        if not has_meta(path):
            continue
        meta = package / f"{path}.meta"
        if not meta.is_file():
            breaches.append(f"{path}: has no .meta file; `layout.py metas` writes it")
            continue
        text = meta.read_text(encoding="utf-8")
        if not text.startswith("fileFormatVersion: 2\n"):
            breaches.append(f"{path}.meta: does not begin with `fileFormatVersion: 2`")
        guid = guid_of(text)
        if guid is None:
            breaches.append(f"{path}.meta: has no guid of 32 hex digits in small letters")
        elif guid in owners:
            breaches.append(f"{path}.meta: has the guid of {owners[guid]}")
        owners.setdefault(guid, path)
        if (package / path).is_dir() != ("folderAsset: yes" in text):
            breaches.append(f"{path}.meta: `folderAsset: yes` belongs to folders, and to folders alone")
    for meta in sorted(package.rglob("*.meta")):
        path = meta.relative_to(package).with_suffix("")
        if not (package / path).exists() and path.as_posix() not in PLUGINS:
            breaches.append(f"{path}.meta: nothing belongs to it")
        elif not has_meta(path):
            breaches.append(f"{path}.meta: Unity does not see {path}, which needs none")
    return breaches


def assemblies(package):
    breaches, names, folders, guids = [], {}, {}, guids_of(package)
    for path in sorted(package.rglob("*.asmdef")):
        relative = path.relative_to(package)
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            breaches.append(f"{relative}: {error}")
            continue
        name = fields.get("name")
        if name != path.stem:
            breaches.append(f"{relative}: is called {name} inside")
        if name in names:
            breaches.append(f"{relative}: {names[name]} has this name too")
        if relative.parent in folders:
            breaches.append(f"{relative}: its folder has another assembly")
        names[name] = relative
        folders[relative.parent] = fields
    for folder, fields in folders.items():
        for reference in fields.get("references", []):
            known = reference in names or reference in KNOWN_ASSEMBLIES
            if reference.startswith("GUID:"):
                known = reference[5:] in guids
            if not known:
                breaches.append(f"{folder}: {fields['name']} refers to {reference}, which no folder has")
        outside = [reference for reference in fields.get("references", []) if reference in KNOWN_ASSEMBLIES]
        defines = {define["define"] for define in fields.get("versionDefines", [])}
        tests = "UNITY_INCLUDE_TESTS" in fields.get("defineConstraints", [])
        for constraint in fields.get("defineConstraints", []):
            # Mirror and FishNet define symbols of their own, and are not in a registry.
            if constraint not in defines | {"UNITY_INCLUDE_TESTS", "MIRROR", "FISHNET"}:
                breaches.append(f"{folder}: nothing defines {constraint}")
        if outside and not tests and not fields.get("defineConstraints"):
            breaches.append(f"{folder}: {fields['name']} does not compile where {', '.join(outside)} is missing: constrain it")
        is_editor = "Editor" in folder.parts
        if is_editor != (fields.get("includePlatforms") == ["Editor"]):
            breaches.append(f"{folder}: an assembly is the editor's alone if it lies in an Editor folder, else it is not")
    for path in sorted(package.rglob("*.cs")):
        relative = path.relative_to(package)
        owner = next((folders[folder] for folder in relative.parents if folder in folders), None)
        if owner is None:
            breaches.append(f"{relative}: belongs to no assembly definition")
        elif "UnityEditor" in path.read_text(encoding="utf-8") and owner.get("includePlatforms") != ["Editor"]:
            breaches.append(f"{relative}: names UnityEditor in an assembly that players have")
    return breaches


def plugins(package):
    breaches = []
    for path, (platforms, _) in PLUGINS.items():
        meta = package / f"{path}.meta"
        if not meta.is_file():
            breaches.append(f"{path}.meta: is missing; `layout.py metas` writes it")
            continue
        text = meta.read_text(encoding="utf-8")
        if "PluginImporter:" not in text or "serializedVersion: 2" not in text:
            breaches.append(f"{path}.meta: has no PluginImporter of serializedVersion 2")
        enabled = re.findall(r"- first:\n      \w+: (\w+)\n    second:\n      enabled: 1", text)
        if sorted(enabled) != sorted(platforms):
            breaches.append(f"{path}.meta: is for {sorted(enabled)}, not for {sorted(platforms)}")
    libraries = (path for path in entries(package) if path.suffix in {".so", ".dll", ".dylib", ".a", ".jslib", ".bundle"})
    for path in libraries:
        if has_meta(path) and path.as_posix() not in PLUGINS:
            breaches.append(f"{path}: is no library that this script knows")
    return breaches


def references(package):
    """Guids that scenes, prefabs and assets name."""
    breaches, guids = [], guids_of(package) | BUILT_IN_GUIDS
    for path in entries(package):
        if path.suffix in {".unity", ".prefab", ".asset", ".mat"}:
            for guid in re.findall(r"guid: ([0-9a-f]{32})", (package / path).read_text(encoding="utf-8")):
                if guid not in guids:
                    breaches.append(f"{path}: names {guid}, which no file has")
    return breaches


def guids_of(package):
    return {guid_of(meta.read_text(encoding="utf-8")) for meta in package.rglob("*.meta")}


def guid_of(text):
    found = re.search(r"^guid: ([0-9a-f]{32})$", text, re.MULTILINE)
    return found and found[1]


def write_metas(package):
    wanted = [path.as_posix() for path in entries(package) if has_meta(path)]
    for plugin in PLUGINS:
        parents = [parent.as_posix() for parent in Path(plugin).parents if parent.parts]
        for folder in parents:
            (package / folder).mkdir(parents=True, exist_ok=True)
        wanted += parents + [plugin]
    for path in sorted(set(wanted)):
        meta = package / f"{path}.meta"
        if not meta.exists():
            meta.write_text(meta_of(path, (package / path).is_dir()), encoding="utf-8")
            print(f"wrote {path}.meta")


def meta_of(path, is_folder):
    """The guid is derived once, from the path: a moved file keeps its .meta."""
    head = f"fileFormatVersion: 2\nguid: {hashlib.md5(f'com.skipstone.transport/{path}'.encode()).hexdigest()}\n"
    tail = "  userData: \n  assetBundleName: \n  assetBundleVariant: \n"
    if path in PLUGINS:
        return head + plugin_importer(path) + tail
    if is_folder:
        return head + "folderAsset: yes\nDefaultImporter:\n  externalObjects: {}\n" + tail
    if path.endswith(".cs"):
        return head + ("MonoImporter:\n  externalObjects: {}\n  serializedVersion: 2\n  defaultReferences: []\n"
                       "  executionOrder: 0\n  icon: {instanceID: 0}\n") + tail
    if path.endswith(".asmdef"):
        return head + "AssemblyDefinitionImporter:\n  externalObjects: {}\n" + tail
    if path == "package.json":
        return head + "PackageManifestImporter:\n  externalObjects: {}\n" + tail
    if path.endswith((".md", ".txt", ".json")):
        return head + "TextScriptImporter:\n  externalObjects: {}\n" + tail
    return head + "DefaultImporter:\n  externalObjects: {}\n" + tail


def plugin_importer(path):
    platforms, cpu = PLUGINS[path]
    text = ("PluginImporter:\n  externalObjects: {}\n  serializedVersion: 2\n  iconMap: {}\n  executionOrder: {}\n"
            "  defineConstraints: []\n  isPreloaded: 0\n  isOverridable: 0\n  isExplicitlyReferenced: 0\n"
            "  validateReferences: 1\n  platformData:\n"
            "  - first:\n      Any: \n    second:\n      enabled: 0\n      settings: {}\n")
    for platform in platforms:
        group = {"Editor": "Editor", "iOS": "iPhone", "Android": "Android", "WebGL": "WebGL"}.get(platform, "Standalone")
        settings = {"CPU": cpu}
        if platform == "Editor":
            settings["OS"] = EDITOR_SYSTEM[Path(path).parent.name.split("-")[0]]
        if platform == "iOS":
            settings = {"AddToEmbeddedBinaries": "false"}
        lines = "".join(f"        {key}: {value}\n" for key, value in settings.items())
        text += f"  - first:\n      {group}: {platform}\n    second:\n      enabled: 1\n      settings:\n{lines}"
    return text


def pack(out, libraries):
    """The package with the available libraries; the .meta files of the others are omitted."""
    out.mkdir(parents=True, exist_ok=True)
    found = {}
    for plugin in PLUGINS:
        candidates = [PACKAGE / plugin, libraries / Path(plugin).relative_to("Runtime/Plugins")]
        if plugin == own_plugin():
            candidates.append(libraries / Path(plugin).name)
        found[plugin] = next((path for path in candidates if path.is_file()), None)
    absent = {plugin for plugin, path in found.items() if path is None}
    absent |= {Path(plugin).parent.as_posix() for plugin in absent}
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*") if path.is_file()}
    files = {name: path for name, path in files.items() if name.removesuffix(".meta") not in absent}
    for plugin, path in found.items():
        if path is not None:
            files[plugin] = path
            print(f"with {plugin}")
    archive = out / "com.skipstone.transport.tgz"
    # No time, owner or name of a file: the same files make the same archive.
    with archive.open("wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = files[name].stat().st_size, 0o644
            with files[name].open("rb") as content:
                tar.addfile(entry, content)
    print(f"wrote {archive}")


def check_archive(archive):
    """All breaches of an archive as Unity unpacks it."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / PACKAGE.name
        with tarfile.open(archive, "r:gz") as tar:
            names = [member.name for member in tar.getmembers()]
            foreign = [name for name in names if not name.startswith("package/") or ".." in name]
            if foreign:
                return [f"{foreign[0]}: lies outside of package/"]
            tar.extractall(folder)
        (Path(folder) / "package").rename(package)
        absent = {plugin for plugin in PLUGINS if not (package / plugin).is_file()}
        breaches = [f"{plugin}: is missing" for plugin in sorted(absent - MAY_BE_ABSENT)]
        breaches += [one for one in check(package) if not any(one.startswith(f"{plugin}.meta: is missing") for plugin in absent)]
        for plugin, magic in MAGIC.items():
            path = package / plugin
            if path.is_file() and not path.read_bytes().startswith(magic):
                breaches.append(f"{plugin}: is no library for that system and CPU")
        return breaches


def own_plugin():
    system, machine = platform.system(), platform.machine().lower()
    arm = machine in {"arm64", "aarch64"}
    return {
        "Linux": f"Runtime/Plugins/linux-{'arm64' if arm else 'x86_64'}/libskipstone.so",
        "Windows": "Runtime/Plugins/windows-x86_64/skipstone.dll",
        "Darwin": "Runtime/Plugins/macos/libskipstone.dylib",
    }.get(system)


def main(words):
    command = words[0] if words else ""
    if command == "pack" and len(words) == 3:
        pack(Path(words[1]), Path(words[2]))
        return 0
    if command == "archive" and len(words) == 2:
        breaches = check_archive(Path(words[1]))
        print("\n".join(breaches) or f"{Path(words[1]).name}: every file is as Unity wants it, and every library in its place")
        return 1 if breaches else 0
    package = Path(words[1]) if len(words) > 1 else PACKAGE
    if command == "metas":
        write_metas(package)
        return 0
    if command == "check":
        breaches = check(package)
        print("\n".join(breaches) or f"{package.name}: {len(entries(package))} files and folders are as Unity wants them")
        return 1 if breaches else 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
