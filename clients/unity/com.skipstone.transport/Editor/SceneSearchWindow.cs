using System.Collections.Generic;
using UnityEditor;
using UnityEngine;

namespace Skipstone.Editor
{
    /// <summary>A window over <see cref="SceneSearch"/>: Window, Skipstone, Find objects by name.</summary>
    public sealed class SceneSearchWindow : EditorWindow
    {
        private string text = "";
        private bool onlyInactive = true;
        private List<GameObject> found = new List<GameObject>();
        private Vector2 position;

        [MenuItem("Window/Skipstone/Find Objects by Name")]
        private static void Open() => GetWindow<SceneSearchWindow>("Find by Name").Show();

        private void OnGUI()
        {
            text = EditorGUILayout.TextField("Name", text);
            onlyInactive = EditorGUILayout.Toggle("Only inactive", onlyInactive);
            if (GUILayout.Button("Find")) found = SceneSearch.FindInLoadedScenes(text, onlyInactive);
            position = GUILayout.BeginScrollView(position);
            foreach (GameObject one in found)
            {
                // It may have been destroyed since.
                if (one == null || !GUILayout.Button(SceneSearch.PathOf(one))) continue;
                Selection.activeGameObject = one;
                EditorGUIUtility.PingObject(one);
            }
            GUILayout.EndScrollView();
        }
    }
}
