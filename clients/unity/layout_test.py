#!/usr/bin/env python3
"""Each rule of layout.py, broken once."""
import json
import shutil
import tempfile
import unittest
from pathlib import Path

import layout


class Rules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.package = Path(self.folder.name) / layout.PACKAGE.name
        shutil.copytree(layout.PACKAGE, self.package)

    def tearDown(self):
        self.folder.cleanup()

    def assert_finds(self, text):
        breaches = layout.check(self.package)
        self.assertTrue(any(text in breach for breach in breaches), breaches)

    def change(self, path, before, after):
        file = self.package / path
        text = file.read_text(encoding="utf-8")
        self.assertIn(before, text)
        file.write_text(text.replace(before, after, 1), encoding="utf-8")

    def test_the_package_has_no_breach(self):
        self.assertEqual(layout.check(self.package), [])

    def test_the_manifest_has_the_required_fields(self):
        for before, after, text in [
            ("com.skipstone.transport", "Skipstone", "reversed domain name"),
            ('"version": "0.1.0"', '"version": "1"', "MAJOR.MINOR.PATCH"),
            ('"unity": "2021.3"', '"unity": "5"', "YEAR.RELEASE"),
            ("Samples~/NetTest", "Samples~/Other", "no folder in Samples~"),
        ]:
            shutil.copy(layout.PACKAGE / "package.json", self.package)
            self.change("package.json", before, after)
            self.assert_finds(text)

    def test_every_file_has_a_meta_file_and_every_meta_file_has_a_file(self):
        (self.package / "Runtime/New.cs").write_text("")
        self.assert_finds("New.cs: has no .meta")
        (self.package / "Runtime/Core/Server.cs").unlink()
        self.assert_finds("Server.cs.meta: nothing belongs to it")

    def test_guids_are_unique_and_known(self):
        shutil.copy(self.package / "Runtime/Core/Server.cs.meta", self.package / "Runtime/Core/Client.cs.meta")
        self.assert_finds("has the guid of")
        self.change("Samples~/NetTest/NetTest.unity", "guid: ", "guid: 0123456789abcdef0123456789abcdef #")
        self.assert_finds("which no file has")

    def test_assemblies_refer_to_existing_ones(self):
        self.change("Editor/Skipstone.Editor.asmdef", '"Skipstone.Unity"', '"Skipstone.Nobody"')
        self.assert_finds("refers to Skipstone.Nobody")

    def test_an_assembly_that_needs_another_library_is_constrained(self):
        self.change("Runtime/Mirror/Skipstone.Mirror.asmdef", '["MIRROR"]', "[]")
        self.assert_finds("constrain it")

    def test_players_contain_no_editor_code(self):
        file = self.package / "Runtime/Unity/GameServer.cs"
        file.write_text("using UnityEditor;")
        self.assert_finds("names UnityEditor")
        path = self.package / "Editor/Skipstone.Editor.asmdef"
        path.write_text(json.dumps({**json.loads(path.read_text()), "includePlatforms": []}))
        self.assert_finds("the editor's alone")

    def test_each_library_is_for_its_platform(self):
        self.change("Runtime/Plugins/ios/libskipstone.a.meta", "iPhone: iOS", "Android: Android")
        self.assert_finds("is for ['Android']")
        (self.package / "Runtime/Plugins/other.so").write_text("")
        self.assert_finds("other.so: is no library that this script knows")


if __name__ == "__main__":
    unittest.main()
