//! Sentences of a page with figures in them: `… takes [[kcp-fec|bytes]] bytes`. Blanks stand for any blanks and line
//! ends, and for the `#` of a comment that continues.

use std::ops::Range;

/// A sentence as it is to stand on a page.
pub(super) struct Sentence<'a>(pub(super) &'a str);

impl Sentence<'_> {
    /// Where on the page the sentence's figures stand, by their names; `None` if the page has no such sentence.
    pub(super) fn find<'s>(&'s self, page: &str) -> Option<Vec<(&'s str, Range<usize>)>> {
        let first = self.0.split(BEGIN).next().and_then(|text| text.split_whitespace().next())?;
        page.match_indices(first).find_map(|(at, _)| self.match_at(page, at))
    }

    fn match_at<'s>(&'s self, page: &str, mut at: usize) -> Option<Vec<(&'s str, Range<usize>)>> {
        let mut figures = Vec::new();
        let mut rest = self.0;
        loop {
            let (text, more) = rest.split_once(BEGIN).unwrap_or((rest, ""));
            at += length_of(text, &page[at..])?;
            if more.is_empty() {
                return Some(figures);
            }
            let (name, behind) = more.split_once(END).expect("a figure's name ends");
            let length = number_length(&page[at..]).filter(|length| *length > 0)?;
            figures.push((name, at..at + length));
            (at, rest) = (at + length, behind);
        }
    }
}

/// How much of the page the text takes up, if the page begins with it.
fn length_of(text: &str, page: &str) -> Option<usize> {
    let mut left = page;
    let mut is_first = true;
    for word in text.split(char::is_whitespace) {
        if !is_first {
            let blanks = left.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '#');
            (blanks.len() < left.len()).then_some(())?;
            left = blanks;
        }
        left = left.strip_prefix(word)?;
        is_first = false;
    }
    Some(page.len() - left.len())
}

/// Digits with a point among them; one behind them ends a sentence.
fn number_length(page: &str) -> Option<usize> {
    let length = page.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(page.len());
    Some(page[..length].trim_end_matches('.').len())
}

/// Around the name of a figure.
const BEGIN: &str = "[[";
const END: &str = "]]";

#[test]
fn a_sentence_with_figures_is_found_across_line_breaks() {
    let sentence = Sentence("Who pays [[a|bytes]] has [[b|p50]], and so { on }: [[b|max]].");
    let page = "Who pays much.\n# Who pays 2.24 has\n# 20.00, and so\n# { on }: 36.67. Then more.";
    let found = sentence.find(page).expect("it is there");
    let found: Vec<_> = found.into_iter().map(|(name, range)| (name, &page[range])).collect();
    assert_eq!(found, [("a|bytes", "2.24"), ("b|p50", "20.00"), ("b|max", "36.67")]);
    assert_eq!(sentence.find(&page.replace("has", "had")), None);
}
