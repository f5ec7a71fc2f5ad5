//! The transcript of a conversation with the answers of its turns located in it, for quotes that span several
//! turns.

use std::ops::Range;

use assize_store::TurnRow;

use crate::quote_place::LocatedText;

/// Line of a transcript that precedes an answer.
const BEFORE_ANSWER: &str = "[assistant]\n";

/// A transcript in which the answers of all turns were found.
pub(crate) struct ConversationText<'t> {
    transcript: &'t str,
    /// The turns with an answer, and the byte range of each answer in the transcript.
    answers: Vec<(u32, Range<usize>)>,
}

impl<'t> ConversationText<'t> {
    /// Locates the answers; `None` if there are no turns, or if the answers don't occur in the order of the
    /// turns.
    pub(crate) fn new(transcript: &'t str, turns: &[TurnRow]) -> Option<Self> {
        let mut end = 0;
        let mut answers = Vec::with_capacity(turns.len());
        for turn in turns {
            let Some(answer) = &turn.answer else { continue };
            let head = format!("{BEFORE_ANSWER}{answer}");
            let start = end + transcript[end..].find(&head)? + BEFORE_ANSWER.len();
            end = start + answer.len();
            answers.push((turn.turn, start..end));
        }

        (!turns.is_empty()).then_some(Self { transcript, answers })
    }

    /// Returns the messages before the answer of each turn. A turn without an answer, which is the last one
    /// of a conversation that broke off, gets the rest of the transcript.
    pub(crate) fn messages(&self, turns: &[TurnRow]) -> Vec<&'t str> {
        let mut from = 0;
        let messages = turns.iter().map(|turn| {
            let answer = self.answers.iter().find(|(number, _)| *number == turn.turn).map(|(_, at)| at);
            let text = match answer {
                Some(at) => &self.transcript[from..at.start - BEFORE_ANSWER.len()],
                None => &self.transcript[from..],
            };
            from = answer.map_or(self.transcript.len(), |at| at.end);
            text.trim()
        });
        messages.collect()
    }

    /// Returns the parts of a quote that lie within answers: each with its turn and its range of characters
    /// in that turn's answer. Empty if the quote is not in the transcript.
    pub(crate) fn parts_of(&self, quote: &str) -> Vec<(u32, Range<usize>)> {
        let Some(place) = LocatedText::new(self.transcript).find(quote) else { return Vec::new() };
        let characters = |bytes: usize| self.transcript[..bytes].chars().count();
        let parts = self.answers.iter().filter_map(|(turn, bytes)| {
            let (begin, end) = (characters(bytes.start), characters(bytes.end));
            let part = place.start.max(begin)..place.end.min(end);
            (!part.is_empty()).then(|| (*turn, part.start - begin..part.end - begin))
        });
        parts.collect()
    }
}
