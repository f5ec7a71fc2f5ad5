//! Searches for the passage that best covers a claim.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::claim::{ClaimPolarity, ClaimTerm, CriterionClaim, SearchTerm};
use super::text::{AnswerText, AnswerWord};

/// Number of adjacent passages that may be combined.
const MAX_WINDOW_PASSAGES: usize = 3;
/// Penalty for each further passage of a window, so that the shortest sufficient one wins.
const WIDTH_COST: f64 = 0.02;
/// Credit for a word whose meaning a negation reverses.
const DENIED_CREDIT: f64 = 0.2;
/// Factor for a passage without negation if the claim has one.
const UNDENIED_FACTOR: f64 = 0.6;

/// The texts of one answer, parsed once for all criteria.
pub(super) struct AnswerCorpus<'a> {
    pub(super) documents: Vec<AnswerText<'a>>,
}

/// Result of searching an answer for a claim.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ClaimCoverage {
    /// Share of the claim's weight that the best passage covers, 0 to 1.
    pub(super) best: f64,
    /// Share of the claim's weight that the answer as a whole covers, 0 to 1.
    pub(super) whole: f64,
    /// Document and range of the best passage; `None` if no word was found.
    pub(super) place: Option<(usize, Range<usize>)>,
    /// For each term of the claim, true if it occurs anywhere.
    pub(super) found: Vec<bool>,
    /// Share of the covered weight in the best passage that is negated.
    pub(super) denied: f64,
    /// True if the best passage has a negation next to words that were found; set only for a denial.
    pub(super) has_negation: bool,
}

/// Treatment of negation in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NegationHandling {
    /// As the claim's own polarity requires.
    Claimed,
    /// Negated words count in full.
    Words,
}

/// Wanted terms that were found, and whether every occurrence is negated.
type Hits = BTreeMap<usize, bool>;

impl<'a> AnswerCorpus<'a> {
    /// Parses the texts, in linear time.
    pub(super) fn parse(texts: impl Iterator<Item = &'a str>) -> Self {
        Self { documents: texts.map(AnswerText::parse).collect() }
    }

    /// Returns true if all texts are blank.
    pub(super) fn is_empty(&self) -> bool {
        self.documents.iter().all(|document| document.text.trim().is_empty())
    }

    /// Searches for a claim.
    pub(super) fn search_claim(&self, claim: &CriterionClaim, reading: NegationHandling) -> ClaimCoverage {
        let index = TermIndex::new(claim);
        let hits: Vec<Vec<Hits>> = self.documents.iter().map(|document| index.find_hits(document)).collect();
        let weights: Vec<f64> = claim.wanted.iter().map(|wanted| wanted.weight).collect();
        let total = group_sum(&claim.wanted, &weights, |_| 1.0);
        let mut coverage =
            ClaimCoverage { found: vec![false; claim.wanted.len()], ..ClaimCoverage::default() };
        if total <= 0.0 {
            return coverage;
        }

        let credit = |hits: &Hits, wanted: usize| match hits.get(&wanted) {
            Some(true) if reading == NegationHandling::Claimed && claim.polarity != ClaimPolarity::Denial => {
                DENIED_CREDIT
            }
            Some(_) => 1.0,
            None => 0.0,
        };

        let share = |hits: &Hits| group_sum(&claim.wanted, &weights, |wanted| credit(hits, wanted)) / total;
        let must_deny = reading == NegationHandling::Claimed && claim.polarity == ClaimPolarity::Denial;
        let (mut whole, mut best_rank) = (Hits::new(), 0.0);

        for (document, passages) in hits.iter().enumerate() {
            for start in 0..passages.len() {
                let mut window = Hits::new();
                merge_hits(&mut whole, &passages[start]);

                for end in start..passages.len().min(start + MAX_WINDOW_PASSAGES) {
                    merge_hits(&mut window, &passages[end]);
                    let place = (document, start..end + 1);
                    let has_negation = claim.polarity == ClaimPolarity::Denial
                        && (start..=end)
                            .any(|at| !passages[at].is_empty() && self.has_negation(&(document, at..at + 1)));
                    let kept = if must_deny && !has_negation { UNDENIED_FACTOR } else { 1.0 };
                    let share = share(&window) * kept;
                    let rank = share - WIDTH_COST * (end - start) as f64;
                    if rank > best_rank && !passages[start].is_empty() {
                        best_rank = rank;
                        (coverage.best, coverage.place) = (share, Some(place));
                        coverage.denied = negated_share(&window, &weights);
                        coverage.has_negation = has_negation;
                    }
                }
            }
        }

        coverage.whole = share(&whole);

        for wanted in whole.keys() {
            coverage.found[*wanted] = true;
        }

        coverage
    }

