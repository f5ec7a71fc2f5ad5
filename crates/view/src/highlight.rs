//! Quotes of judges in an answer: the answer cut at the ends of all quotes.

use std::collections::BTreeSet;

use crate::pages::AnswerPiece;
use crate::text::visible;

/// A quote in an answer, as a range of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuoteRange {
    /// Number of the criterion it is quoted for.
    pub(crate) number: usize,
    /// Name that links use.
    pub(crate) anchor: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Cuts an answer at the ends of the quotes. The pieces together are the answer.
pub(crate) fn cut_answer(answer: &str, quotes: &[QuoteRange]) -> Vec<AnswerPiece> {
    let characters: Vec<char> = answer.chars().collect();
    let clamp = |at: usize| at.min(characters.len());
    let mut cuts: BTreeSet<usize> = BTreeSet::from([0, characters.len()]);
    cuts.extend(quotes.iter().flat_map(|quote| [clamp(quote.start), clamp(quote.end)]));

    let cuts: Vec<usize> = cuts.into_iter().collect();
    cuts.windows(2)
        .map(|cut| {
            let (start, end) = (cut[0], cut[1]);
            let covers = |quote: &&QuoteRange| quote.start <= start && end <= clamp(quote.end);
            let numbers = |keep: &dyn Fn(&QuoteRange) -> bool| -> Vec<usize> {
                let kept = quotes.iter().filter(|quote| covers(quote) && keep(quote));
                kept.map(|quote| quote.number).collect::<BTreeSet<_>>().into_iter().collect()
            };
            let begins = quotes.iter().filter(|quote| covers(quote) && quote.start == start);

            AnswerPiece {
                text: visible(&characters[start..end].iter().collect::<String>()),
                numbers: numbers(&|_| true),
                begins: begins.map(|quote| quote.anchor.clone()).collect(),
                ends: numbers(&|quote| clamp(quote.end) == end),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quote(number: usize, start: usize, end: usize) -> QuoteRange {
        QuoteRange { number, anchor: format!("q{number}"), start, end }
    }

    #[test]
    fn overlapping_quotes_share_a_piece() {
        let pieces = cut_answer("Größe <b>x</b>", &[quote(1, 0, 8), quote(2, 6, 9)]);
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, ["Größe ", "<b", ">", "x</b>"]);
        let numbers: Vec<&[usize]> = pieces.iter().map(|piece| piece.numbers.as_slice()).collect();
        assert_eq!(numbers, [&[1][..], &[1, 2], &[2], &[]]);
        assert_eq!((pieces[0].begins[0].as_str(), pieces[1].begins[0].as_str()), ("q1", "q2"));
        assert_eq!((pieces[1].ends.as_slice(), pieces[2].ends.as_slice()), (&[1][..], &[2][..]));
    }

    #[test]
    fn an_answer_without_quotes_is_one_piece_and_an_empty_one_none() {
        assert_eq!(cut_answer("abc", &[]).len(), 1);
        assert!(cut_answer("", &[quote(1, 0, 4)]).is_empty());
        assert_eq!(cut_answer("abc", &[quote(1, 1, 90)]).len(), 2);
    }
}
