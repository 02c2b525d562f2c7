using UnityEditor;

namespace Skipstone.Editor
{
    /// <summary>The editor never unloads a native library: everything that scripts opened must end before they are
    /// reloaded, or its ports stay in use and its threads keep running.</summary>
    [InitializeOnLoad]
    internal static class ReloadGuard
    {
        static ReloadGuard() => AssemblyReloadEvents.beforeAssemblyReload += End;

        private static void End()
        {
            try
            {
                Library.ReleaseAll();
            }
            catch (SkipstoneException)
            {
                // No library for the editor's system: nothing is open.
            }
        }
    }
}
