//! Making material fit into what a model can read, in the way its author asked for.
//!
//! Only what the answering system produced is ever left out: answer, file changes and tool calls. What is too long is
//! brought down to one common length, so that a short text beside a long one stays whole. The place of a cut carries a
//! line with the fence, which no text can forge, and a note outside the blocks says what such a line means.

use std::sync::Arc;

use assize_llm::TokenEstimator;
use assize_rubric::{Truncate, Truncated};

use super::parts::parts;
use crate::Material;

/// What one round of calls shows of a task's material.
#[derive(Debug, Clone)]
pub(super) struct VisibleMaterial {
    pub(super) material: Arc<Material>,
    /// What is said outside the blocks about what is missing from them.
    pub(super) note: Option<String>,
    pub(super) truncated: Option<Truncated>,
}

impl VisibleMaterial {
    /// All of it.
    pub(super) fn whole(material: &Arc<Material>) -> Self {
        Self { material: Arc::clone(material), note: None, truncated: None }
    }
}

/// Tokens that the lines and the note about what was left out take themselves, at most.
pub(super) const MARKS: u64 = 400;

/// The least of a text that is worth showing, in parts of tokens: some forty words.
const LEAST: u64 = 480;

/// Most parts that an answer is judged in; more would be a bill nobody expects.
const MAX_PARTS: usize = 64;

/// What to show so that the texts produced take no more than `room` (in parts of tokens, as [`TokenEstimator::weight`] counts
/// them). `None` when that can't be done in this way.
pub(super) fn fit(
    material: &Arc<Material>,
    mode: Truncate,
    room: u64,
    fence: &str,
) -> Option<Vec<VisibleMaterial>> {
    match mode {
        Truncate::Never => None,
        Truncate::Chunk => in_parts(material, room),
        Truncate::Head | Truncate::Tail | Truncate::Middle => {
            cut_to(material, mode, room, fence).map(|shown| vec![shown])
        }
    }
}

fn in_parts(material: &Arc<Material>, room: u64) -> Option<Vec<VisibleMaterial>> {
    let beside = [&material.file_changes, &material.tool_calls];
    let beside: u64 = beside.into_iter().flatten().map(|text| weight(text)).sum();
    let pieces = parts(&material.answer, room.checked_sub(beside).filter(|room| *room >= LEAST)?);
    if pieces.len() > MAX_PARTS {
        return None;
    }
    let count = pieces.len();
    let truncated = Truncated {
        mode: Truncate::Chunk,
        characters: produced(material),
        left_out: 0,
        parts: u32::try_from(count).unwrap_or(u32::MAX),
    };
    let shown = pieces.into_iter().enumerate().map(|(index, piece)| VisibleMaterial {
        material: Arc::new(Material { answer: piece.to_owned(), ..Material::clone(material) }),
        note: Some(format!(
            "The answer is too long to be shown at once. The block above holds part {} of {count}; parts overlap a \
             little. Decide by what this part shows.\n",
            index + 1
        )),
        truncated: Some(truncated),
    });
    Some(shown.collect())
}

fn cut_to(material: &Arc<Material>, mode: Truncate, room: u64, fence: &str) -> Option<VisibleMaterial> {
    let Material { answer, file_changes, tool_calls, .. } = &**material;
    let texts = [Some(answer), file_changes.as_ref(), tool_calls.as_ref()];
    let weights: Vec<u64> = texts.iter().flatten().map(|text| weight(text)).collect();
    let most = common_length(&weights, room);
    if most < LEAST {
        return None;
    }
    let mut left_out = 0;
    let mut shorten = |text: &String| {
        let (short, without) = cut(text, mode, most, fence);
        left_out += without;
        short
    };
    let short = Material {
        answer: shorten(answer),
        file_changes: file_changes.as_ref().map(&mut shorten),
        tool_calls: tool_calls.as_ref().map(&mut shorten),
        ..Material::clone(material)
    };
    let truncated = Truncated { mode, characters: produced(material), left_out, parts: 1 };
    Some(VisibleMaterial {
        material: Arc::new(short),
        note: Some(format!(
            "The material is too long to be shown whole. Where a line begins with [[LEFT OUT {fence}, so many characters \
             were left out by the program that asks you, and not by the answer: nothing is known about them.\n"
        )),
        truncated: Some(truncated),
    })
}

