//! Variants of a program's input for libraries that check types, whose versions disagree.

use serde_json::Value;

/// Deviations from the usual form of the input, for programs that refuse the usual form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ContractForm {
    /// Message content that is an object is written as JSON text.
    pub(super) objects_as_text: bool,
    /// `output` is the text of the answer; the messages are in `messages`, and also in `trace`.
    pub(super) output_as_text: bool,
}

impl ContractForm {
    /// The form to try after a program refused this one, according to its complaint: a text that ends in a list
    /// of `{"path": ["expectedOutput", 0, "content"], ...}`. `None` for any other complaint.
    pub(super) fn after_refusal(self, complaint: &str) -> Option<Self> {
        let list = complaint.get(complaint.find('[')?..)?;
        let issues: Vec<Value> = serde_json::from_str(list).ok()?;
        let mut wanted = self;
        for path in issues.iter().filter_map(|issue| issue.get("path")?.as_array()) {
            let keys: Vec<&str> = path.iter().filter_map(Value::as_str).collect();
            match keys.as_slice() {
                ["output"] => wanted.output_as_text = !self.output_as_text,
                ["trace", "messages" | "events"] => wanted.output_as_text = true,
                [.., "content"] => wanted.objects_as_text = true,
                _ => {}
            }
        }

        (wanted != self).then_some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_form_that_is_wanted() {
        let usual = ContractForm::default();
        let content =
            r#"Evaluation failed: [{"code": "invalid_union", "path": ["expectedOutput", 0, "content"]}]"#;
        let text = usual.after_refusal(content).expect("a form");
        assert_eq!((text.objects_as_text, text.output_as_text), (true, false));
        assert_eq!(text.after_refusal(content), None, "the same again is a failure");
        let output = r#"[{"path": ["output"]}, {"path": ["trace", "events"]}]"#;
        assert!(usual.after_refusal(output).is_some_and(|form| form.output_as_text));
        let text = ContractForm { output_as_text: true, ..usual };
        let messages = r#"[{"path": ["output"]}]"#;
        assert_eq!(text.after_refusal(messages), Some(usual), "an older library wants the messages");
        for other in ["", "no file [1]", "[", r#"[{"path": ["config", "limit"]}]"#] {
            assert_eq!(usual.after_refusal(other), None, "{other}");
        }
    }
}
