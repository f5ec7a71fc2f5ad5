//! Parses a reply with questions.

use assize_rubric::{GraderFinding, GraderNote};

use super::ParsedReply;
use super::find::{ReplyShape, find_reply_json};

/// Parses a reply with this number of questions. Each becomes a note of the finding. The error is worded for
/// the judge and the user.
pub(crate) fn read_questions(text: &str, count: u32) -> Result<ParsedReply<GraderFinding>, String> {
    let value = find_reply_json(text, ReplyShape::With("questions"))?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    let list = object.get("questions").and_then(|questions| questions.as_array());
    let list = list.ok_or("\"questions\" is not a list")?;
    let questions: Vec<&str> = list
        .iter()
        .filter_map(|question| question.as_str())
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect();
    if questions.len() != list.len() || questions.len() != count as usize {
        return Err(format!("\"questions\" must hold {count} texts"));
    }

    let notes = questions.into_iter().map(|question| GraderNote::remark(question, "")).collect();
    Ok(ParsedReply::new(GraderFinding::new(None, notes), object))
}

#[cfg(test)]
mod tests {
    use super::read_questions;

    #[test]
    fn as_many_questions_as_were_asked_for_are_read() {
        let read = read_questions(r#"{"questions": ["a?", " b? "]}"#, 2).expect("two");
        let texts: Vec<&str> = read.decided.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(texts, ["a?", "b?"]);
        for bad in [
            "", r#"{"questions": []}"#, r#"{"questions": ["a?"]}"#, r#"{"questions": ["a?", ""]}"#,
            r#"{"questions": ["a?", 1]}"#, r#"{"questions": "a?"}"#,
        ] {
            assert!(read_questions(bad, 2).is_err(), "{bad}");
        }
    }
}
