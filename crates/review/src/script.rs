//! Decisions as lines of text: for pipes, screen readers and tests.

use assize_analysis::labels::ColumnRole;
use assize_rubric::{
    FailureSeverity, LabelOutcome, LabelSplit, NO_FAILURE, NONE_OF_THE_ABOVE, composed_name,
};
use assize_table::{NumberError, parse_number, parse_yes_no};
use serde_json::{Map, Value};

use crate::{NamedItem, ReviewAnswer};

/// Properties of an earlier decision that are kept when it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EarlierDecision {
    /// Time of the decision; the current time if it is missing.
    pub at: Option<String>,
    /// Permitted use of the label; the review's if it is missing.
    pub split: Option<LabelSplit>,
}

/// Content of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewScriptLine {
    /// A blank line or a comment.
    Nothing,
    /// A row of an exported table without a decision.
    Undecided,
    /// A decision on the current item, or on the named one.
    Decide {
        /// Item named by the line, if there is one.
        of: Option<NamedItem>,
        /// The decision.
        answer: ReviewAnswer,
        /// Severity of the failure.
        severity: Option<FailureSeverity>,
        /// Reason given by the reviewer.
        note: Option<String>,
        /// Name of the reviewer, if the line has one.
        who: Option<String>,
        /// Time and permitted use of the decision, if the line has them.
        earlier: Box<EarlierDecision>,
    },
    /// Skips to the next item.
    Skip,
    /// Reopens the last decision.
    Undo,
    /// Ends the review.
    Quit,
}

/// Parses a line: a decision, an optional severity, optionally `--` and a note; or a JSON object with `case`,
/// `criterion`, `label` and optionally `severity` and `note`.
///
/// A message with the text found and the expected form.
pub fn parse_line(text: &str) -> Result<ReviewScriptLine, String> {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return Ok(ReviewScriptLine::Nothing);
    }
    if text.starts_with('{') {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))?;
        return parse_decision_fields(value.as_object().ok_or("not a JSON object")?);
    }

    let (head, note) = match text.split_once("--") {
        Some((head, note)) => (head.trim(), Some(note.trim().to_owned()).filter(|note| !note.is_empty())),
        None => (text, None),
    };
    let mut words = head.split_whitespace();
    let first = words.next().ok_or_else(|| format!("`{text}` has a note and no decision"))?;
    let plain = match first {
        "skip" | "x" => Some(ReviewScriptLine::Skip),
        "undo" | "z" => Some(ReviewScriptLine::Undo),
        "quit" | "q" => Some(ReviewScriptLine::Quit),
        _ => None,
    };
    if let Some(line) = plain {
        return if words.next().is_none() && note.is_none() {
            Ok(line)
        } else {
            Err(format!("`{first}` takes no further words"))
        };
    }

    let severity = words.next().map(parse_severity).transpose()?;

    if let Some(more) = words.next() {
        return Err(format!("unexpected `{more}`: expected DECISION [low|medium|high] [-- NOTE]"));
    }

    Ok(ReviewScriptLine::Decide {
        of: None,
        answer: parse_answer(first)?,
        severity,
        note,
        who: None,
        earlier: Box::default(),
    })
}

/// Parses a decision: `pass`, `fail`, `na`, `unsure`, their keys, a score, or the code of a failure.
///
/// # Errors
/// If it is a number but not a valid score.
pub fn parse_answer(word: &str) -> Result<ReviewAnswer, String> {
    let outcome = match word {
        "p" => Some(LabelOutcome::Met),
        "f" => Some(LabelOutcome::Unmet),
        "n" => Some(LabelOutcome::NotApplicable),
        "u" => Some(LabelOutcome::Unsure),
        "none" => return Ok(ReviewAnswer::Primary(NONE_OF_THE_ABOVE.to_owned())),
        "clean" | "no_failure" => return Ok(ReviewAnswer::Primary(NO_FAILURE.to_owned())),
        other => LabelOutcome::from_word(other),
    };
    if let Some(outcome) = outcome {
        return Ok(ReviewAnswer::Outcome(outcome));
    }

    match parse_number(word) {
        Ok(score) => Ok(ReviewAnswer::Outcome(LabelOutcome::Score(score))),
        Err(NumberError::NotANumber) => Ok(match parse_yes_no(word) {
            Some(true) => ReviewAnswer::Outcome(LabelOutcome::Met),
            Some(false) => ReviewAnswer::Outcome(LabelOutcome::Unmet),
            // Only the item knows the valid codes.
            None => ReviewAnswer::Primary(word.to_owned()),
        }),
        Err(error) => Err(format!("`{word}` is not a score: {error}")),
    }
}

