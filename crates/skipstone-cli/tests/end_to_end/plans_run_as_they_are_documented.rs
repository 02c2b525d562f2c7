//! The command that stands in a plan's comment can be run as it is: its flags, names and thresholds exist.

use crate::common::run;

/// The words of the command in a plan's comment, which may go on over several lines.
fn documented(text: &str) -> Vec<String> {
    let comment = text.lines().map_while(|line| line.strip_prefix('#'));
    let command = comment.skip_while(|line| !line.starts_with("   skipstone ")).take_while(|line| !line.is_empty());
    let command: String = command.map(|line| line.trim_end_matches('\\').to_owned() + " ").collect();
    // A shell's quotes hold no blanks here.
    command.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
}

/// The same for a moment instead of minutes, and from where the tests run. A flow that comes later has to come.
fn shortened(mut words: Vec<String>, text: &str) -> Vec<String> {
    let comes_later = text.lines().any(|line| line.starts_with("starts = \"30s\""));
    words.remove(0);
    words[1] = format!("{}/../../{}", env!("CARGO_MANIFEST_DIR"), words[1]);
    if let Some(at) = words.iter().position(|word| word == "--seeds") {
        words.drain(at..at + 2);
    }
    let length: &[&str] = if comes_later { &["0.51", "--transports", "skipstone"] } else { &["0.01"] };
    words.extend(["--seeds", "1", "--quiet", "--minutes"].iter().chain(length).map(|word| (*word).to_owned()));
    words
}

#[test]
fn every_plan_has_a_command_and_none_is_refused() {
    let folder = format!("{}/../../plans", env!("CARGO_MANIFEST_DIR"));
    let plans =
        std::fs::read_dir(folder).expect("there are plans").map(|entry| entry.expect("it can be listed").path());
    for path in plans {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let words = documented(&text);
        assert_eq!(words.get(..2), Some(&["skipstone".to_owned(), "compare".to_owned()][..]), "{path:?}");
        assert!(words.iter().any(|word| word == "--threshold"), "{path:?} says what to expect");
        let words = shortened(words, &text);
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        // So short a run may miss its thresholds.
        run(&arguments).expect(&[0, 99]);
    }
}
