// A command-line C# compiler: the Roslyn library with csc's command line. It exits with 1 if there was an error. The
// only available compiler that can build it is mcs, which can read neither .NET 8's assemblies nor Roslyn's: all of
// Roslyn is called by name, at run time.
using System;
using System.Collections;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

static class Compiler
{
    static readonly string Folder = AppDomain.CurrentDomain.BaseDirectory;
    static readonly Assembly Common = Assembly.LoadFrom(Path.Combine(Folder, "Microsoft.CodeAnalysis.dll"));
    static readonly Assembly CSharp = Assembly.LoadFrom(Path.Combine(Folder, "Microsoft.CodeAnalysis.CSharp.dll"));

    static int Main(string[] words)
    {
        Type parser = CSharp.GetType("Microsoft.CodeAnalysis.CSharp.CSharpCommandLineParser");
        dynamic common = parser.GetProperty("Default").GetValue(null);
        dynamic asked = common.Parse(words, Directory.GetCurrentDirectory(), null, null);
        if (Report(asked.Errors)) return 1;
        object compilation = Create(asked);
        using (var code = new MemoryStream())
        using (var lines = new MemoryStream())
        using (var docs = new MemoryStream())
        {
            string docsPath = asked.DocumentationPath;
            bool hasLines = asked.EmitPdb;
            object options = hasLines ? asked.EmitOptions : null;
            object[] emit = { code, hasLines ? lines : null, docsPath == null ? null : docs, null, null, options };
            dynamic result = compilation.GetType().BaseType.GetMethods()
                .Where(method => method.Name == "Emit").OrderBy(method => method.GetParameters().Length).Last()
                .Invoke(compilation, Padded(emit, compilation));
            if (Report(result.Diagnostics)) return 1;
            string output = Path.Combine((string)asked.OutputDirectory, (string)asked.OutputFileName);
            File.WriteAllBytes(output, code.ToArray());
            if (hasLines) File.WriteAllBytes(Path.ChangeExtension(output, ".pdb"), lines.ToArray());
            if (docsPath != null) File.WriteAllBytes(docsPath, docs.ToArray());
        }
        return 0;
    }

    static object Create(dynamic asked)
    {
        Array trees = Typed("Microsoft.CodeAnalysis.SyntaxTree", asked.SourceFiles, (Func<dynamic, object>)(file =>
            Call(CSharp, "Microsoft.CodeAnalysis.CSharp.CSharpSyntaxTree", "ParseText",
                 File.ReadAllText(file.Path), asked.ParseOptions, Mapped(file.Path, asked.PathMap), Encoding.UTF8)));
        Array references = Typed("Microsoft.CodeAnalysis.MetadataReference", asked.MetadataReferences, (Func<dynamic, object>)(reference =>
            Call(Common, "Microsoft.CodeAnalysis.MetadataReference", "CreateFromFile", reference.Reference, reference.Properties)));
        return Call(CSharp, "Microsoft.CodeAnalysis.CSharp.CSharpCompilation", "Create",
                    asked.CompilationName ?? "module", trees, references, asked.CompilationOptions);
    }

    // A path as -pathmap wants it to be called, so that every machine makes the same bytes.
    static string Mapped(string path, IEnumerable map)
    {
        foreach (dynamic pair in map)
            if (path.StartsWith((string)pair.Key, StringComparison.Ordinal)) return (string)pair.Value + path.Substring(((string)pair.Key).Length);
        return path;
    }

    static object[] Padded(object[] given, object compilation)
    {
        int length = compilation.GetType().BaseType.GetMethods().Where(method => method.Name == "Emit")
            .Max(method => method.GetParameters().Length);
        return given.Concat(Enumerable.Repeat<object>(null, length)).Take(length).ToArray();
    }

    // An array of the named type, made from each item.
    static Array Typed(string name, IEnumerable items, Func<dynamic, object> make)
    {
        object[] made = items.Cast<object>().Select(make).ToArray();
        Array typed = Array.CreateInstance(Common.GetType(name), made.Length);
        Array.Copy(made, typed, made.Length);
        return typed;
    }

    // Calls a static method; parameters that are left out have their defaults.
    static object Call(Assembly assembly, string type, string method, params object[] arguments)
    {
        const BindingFlags flags = BindingFlags.InvokeMethod | BindingFlags.Static | BindingFlags.Public | BindingFlags.OptionalParamBinding;
        return assembly.GetType(type).InvokeMember(method, flags, null, null, arguments);
    }

    // Whether there is an error; a warning that was asked to be one is one.
    static bool Report(IEnumerable diagnostics)
    {
        bool fails = false;
        foreach (dynamic diagnostic in diagnostics)
        {
            string severity = diagnostic.Severity.ToString();
            if (diagnostic.IsSuppressed || severity == "Hidden" || severity == "Info") continue;
            Console.WriteLine(diagnostic.ToString());
            fails |= severity == "Error" || diagnostic.IsWarningAsError;
        }
        return fails;
    }
}
