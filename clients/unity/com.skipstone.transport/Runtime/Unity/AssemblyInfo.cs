using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("Skipstone.Unity.Tests")]
