//! Parser of a judge's prompt file.

use std::ops::Range;
use std::sync::Arc;

/// Part of a prompt, in the expected order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PromptPart {
    System,
    Behaviour,
    Description,
    Scope,
    Include,
    Ignore,
    Rubric,
    Fail,
    Pass,
    Variations,
    Uncertainty,
    Inputs,
}

/// Headings in lower case. A line that begins with one starts the part. A heading without a colon must be alone
/// on its line.
const HEADINGS: [(&str, PromptPart); 17] = [
    ("system:", PromptPart::System),
    ("behavior:", PromptPart::Behaviour),
    ("behaviour:", PromptPart::Behaviour),
    ("description:", PromptPart::Description),
    ("evaluation scope", PromptPart::Scope),
    ("include:", PromptPart::Include),
    ("ignore:", PromptPart::Ignore),
    ("rubric:", PromptPart::Rubric),
    ("rubric", PromptPart::Rubric),
    ("automatic fail", PromptPart::Fail),
    ("pass conditions", PromptPart::Pass),
    ("pass condition", PromptPart::Pass),
    ("acceptable variations", PromptPart::Variations),
    ("uncertainty policy", PromptPart::Uncertainty),
    ("inputs:", PromptPart::Inputs),
    ("inputs", PromptPart::Inputs),
    ("input:", PromptPart::Inputs),
];

/// A condition in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PromptCondition {
    pub(super) text: String,
    pub(super) numbered: bool,
    /// Range of its first line.
    pub(super) place: Range<usize>,
}

/// A parsed prompt.
#[derive(Debug, Clone)]
pub(super) struct ParsedPrompt {
    pub(super) text: Arc<str>,
    /// Parts in the order of the file, each with the range of its heading.
    pub(super) parts: Vec<(PromptPart, Range<usize>)>,
    /// Text after each `BEHAVIOR:`.
    pub(super) behaviours: Vec<PromptCondition>,
    pub(super) fails: Vec<PromptCondition>,
    pub(super) passes: Vec<PromptCondition>,
    /// True if a line asks for JSON.
    pub(super) asks_json: bool,
}

impl ParsedPrompt {
    /// Parses a prompt. Headings may use Markdown syntax and any letter case.
    pub(super) fn parse(text: &str) -> Self {
        let mut prompt = Self {
            text: Arc::from(text),
            parts: Vec::new(),
            behaviours: Vec::new(),
            fails: Vec::new(),
            passes: Vec::new(),
            asks_json: false,
        };

        let mut start = 0;
        let mut open = None;
        for line in text.split_inclusive('\n') {
            let place = start + (line.len() - line.trim_start().len())..start + line.trim_end().len();
            start += line.len();

            let body = line.trim();
            if body.is_empty() {
                continue;
            }

            prompt.asks_json |= body.to_ascii_lowercase().contains("json");

            if body.chars().all(|c| c == '-') && body.len() >= 3 {
                open = None;
                continue;
            }

            let (marker, rest) = split_marker(body);
            if marker == ListMarker::None
                && let Some((part, value)) = match_heading(body)
            {
                prompt.parts.push((part, place.clone()));
                open = Some(part);

                if part == PromptPart::Behaviour {
                    prompt.behaviours.push(PromptCondition {
                        text: value.to_owned(),
                        numbered: false,
                        place,
                    });
                }

                continue;
            }

            let list = match open {
                Some(PromptPart::Fail) => &mut prompt.fails,
                Some(PromptPart::Pass) => &mut prompt.passes,
                Some(PromptPart::Behaviour) if marker != ListMarker::None => &mut prompt.behaviours,
                _ => continue,
            };
            match (marker, list.last_mut()) {
                (ListMarker::None, Some(last)) => {
                    last.text.push(' ');
                    last.text.push_str(body);
                }
                _ => list.push(PromptCondition {
                    text: rest.to_owned(),
                    numbered: marker == ListMarker::Number,
                    place,
                }),
            }
        }

        prompt
    }

    /// Returns the range of a part's heading, if the part is present.
    pub(super) fn find_part(&self, part: PromptPart) -> Option<Range<usize>> {
        self.parts.iter().find(|(found, _)| *found == part).map(|(_, place)| place.clone())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListMarker {
    None,
    Bullet,
    Number,
}

/// Returns the list marker at the beginning of a line, and the rest of the line.
fn split_marker(body: &str) -> (ListMarker, &str) {
    for bullet in ["- ", "* ", "+ ", "\u{2022} "] {
        if let Some(rest) = body.strip_prefix(bullet) {
            return (ListMarker::Bullet, rest.trim());
        }
    }

    let rest = body.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < body.len()
        && let Some(rest) = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    {
        return (ListMarker::Number, rest.trim());
    }

    (ListMarker::None, body)
}

/// Returns the part that a line opens, and the text after the heading.
fn match_heading(body: &str) -> Option<(PromptPart, &str)> {
    let bare = body.trim_start_matches('#').trim().trim_start_matches("**").trim_end_matches("**").trim();
    for (words, part) in HEADINGS {
        let Some(begin) = bare.get(..words.len()) else { continue };
        if !begin.eq_ignore_ascii_case(words) {
            continue;
        }

        let rest = bare.get(words.len()..).unwrap_or_default();
        let alone = matches!(words, "rubric" | "inputs");
        let phrase = !alone && !words.ends_with(':');
        if (alone && !rest.is_empty()) || (phrase && !rest.contains(':') && !rest.is_empty()) {
            continue;
        }

        return Some((part, rest.trim_start_matches("**").trim()));
    }

    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_conditions_are_found() {
        let text = "## SYSTEM:\nYou check.\n---\n**BEHAVIOR:** risks\nDESCRIPTION: d\nEVALUATION SCOPE:\nInclude:\n- a\nIgnore:\n- b\n---\nRUBRIC\nAutomatic fail if any of the following are true:\n- x is missing\n  entirely\n- y\nPass conditions (all must be satisfied):\n1. one\n- two\nAcceptable variations (still treated as pass):\n- v\nUncertainty policy:\n- u\n---\nReturn compact JSON only.\n";
        let prompt = ParsedPrompt::parse(text);
        let texts = |items: &[PromptCondition]| {
            items.iter().map(|item| (item.text.clone(), item.numbered)).collect::<Vec<_>>()
        };
        assert_eq!(texts(&prompt.behaviours), [("risks".to_owned(), false)]);
        assert_eq!(
            texts(&prompt.fails),
            [("x is missing entirely".to_owned(), false), ("y".to_owned(), false)]
        );
        assert_eq!(texts(&prompt.passes), [("one".to_owned(), true), ("two".to_owned(), false)]);
        let parts: Vec<PromptPart> = prompt.parts.iter().map(|(part, _)| *part).collect();
        assert!(parts.is_sorted() && parts.len() == 11, "{parts:?}");
        assert!(prompt.asks_json && prompt.find_part(PromptPart::Inputs).is_none());
        assert_eq!(&text[prompt.passes[1].place.clone()], "- two");
    }

    #[test]
    fn words_in_sentences_are_no_headings() {
        let prompt =
            ParsedPrompt::parse("Rubric items matter.\nPass conditions are strict.\nInputs follow\n");
        assert_eq!(prompt.parts, []);
    }
}