/// Parses a severity: `low`, `medium` or `high`.
///
/// # Errors
/// If it is another word.
pub fn parse_severity(word: &str) -> Result<FailureSeverity, String> {
    FailureSeverity::from_name(word)
        .ok_or_else(|| format!("`{word}` is not a severity (low, medium, high); a note comes after `--`"))
}

/// Fields of a decision. Their keys are the columns of label files.
const FIELDS: [ColumnRole; 8] = [
    ColumnRole::Case,
    ColumnRole::Criterion,
    ColumnRole::Label,
    ColumnRole::Who,
    ColumnRole::Severity,
    ColumnRole::Note,
    ColumnRole::At,
    ColumnRole::Split,
];

/// Column of an exported table with the key of the item, the prefix of its values, and the columns to fill
/// in.
pub(crate) const ITEM_COLUMN: &str = "item";
pub(crate) const ITEM_PREFIX: &str = "item-";
pub(crate) const FILLED_COLUMNS: [&str; 4] = ["label", "severity", "note", "who"];

/// Further keys of label files. They describe the labelled item and are ignored here, because the item
/// determines them.
const KEYS_FROM_ITEM: [&str; 7] = ["version", "seen", "system", "suite", "repeat", "sampled", "adjudicates"];

/// Parses the time of a decision: a timestamp such as `2026-01-31T12:00:00Z`, or a date.
fn parse_time(text: &str) -> Result<String, String> {
    let is_time = text.parse::<jiff::Timestamp>().is_ok() || text.parse::<jiff::civil::Date>().is_ok();
    if is_time {
        Ok(text.to_owned())
    } else {
        Err(format!("`at` is `{text}`, not a time such as 2026-01-31T12:00:00Z"))
    }
}

/// Parses the permitted use of a label.
fn parse_split(text: &str) -> Result<LabelSplit, String> {
    serde_json::from_value(text.into())
        .map_err(|_| format!("`split` is `{text}`; it is one of train, test, example"))
}

