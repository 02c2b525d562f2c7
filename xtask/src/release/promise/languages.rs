//! The interfaces of C#, Go and Python, read from their sources, which a formatter keeps in one shape: each public name
//! with its signature, below the type that has it. TypeScript is left to its own compiler.

use std::path::Path;

use super::lines::{Lines, read};

/// The package for Unity has the sources of C#.
pub(super) fn csharp(folder: &Path) -> Result<Lines, String> {
    of_files(folder, "clients/unity/com.skipstone.transport/Runtime/Core", ".cs", csharp_line)
}

pub(super) fn go(folder: &Path) -> Result<Lines, String> {
    of_files(folder, "clients/go", ".go", go_line)
}

pub(super) fn python(folder: &Path) -> Result<Lines, String> {
    let stubs = read(folder, PYTHON_STUBS).or_else(|_| read(folder, PYTHON_STUBS_BEFORE))?;
    let mut lines = Lines::new();
    outline(&without_docstrings(&stubs), python_line, &mut lines);
    Ok(lines)
}

const PYTHON_STUBS: &str = "clients/python/python/skipstone/__init__.pyi";
/// Where they were when the module was a single file.
const PYTHON_STUBS_BEFORE: &str = "clients/python/skipstone.pyi";

/// A line of a source: a public name, or the beginning of a type.
#[derive(Default)]
struct Read<'a> {
    /// A name that users may use, with its signature.
    public: Option<&'a str>,
    /// The name and kind of the type whose members follow, further to the right.
    opens: Option<(&'a str, Kind)>,
}

/// The members of a type that are public.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// All of them.
    Open,
    /// Those that say so.
    Marked,
    /// None.
    Hidden,
}

fn of_files(folder: &Path, sources: &str, end: &str, line: LineReader) -> Result<Lines, String> {
    let path = folder.join(sources);
    let entries = std::fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = Lines::new();
    for name in entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        if name.ends_with(end) && !name.ends_with("_test.go") {
            outline(&read(&path, &name)?, line, &mut lines);
        }
    }
    Ok(lines)
}

/// Reads a trimmed line inside of a type of that kind; at the top, `None`.
type LineReader = for<'a> fn(&'a str, Option<Kind>) -> Read<'a>;

fn outline(text: &str, reader: LineReader, lines: &mut Lines) {
    let mut types: Vec<(usize, String, Kind)> = Vec::new();
    for (indent, line) in statements(text) {
        if line.starts_with(['{', '}', '[', '@', '#']) {
            continue;
        }
        types.retain(|(of, _, _)| *of < indent);
        let read = reader(&line, types.last().map(|(_, _, kind)| *kind));
        let names = types.iter().map(|(_, name, _)| format!("{name}.")).collect::<String>();
        lines.extend(read.public.map(|public| format!("{names}{}", public.trim_end())));
        types.extend(read.opens.map(|(name, kind)| (indent, name.to_owned(), kind)));
    }
}

/// Lines without comments, those of one pair of parentheses joined, each with its indentation.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut depth = 0;
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default().split(" #").next().unwrap_or_default();
        let words = code.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            continue;
        }
        match found.last_mut().filter(|_| depth > 0) {
            Some((_, last)) => *last = format!("{last} {words}"),
            None => found.push((code.len() - code.trim_start().len(), words.clone())),
        }
        // A group of declarations in Go is no list of arguments.
        if !words.ends_with(" (") || depth > 0 {
            depth += words.matches('(').count() as i32 - words.matches(')').count() as i32;
        }
        depth = depth.max(0);
    }
    found
}

fn csharp_line(line: &str, inside: Option<Kind>) -> Read<'_> {
    let is_public = line.starts_with("public ") || line.starts_with("protected ");
    for (word, kind) in
        [("class", Kind::Marked), ("struct", Kind::Marked), ("interface", Kind::Open), ("enum", Kind::Open)]
    {
        let Some(name) = after_word(line, word).filter(|_| !line.contains(" where ")) else { continue };
        let kind = if is_public && inside != Some(Kind::Hidden) { kind } else { Kind::Hidden };
        return Read { public: (kind != Kind::Hidden).then_some(line), opens: Some((name, kind)) };
    }
    let shown = match inside {
        Some(Kind::Open) => true,
        Some(Kind::Marked) => is_public,
        Some(Kind::Hidden) | None => false,
    };
    Read { public: shown.then(|| signature(line)), opens: None }
}

/// The name after that word, if the line declares a type.
fn after_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let mut words = line.split(' ').skip_while(|each| each.chars().all(char::is_lowercase) && *each != word);
    (words.next()? == word).then(|| words.next())?.map(|name| name.trim_end_matches([':', ',']))
}

