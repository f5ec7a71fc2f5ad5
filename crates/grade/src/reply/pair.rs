//! Parses a reply about two answers.

use assize_rubric::AnswerPreference;

use super::ParsedReply;
use super::find::{ReplyShape, find_reply_json};

/// Parses a reply. The error is worded for the judge and the user.
pub(crate) fn read_pair(text: &str) -> Result<ParsedReply<AnswerPreference>, String> {
    let value = find_reply_json(text, ReplyShape::With("better"))?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    let better = object.get("better").ok_or("the JSON has no member \"better\"")?;
    let word = better.as_str().map(|word| word.trim().to_ascii_lowercase());
    let preference = match word.as_deref() {
        Some("answer 1") => AnswerPreference::First,
        Some("answer 2") => AnswerPreference::Second,
        Some("tie") => AnswerPreference::Tie,
        _ => return Err(format!("\"better\" is {better}; it must be \"answer 1\", \"answer 2\" or \"tie\"")),
    };

    Ok(ParsedReply::new(preference, object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::PREFERENCE_VALUES;

    #[test]
    fn what_is_asked_for_is_read_and_nothing_else_is_guessed() {
        let wanted = [AnswerPreference::First, AnswerPreference::Second, AnswerPreference::Tie];
        for (word, preference) in PREFERENCE_VALUES.iter().zip(wanted) {
            let read = read_pair(&format!("```json\n{{\"reason\": \"r\", \"better\": \"{word}\"}}\n```"));
            assert_eq!(read.map(|read| read.decided), Ok(preference));
        }
        for bad in [
            "",
            "answer 1",
            r#"{"better": 1}"#,
            r#"{"better": "both"}"#,
            r#"{"better": null}"#,
            r#"{"reason": "answer 1 is better"}"#,
            r#"{"better": "answer 1"} {"better": "answer 2"}"#,
            r#"{"better": "answer 1", "better": "tie"}"#,
        ] {
            assert!(read_pair(bad).is_err(), "{bad}");
        }
    }
}
