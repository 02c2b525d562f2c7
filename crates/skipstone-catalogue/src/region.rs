//! A region of a file: between a line that ends with `catalogue: NAME` and one with `catalogue: end`, whose indentation
//! the lines between them take over.

/// The generated text between a file's two markers.
pub struct Region {
    /// The file, from the root of the repository.
    pub path: &'static str,
    /// The name in its first line.
    pub name: &'static str,
    /// Its lines, where this many columns are free.
    pub lines: fn(usize) -> Vec<String>,
}

/// Columns of a line.
const WIDTH: usize = 120;
const END: &str = "catalogue: end";

/// The file with this region filled.
///
/// # Errors
/// The text has no such region, has it twice, or the region has no end.
pub fn filled(text: &str, region: &Region) -> Result<String, String> {
    let lines: Vec<&str> = text.lines().collect();
    let marker = format!("catalogue: {}", region.name);
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_marker(lines[*at], &marker)).collect();
    let [start] = starts[..] else {
        return Err(format!("{} has {} lines with `{marker}`: it needs one", region.path, starts.len()));
    };
    let length = lines[start..].iter().position(|line| is_marker(line, END));
    let end = start + length.ok_or_else(|| format!("{}: no `{END}` follows `{marker}`", region.path))?;
    let indent = &lines[start][..lines[start].len() - lines[start].trim_start().len()];
    let columns = indent.chars().map(|space| if space == '\t' { 4 } else { 1 }).sum::<usize>();
    let made = (region.lines)(WIDTH - columns);
    let made = made.iter().map(|line| if line.is_empty() { String::new() } else { format!("{indent}{line}") });
    let head = lines[..=start].iter().map(|line| (*line).to_owned());
    let tail = lines[end..].iter().map(|line| (*line).to_owned());
    Ok(head.chain(made).chain(tail).map(|line| line + "\n").collect())
}

/// Whether a line is a comment that consists of this marker.
fn is_marker(line: &str, marker: &str) -> bool {
    let line = line.trim().trim_start_matches(['/', '#', '<', '!', '-']).trim_end_matches(['-', '>']);
    line.trim() == marker
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: Region = Region { path: "a.rs", name: "codes", lines: |width| vec!["new".into(), width.to_string()] };

    #[test]
    fn the_text_between_the_markers_is_replaced_with_their_indentation() {
        let text = "before\n    // catalogue: codes\n    old\n    // catalogue: end\nafter\n";
        let expected = "before\n    // catalogue: codes\n    new\n    116\n    // catalogue: end\nafter\n";
        assert_eq!(filled(text, &REGION).as_deref(), Ok(expected));
        assert_eq!(filled(expected, &REGION).as_deref(), Ok(expected));
        let page = "<!-- catalogue: codes -->\n<!-- catalogue: end -->\n";
        assert!(filled(page, &REGION).is_ok());
    }

    #[test]
    fn a_missing_or_unclosed_region_is_an_error_with_its_name() {
        assert_eq!(filled("", &REGION), Err("a.rs has 0 lines with `catalogue: codes`: it needs one".into()));
        let twice = "// catalogue: codes\n// catalogue: codes\n";
        assert!(filled(twice, &REGION).is_err());
        let endless = "# catalogue: codes\n";
        assert_eq!(filled(endless, &REGION), Err("a.rs: no `catalogue: end` follows `catalogue: codes`".into()));
    }
}
