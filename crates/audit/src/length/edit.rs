//! Edits that change the length of an answer but not its content.

use std::collections::HashSet;

use assize_run::{ItemSource, WorkItem};
use assize_targets::TargetAnswer;

use crate::CaseVariant;

/// Text before a padded answer.
const OPENING: &str = "Thank you for your question. In what follows you will find my answer to it.";
/// Text after a padded answer.
const CLOSING: &str =
    "That is my answer to your question. Please let me know whether there is anything else.";
/// Text between an answer and its repetition.
const REPETITION_LEAD: &str = "To say the same once more:";

/// Phrases without content that are removed from the ends of a shortened answer, in lower case and without
/// punctuation at the end.
const COURTESIES: [&str; 20] = [
    "sure",
    "certainly",
    "of course",
    "absolutely",
    "great question",
    "good question",
    "happy to help",
    "i'd be happy to help",
    "i would be happy to help",
    "thank you for your question",
    "thanks for your question",
    "thank you for asking",
    "i hope this helps",
    "i hope that helps",
    "hope this helps",
    "hope that helps",
    "let me know if you have any questions",
    "let me know if you have any other questions",
    "please let me know if you have any questions",
    "feel free to ask if you have any questions",
];

/// Edit of an answer.
#[derive(Debug, Clone, Copy)]
pub struct LengthEdit {
    /// Name on the command line and in records.
    pub name: &'static str,
    /// Description for reports.
    pub does: &'static str,
    apply: fn(&str) -> String,
}

impl LengthEdit {
    /// Applies the edit to an answer.
    pub fn apply(&self, answer: &str) -> String {
        (self.apply)(answer)
    }
}

/// Returns all edits, the ones that lengthen an answer first.
pub const fn length_edits() -> [LengthEdit; 3] {
    [
        LengthEdit {
            name: "frame",
            does: "adds two courtesies before and two after the answer",
            apply: add_courtesies,
        },
        LengthEdit { name: "repeat", does: "repeats the whole answer", apply: repeat_answer },
        LengthEdit {
            name: "trim",
            does: "removes courtesies at the ends, repeated paragraphs, and blank space",
            apply: trim_answer,
        },
    ]
}

/// Builds the variants of a case with these edits. An edit that leaves a given answer unchanged produces no
/// variant.
pub fn length_variants(item: &WorkItem, edits: &[LengthEdit]) -> Vec<CaseVariant> {
    let changes = |edit: &&LengthEdit| match &item.source {
        ItemSource::Given(answer) => edit.apply(&answer.text) != answer.text,
        ItemSource::Target(_) | ItemSource::Missing { .. } => true,
    };
    edits
        .iter()
        .filter(changes)
        .map(|&edit| {
            let alter = move |answer: TargetAnswer| TargetAnswer { text: edit.apply(&answer.text), ..answer };
            CaseVariant::altering_answer(edit.name.to_owned(), alter)
        })
        .collect()
}

fn add_courtesies(answer: &str) -> String {
    // An empty answer stays empty.
    if answer.trim().is_empty() {
        return answer.to_owned();
    }
    format!("{OPENING}\n\n{answer}\n\n{CLOSING}")
}

fn repeat_answer(answer: &str) -> String {
    if answer.trim().is_empty() {
        return answer.to_owned();
    }
    format!("{answer}\n\n{REPETITION_LEAD}\n\n{answer}")
}

/// Trims an answer. Answers with code fences only lose white space at both ends.
fn trim_answer(answer: &str) -> String {
    if answer.contains("```") || answer.contains("~~~") {
        return answer.trim().to_owned();
    }

    let lines: Vec<&str> = answer.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let mut seen = HashSet::new();
    let mut paragraphs: Vec<&str> = text
        .split("\n\n")
        .map(|paragraph| paragraph.trim_matches('\n'))
        .filter(|paragraph| !paragraph.trim().is_empty() && seen.insert(*paragraph))
        .collect();
    while paragraphs.len() > 1 && paragraphs.first().is_some_and(|first| is_courtesy(first)) {
        paragraphs.remove(0);
    }

    while paragraphs.len() > 1 && paragraphs.last().is_some_and(|last| is_courtesy(last)) {
        paragraphs.pop();
    }

    paragraphs.join("\n\n")
}

fn is_courtesy(paragraph: &str) -> bool {
    let plain = paragraph.trim().to_lowercase().replace('\u{2019}', "'");
    let mut sentences =
        plain.split(['.', '!', ':']).map(str::trim).filter(|sentence| !sentence.is_empty()).peekable();
    sentences.peek().is_some() && sentences.all(|sentence| COURTESIES.contains(&sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_answers_hold_the_answer_and_shorter_ones_all_that_it_says() {
        let answer =
            "Sure!\n\nPears  are sweet.\n\n  - as ever   \n\n\nPears  are sweet.\n\nI hope this helps!";
        let [frame, repeat, trim] = length_edits();
        assert!(frame.apply(answer).contains(answer) && frame.apply(answer).len() > answer.len());
        assert_eq!(repeat.apply(answer).matches(answer).count(), 2);
        assert_eq!(trim.apply(answer), "Pears  are sweet.\n\n  - as ever");
        for text in ["Apples.", "Sure.", "a\n\nb", "```\nx\n\nx\n```", "Certainly wrong: pears.\n\nYes."] {
            assert_eq!(trim.apply(text), text);
        }
        for edit in length_edits() {
            assert_eq!(edit.apply(""), "", "{}", edit.name);
        }
    }
}
