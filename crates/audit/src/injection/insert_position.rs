//! Insertion of a text into an answer.

use serde::{Deserialize, Serialize};

assize_rubric::named_enum! {
    /// Position in an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum InsertPosition {
        /// At the end of the answer.
        Append = "append",
        /// At the start of the answer.
        Prepend = "prepend",
        /// In the middle: after the paragraph, line or word that ends nearest to it.
        Inject = "inject",
    }
}

impl InsertPosition {
    /// Returns the answer with the text inserted at this position, separated by blank lines.
    pub fn insert_into(self, answer: &str, text: &str) -> String {
        if answer.is_empty() {
            return text.to_owned();
        }
        match self {
            Self::Append => format!("{answer}\n\n{text}"),
            Self::Prepend => format!("{text}\n\n{answer}"),
            Self::Inject => {
                let (before, after) = answer.split_at(insertion_point(answer));
                format!("{before}\n\n{text}\n\n{after}")
            }
        }
    }
}

/// Returns the byte offset of the paragraph end nearest to the middle. If there is none in the middle half of
/// the text, tries the nearest end of a line, then of a word, and finally the middle itself.
fn insertion_point(text: &str) -> usize {
    let half = text.len() / 2;
    for separator in ["\n\n", "\n", " "] {
        let ends = text.match_indices(separator).map(|(at, separator)| at + separator.len());
        let near = ends.min_by_key(|end| end.abs_diff(half));
        if let Some(near) = near.filter(|near| near.abs_diff(half) <= text.len() / 4) {
            return near;
        }
    }

    let mut half = half;
    while !text.is_char_boundary(half) {
        half -= 1;
    }

    half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_keeps_the_answer_whole() {
        assert_eq!(InsertPosition::Append.insert_into("a b", "X"), "a b\n\nX");
        assert_eq!(InsertPosition::Prepend.insert_into("a b", "X"), "X\n\na b");
        assert_eq!(
            InsertPosition::Inject.insert_into("one\n\ntwo\nthree", "X"),
            "one\n\n\n\nX\n\ntwo\nthree"
        );
        assert_eq!(InsertPosition::Inject.insert_into("one two", "X"), "one \n\nX\n\ntwo");
        assert_eq!(InsertPosition::Inject.insert_into("äöü", "X").replace("\n\nX\n\n", ""), "äöü");
        assert_eq!(InsertPosition::Inject.insert_into("", "X"), "X");
        for place in [InsertPosition::Append, InsertPosition::Prepend, InsertPosition::Inject] {
            assert_eq!(InsertPosition::from_name(place.name()), Some(place));
        }
    }
}
