//! Verifies quotes against the material that the judge saw.

use std::sync::OnceLock;

use assize_rubric::QuotedText;

use crate::JudgeMaterial;

/// Index of the texts that may be quoted. They are prepared once, at the first quote, so each quote takes one
/// search.
#[derive(Debug, Clone)]
pub struct EvidenceIndex {
    written: Vec<String>,
    comparable: OnceLock<Vec<QuotedText>>,
}

impl EvidenceIndex {
    /// Indexes the output of the target: answer, file changes, tool calls.
    pub fn new(material: &JudgeMaterial) -> Self {
        Self::from_texts(material.produced_texts())
    }

    /// Indexes the given texts.
    pub(crate) fn from_texts<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        Self { written: texts.map(str::to_owned).collect(), comparable: OnceLock::new() }
    }

    /// Returns true if the quote occurs in one of the texts, by the rules of [`QuotedText::contains`].
    pub fn contains(&self, quote: &str) -> bool {
        let texts =
            self.comparable.get_or_init(|| self.written.iter().map(|text| QuotedText::new(text)).collect());
        texts.iter().any(|text| text.contains(quote))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_tool_calls_count_but_the_question_does_not() {
        let index = EvidenceIndex::new(&JudgeMaterial {
            question: "what about the moon".into(),
            reference: Some("the reference text".into()),
            answer: "done".into(),
            file_changes: Some("+ let total = 3;".into()),
            tool_calls: Some("read_file(path=a.txt)".into()),
            ..JudgeMaterial::default()
        });
        assert!(index.contains("let total = 3;"));
        assert!(index.contains("read_file(path=a.txt)"));
        assert!(!index.contains("about the moon"));
        assert!(!index.contains("the reference text"));
    }
}
