//! Short forms of questions, answers and criteria, for tables.

use assize_store::ResultRow;

use crate::sanitize::escape_lines;

/// Maximum number of characters of a question or an answer in a row.
const MAX_EXCERPT: usize = 320;

/// The beginning of an answer, or else the reason why there is none, or the tools that were called.
pub fn answer_excerpt(row: &ResultRow) -> String {
    let answer = row.answer.as_deref().filter(|answer| !answer.trim().is_empty());
    let error = row.error.as_ref().map(|error| error.message.as_str());
    match (answer.or(error), row.tool_calls.is_empty()) {
        (Some(text), _) => excerpt(text),
        (None, true) if row.answer.is_some() => "(empty)".to_owned(),
        (None, true) => "(no answer)".to_owned(),
        (None, false) => {
            let tools: Vec<&str> = row.tool_calls.iter().map(|call| &*call.tool).collect();
            excerpt(&format!("(no text; called {})", tools.join(", ")))
        }
    }
}

/// The beginning of a text, in one line.
pub fn excerpt(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 4 * MAX_EXCERPT {
            break;
        }
    }
    cut_text(&escape_lines(&words), MAX_EXCERPT)
}

/// At most this many characters of a text.
pub fn cut_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Name of a criterion without its grader.
pub fn short_criterion_name(name: &str) -> String {
    let (grader, criterion) = name.rsplit_once('/').unwrap_or(("", name));
    // For numbered criteria and checks and scores of benchmarks, the name of the grader is more informative.
    let grader = escape_lines(grader.rsplit('/').next().unwrap_or(grader));
    let number = |prefix| criterion.strip_prefix(prefix)?.parse::<u32>().ok();
    match number("rubric-") {
        _ if grader.is_empty() => escape_lines(criterion),
        Some(1) => grader,
        Some(number) => format!("{grader} {number}"),
        None if criterion == "score" || number("check-").is_some() => grader,
        None => escape_lines(criterion),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_criterion_is_named_by_what_says_most() {
        for (name, short) in [
            ("rubric/polite", "polite"),
            ("a/contains/check-1", "contains"),
            ("A-MED2/score", "A-MED2"),
            ("polite", "polite"),
            ("helpful/rubric-1", "helpful"),
            ("helpful/rubric-2", "helpful 2"),
            ("rubric-1", "rubric-1"),
        ] {
            assert_eq!(short_criterion_name(name), short);
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(excerpt(" a\n\n b\tc "), "a b c");
        assert_eq!(excerpt(&"é".repeat(400)), format!("{}…", "é".repeat(MAX_EXCERPT)));
    }
}
