//! Terms that a criterion asks for, and the negation around them.

use std::collections::HashMap;

use super::tokens::{Kind, tokens};
use super::vocabulary::{Seen, Term, TermId, Vocabulary};

/// Limit of terms per criterion; later ones are ignored.
const MOST_TERMS: usize = 400;
/// Content words before a negation that still make it the point of the criterion: "The function does not
/// ...".
const SUBJECT_WORDS: usize = 2;

#[derive(Debug)]
pub(super) struct Claim {
    /// Distinct terms in order of first use.
    pub(super) wanted: Vec<Wanted>,
    /// Negation in the criterion.
    pub(super) polarity: Polarity,
}

/// One term that a criterion asks for.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) term: TermId,
    /// The word as spelled in the criterion.
    pub(super) spelling: String,
    pub(super) kind: Kind,
    /// The weight before the rarity of the term is taken into account.
    pub(super) weight: f64,
    /// Terms joined by "or" share a group; one of them is enough.
    pub(super) group: usize,
}

/// Negation in a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    /// No negation.
    Plain,
    /// The thing must be absent: "does not mention prices".
    Absence,
    /// The answer must state a negation: "explains that it is not thread-safe".
    Denial,
}

impl Claim {
    /// Parses a criterion. Linear in its length.
    pub(super) fn read(text: &str, vocabulary: &mut Vocabulary) -> Self {
        let all: Vec<(Seen, Mark)> = marks(text, vocabulary);
        let polarity = polarity(&all, vocabulary);
        let skip = match polarity {
            Polarity::Absence => all.iter().position(|(seen, _)| seen.negation).map_or(0, |at| at + 1),
            Polarity::Plain | Polarity::Denial => 0,
        };
        let content: Vec<_> =
            all[skip..].iter().filter(|(seen, mark)| is_content(*seen, mark.kind)).collect();
        let plain: Vec<_> = content
            .iter()
            .copied()
            .filter(|(seen, _)| !vocabulary.terms()[seen.term as usize].instruction)
            .collect();
        // A criterion made only of instruction words ("gives an explanation") has no other terms to search
        // for.
        let chosen = if plain.is_empty() { content } else { plain };
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut known: HashMap<TermId, usize> = HashMap::new();
        let mut group = 0;
        for (seen, mark) in chosen {
            if known.contains_key(&seen.term) {
                continue;
            }
            if wanted.len() >= MOST_TERMS {
                break;
            }
            if !mark.after_or {
                group += 1;
            }
            known.insert(seen.term, wanted.len());
            wanted.push(Wanted {
                term: seen.term,
                spelling: text[mark.start..mark.end].to_owned(),
                kind: vocabulary.terms()[seen.term as usize].kind,
                weight: weight(&vocabulary.terms()[seen.term as usize], *mark),
                group,
            });
        }
        Self { wanted, polarity }
    }
}

/// A token's position in a criterion and its immediate context.
#[derive(Debug, Clone, Copy)]
struct Mark {
    start: usize,
    end: usize,
    kind: Kind,
    /// True if "or" or "/" joins it to the content word before it.
    after_or: bool,
    /// True if it is in quotes or back-ticks, or a part of an identifier.
    literal: bool,
    /// True if it is one of several examples.
    example: bool,
}

fn marks(text: &str, vocabulary: &mut Vocabulary) -> Vec<(Seen, Mark)> {
    let mut out: Vec<(Seen, Mark)> = Vec::new();
    let (mut quoted, mut example, mut joined) = (false, false, false);
    let mut previous_end = 0;
    for token in tokens(text) {
        let gap = &text[previous_end..token.start];
        if gap.matches(['"', '`', '“', '”']).count() % 2 == 1 {
            quoted = !quoted;
        }
        if gap.contains([')', ';', '.', '\n']) {
            example = false;
        }
        let word = &text[token.start..token.end];
        let lower = word.to_ascii_lowercase();
        let before = out.last().map(|(_, mark)| text[mark.start..mark.end].to_ascii_lowercase());
        match (before.as_deref(), lower.as_str()) {
            (Some("such"), "as") | (Some("e"), "g") | (Some("for"), "example" | "instance") => example = true,
            _ => {}
        }
        let seen = vocabulary.see(text, token);
        let identifier = gap.ends_with('_') || text[token.end..].starts_with(['_', '(']);
        let slash = gap == "/" && !identifier;
        let mark = Mark {
            start: token.start,
            end: token.end,
            kind: token.kind,
            after_or: (joined || slash) && out.iter().any(|(seen, mark)| is_content(*seen, mark.kind)),
            literal: quoted || identifier,
            example,
        };
        joined = lower == "or" || (joined && seen.stop);
        previous_end = token.end;
        out.push((seen, mark));
    }
    out
}

fn is_content(seen: Seen, kind: Kind) -> bool {
    (!seen.stop || kind != Kind::Word) && !seen.negation
}

fn polarity(all: &[(Seen, Mark)], vocabulary: &Vocabulary) -> Polarity {
    let mut subject = 0;
    let mut said = false;
    for (seen, mark) in all {
        let term = &vocabulary.terms()[seen.term as usize];
        if seen.negation {
            return if !said && subject <= SUBJECT_WORDS { Polarity::Absence } else { Polarity::Denial };
        }
        said |= term.saying;
        if is_content(*seen, mark.kind) && !term.instruction {
            subject += 1;
        }
    }
    Polarity::Plain
}

fn weight(term: &Term, mark: Mark) -> f64 {
    let base = match term.kind {
        Kind::Number | Kind::Bound => 1.5,
        Kind::Word if mark.literal => 1.4,
        Kind::Word if term.general || term.instruction => 0.6,
        Kind::Word => 1.0,
    };
    if mark.example { base * 0.3 } else { base }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Polarity) {
        let claim = Claim::read(text, &mut Vocabulary::new());
        (claim.wanted.into_iter().map(|wanted| wanted.spelling).collect(), claim.polarity)
    }

    #[test]
    fn content_words_remain() {
        assert_eq!(
            read("The answer correctly mentions the time complexity O(n log n)"),
            (vec!["time".into(), "complexity".into(), "O(n log n)".into()], Polarity::Plain)
        );
        assert_eq!(read("Gives a clear response").0, ["Gives", "clear", "response"]);
        assert!(read("!!! ...").0.is_empty());
    }

    #[test]
    fn the_place_of_a_negation_decides_what_it_means() {
        assert_eq!(read("Does not mention prices"), (vec!["prices".into()], Polarity::Absence));
        assert_eq!(read("Avoids medical jargon").1, Polarity::Absence);
        assert_eq!(
            read("The function must not mutate its input"),
            (vec!["mutate".into(), "input".into()], Polarity::Absence)
        );
        assert_eq!(read("Explains that the cache is not thread-safe").1, Polarity::Denial);
        assert_eq!(read("Advises against self-medication").1, Polarity::Denial);
    }

    #[test]
    fn alternatives_share_a_group() {
        let claim = Claim::read("Uses a heap or a queue", &mut Vocabulary::new());
        let groups: Vec<_> = claim.wanted.iter().map(|wanted| wanted.group).collect();
        assert_eq!(groups, [1, 2, 2]);
    }
}