/// A declaration without its body. The value of a constant is part of it.
fn signature(line: &str) -> &str {
    if line.contains("{ get") {
        return line.split(" = ").next().unwrap_or(line);
    }
    let mut depth = 0;
    let is_constant =
        line.contains(" const ") || !line.contains(' ') || !line.contains('(') && !line.starts_with("public");
    for (at, letter) in line.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '{' | ';' if depth == 0 => return &line[..at],
            '=' if depth == 0 && !is_constant => return &line[..at],
            _ => {}
        }
    }
    line
}

fn go_line(line: &str, inside: Option<Kind>) -> Read<'_> {
    let is_exported = |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase());
    if inside.is_some() {
        let public = (inside == Some(Kind::Open) && is_exported(line)).then_some(line);
        return Read { public, opens: None };
    }
    let body = line.strip_suffix(" {").unwrap_or(line);
    if let Some(function) = line.strip_prefix("func ") {
        let name = function.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(function, |(_, name)| name);
        // What is indented below is its body.
        return Read { public: is_exported(name).then_some(body), opens: Some(("", Kind::Hidden)) };
    }
    if let Some(name) = line.strip_prefix("type ").and_then(|rest| rest.split(' ').next()) {
        let kind = if is_exported(name) { Kind::Open } else { Kind::Hidden };
        return Read { public: is_exported(name).then_some(body), opens: Some((name, kind)) };
    }
    let grouped = ["const", "var"].into_iter().find(|word| line.starts_with(*word));
    let Some(word) = grouped else { return Read::default() };
    let name = line[word.len()..].trim_start();
    Read { public: is_exported(name).then_some(line), opens: name.starts_with('(').then_some((word, Kind::Open)) }
}

fn python_line(line: &str, _inside: Option<Kind>) -> Read<'_> {
    let name = line.strip_prefix("class ").or_else(|| line.strip_prefix("def ")).unwrap_or(line);
    let is_name = line != name || line.contains(": ");
    let is_public = is_name && (!name.starts_with('_') || name.starts_with("__"));
    let opens = line.strip_prefix("class ").and_then(|name| name.split(['(', ':']).next());
    Read { public: is_public.then_some(line), opens: opens.map(|name| (name, Kind::Open)) }
}

fn without_docstrings(text: &str) -> String {
    text.split("\"\"\"").step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str, reader: LineReader) -> Vec<String> {
        let mut lines = Lines::new();
        outline(text, reader, &mut lines);
        lines.into_iter().collect()
    }

    #[test]
    fn csharp_has_public_members_of_public_types_and_all_of_an_enumeration() {
        let text = "\
namespace Skipstone
{
    public sealed class Client : IDisposable
    {
        private int hidden;
        /// <summary>Text.</summary>
        public const int Limit = 5;
        public int Count { get; }
        public void Send(ushort channel,
            byte[] data = null) => Inner.Send(data);
    }

    internal class Inner
    {
        public void Never() { }
    }

    public enum Mode : uint
    {
        Off = 0,
    }
}
";
        let expected = [
            "Client.public const int Limit = 5",
            "Client.public int Count { get; }",
            "Client.public void Send(ushort channel, byte[] data = null)",
            "Mode.Off = 0,",
            "public enum Mode : uint",
            "public sealed class Client : IDisposable",
        ];
        assert_eq!(lines_of(text, csharp_line), expected);
    }

    #[test]
    fn go_has_exported_names_with_their_fields() {
        let text = "\
// Peer is a connection.
type Peer struct {
\tID    uint64 // its number
\tinner int
}

const (
\tFirst  Kind = 1
\thidden Kind = 2
)

func (p *Peer) Close(code uint64) error {
\tFirst := 1
}

func open() {
}
";
        let expected =
            ["Peer.ID uint64", "const.First Kind = 1", "func (p *Peer) Close(code uint64) error", "type Peer struct"];
        assert_eq!(lines_of(text, go_line), expected);
    }

    #[test]
    fn python_has_classes_with_their_members() {
        let text = "\
CODE: Final[int]

class Client:
    \"\"\"Says: a thing.\"\"\"

    @property
    def peer(self) -> int: ...
    def send(
        self, channel: int
    ) -> None: ...
    _hidden: int
";
        let expected = [
            "CODE: Final[int]",
            "Client.def peer(self) -> int: ...",
            "Client.def send( self, channel: int ) -> None: ...",
            "class Client:",
        ];
        assert_eq!(lines_of(&without_docstrings(text), python_line), expected);
    }
}
