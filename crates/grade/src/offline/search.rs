//! Search for the passage that best covers a claim.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::claim::{Claim, Polarity, Wanted};
use super::passages::Document;
use super::tokens::Kind;
use super::vocabulary::{Term, TermId, Vocabulary};

/// Number of adjacent passages that may be combined.
const WINDOW: usize = 3;
/// Penalty for each further passage of a window, so that the shortest sufficient one wins.
const WIDTH_COST: f64 = 0.02;
/// Credit for a word that only nearly matches.
const NEAR: f64 = 0.8;
/// Credit for a word whose meaning a negation reverses.
const DENIED: f64 = 0.2;
/// Factor for a passage without negation if the claim has one.
const UNDENIED: f64 = 0.6;
/// Number and share of leading letters that two stems must have in common to match nearly.
const NEAR_LETTERS: usize = 5;
const NEAR_SHARE: f64 = 0.7;
/// Limit of near stems tried per term, which bounds the time for a hostile vocabulary.
const NEAR_TRIES: usize = 64;

/// The texts of one answer, parsed once for all criteria.
pub(super) struct Library<'a> {
    pub(super) documents: Vec<Document<'a>>,
    /// Number of passages in which a term occurs.
    frequency: HashMap<TermId, usize>,
    /// Terms of the documents by spelling, for near matches.
    spellings: BTreeMap<String, TermId>,
    numbers: Vec<(String, TermId)>,
    bounds: Vec<TermId>,
    question: HashSet<TermId>,
    passages: usize,
}

/// Result of searching an answer for a claim.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coverage {
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
}

/// Treatment of negation in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As the claim's own polarity demands.
    Claimed,
    /// Negated words count in full.
    Words,
}

impl<'a> Library<'a> {
    /// Parses the texts and the question. Linear in their length.
    pub(super) fn read(
        texts: impl Iterator<Item = &'a str>,
        question: &str,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let documents: Vec<Document<'a>> = texts.map(|text| Document::read(text, vocabulary)).collect();
        let question = Document::read(question, vocabulary).words.iter().map(|word| word.term).collect();
        let mut last_seen: HashMap<TermId, usize> = HashMap::new();
        let mut frequency: HashMap<TermId, usize> = HashMap::new();
        let mut passages = 0;
        for document in &documents {
            for passage in &document.passages {
                passages += 1;
                for word in &document.words[passage.words.clone()] {
                    if last_seen.insert(word.term, passages) != Some(passages) {
                        *frequency.entry(word.term).or_default() += 1;
                    }
                }
            }
        }
        let mut spellings = BTreeMap::new();
        let mut numbers = Vec::new();
        let mut bounds = Vec::new();
        for (id, term) in vocabulary.terms().iter().enumerate() {
            let id = id as TermId;
            if !frequency.contains_key(&id) {
                continue;
            }
            match term.kind {
                Kind::Word => {
                    spellings.insert(term.text.clone(), id);
                }
                Kind::Number => numbers.push((term.text.clone(), id)),
                Kind::Bound => bounds.push(id),
            }
        }
        Self { documents, frequency, spellings, numbers, bounds, question, passages }
    }

    /// Returns true if all texts are blank.
    pub(super) fn is_empty(&self) -> bool {
        self.documents.iter().all(|document| document.text.trim().is_empty())
    }

    /// Searches for a claim. Linear in the length of the texts.
    pub(super) fn cover(&self, claim: &Claim, terms: &[Term], reading: Reading) -> Coverage {
        let weights: Vec<f64> = claim.wanted.iter().map(|wanted| self.weight(wanted)).collect();
        let total = group_sum(&claim.wanted, &weights, |_| 1.0);
        let matches = self.matches(claim, terms);
        let mut coverage = Coverage {
            best: 0.0,
            whole: 0.0,
            place: None,
            found: vec![false; claim.wanted.len()],
            denied: 0.0,
        };
        if total <= 0.0 {
            return coverage;
        }
        let mut whole = vec![0.0f64; claim.wanted.len()];
        let mut best_rank = 0.0;
        for (index, document) in self.documents.iter().enumerate() {
            // The hits of each passage: (index of the claim's term, credit, negated).
            let hits: Vec<Vec<(usize, f64, bool)>> = document
                .passages
                .iter()
                .map(|passage| {
                    let mut hits = Vec::new();
                    for word in &document.words[passage.words.clone()] {
                        for &(wanted, credit) in matches.get(&word.term).map_or(&[][..], Vec::as_slice) {
                            hits.push((wanted, credit, word.negated));
                        }
                    }
                    // One entry per term: the best one in the passage.
                    let rank =
                        |&(_, credit, denied): &(usize, f64, bool)| credit_of(claim, reading, credit, denied);
                    hits.sort_by(|a, b| a.0.cmp(&b.0).then(rank(b).total_cmp(&rank(a))));
                    hits.dedup_by_key(|hit| hit.0);
                    hits
                })
                .collect();
            for (start, first) in hits.iter().enumerate() {
                for &(wanted, credit, denied) in first {
                    coverage.found[wanted] = true;
                    whole[wanted] = whole[wanted].max(credit_of(claim, reading, credit, denied));
                }
                if first.is_empty() {
                    continue;
                }
                let mut credits: BTreeMap<usize, (f64, bool)> = BTreeMap::new();
                let mut negation = false;
                for width in 1..=WINDOW.min(hits.len() - start) {
                    let added = &hits[start + width - 1];
                    negation |= document.passages[start + width - 1].negation;
                    for &(wanted, credit, denied) in added {
                        let credit = credit_of(claim, reading, credit, denied);
                        let slot = credits.entry(wanted).or_insert((credit, denied));
                        if credit > slot.0 {
                            *slot = (credit, denied);
                        }
                    }
                    let covered = group_sum(&claim.wanted, &weights, |wanted| {
                        credits.get(&wanted).map_or(0.0, |c| c.0)
                    });
                    let mut share = covered / total;
                    if reading == Reading::Claimed && claim.polarity == Polarity::Denial && !negation {
                        share *= UNDENIED;
                    }
                    let rank = share - WIDTH_COST * (width - 1) as f64;
                    if rank > best_rank {
                        best_rank = rank;
                        coverage.best = share;
                        coverage.place = Some((index, start..start + width));
                        let raw: f64 = credits.keys().map(|&wanted| weights[wanted]).sum();
                        let under: f64 =
                            credits.iter().filter(|(_, c)| c.1).map(|(&wanted, _)| weights[wanted]).sum();
                        coverage.denied = if raw > 0.0 { under / raw } else { 0.0 };
                    }
                }
            }
        }
        coverage.whole = group_sum(&claim.wanted, &weights, |wanted| whole[wanted]) / total;
        coverage
    }