/// Parses the fields of a decision from a JSON object, or from a row of a table, in which every value is a
/// text.
pub fn parse_decision_fields(object: &Map<String, Value>) -> Result<ReviewScriptLine, String> {
    let names = || FIELDS.iter().flat_map(|role| role.names().iter().copied());
    let is_known = |key: &str| names().chain(KEYS_FROM_ITEM).any(|name| name == key) || key.starts_with("x-");
    let item = object.get(ITEM_COLUMN).and_then(Value::as_str);
    // An exported table has columns for the texts as well.
    if let Some(other) = object.keys().find(|key| item.is_none() && !is_known(key)) {
        let known = FIELDS.map(ColumnRole::name);
        return Err(format!("unknown key `{other}`; the keys are {}", known.join(", ")));
    }

    let field = |wanted: &str| {
        let role = FIELDS.into_iter().find(|role| role.name() == wanted)?;
        role.names().iter().find_map(|name| object.get(*name)).filter(|value| !value.is_null())
    };
    let word = |key: &str| match field(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` must be a text")),
    };
    let case = composed_name(word("case")?.ok_or("`case` is missing")?);
    let criterion = composed_name(word("criterion")?.unwrap_or_default());
    if item.is_some() && field("label").is_none() {
        return match FILLED_COLUMNS[1..3].iter().find(|key| field(key).is_some()) {
            Some(key) => Err(format!("`{key}` is filled in and `label` is not")),
            None => Ok(ReviewScriptLine::Undecided),
        };
    }

    let answer = match field("label") {
        Some(Value::String(text)) => parse_answer(text)?,
        Some(Value::Number(score)) => {
            ReviewAnswer::Outcome(LabelOutcome::Score(score.as_f64().ok_or("`label` is not a score")?))
        }
        _ => {
            return Err(
                "`label` is missing: met, unmet, not_applicable, unsure, a score or a code".to_owned()
            );
        }
    };

    let severity = word("severity")?.as_deref().map(parse_severity).transpose()?;
    let (note, who) = (word("note")?, word("who")?.map(composed_name));
    let key = item.map(|item| item.trim_start_matches(ITEM_PREFIX).to_owned());
    let seen = object.get("seen").and_then(Value::as_str).map(str::to_owned);
    let of = NamedItem { case, criterion, key, seen };
    let earlier = Box::new(EarlierDecision {
        at: word("at")?.map(|at| parse_time(&at)).transpose()?,
        split: word("split")?.map(|split| parse_split(&split)).transpose()?,
    });
    Ok(ReviewScriptLine::Decide { of: Some(of), answer, severity, note, who, earlier })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_uses_of_earlier_decisions_are_kept() {
        let parse =
            |more: &str| parse_line(&format!(r#"{{"case": "c", "criterion": "k", "label": "met", {more}}}"#));
        let line = parse(r#""at": "2026-01-31T12:00:00Z", "split": "train""#).expect("valid");
        let ReviewScriptLine::Decide { earlier, .. } = line else { panic!("a decision") };
        assert_eq!(earlier.at.as_deref(), Some("2026-01-31T12:00:00Z"));
        assert_eq!(earlier.split, Some(LabelSplit::Train));

        let time = parse(r#""at": "yesterday""#).expect_err("no time");
        assert!(time.contains("`at` is `yesterday`"), "{time}");
        let split = parse(r#""split": "dev""#).expect_err("no split");
        assert!(split.contains("train, test, example"), "{split}");
    }

    #[test]
    fn lines_say_what_keys_say() {
        let line = parse_line("fail high -- the dose is wrong").expect("sound");
        let expected = ReviewScriptLine::Decide {
            of: None,
            answer: ReviewAnswer::Outcome(LabelOutcome::Unmet),
            severity: Some(FailureSeverity::High),
            note: Some("the dose is wrong".to_owned()),
            who: None,
            earlier: Box::default(),
        };
        assert_eq!(line, expected);
        assert_eq!(parse_line(" # later"), Ok(ReviewScriptLine::Nothing));
        for (word, code) in [("none", NONE_OF_THE_ABOVE), ("clean", NO_FAILURE), (NO_FAILURE, NO_FAILURE)] {
            let line = parse_line(word).expect("sound");
            assert!(
                matches!(&line, ReviewScriptLine::Decide { answer: ReviewAnswer::Primary(answer), .. } if answer == code),
                "{line:?}"
            );
        }
        assert_eq!(parse_line("undo"), Ok(ReviewScriptLine::Undo));
        let scored = parse_line("4.5").expect("sound");
        assert!(
            matches!(scored, ReviewScriptLine::Decide { answer: ReviewAnswer::Outcome(LabelOutcome::Score(score)), .. } if score == 4.5)
        );
        let named = parse_line(r#"{"case":"c","criterion":"k","label":"met"}"#).expect("sound");
        assert!(matches!(named, ReviewScriptLine::Decide { of: Some(named), .. } if named.case == "c"));
    }

    #[test]
    fn lines_of_label_files_and_tables_are_decisions() {
        let line = r#"{"trace_id":"c","benchmark_code":"k","outcome":"4","reviewer":"ann","at":"2026-01-31","note":null}"#;
        let ReviewScriptLine::Decide { of, answer, who, .. } = parse_line(line).expect("sound") else {
            panic!("a decision")
        };
        assert_eq!(of.map(|of| (of.case, of.criterion)), Some(("c".to_owned(), "k".to_owned())));
        assert_eq!(answer, ReviewAnswer::Outcome(LabelOutcome::Score(4.0)));
        assert_eq!(who.as_deref(), Some("ann"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, wanted) in [
            ("fail terrible", "not a severity"),
            ("fail high again", "unexpected `again`"),
            ("skip high", "no further words"),
            ("-- note", "no decision"),
            (r#"{"case":"c","lable":"met"}"#, "lable"),
            (r#"{"label":"met"}"#, "`case` is missing"),
            ("inf", "not a score"),
        ] {
            let error = parse_line(line).expect_err(line);
            assert!(error.contains(wanted), "{line}: {error}");
        }
    }
}