/// Characters that the answering system produced.
fn produced(material: &Material) -> u64 {
    let texts = [Some(&material.answer), material.file_changes.as_ref(), material.tool_calls.as_ref()];
    texts.into_iter().flatten().map(|text| text.chars().count() as u64).sum()
}

pub(super) fn weight(text: &str) -> u64 {
    text.chars().map(TokenEstimator::weight).sum()
}

/// The length to which texts are cut so that all of them together have the room, shorter ones staying whole.
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

/// The text without what is beyond the room, and how many characters that is.
fn cut(text: &str, mode: Truncate, room: u64, fence: &str) -> (String, u64) {
    if weight(text) <= room {
        return (text.to_owned(), 0);
    }
    let (first, last) = match mode {
        Truncate::Head => (0, room),
        Truncate::Middle => (room / 2, room - room / 2),
        _ => (room, 0),
    };
    let head = prefix(text.char_indices(), first, 0);
    let tail = prefix(text.char_indices().rev(), last, text.len()).max(head);
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

/// Where the characters end that have the room, going one way; `start` is where they begin.
fn prefix(characters: impl Iterator<Item = (usize, char)>, room: u64, start: usize) -> usize {
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

    fn material(answer: &str, changes: Option<&str>) -> Arc<Material> {
        Arc::new(Material {
            question: "why".into(),
            answer: answer.into(),
            file_changes: changes.map(str::to_owned),
            ..Material::default()
        })
    }

    fn only(material: &Arc<Material>, mode: Truncate, room: u64) -> VisibleMaterial {
        fit(material, mode, room, "f00").unwrap().remove(0)
    }

    #[test]
    fn what_is_left_out_is_marked_with_how_much_it_is() {
        let cut = |mode| cut("abcdefghij", mode, 8, "f00");
        assert_eq!(cut(Truncate::Tail).0, "abcd\n[[LEFT OUT f00: 6 of 10 characters]]");
        assert_eq!(cut(Truncate::Head).0, "[[LEFT OUT f00: 6 of 10 characters]]\nghij");
        assert_eq!(cut(Truncate::Middle), ("ab\n[[LEFT OUT f00: 6 of 10 characters]]\nij".to_owned(), 6));
        let truncated = only(&material(&"a".repeat(1000), None), Truncate::Tail, 800).truncated.unwrap();
        assert_eq!((truncated.characters, truncated.left_out, truncated.parts), (1000, 600, 1));
    }

    #[test]
    fn a_short_text_beside_a_long_one_stays_whole() {
        let both = material(&"a".repeat(1000), Some("bb"));
        let shown = only(&both, Truncate::Tail, 1004);
        assert_eq!(shown.material.file_changes.as_deref(), Some("bb"));
        assert_eq!(shown.truncated.unwrap().left_out, 500);
        assert_eq!(shown.material.question, "why");
        assert!(shown.note.unwrap().contains("[[LEFT OUT f00"));
    }

    #[test]
    fn characters_are_never_torn() {
        let answer = "ü漢🦀x".repeat(50);
        for mode in [Truncate::Head, Truncate::Tail, Truncate::Middle] {
            for room in 1..200 {
                let (short, left) = cut(&answer, mode, room, "f");
                let kept: String = short.lines().filter(|line| !line.starts_with("[[")).collect();
                assert_eq!(kept.chars().count() as u64 + left, 200, "{mode:?} {room}");
                assert!(weight(&kept) <= room);
            }
        }
    }

    #[test]
    fn nothing_fits_into_no_room() {
        let long = "word ".repeat(200);
        assert!(fit(&material(&long, None), Truncate::Tail, LEAST - 1, "f").is_none());
        assert!(fit(&material(&long, None), Truncate::Never, 1000, "f").is_none());
        assert!(fit(&material(&long, Some(&long)), Truncate::Chunk, 2000 + LEAST - 1, "f").is_none());
        assert!(fit(&material(&long, Some(&long)), Truncate::Chunk, 2000 + LEAST, "f").is_some());
        assert!(fit(&material(&long.repeat(500), None), Truncate::Chunk, LEAST, "f").is_none());
    }
}
