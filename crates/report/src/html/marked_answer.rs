//! An answer, or the turns of a conversation, with the judges' quotes marked.

use std::ops::Range;

use assize_store::TurnRow;

use super::highlight::{TextPiece, highlight_quotes, highlight_ranges, quote_ranges};
use crate::conversation_text::ConversationText;
use crate::quote_place::LocatedText;
use crate::sanitize::escape_lines;

/// A quote from an answer, with the number of its criterion.
#[derive(Debug, Clone, Copy)]
pub struct AnswerQuote<'q> {
    /// Number of the criterion.
    pub number: usize,
    /// Words of the quote.
    pub text: &'q str,
    /// Turn of a conversation in whose answer the quote is or begins; `None` outside conversations.
    pub turn: Option<u32>,
}

/// An answer as pages show it.
#[derive(Debug, Clone, Default)]
pub struct MarkedAnswer {
    /// The answer in pieces; `None` if there is none, or if the turns contain all of it.
    pub whole: Option<Vec<TextPiece>>,
    /// Turns of a conversation.
    pub turns: Vec<MarkedTurn>,
}

/// A turn of a conversation.
#[derive(Debug, Clone)]
pub struct MarkedTurn {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// Messages before the answer; empty if they can't be determined.
    pub asked: String,
    /// The answer in pieces; empty if there is none.
    pub answer: Vec<TextPiece>,
}

/// Marks quotes in an answer. A quote from a turn is searched for in that turn's answer only, because the
/// same words may occur in messages to the target and in other turns. A quote that continues in the next turn
/// is marked in the answers of both.
pub fn mark_answer(answer: Option<&str>, turns: &[TurnRow], quotes: &[AnswerQuote<'_>]) -> MarkedAnswer {
    let of_turn = |turn: Option<u32>| -> Vec<(usize, &str)> {
        let of_turn = quotes.iter().filter(|quote| quote.turn == turn);
        of_turn.map(|quote| (quote.number, quote.text)).collect()
    };

    let transcript = answer.unwrap_or_default();
    let conversation = ConversationText::new(transcript, turns);
    let whole = answer.filter(|_| conversation.is_none());
    let whole = whole.map(|answer| highlight_quotes(answer, &of_turn(None)));

    // Only quotes that no single answer contains can span several turns.
    let is_whole = |quote: &AnswerQuote<'_>| {
        let of_quote = |turn: &&TurnRow| Some(turn.turn) == quote.turn;
        let answer = turns.iter().find(of_quote).and_then(|turn| turn.answer.as_deref());
        answer.is_some_and(|answer| LocatedText::new(answer).find(quote.text).is_some())
    };
    let spanning = conversation.iter().flat_map(|conversation| {
        let parts = quotes.iter().filter(|quote| !is_whole(quote)).flat_map(|quote| {
            let parts = conversation.parts_of(quote.text).into_iter();
            parts.map(|(turn, part)| (quote.number, turn, part))
        });
        parts.collect::<Vec<_>>()
    });
    let spanning: Vec<(usize, u32, Range<usize>)> = spanning.collect();

    let asked = conversation.map(|conversation| conversation.messages(turns)).unwrap_or_default();
    let asked = asked.into_iter().map(escape_lines).chain(std::iter::repeat(String::new()));
    let turns = turns.iter().zip(asked).map(|(turn, asked)| {
        let answer = turn.answer.as_deref().map(|answer| {
            let mut ranges = quote_ranges(answer, &of_turn(Some(turn.turn)));
            let parts = spanning.iter().filter(|(_, at, _)| *at == turn.turn);
            ranges.extend(parts.map(|(number, _, part)| (part.start, part.end, *number)));
            highlight_ranges(answer, &ranges)
        });
        MarkedTurn { turn: turn.turn, asked, answer: answer.unwrap_or_default() }
    });

    MarkedAnswer { whole, turns: turns.collect() }
}

#[cfg(test)]
mod tests {
    use assize_rubric::Tokens;

    use super::*;

    fn turn(turn: u32, answer: Option<&str>) -> TurnRow {
        TurnRow {
            turn,
            answer: answer.map(str::to_owned),
            error: None,
            tokens: Tokens::default(),
            cost_usd: None,
            cost_partial: None,
            duration_ms: None,
        }
    }

    fn marked(pieces: &[TextPiece]) -> Vec<&str> {
        let quoted = pieces.iter().filter(|piece| !piece.numbers.is_empty());
        quoted.map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn quotes_of_a_turn_are_marked_in_its_answer_and_nowhere_else() {
        let transcript =
            "[user]\nIs it 30?\n\n[assistant]\nIt is 30.\n\n[user]\nAgain.\n\n[assistant]\nIt is 30.";
        let turns = [turn(1, Some("It is 30.")), turn(2, Some("It is 30."))];
        let quote = AnswerQuote { number: 1, text: "is 30", turn: Some(2) };

        let found = mark_answer(Some(transcript), &turns, &[quote]);
        assert!(found.whole.is_none(), "the turns tell it all");
        assert_eq!(found.turns[0].asked, "[user]\nIs it 30?");
        assert!(marked(&found.turns[0].answer).is_empty());
        assert_eq!(marked(&found.turns[1].answer), ["is 30"]);

        // A transcript in which the turns can't be located is shown unchanged, in addition to the turns.
        let other = mark_answer(Some("another is 30"), &turns, &[quote]);
        assert!(marked(&other.whole.expect("the whole text is shown")).is_empty());
        assert_eq!((other.turns[1].asked.as_str(), marked(&other.turns[1].answer).len()), ("", 1));
    }

    #[test]
    fn a_quote_that_goes_on_in_the_next_turn_is_marked_in_both_answers() {
        let transcript = "[user]\nWhen?\n\n[assistant]\nNot today, but on Frïday.\n\n[user]\nSure?\n\n[assistant]\nYes, on Friday. Bye.";
        let turns = [turn(1, Some("Not today, but on Frïday.")), turn(2, Some("Yes, on Friday. Bye."))];
        let text = "but on Frïday. [user] Sure? [assistant] yes, on";
        let found = mark_answer(Some(transcript), &turns, &[AnswerQuote { number: 4, text, turn: Some(1) }]);

        assert_eq!(marked(&found.turns[0].answer), ["but on Frïday."]);
        assert_eq!(marked(&found.turns[1].answer), ["Yes, on"]);
    }

    #[test]
    fn an_answer_outside_conversations_is_marked_as_a_whole() {
        let quote = AnswerQuote { number: 3, text: "box", turn: None };
        let found = mark_answer(Some("a box"), &[], &[quote]);
        assert_eq!(marked(&found.whole.expect("there is an answer")), ["box"]);
        assert!(found.turns.is_empty() && mark_answer(None, &[], &[quote]).whole.is_none());
    }
}
