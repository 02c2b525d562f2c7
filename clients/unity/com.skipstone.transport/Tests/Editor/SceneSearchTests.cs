using System;
using System.Linq;
using NUnit.Framework;
using UnityEngine;

namespace Skipstone.Editor.Tests
{
    public class SceneSearchTests
    {
        private GameObject root;

        // root > panel (inactive) > Chat, Log; root > Chat Button
        [SetUp]
        public void Build()
        {
            root = new GameObject("root");
            GameObject panel = Below(root, "panel");
            Below(panel, "Chat");
            Below(panel, "Log");
            Below(root, "Chat Button");
            panel.SetActive(false);
        }

        private static GameObject Below(GameObject parent, string name)
        {
            var one = new GameObject(name);
            one.transform.SetParent(parent.transform);
            return one;
        }

        private string Found(string text, bool onlyInactive) =>
            string.Join(", ", SceneSearch.Find(new[] { root.transform }, text, onlyInactive).Select(SceneSearch.PathOf));

        [Test]
        public void Inactive_objects_are_found_by_a_part_of_their_name()
        {
            Assert.AreEqual("root/panel/Chat, root/Chat Button", Found("chat", false));
        }

        [Test]
        public void An_object_below_an_inactive_one_is_inactive()
        {
            Assert.AreEqual("root/panel/Chat", Found("chat", true));
            Assert.AreEqual("root/panel", Found("panel", true));
        }

        [Test]
        public void An_empty_name_finds_nothing()
        {
            Assert.AreEqual("", Found("", false));
            Assert.AreEqual("", Found(null, false));
            Assert.AreEqual("", Found("nobody", false));
            Assert.Throws<ArgumentNullException>(() => SceneSearch.Find(null, "chat", false));
        }

        [Test]
        public void A_deep_hierarchy_is_searched_completely()
        {
            GameObject at = root;
            for (int depth = 0; depth < 1000; depth++) at = Below(at, "level");
            at.name = "treasure";
            Assert.AreEqual(1, SceneSearch.Find(new[] { root.transform }, "treasure", false).Count);
        }
    }
}
