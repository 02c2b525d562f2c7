using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("Skipstone.Tests")]
