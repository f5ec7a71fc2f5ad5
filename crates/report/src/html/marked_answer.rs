//! An answer with the quotes of judges marked where they are: of a conversation, turn by turn.

use assize_store::TurnRow;

use super::highlight::{TextPiece, highlight_quotes};
use crate::sanitize::escape_lines;

/// A quote of an answer by the criterion with a number.
#[derive(Debug, Clone, Copy)]
pub struct AnswerQuote<'q> {
    /// Number of the criterion.
    pub number: usize,
    /// Words of the quote.
    pub text: &'q str,
    /// Turn of a conversation whose answer it is in; `None` outside conversations.
    pub turn: Option<u32>,
}

/// An answer as pages show it.
#[derive(Debug, Clone, Default)]
pub struct MarkedAnswer {
    /// The answer in pieces; `None` if there is none, or the turns tell all of it.
    pub whole: Option<Vec<TextPiece>>,
    /// Turns of a conversation.
    pub turns: Vec<MarkedTurn>,
}

/// A turn of a conversation.
#[derive(Debug, Clone)]
pub struct MarkedTurn {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// Messages before the answer; empty if it can't be told which they are.
    pub asked: String,
    /// The answer in pieces; empty if there is none.
    pub answer: Vec<TextPiece>,
}

/// Marks quotes in an answer. The quotes of a turn are looked for in the answer of that turn alone: the same words may stand
/// in messages to the target and in other turns.
pub fn mark_answer(answer: Option<&str>, turns: &[TurnRow], quotes: &[AnswerQuote<'_>]) -> MarkedAnswer {
    let pieces = |text: &str, turn: Option<u32>| {
        let of_turn = quotes.iter().filter(|quote| quote.turn == turn);
        let of_turn: Vec<(usize, &str)> = of_turn.map(|quote| (quote.number, quote.text)).collect();
        highlight_quotes(text, &of_turn)
    };

    let asked = messages_by_turn(answer.unwrap_or_default(), turns);
    let whole = answer.filter(|_| asked.is_none()).map(|answer| pieces(answer, None));
    let asked = asked.unwrap_or_default().into_iter().chain(std::iter::repeat(String::new()));
    let turns = turns.iter().zip(asked).map(|(turn, asked)| MarkedTurn {
        turn: turn.turn,
        asked,
        answer: turn.answer.as_deref().map(|answer| pieces(answer, Some(turn.turn))).unwrap_or_default(),
    });

    MarkedAnswer { whole, turns: turns.collect() }
}

/// Messages before the answer of each turn: what stands between the answers in the transcript of a conversation. `None` if the
/// answers are not there in their order, so that it can't be told.
fn messages_by_turn(transcript: &str, turns: &[TurnRow]) -> Option<Vec<String>> {
    const BEFORE_ANSWER: &str = "[assistant]\n";

    let mut rest = transcript;
    let mut messages = Vec::with_capacity(turns.len());
    for turn in turns {
        let Some(answer) = &turn.answer else {
            // The last turn of a conversation that broke: all that is left was said before it.
            messages.push(escape_lines(std::mem::take(&mut rest).trim()));
            continue;
        };

        let head = format!("{BEFORE_ANSWER}{answer}");
        let at = rest.find(&head)?;
        messages.push(escape_lines(rest[..at].trim()));
        rest = &rest[at + head.len()..];
    }

    (!turns.is_empty()).then_some(messages)
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

        // A transcript in which the turns can't be told apart is shown as it is, beside them.
        let other = mark_answer(Some("another is 30"), &turns, &[quote]);
        assert!(marked(&other.whole.expect("the whole text is shown")).is_empty());
        assert_eq!((other.turns[1].asked.as_str(), marked(&other.turns[1].answer).len()), ("", 1));
    }

    #[test]
    fn an_answer_outside_conversations_is_marked_as_a_whole() {
        let quote = AnswerQuote { number: 3, text: "b", turn: None };
        let found = mark_answer(Some("a b"), &[], &[quote]);
        assert_eq!(marked(&found.whole.expect("there is an answer")), ["b"]);
        assert!(found.turns.is_empty() && mark_answer(None, &[], &[quote]).whole.is_none());
    }
}
