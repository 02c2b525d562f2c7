using UnityEditor;

namespace Skipstone.Editor
{
    /// <summary>The editor never unloads a native library: what scripts had open must end before they are reloaded, or ports stay taken
    /// and threads run on.</summary>
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
