//! Reading a reply about two answers.

use assize_rubric::Preference;

use super::Reading;
use super::find::{Shape, find};

/// Reads a reply. The error says what is wrong with it, in words for judge and user alike.
pub(crate) fn read_pair(text: &str) -> Result<Reading<Preference>, String> {
    let value = find(text, Shape::With("better"))?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    let better = object.get("better").ok_or("the JSON has no member \"better\"")?;
    let word = better.as_str().map(|word| word.trim().to_ascii_lowercase());
    let preference = match word.as_deref() {
        Some("answer 1") => Preference::First,
        Some("answer 2") => Preference::Second,
        Some("tie") => Preference::Tie,
        _ => return Err(format!("\"better\" is {better}; it must be \"answer 1\", \"answer 2\" or \"tie\"")),
    };
    Ok(Reading::new(preference, object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::BETTER;

    #[test]
    fn what_is_asked_for_is_read_and_nothing_else_is_guessed() {
        let wanted = [Preference::First, Preference::Second, Preference::Tie];
        for (word, preference) in BETTER.iter().zip(wanted) {
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
