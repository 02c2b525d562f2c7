using System;
using System.Collections.Generic;
using System.IO;

namespace Skipstone.Native
{
    // Runtimes also report "not found" for an existing library that cannot be loaded. This class looks for the file, and
    // says whether it is missing, for another system, damaged, or lacks a library of the system.
    internal static class LibrarySearch
    {
        private static readonly string[] Names = { "libskipstone.so", "libskipstone.dylib", "skipstone.dll" };
        private static readonly string[] Paths = { "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PATH" };

        // Whether the library for this system is there without its end, and nowhere whole. Linux maps such a file and
        // ends the process at the first page that is missing, so that it has to be known before. Mono is quicker: it
        // loads a library when it compiles the caller of one of its functions.
        internal static bool IsCut()
        {
            bool isCut = false;
            foreach (string path in Found(Folders()))
            {
                try
                {
                    LibraryFile file = LibraryFile.Read(path);
                    if (file.Platform != LibraryFile.Here) continue;
                    if (file.IsWhole) return false;
                    isCut = true;
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
                {
                    return false; // what the system says of it tells more
                }
            }
            return isCut;
        }

        // The error text for a library that could not be loaded.
        internal static string Describe(string systemSays) => Describe(systemSays, Folders());

        internal static string Describe(string systemSays, IEnumerable<string> folders)
        {
            string here = LibraryFile.Here;
            string name = here.StartsWith("Windows") ? Names[2] : here.StartsWith("macOS") ? Names[1] : Names[0];
            string place = "put " + name + " of the same release, for " + here
                + ", beside the program (NuGet: runtimes/<rid>/native; Unity: Runtime/Plugins)";
            string text = null;
            foreach (string path in Found(folders))
            {
                string unreadable = null;
                LibraryFile file = null;
                try
                {
                    file = LibraryFile.Read(path);
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
                {
                    unreadable = error.Message;
                }
                if (unreadable != null)
                    text = text ?? "the native library " + path + " cannot be read: " + unreadable;
                else if (file.Platform == here && file.IsWhole)
                    // The one that the runtime has tried: no other tells more.
                    return "the native library " + path + " is for this system and CPU and cannot be loaded: a library that it needs is missing "
                        + "or too old, or bytes of it were changed (the release has its sum in SHA256SUMS). The system says: " + systemSays;
                else if (file.Platform == here || file.Platform == null && Path.GetFileName(path) == name)
                    return "the native library " + path + " is damaged: "
                        + (file.Platform == null ? "it is no library at all" : "its end is missing") + " (" + file.Length
                        + " bytes). Copy it again from the release. The system says: " + systemSays;
                else if (file.Platform != null)
                    text = text ?? "the native library " + path + " is for " + file.Platform + ", and this program runs on " + here + ": " + place;
            }
            return (text ?? "the native library `skipstone` was not found: " + place) + ". The system says: " + systemSays;
        }

        private static IEnumerable<string> Found(IEnumerable<string> folders)
        {
            foreach (string folder in folders)
                foreach (string name in Names)
                {
                    string file = Combine(folder, name);
                    if (file != null && File.Exists(file)) yield return file;
                }
        }

        private static IEnumerable<string> Folders()
        {
            foreach (string variable in Paths)
                foreach (string folder in Split(Environment.GetEnvironmentVariable(variable)))
                    yield return folder;
            // Where .NET looks for the libraries of packages.
            foreach (string folder in Split(AppDomain.CurrentDomain.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") as string))
                yield return folder;
            foreach (string program in new[] { AppDomain.CurrentDomain.BaseDirectory, AssemblyFolder() })
            {
                yield return program;
                foreach (string platform in Below(Combine(program, "runtimes"), "*"))
                    yield return Combine(platform, "native");
                // A player of Unity, and its editor, whose assemblies are in Library/ScriptAssemblies.
                foreach (string data in Below(program, "*_Data"))
                    foreach (string folder in WithChildren(Combine(data, "Plugins")))
                        yield return folder;
                foreach (string package in Below(Combine(program, "../PackageCache"), "com.skipstone.transport*"))
                    foreach (string folder in WithChildren(Combine(package, "Runtime/Plugins")))
                        yield return folder;
                foreach (string folder in WithChildren(Combine(program, "../../Packages/com.skipstone.transport/Runtime/Plugins")))
                    yield return folder;
            }
        }

        private static string AssemblyFolder()
        {
            // Empty for an assembly in a single file.
            string path = typeof(LibrarySearch).Assembly.Location;
            return string.IsNullOrEmpty(path) ? null : Path.GetDirectoryName(path);
        }

        private static string[] Split(string paths) =>
            (paths ?? "").Split(new[] { Path.PathSeparator }, StringSplitOptions.RemoveEmptyEntries);

        private static IEnumerable<string> WithChildren(string folder)
        {
            yield return folder;
            foreach (string child in Below(folder, "*")) yield return child;
        }

        private static string[] Below(string folder, string pattern)
        {
            try
            {
                return folder == null || !Directory.Exists(folder) ? new string[0] : Directory.GetDirectories(folder, pattern);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return new string[0];
            }
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
