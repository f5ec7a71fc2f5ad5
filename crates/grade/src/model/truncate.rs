//! Makes material fit the model's context window, in the mode that its author chose.
//!
//! Only output of the target is removed: answer, file changes and tool calls. Texts that are too long are cut to one
//! common length, so that a short text next to a long one stays whole. A line with the fence, which no text can forge,
//! marks each cut, and a note outside the blocks explains such lines.

use std::sync::Arc;

use assize_llm::TokenEstimator;
use assize_rubric::{TruncationMode, TruncationRecord};

use super::parts::{split_text, token_weight};
use crate::JudgeMaterial;

/// The part of a task's material that one round of calls shows.
#[derive(Debug, Clone)]
pub(super) struct VisibleMaterial {
    pub(super) material: Arc<JudgeMaterial>,
    /// Note outside the blocks about text missing from them.
    pub(super) note: Option<String>,
    pub(super) truncated: Option<TruncationRecord>,
}

impl VisibleMaterial {
    /// All of the material.
    pub(super) fn whole(material: &Arc<JudgeMaterial>) -> Self {
        Self { material: Arc::clone(material), note: None, truncated: None }
    }
}

/// Most tokens that the lines and the note about cuts take themselves.
pub(super) const CUT_MARK_TOKENS: u64 = 400;

/// The shortest excerpt worth showing, as token weight: about forty words.
const MIN_EXCERPT_WEIGHT: u64 = 480;

/// Most parts that an answer is judged in; more would cost more than anyone expects.
const MAX_PARTS: usize = 64;

/// Selects the material to show so that the produced texts take no more than `room`, as token weight
/// ([`TokenEstimator::weight`]). `None` if this mode can't do that.
pub(super) fn fit_to_window(
    material: &Arc<JudgeMaterial>,
    mode: TruncationMode,
    room: u64,
    fence: &str,
) -> Option<Vec<VisibleMaterial>> {
    match mode {
        TruncationMode::Never => None,
        TruncationMode::Chunk => split_into_parts(material, room),
        TruncationMode::Head | TruncationMode::Tail | TruncationMode::Middle => {
            cut_texts(material, mode, room, fence).map(|shown| vec![shown])
        }
    }
}

fn split_into_parts(material: &Arc<JudgeMaterial>, room: u64) -> Option<Vec<VisibleMaterial>> {
    let beside = [&material.file_changes, &material.tool_calls];
    let beside: u64 = beside.into_iter().flatten().map(|text| token_weight(text)).sum();
    let pieces =
        split_text(&material.answer, room.checked_sub(beside).filter(|room| *room >= MIN_EXCERPT_WEIGHT)?);
    if pieces.len() > MAX_PARTS {
        return None;
    }

    let count = pieces.len();
    let truncated = TruncationRecord {
        mode: TruncationMode::Chunk,
        characters: count_produced(material),
        omitted: 0,
        parts: u32::try_from(count).unwrap_or(u32::MAX),
    };

    let shown = pieces.into_iter().enumerate().map(|(index, piece)| VisibleMaterial {
        material: Arc::new(JudgeMaterial { answer: piece.to_owned(), ..JudgeMaterial::clone(material) }),
        note: Some(format!(
            "The answer is too long to be shown at once. The block above holds part {} of {count}; parts overlap a \
             little. Decide by what this part shows.\n",
            index + 1
        )),
        truncated: Some(truncated),
    });
    Some(shown.collect())
}

fn cut_texts(
    material: &Arc<JudgeMaterial>,
    mode: TruncationMode,
    room: u64,
    fence: &str,
) -> Option<VisibleMaterial> {
    let JudgeMaterial { answer, file_changes, tool_calls, .. } = &**material;
    let texts = [Some(answer), file_changes.as_ref(), tool_calls.as_ref()];
    let weights: Vec<u64> = texts.iter().flatten().map(|text| token_weight(text)).collect();
    let most = common_length(&weights, room);
    if most < MIN_EXCERPT_WEIGHT {
        return None;
    }

    let mut omitted = 0;
    let mut shorten = |text: &String| {
        let (short, without) = truncate_text(text, mode, most, fence);
        omitted += without;
        short
    };
    let short = JudgeMaterial {
        answer: shorten(answer),
        file_changes: file_changes.as_ref().map(&mut shorten),
        tool_calls: tool_calls.as_ref().map(&mut shorten),
        ..JudgeMaterial::clone(material)
    };

    let truncated = TruncationRecord { mode, characters: count_produced(material), omitted, parts: 1 };
    Some(VisibleMaterial {
        material: Arc::new(short),
        note: Some(format!(
            "The material is too long to be shown whole. Where a line begins with [[LEFT OUT {fence}, so many characters \
             were left out by the program that asks you, and not by the answer: nothing is known about them.\n"
        )),
        truncated: Some(truncated),
    })
}

/// Number of characters that the target produced.
fn count_produced(material: &JudgeMaterial) -> u64 {
    let texts = [Some(&material.answer), material.file_changes.as_ref(), material.tool_calls.as_ref()];
    texts.into_iter().flatten().map(|text| text.chars().count() as u64).sum()
}

