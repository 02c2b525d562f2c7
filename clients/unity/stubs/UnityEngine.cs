// UnityEngine, as far as the package uses it.
using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public class Object
    {
        public string name { get; set; } = "";
        public static bool operator ==(Object left, Object right) => ReferenceEquals(left, right);
        public static bool operator !=(Object left, Object right) => !ReferenceEquals(left, right);
        public override bool Equals(object other) => ReferenceEquals(this, other);
        public override int GetHashCode() => base.GetHashCode();
        public static void Destroy(Object target) { }
        public static void DontDestroyOnLoad(Object target) { }
    }

    public class GameObject : Object
    {
        public GameObject(string name)
        {
            this.name = name;
            transform = new Transform(this);
        }

        public Transform transform { get; }
        public bool activeSelf { get; private set; } = true;
        public bool activeInHierarchy => activeSelf && (transform.parent == null || transform.parent.gameObject.activeInHierarchy);
        public void SetActive(bool value) => activeSelf = value;
        public T AddComponent<T>() where T : Component, new() => new T { gameObject = this };
        public T GetComponent<T>() => default;
    }

    public class Component : Object
    {
        public GameObject gameObject { get; internal set; }
        public T GetComponent<T>() => default;
    }

    public sealed class Transform : Component
    {
        private readonly List<Transform> children = new List<Transform>();

        internal Transform(GameObject owner) => gameObject = owner;

        public Transform parent { get; private set; }
        public int childCount => children.Count;
        public Transform GetChild(int index) => children[index];

        public void SetParent(Transform parent)
        {
            this.parent?.children.Remove(this);
            this.parent = parent;
            parent?.children.Add(this);
        }
    }

    public class Behaviour : Component
    {
        public bool enabled { get; set; } = true;
    }

    public class MonoBehaviour : Behaviour { }

    public static class Debug
    {
        public static void Log(object message) { }
        public static void LogWarning(object message) { }
        public static void LogWarning(object message, Object context) { }
        public static void LogError(object message) => Application.Log(message, LogType.Error);
        public static void LogError(object message, Object context) => Application.Log(message, LogType.Error);
    }

    public enum LogType { Error, Assert, Warning, Log, Exception }

    public static class Application
    {
        public delegate void LogCallback(string condition, string stackTrace, LogType type);
        public static event LogCallback logMessageReceived;
        internal static void Log(object message, LogType type) => logMessageReceived?.Invoke(message.ToString(), "", type);
        public static bool isPlaying => true;
        public static bool runInBackground { get; set; }
        public static int targetFrameRate { get; set; }
    }

    public static class Time
    {
        public static float unscaledDeltaTime => 0;
        public static float realtimeSinceStartup => 0;
        public static double realtimeSinceStartupAsDouble => 0;
    }

    public static class Screen
    {
        public static int width => 0;
        public static int height => 0;
    }

    public struct Rect
    {
        public Rect(float x, float y, float width, float height) { }
    }

    public struct Vector2
    {
        public float x, y;
    }

    public sealed class GUILayoutOption { }

    public static class GUILayout
    {
        public static void BeginArea(Rect area) { }
        public static void EndArea() { }
        public static void BeginHorizontal(params GUILayoutOption[] options) { }
        public static void EndHorizontal() { }
        public static Vector2 BeginScrollView(Vector2 position, params GUILayoutOption[] options) => position;
        public static void EndScrollView() { }
        public static void Label(string text, params GUILayoutOption[] options) { }
        public static bool Button(string text, params GUILayoutOption[] options) => false;
        public static string TextField(string text, params GUILayoutOption[] options) => text;
        public static bool Toggle(bool value, string text, params GUILayoutOption[] options) => value;
        public static GUILayoutOption Width(float width) => null;
        public static GUILayoutOption Height(float height) => null;
    }

    public enum RuntimeInitializeLoadType { SubsystemRegistration }

    [AttributeUsage(AttributeTargets.Method)]
    public sealed class RuntimeInitializeOnLoadMethodAttribute : Attribute
    {
        public RuntimeInitializeOnLoadMethodAttribute(RuntimeInitializeLoadType loadType) { }
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class SerializeField : Attribute { }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class TooltipAttribute : Attribute
    {
        public TooltipAttribute(string tooltip) { }
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class RangeAttribute : Attribute
    {
        public RangeAttribute(float min, float max) { }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class AddComponentMenu : Attribute
    {
        public AddComponentMenu(string menuName) { }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class DisallowMultipleComponent : Attribute { }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class HelpURLAttribute : Attribute
    {
        public HelpURLAttribute(string url) { }
    }
}

namespace UnityEngine.SceneManagement
{
    public struct Scene
    {
        public bool isLoaded => false;
        public GameObject[] GetRootGameObjects() => new GameObject[0];
    }

    public static class SceneManager
    {
        public static int sceneCount => 0;
        public static Scene GetSceneAt(int index) => default;
    }
}