    /// Weighs rare words highest and words of the question lowest.
    fn weight(&self, wanted: &Wanted) -> f64 {
        let frequency = self.frequency.get(&wanted.term).copied().unwrap_or(0) as f64;
        let rarity = 1.0 - 0.4 * (1.0 + frequency).ln() / (2.0 + self.passages as f64).ln();
        let asked = if self.question.contains(&wanted.term) { 0.5 } else { 1.0 };
        wanted.weight * rarity * asked
    }

    /// For each term of the texts, the terms of the claim that it matches, with the credit of the match.
    fn matches(&self, claim: &Claim, terms: &[Term]) -> HashMap<TermId, Vec<(usize, f64)>> {
        let mut matches: HashMap<TermId, Vec<(usize, f64)>> = HashMap::new();
        for (index, wanted) in claim.wanted.iter().enumerate() {
            let text = &terms[wanted.term as usize].text;
            if self.frequency.contains_key(&wanted.term) {
                matches.entry(wanted.term).or_default().push((index, 1.0));
            }
            match wanted.kind {
                Kind::Word => {
                    for near in self.near(text, wanted.term) {
                        matches.entry(near).or_default().push((index, NEAR));
                    }
                    if text == "complex" {
                        for &bound in &self.bounds {
                            matches.entry(bound).or_default().push((index, NEAR));
                        }
                    }
                }
                Kind::Number => {
                    for (number, id) in &self.numbers {
                        if *id != wanted.term && (same_class(text, number) || same_class(number, text)) {
                            matches.entry(*id).or_default().push((index, NEAR));
                        }
                    }
                }
                Kind::Bound => {}
            }
        }
        matches
    }

    fn near(&self, stem: &str, own: TermId) -> Vec<TermId> {
        let Some(prefix) = stem
            .char_indices()
            .nth(NEAR_LETTERS)
            .map(|(at, _)| &stem[..at])
            .or_else(|| (stem.chars().count() == NEAR_LETTERS).then_some(stem))
        else {
            return Vec::new();
        };
        self.spellings
            .range(prefix.to_owned()..)
            .take_while(|(spelling, _)| spelling.starts_with(prefix))
            .take(NEAR_TRIES)
            .filter(|(spelling, id)| {
                let common = stem.chars().zip(spelling.chars()).take_while(|(a, b)| a == b).count();
                let longer = stem.chars().count().max(spelling.chars().count());
                **id != own && common as f64 >= NEAR_SHARE * longer as f64
            })
            .map(|(_, &id)| id)
            .collect()
    }
}

/// Returns true if `class` is a class of numbers such as `2xx` that contains `number`.
fn same_class(class: &str, number: &str) -> bool {
    class.len() == number.len()
        && class.contains('x')
        && class.bytes().zip(number.bytes()).all(|(c, n)| (c == b'x' && n.is_ascii_digit()) || c == n)
}

/// Sums over groups of alternatives: the weight of each group times the share of its best member.
fn group_sum(wanted: &[Wanted], weights: &[f64], share: impl Fn(usize) -> f64) -> f64 {
    let mut sum = 0.0;
    let mut at = 0;
    while at < wanted.len() {
        let group = wanted[at].group;
        let (mut weight, mut best) = (0.0f64, 0.0f64);
        while at < wanted.len() && wanted[at].group == group {
            weight = weight.max(weights[at]);
            best = best.max(share(at));
            at += 1;
        }
        sum += weight * best;
    }
    sum
}

/// Credit of a hit, reduced if a negation reverses it.
fn credit_of(claim: &Claim, reading: Reading, credit: f64, denied: bool) -> f64 {
    let turned = denied && reading == Reading::Claimed && claim.polarity != Polarity::Denial;
    if turned { credit * DENIED } else { credit }
}
