using System;
using System.Collections.Generic;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace Skipstone.Editor
{
    /// <summary>Finds game objects by name, inactive ones too, which <c>GameObject.Find</c> leaves out.</summary>
    public static class SceneSearch
    {
        /// <summary>Those of all loaded scenes.</summary>
        /// <param name="text">The name, or a part of it; letters may be large or small.</param>
        /// <param name="onlyInactive">Leaves out objects that are active.</param>
        public static List<GameObject> FindInLoadedScenes(string text, bool onlyInactive)
        {
            var roots = new List<Transform>();
            for (int index = 0; index < SceneManager.sceneCount; index++)
            {
                Scene scene = SceneManager.GetSceneAt(index);
                if (!scene.isLoaded) continue;
                foreach (GameObject root in scene.GetRootGameObjects()) roots.Add(root.transform);
            }
            return Find(roots, text, onlyInactive);
        }

        /// <summary>Those at and below some transforms, in the order of the hierarchy.</summary>
        public static List<GameObject> Find(IEnumerable<Transform> roots, string text, bool onlyInactive)
        {
            if (roots == null) throw new ArgumentNullException(nameof(roots));
            var found = new List<GameObject>();
            if (string.IsNullOrEmpty(text)) return found;
            // A stack, since a hierarchy may be deeper than the one of calls.
            var pending = new Stack<Transform>();
            foreach (Transform root in roots)
            {
                pending.Push(root);
                while (pending.Count > 0)
                {
                    Transform at = pending.Pop();
                    GameObject one = at.gameObject;
                    bool isNamed = one.name.IndexOf(text, StringComparison.OrdinalIgnoreCase) >= 0;
                    if (isNamed && !(onlyInactive && one.activeInHierarchy)) found.Add(one);
                    for (int child = at.childCount - 1; child >= 0; child--) pending.Push(at.GetChild(child));
                }
            }
            return found;
        }

        /// <summary>The path of an object: the names from its root on, separated by slashes.</summary>
        public static string PathOf(GameObject one)
        {
            string path = one.name;
            for (Transform parent = one.transform.parent; parent != null; parent = parent.parent) path = parent.gameObject.name + "/" + path;
            return path;
        }
    }
}
