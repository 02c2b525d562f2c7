using System;
using System.Collections.Generic;
using System.IO;

namespace Skipstone.Native
{
    // Runtimes also report "not found" for an existing library that cannot be loaded. This class looks for the file to
    // distinguish the two.
    internal static class LibrarySearch
    {
        private static readonly string[] Names = { "libskipstone.so", "libskipstone.dylib", "skipstone.dll" };
        private static readonly string[] Paths = { "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PATH" };

        // The error text for a library that could not be loaded.
        internal static string Describe(string systemSays)
        {
            string found = Find();
            string text = found == null
                ? "the native library `skipstone` was not found: put skipstone.dll, libskipstone.so or libskipstone.dylib for this system and CPU "
                + "beside the program (NuGet: runtimes/<rid>/native; Unity: Runtime/Plugins)"
                : "the native library " + found + " is there and cannot be loaded: it is damaged, or for another system or CPU, or a library that it "
                + "needs is missing; ship the one of this release for this system and CPU";
            return text + ". The system says: " + systemSays;
        }

        private static string Find()
        {
            foreach (string folder in Folders())
                foreach (string name in Names)
                {
                    string file = Combine(folder, name);
                    if (file != null && File.Exists(file)) return file;
                }
            return null;
        }

        private static IEnumerable<string> Folders()
        {
            string program = AppDomain.CurrentDomain.BaseDirectory;
            yield return program;
            string packages = Combine(program, "runtimes");
            if (packages != null && Directory.Exists(packages))
                foreach (string platform in Directory.GetDirectories(packages))
                    yield return Combine(platform, "native");
            foreach (string variable in Paths)
                foreach (string folder in (Environment.GetEnvironmentVariable(variable) ?? "").Split(Path.PathSeparator))
                    if (folder.Length > 0) yield return folder;
        }

        // null if an environment variable contains characters that are invalid in a path.
        private static string Combine(string folder, string name)
        {
            try
            {
                return folder == null ? null : Path.Combine(folder, name);
            }
            catch (ArgumentException)
            {
                return null;
            }
        }
    }
}