    /// Returns true if a passage contains a negation.
    pub(super) fn has_negation(&self, (document, passages): &(usize, Range<usize>)) -> bool {
        self.documents[*document].passage_words(passages.clone()).iter().any(|word| word.is_negation)
    }
}

/// The wanted terms, by the form they are searched in.
struct TermIndex<'c> {
    stems: HashMap<&'c str, usize>,
    /// Phrases, and classes of numbers such as `2xx`.
    others: Vec<(usize, &'c SearchTerm)>,
}

impl<'c> TermIndex<'c> {
    fn new(claim: &'c CriterionClaim) -> Self {
        let mut index = Self { stems: HashMap::new(), others: Vec::new() };

        for (at, wanted) in claim.wanted.iter().enumerate() {
            match &wanted.sought {
                SearchTerm::Number(number) if number.contains('x') => index.others.push((at, &wanted.sought)),
                SearchTerm::Stem(stem) | SearchTerm::Number(stem) => drop(index.stems.insert(stem, at)),
                SearchTerm::Phrase(_) => index.others.push((at, &wanted.sought)),
            }
        }

        index
    }

    /// Hits of each passage.
    fn find_hits(&self, document: &AnswerText<'_>) -> Vec<Hits> {
        let passage = |words: &[AnswerWord]| {
            let mut hits = Hits::new();
            let stems = words.iter().filter_map(|word| Some((*self.stems.get(&*word.stem)?, word.negated)));
            // A quoted text is matched literally; words around it do not reverse it.
            let others = self.others.iter().filter_map(|(at, sought)| {
                let word = find_term(sought, words)?;
                Some((*at, word.negated && !matches!(sought, SearchTerm::Phrase(_))))
            });
            for (wanted, negated) in stems.chain(others) {
                *hits.entry(wanted).or_insert(true) &= negated;
            }

            hits
        };

        document.passages.iter().map(|it| passage(&document.words[it.words.clone()])).collect()
    }
}

/// The first word of the match of a term.
fn find_term<'w>(sought: &SearchTerm, words: &'w [AnswerWord]) -> Option<&'w AnswerWord> {
    match sought {
        SearchTerm::Stem(stem) => words.iter().find(|word| word.stem == *stem),
        SearchTerm::Number(class) => {
            words.iter().find(|word| word.is_number && same_class(class, &word.stem))
        }
        SearchTerm::Phrase(phrase) => words
            .windows(phrase.len())
            .find(|run| run.iter().map(|word| &word.spelling).eq(phrase))
            .map(|run| &run[0]),
    }
}

/// Returns true if a number is in a class of numbers such as `2xx`, or is this number.
fn same_class(class: &str, number: &str) -> bool {
    class.len() == number.len()
        && class.bytes().zip(number.bytes()).all(|(c, n)| c == n || c == b'x' && n.is_ascii_digit())
}

fn merge_hits(to: &mut Hits, hits: &Hits) {
    for (wanted, negated) in hits {
        *to.entry(*wanted).or_insert(true) &= negated;
    }
}

fn negated_share(hits: &Hits, weights: &[f64]) -> f64 {
    let sum = |only_negated: bool| -> f64 {
        hits.iter()
            .filter(|(_, negated)| **negated || !only_negated)
            .map(|(wanted, _)| weights[*wanted])
            .sum()
    };

    sum(true) / sum(false)
}

/// Sums over groups of alternatives: the weight of each group times the share of its best member.
fn group_sum(wanted: &[ClaimTerm], weights: &[f64], share: impl Fn(usize) -> f64) -> f64 {
    let mut groups: BTreeMap<usize, (f64, f64)> = BTreeMap::new();

    for (at, (wanted, weight)) in wanted.iter().zip(weights).enumerate() {
        let group = groups.entry(wanted.group).or_default();
        *group = (group.0.max(*weight), group.1.max(share(at)));
    }

    groups.values().map(|(weight, share)| weight * share).sum()
}
