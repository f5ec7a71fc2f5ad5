//! Truncation of a judge's material, in words.

use assize_rubric::{Truncate, Truncated};

use crate::number::grouped;

/// Returns the note on a decision whose judge could not be shown everything at once.
pub(crate) fn brief(mode: Truncate) -> String {
    let what = match mode {
        Truncate::Never => "not shown whole to the judge",
        Truncate::Head => "judged without its beginning",
        Truncate::Tail => "judged without its end",
        Truncate::Middle => "judged without its middle",
        Truncate::Chunk => "judged in parts",
    };
    format!("too long, so {what} (truncate: {})", mode.name())
}

/// Returns the note with the numbers of characters.
pub(crate) fn figures(found: &Truncated) -> String {
    let Truncated { mode, characters, left_out, parts } = *found;
    let brief = brief(mode);
    match mode {
        Truncate::Chunk => format!("{brief}: {} characters in {parts} parts", grouped(characters)),
        _ => format!("{brief}: {} of {} characters left out", grouped(left_out), grouped(characters)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_told() {
        let of = |mode, left_out, parts| figures(&Truncated { mode, characters: 22_228, left_out, parts });
        assert_eq!(
            of(Truncate::Head, 20_710, 1),
            "too long, so judged without its beginning (truncate: head): 20,710 of 22,228 characters left out"
        );
        assert_eq!(
            of(Truncate::Chunk, 0, 20),
            "too long, so judged in parts (truncate: chunk): 22,228 characters in 20 parts"
        );
    }
}
