//! Fences: delimiters around untrusted text, chosen so that the text cannot contain them.
//!
//! Design: `docs/design/judging.md`.

use crate::JudgeMaterial;
use crate::text_hash::text_hasher;

/// Source of the randomness in fences. Any `Fn() -> u128` works, for tests or with a random generator.
pub trait FenceSource: Send + Sync {
    /// Returns the next value for text with this hash. `draw` starts at 0 and increases while the value occurs
    /// in the text.
    fn draw(&self, hash: &[u8; 32], draw: u32) -> u128;
}

impl<F: Fn() -> u128 + Send + Sync> FenceSource for F {
    fn draw(&self, _hash: &[u8; 32], _draw: u32) -> u128 {
        self()
    }
}

/// Fences computed as a keyed hash of the text that they enclose.
///
/// A text can't contain its own fence, since every change to the text changes the fence; with a secret key, the
/// fence can't be guessed from the rest of the material either. Equal material gives equal fences, so an
/// unchanged request stays identical byte for byte and can be answered from the reply cache.
#[derive(Clone)]
pub struct KeyedFences {
    key: [u8; 32],
}

impl KeyedFences {
    /// Creates fences from this key. Cached replies are only found while the key stays the same.
    pub const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }
}

impl std::fmt::Debug for KeyedFences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyedFences(..)")
    }
}

impl FenceSource for KeyedFences {
    fn draw(&self, hash: &[u8; 32], draw: u32) -> u128 {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(hash).update(&draw.to_le_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        u128::from_le_bytes(bytes)
    }
}

/// Draws after which the number of the draw itself is mixed in, in case a source repeats itself.
const PLAIN_DRAWS: u32 = 8;

/// Draws a fence that occurs in none of the texts, ignoring case.
pub(crate) fn draw_fence(source: &dyn FenceSource, texts: &[&str]) -> String {
    let hash = *text_hasher(texts).finalize().as_bytes();
    let mut draw = 0;
    loop {
        let mut value = source.draw(&hash, draw);
        if draw >= PLAIN_DRAWS {
            value =
                value.wrapping_add(u128::from(draw).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        }

        // 20 hex digits: short in tokens, and still far beyond guessing.
        let fence = format!("{:020x}", value & ((1 << 80) - 1));
        if !texts.iter().any(|text| contains_fence(text, &fence)) {
            return fence;
        }

        draw += 1;
    }
}

/// Draws the fence of a task. It occurs in none of the task's untrusted texts.
pub(crate) fn draw_material_fence(source: &dyn FenceSource, material: &JudgeMaterial) -> String {
    let texts: Vec<&str> = [
        Some(material.question.as_str()),
        material.expected_outcome.as_deref(),
        material.reference.as_deref(),
        Some(material.answer.as_str()),
        material.file_changes.as_deref(),
        material.tool_calls.as_deref(),
    ]
    .into_iter()
    .map(Option::unwrap_or_default)
    .collect();
    draw_fence(source, &texts)
}

/// Returns true if `text` contains the lower-case hex word `fence`, ignoring case.
fn contains_fence(text: &str, fence: &str) -> bool {
    let (text, fence) = (text.as_bytes(), fence.as_bytes());
    let length = fence.len();

    // Any occurrence covers one of these positions, and most of them hold no hexadecimal digit.
    (length - 1..text.len()).step_by(length).filter(|&at| text[at].is_ascii_hexdigit()).any(|at| {
        let around = &text[at + 1 - length..(at + length).min(text.len())];
        around.windows(length).any(|window| window.eq_ignore_ascii_case(fence))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_fence_that_occurs_is_drawn_again() {
        let next = AtomicU64::new(0xabc);
        let source = move || u128::from(next.fetch_add(1, Ordering::Relaxed));
        let taken = "x 00000000000000000ABC y".to_owned();
        assert_eq!(draw_fence(&source, &[&taken]), "00000000000000000abd");
    }

    #[test]
    fn a_fence_is_found_wherever_it_stands() {
        let fence = "0123456789abcdef0123";
        for before in 0..45 {
            for after in [0, 1, 30] {
                let text = format!("{}{}{}", "e".repeat(before), fence.to_uppercase(), "é".repeat(after));
                assert!(contains_fence(&text, fence), "{text}");
                assert!(!contains_fence(&text.replace("9A", "9B"), fence), "{text}");
            }
        }
        assert!(!contains_fence("", fence) && !contains_fence(&fence[1..], fence));
    }

    #[test]
    fn a_source_that_never_changes_does_not_hang() {
        let source = || 5u128;
        let fence = draw_fence(&source, &["00000000000000000005"]);
        assert_ne!(fence, "00000000000000000005");
        assert_eq!(fence.len(), 20);
    }

    #[test]
    fn keyed_fences_follow_text_and_key() {
        let a = draw_fence(&KeyedFences::new([1; 32]), &["text"]);
        assert_eq!(a, draw_fence(&KeyedFences::new([1; 32]), &["text"]));
        assert_ne!(a, draw_fence(&KeyedFences::new([2; 32]), &["text"]));
        assert_ne!(a, draw_fence(&KeyedFences::new([1; 32]), &["text", ""]));
        assert_ne!(a, draw_fence(&KeyedFences::new([1; 32]), &[&format!("text {a}")]));
    }
}
