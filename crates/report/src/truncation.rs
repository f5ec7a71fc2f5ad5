//! Notes about material that was too long for a judge.

use assize_rubric::{TruncationMode, TruncationRecord};

use crate::number::grouped;

/// Returns the note for a decision whose judge could not be shown all of the material at once.
pub(crate) fn truncation_note(mode: TruncationMode) -> String {
    let what = match mode {
        TruncationMode::Never => "truncated for the judge",
        TruncationMode::Head => "judged without its beginning",
        TruncationMode::Tail => "judged without its end",
        TruncationMode::Middle => "judged without its middle",
        TruncationMode::Chunk => "judged in parts",
    };
    format!("too long, so {what} (truncate: {})", mode.name())
}

/// Returns the note with the numbers of characters.
pub fn truncation_details(found: &TruncationRecord) -> String {
    let TruncationRecord { mode, characters, omitted, parts } = *found;
    let brief = truncation_note(mode);
    match mode {
        TruncationMode::Chunk => format!("{brief}: {} characters in {parts} parts", grouped(characters)),
        _ => format!("{brief}: {} of {} characters removed", grouped(omitted), grouped(characters)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_told() {
        let described = |mode, omitted, parts| {
            truncation_details(&TruncationRecord { mode, characters: 22_228, omitted, parts })
        };
        assert_eq!(
            described(TruncationMode::Head, 20_710, 1),
            "too long, so judged without its beginning (truncate: head): 20,710 of 22,228 characters removed"
        );
        assert_eq!(
            described(TruncationMode::Chunk, 0, 20),
            "too long, so judged in parts (truncate: chunk): 22,228 characters in 20 parts"
        );
    }
}