/// The length to which texts are cut so that together they fit the room; shorter ones stay whole.
fn common_length(weights: &[u64], room: u64) -> u64 {
    let mut sorted = weights.to_vec();
    sorted.sort_unstable();

    let mut left = room;
    for (index, weight) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index) as u64;
        if *weight > share {
            return share;
        }
        left -= weight;
    }

    u64::MAX
}

/// Cuts the text to the room; returns it with the number of characters removed.
fn truncate_text(text: &str, mode: TruncationMode, room: u64, fence: &str) -> (String, u64) {
    if token_weight(text) <= room {
        return (text.to_owned(), 0);
    }

    let (first, last) = match mode {
        TruncationMode::Head => (0, room),
        TruncationMode::Middle => (room / 2, room - room / 2),
        _ => (room, 0),
    };
    let head = prefix_end(text.char_indices(), first, 0);
    let tail = prefix_end(text.char_indices().rev(), last, text.len()).max(head);
    let without = text[head..tail].chars().count();
    let total = text.chars().count();
    let mark = format!("[[LEFT OUT {fence}: {without} of {total} characters]]");
    let (before, after) = (&text[..head], &text[tail..]);
    let joined = match (before.is_empty(), after.is_empty()) {
        (true, _) => format!("{mark}\n{after}"),
        (false, true) => format!("{before}\n{mark}"),
        (false, false) => format!("{before}\n{mark}\n{after}"),
    };

    (joined, without as u64)
}

/// End of the characters that fit the room, in one direction from `start`.
fn prefix_end(characters: impl Iterator<Item = (usize, char)>, room: u64, start: usize) -> usize {
    let mut used = 0;
    let mut end = start;
    for (at, c) in characters {
        used += TokenEstimator::weight(c);
        if used > room {
            break;
        }
        end = if start == 0 { at + c.len_utf8() } else { at };
    }

    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(answer: &str, changes: Option<&str>) -> Arc<JudgeMaterial> {
        Arc::new(JudgeMaterial {
            question: "why".into(),
            answer: answer.into(),
            file_changes: changes.map(str::to_owned),
            ..JudgeMaterial::default()
        })
    }

    fn only(material: &Arc<JudgeMaterial>, mode: TruncationMode, room: u64) -> VisibleMaterial {
        fit_to_window(material, mode, room, "f00").unwrap().remove(0)
    }

    #[test]
    fn what_is_left_out_is_marked_with_how_much_it_is() {
        let cut = |mode| truncate_text("abcdefghij", mode, 8, "f00");
        assert_eq!(cut(TruncationMode::Tail).0, "abcd\n[[LEFT OUT f00: 6 of 10 characters]]");
        assert_eq!(cut(TruncationMode::Head).0, "[[LEFT OUT f00: 6 of 10 characters]]\nghij");
        assert_eq!(
            cut(TruncationMode::Middle),
            ("ab\n[[LEFT OUT f00: 6 of 10 characters]]\nij".to_owned(), 6)
        );
        let truncated =
            only(&material(&"a".repeat(1000), None), TruncationMode::Tail, 800).truncated.unwrap();
        assert_eq!((truncated.characters, truncated.omitted, truncated.parts), (1000, 600, 1));
    }

    #[test]
    fn a_short_text_beside_a_long_one_stays_whole() {
        let both = material(&"a".repeat(1000), Some("bb"));
        let shown = only(&both, TruncationMode::Tail, 1004);
        assert_eq!(shown.material.file_changes.as_deref(), Some("bb"));
        assert_eq!(shown.truncated.unwrap().omitted, 500);
        assert_eq!(shown.material.question, "why");
        assert!(shown.note.unwrap().contains("[[LEFT OUT f00"));
    }

    #[test]
    fn characters_are_never_torn() {
        let answer = "ü漢🦀x".repeat(50);
        for mode in [TruncationMode::Head, TruncationMode::Tail, TruncationMode::Middle] {
            for room in 1..200 {
                let (short, left) = truncate_text(&answer, mode, room, "f");
                let kept: String = short.lines().filter(|line| !line.starts_with("[[")).collect();
                assert_eq!(kept.chars().count() as u64 + left, 200, "{mode:?} {room}");
                assert!(token_weight(&kept) <= room);
            }
        }
    }

    #[test]
    fn nothing_fits_into_no_room() {
        let long = "word ".repeat(200);
        assert!(
            fit_to_window(&material(&long, None), TruncationMode::Tail, MIN_EXCERPT_WEIGHT - 1, "f")
                .is_none()
        );
        assert!(fit_to_window(&material(&long, None), TruncationMode::Never, 1000, "f").is_none());
        assert!(
            fit_to_window(
                &material(&long, Some(&long)),
                TruncationMode::Chunk,
                2000 + MIN_EXCERPT_WEIGHT - 1,
                "f"
            )
            .is_none()
        );
        assert!(
            fit_to_window(
                &material(&long, Some(&long)),
                TruncationMode::Chunk,
                2000 + MIN_EXCERPT_WEIGHT,
                "f"
            )
            .is_some()
        );
        assert!(
            fit_to_window(&material(&long.repeat(500), None), TruncationMode::Chunk, MIN_EXCERPT_WEIGHT, "f")
                .is_none()
        );
    }
}
