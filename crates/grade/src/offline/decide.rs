//! Decides single criteria from the coverage of their terms.

use std::fmt::Write as _;

use assize_rubric::{Criterion, CriterionOperator, CriterionScale, Outcome, RawScore, ScoreBands};

use super::claim::{ClaimPolarity, ClaimTerm, CriterionClaim, SearchTerm, plain_words};
use super::language::{is_english_criterion, is_foreign_text};
use super::limits::LengthLimit;
use super::search::{AnswerCorpus, ClaimCoverage, NegationHandling};
use super::text::AnswerWord;

/// Coverage from which a criterion is met.
const MET_THRESHOLD: f64 = 0.45;
/// Factor on coverage if a number or a quotation of the criterion is nowhere in the answer.
const MISSING_NUMBER_FACTOR: f64 = 0.6;
/// Coverage from which a thing that should be absent counts as present.
const PRESENCE_THRESHOLD: f64 = 0.7;
/// Coverage from which a passage and a fact have the same subject.
const SAME_SUBJECT_THRESHOLD: f64 = 0.55;
/// Negated share of a passage's covered weight from which it denies the fact.
const DENIAL_THRESHOLD: f64 = 0.5;
/// Share of a reference's words from which an answer counts as complete.
const FULL_REFERENCE_SHARE: f64 = 0.6;
/// Limit of words listed in a reason.
const MAX_LISTED_WORDS: usize = 8;

#[derive(Debug)]
pub(super) struct CoverageDecision {
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    pub(super) quote: Option<String>,
}

impl CoverageDecision {
    fn without_quote(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome, reason: reason.into(), quote: None }
    }
}

pub(super) fn decide(
    criterion: &Criterion,
    library: &AnswerCorpus<'_>,
    reference: Option<&CriterionClaim>,
) -> CoverageDecision {
    if let Some(reason) = unread_language(criterion, library) {
        return CoverageDecision::without_quote(Outcome::Ungraded, reason);
    }

    decide_read(criterion, library, reference)
}

/// Decides a criterion whose language is read.
pub(super) fn decide_read(
    criterion: &Criterion,
    library: &AnswerCorpus<'_>,
    reference: Option<&CriterionClaim>,
) -> CoverageDecision {
    match (&criterion.scale, criterion.operator) {
        (CriterionScale::Bands(bands), _) => decide_score(criterion, bands, library, reference),
        (CriterionScale::Checklist, CriterionOperator::Contradiction) => {
            decide_contradiction(criterion, library)
        }
        (CriterionScale::Checklist, CriterionOperator::Correctness) => decide_checklist(criterion, library),
    }
}

/// Returns why a criterion can't be decided, if it or the answer is in a language that is not read. In an answer of any
/// language, quoted text and numbers can be found.
fn unread_language(criterion: &Criterion, library: &AnswerCorpus<'_>) -> Option<&'static str> {
    let text = searched_text(criterion);
    if !is_english_criterion(plain_words(text).iter().map(String::as_str)) {
        return Some(
            "The offline judge reads only English criteria; this needs a model (`--judge PROVIDER:MODEL`).",
        );
    }

    if !is_foreign_answer(library) || LengthLimit::parse(text).is_some() {
        return None;
    }
    let claim = CriterionClaim::parse_checklist(text);
    // A verb such as "names" before a quotation has less weight, and need not be found.
    let is_stem = |term: &&ClaimTerm| matches!(term.sought, SearchTerm::Stem(_));
    let is_literal = claim.wanted.iter().filter(is_stem).all(|term| term.weight < 1.0)
        && !claim.wanted.iter().all(|term| is_stem(&term));
    let is_decidable =
        is_literal && criterion.scale == CriterionScale::Checklist && claim.polarity != ClaimPolarity::Denial;
    (!is_decidable).then_some(
        "The offline judge reads only English answers; this needs a model (`--judge PROVIDER:MODEL`).",
    )
}

fn is_foreign_answer(library: &AnswerCorpus<'_>) -> bool {
    library.documents.iter().any(|document| is_foreign_text(document.text))
}

/// Returns true if a fact of a ground truth can be compared with an answer. A fact is often a name or a number, which shows
/// nothing about its language.
pub(super) fn is_readable_fact(fact: &str, library: &AnswerCorpus<'_>) -> bool {
    !is_foreign_text(fact) && !is_foreign_answer(library)
}

/// Returns the text with the terms to search for: that of the criterion, or else of its highest score range.
fn searched_text(criterion: &Criterion) -> &str {
    match &criterion.scale {
        CriterionScale::Bands(bands) if criterion.text.trim().is_empty() => {
            bands.as_slice().last().map_or("", |band| &band.text)
        }
        CriterionScale::Bands(_) | CriterionScale::Checklist => &criterion.text,
    }
}

fn decide_checklist(criterion: &Criterion, library: &AnswerCorpus<'_>) -> CoverageDecision {
    if library.is_empty() {
        return CoverageDecision::without_quote(Outcome::Unmet, "The answer is empty.");
    }

    let answer = library.documents.first().map_or("", |document| document.text);
    let limit = LengthLimit::parse(&criterion.text).map(|limit| limit.check_answer(answer));
    if let Some((kept, length)) = limit {
        let outcome = if kept { Outcome::Met } else { Outcome::Unmet };
        return CoverageDecision::without_quote(outcome, format!("Counted: {length}."));
    }

    let claim = CriterionClaim::parse_checklist(&criterion.text);
    if claim.wanted.is_empty() {
        let reason = "The criterion has no words to look for.";
        return CoverageDecision::without_quote(Outcome::Unmet, reason);
    }

    let coverage = library.search_claim(&claim, NegationHandling::Claimed);
    let quote = quote_best_passage(&claim, &coverage, library);
    if claim.polarity == ClaimPolarity::Absence {
        return if coverage.best >= PRESENCE_THRESHOLD {
            let reason = format!(
                "It should be absent, but a passage contains: {}.",
                list_terms_by_match(&claim, &coverage, true)
            );
            CoverageDecision { outcome: Outcome::Unmet, reason, quote }
        } else {
            let reason = format!("No passage says it; looked for {}.", list_all_terms(&claim));
            CoverageDecision::without_quote(Outcome::Met, reason)
        };
    }

    let mut share = combined_coverage(&claim, &coverage);
    // A number or a quotation is the point of a criterion; other words do not make up for it.
    let missing = missing_terms(&claim, &coverage);
    if missing.iter().any(|term| !matches!(term.sought, SearchTerm::Stem(_))) {
        share *= MISSING_NUMBER_FACTOR;
    }

    let mut reason = describe_coverage(&claim, &coverage, share);
    let required = format_list(missing.iter().filter(|term| term.required).map(|term| &*term.spelling));
    let lacks_negation = claim.polarity == ClaimPolarity::Denial && claim.says_no && !coverage.has_negation;
    if !required.is_empty() {
        let _ = write!(reason, " A name or number is missing: {required}.");
    } else if lacks_negation && quote.is_some() {
        reason.push_str(" The criterion says no; the passage does not.");
    }

    let is_met = share >= MET_THRESHOLD && required.is_empty() && !lacks_negation;
    let outcome = if is_met { Outcome::Met } else { Outcome::Unmet };
    CoverageDecision { outcome, reason, quote }
}

fn decide_contradiction(criterion: &Criterion, library: &AnswerCorpus<'_>) -> CoverageDecision {
    let claim = CriterionClaim::parse(&criterion.text);
    let coverage = library.search_claim(&claim, NegationHandling::Words);
    if coverage.best < SAME_SUBJECT_THRESHOLD {
        let reason = "Nothing in the answer is about the same thing, so nothing contradicts it.";
        return CoverageDecision::without_quote(Outcome::Met, reason);
    }

    let quote = quote_best_passage(&claim, &coverage, library);
    // A negation at the beginning of a fact is part of its meaning, like a later one.
    let fact_denies = claim.polarity != ClaimPolarity::Plain;
    let passage_denies = coverage.denied >= DENIAL_THRESHOLD;
    let reason = if passage_denies && !fact_denies {
        Some("A passage about the same thing says no where the fact says yes.".to_owned())
    } else if fact_denies
        && coverage.denied == 0.0
        && !coverage.place.as_ref().is_some_and(|place| library.has_negation(place))
    {
        Some("A passage about the same thing says yes where the fact says no.".to_owned())
    } else {
        find_other_number(&claim, &coverage, library)
            .map(|number| format!("A passage about the same thing gives another number: {number}."))
    };
    match reason {
        Some(reason) => CoverageDecision { outcome: Outcome::Unmet, reason, quote },
        None => CoverageDecision {
            outcome: Outcome::Met,
            reason: "The passage about the same thing agrees as far as words and numbers go.".into(),
            quote,
        },
    }
}

/// Finds a number in the best passage if one of the fact's numbers is missing there.
fn find_other_number(
    claim: &CriterionClaim,
    coverage: &ClaimCoverage,
    library: &AnswerCorpus<'_>,
) -> Option<String> {
    let (document, passages) = coverage.place.clone()?;
    let words = library.documents.get(document)?.passage_words(passages);
    let numbers = || words.iter().filter(|word| word.is_number).map(|word| &word.stem);
    let wanted =
        |number: &String| claim.wanted.iter().any(|it| it.sought == SearchTerm::Number(number.clone()));
    let is_missing = |sought: &SearchTerm| matches!(sought, SearchTerm::Number(it) if numbers().all(|number| number != it));
    let missing = claim.wanted.iter().any(|it| is_missing(&it.sought));

    numbers().find(|number| !wanted(number)).filter(|_| missing).cloned()
}

fn decide_score(
    criterion: &Criterion,
    bands: &ScoreBands,
    library: &AnswerCorpus<'_>,
    reference: Option<&CriterionClaim>,
) -> CoverageDecision {
    if library.is_empty() {
        return CoverageDecision::without_quote(Outcome::Scored(RawScore::MIN), "The answer is empty.");
    }

    let slice = bands.as_slice();
    let top = slice.last().map_or("", |band| band.text.as_str());

    let claim = CriterionClaim::parse(searched_text(criterion));
    let coverage = library.search_claim(&claim, NegationHandling::Words);
    let full = CriterionClaim::parse(top);
    let full = combined_coverage(&full, &library.search_claim(&full, NegationHandling::Words));
    let mut share = 0.7 * combined_coverage(&claim, &coverage) + 0.3 * full;
    if let Some(reference) = reference {
        // Bands mostly describe quality in words that no answer uses; the content of a good answer is a better
        // guide.
        let coverage = library.search_claim(reference, NegationHandling::Words);
        share = 0.4 * share + 0.6 * (coverage.whole / FULL_REFERENCE_SHARE).min(1.0);
    }

    let quote = quote_best_passage(&claim, &coverage, library);
    let raw = score_on_bands(bands, share);
    let reason = format!(
        "{} With the highest score range{} counted in: {:.0}%.",
        describe_coverage(&claim, &coverage, combined_coverage(&claim, &coverage)),
        if reference.is_some() { " and the reference answer" } else { "" },
        share * 100.0
    );
    CoverageDecision { outcome: Outcome::Scored(raw), reason, quote }
}

/// Converts a share of full coverage to a score. Every band covers an equal part of the range, whatever its
/// width, because its author meant it as one step.
fn score_on_bands(bands: &ScoreBands, share: f64) -> RawScore {
    let slice = bands.as_slice();
    let steps = slice.len() as f64;

    // A full score needs no verbatim repetition of the criterion.
    let way = (share / 0.9).clamp(0.0, 1.0) * steps;
    let index = (way.floor() as usize).min(slice.len().saturating_sub(1));
    let Some(band) = slice.get(index) else { return RawScore::MIN };
    let inside = (way - index as f64).clamp(0.0, 1.0);
    let (low, high) = (f64::from(band.low.get()), f64::from(band.high.get()));

    // Always in range, since it lies between the ends of a band.
    RawScore::new((low + inside * (high - low)).round() as u8).unwrap_or(band.low)
}

/// Overall coverage of a claim: the best single passage counts as much as terms scattered over the answer.
fn combined_coverage(claim: &CriterionClaim, coverage: &ClaimCoverage) -> f64 {
    if claim.wanted.len() < 2 { coverage.best } else { 0.5 * (coverage.best + coverage.whole) }
}

fn quote_best_passage(
    claim: &CriterionClaim,
    coverage: &ClaimCoverage,
    library: &AnswerCorpus<'_>,
) -> Option<String> {
    let (document, passages) = coverage.place.clone()?;
    let is_wanted = |word: &AnswerWord| {
        claim.wanted.iter().any(|wanted| match &wanted.sought {
            SearchTerm::Stem(stem) | SearchTerm::Number(stem) => *stem == word.stem,
            SearchTerm::Phrase(phrase) => phrase.contains(&word.spelling),
        })
    };

    library.documents.get(document)?.quote_passages(passages, is_wanted).map(str::to_owned)
}

fn describe_coverage(claim: &CriterionClaim, coverage: &ClaimCoverage, share: f64) -> String {
    let percent = (share * 100.0).round();
    let found = coverage.found.iter().filter(|found| **found).count();
    let has = list_terms_by_match(claim, coverage, true);
    let missing = missing_terms(claim, coverage);
    let lacks = format_list(missing.iter().map(|term| &*term.spelling));
    if has.is_empty() {
        return format!("None of its words found: {lacks}.");
    }
    if !missing.is_empty() {
        let all = found + missing.len();
        return format!("Found {found} of {all} words: {has}; missing: {lacks} (coverage {percent}%).");
    }

    let but = if percent >= 100.0 {
        ""
    } else if claim.polarity == ClaimPolarity::Denial && !coverage.has_negation {
        ", but without a negation"
    } else if coverage.denied > 0.0 && claim.polarity != ClaimPolarity::Denial {
        ", but some in a sentence that says no"
    } else {
        ", but not in one passage"
    };
    format!("Found all words{but}: {has} (coverage {percent}%).")
}

/// Terms that were not found, and whose alternatives were not found either.
fn missing_terms<'c>(claim: &'c CriterionClaim, coverage: &ClaimCoverage) -> Vec<&'c ClaimTerm> {
    let terms = || claim.wanted.iter().zip(&coverage.found);
    let is_missing = |group: usize| !terms().any(|(term, found)| *found && term.group == group);

    terms().map(|(term, _)| term).filter(|term| is_missing(term.group)).collect()
}

fn list_terms_by_match(claim: &CriterionClaim, coverage: &ClaimCoverage, wanted: bool) -> String {
    format_list(
        claim
            .wanted
            .iter()
            .zip(&coverage.found)
            .filter(|(_, found)| **found == wanted)
            .map(|(w, _)| &*w.spelling),
    )
}

fn list_all_terms(claim: &CriterionClaim) -> String {
    format_list(claim.wanted.iter().map(|wanted| &*wanted.spelling))
}

fn format_list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| word.chars().take(40).collect()).collect();
    let more = words.len().saturating_sub(MAX_LISTED_WORDS);
    let shown = words[..words.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use assize_rubric::ScoreBand;

    use super::*;

    #[test]
    fn a_negation_in_the_sentence_does_not_reverse_a_quoted_text() {
        let decide = |text: &str, answer: &'static str| {
            let library = AnswerCorpus::parse(std::iter::once(answer));
            decide_checklist(&Criterion::checklist("c", text), &library)
        };
        let answer = "If it has not moved in 3 days write to help@acme.example";
        let named = decide("Gives the address \"help@acme.example\"", answer);
        assert_eq!(named.outcome, Outcome::Met, "{}", named.reason);
        let absent = decide("Does not give the address \"help@acme.example\"", answer);
        assert_eq!(absent.outcome, Outcome::Unmet, "{}", absent.reason);

        let said = decide("Says that the parcel moved", "The parcel has not moved.");
        assert_eq!(said.outcome, Outcome::Unmet);
        assert!(said.reason.contains("says no"), "{}", said.reason);
    }

    #[test]
    fn a_criterion_in_another_language_is_never_decided() {
        // In each language: the criterion that an answer names the price, its negation, and an answer that names it.
        for (language, plain, negated, answer) in [
            ("German", "Nennt den Preis", "Nennt keinen Preis", "Der Preis beträgt 10 Euro."),
            ("French", "Indique le prix", "N’indique pas le prix", "Le prix est de 10 euros."),
            ("Spanish", "Menciona el precio", "No menciona el precio", "El precio es de 10 euros."),
            ("Portuguese", "Menciona o preço", "Não menciona o preço", "O preço é 10 euros."),
            ("Italian", "Indica il prezzo", "Non indica il prezzo", "Il prezzo è di 10 euro."),
            ("Dutch", "Noemt de prijs", "Noemt geen prijs", "De prijs is 10 euro."),
            ("Swedish", "Nämner priset", "Nämner inte priset", "Priset är 10 euro."),
            ("Danish", "Nævner prisen", "Nævner ikke prisen", "Prisen er 10 euro."),
            ("Finnish", "Mainitsee hinnan", "Ei mainitse hintaa", "Hinta on 10 euroa."),
            ("Polish", "Podaje cenę", "Nie podaje ceny", "Cena wynosi 10 euro."),
            ("Czech", "Uvádí cenu", "Neuvádí cenu", "Cena je 10 eur."),
            ("Hungarian", "Említi az árat", "Nem említi az árat", "Az ár 10 euró."),
            ("Romanian", "Menționează prețul", "Nu menționează prețul", "Prețul este 10 euro."),
            ("Turkish", "Fiyattan bahsediyor", "Fiyattan bahsetmiyor", "Fiyat 10 avro."),
            ("Vietnamese", "Nêu giá", "Không nêu giá", "Giá là 10 euro."),
            ("Indonesian", "Menyebutkan harga", "Tidak menyebutkan harga", "Harganya 10 euro."),
            ("Russian", "Указывает цену", "Не указывает цену", "Цена 10 евро."),
            ("Greek", "Αναφέρει την τιμή", "Δεν αναφέρει την τιμή", "Η τιμή είναι 10 ευρώ."),
            ("Arabic", "يذكر السعر", "لا يذكر السعر", "السعر 10 يورو."),
            ("Hebrew", "מציין מחיר", "לא מציין מחיר", "המחיר הוא 10 אירו."),
            ("Hindi", "कीमत बताता है", "कीमत नहीं बताता", "कीमत 10 यूरो है।"),
            ("Thai", "ระบุราคา", "ไม่ระบุราคา", "ราคา 10 ยูโร"),
            ("Chinese", "提及价格", "不提及价格", "价格是10欧元。"),
            ("Japanese", "価格に言及する", "価格に言及しない", "価格は10ユーロです。"),
            ("Korean", "가격을 언급함", "가격을 언급하지 않음", "가격은 10유로입니다."),
        ] {
            let library = AnswerCorpus::parse(std::iter::once(answer));
            for text in [plain, negated] {
                for operator in [CriterionOperator::Correctness, CriterionOperator::Contradiction] {
                    let criterion = Criterion { operator, ..Criterion::checklist("c", text) };
                    let decided = decide(&criterion, &library, None);
                    assert_eq!(decided.outcome, Outcome::Ungraded, "{language}: {text}: {}", decided.reason);
                }
            }
        }
        for (text, answer, expected) in [
            (
                "Does not mention the price",
                "Der Preis ist nicht hoch, und er beträgt 10 Euro.",
                Outcome::Ungraded,
            ),
            ("Mentions \"Preis\"", "Der Preis beträgt 10 Euro und ist nicht hoch.", Outcome::Met),
            ("Mentions 30", "退款期限为３０天。", Outcome::Met),
            ("Mentions 106", "有10⁶个。", Outcome::Unmet),
            ("Names `zebras`", "Hier gibt es nicht nur apples, sondern auch zebras.", Outcome::Met),
            ("Names `zebras`", "Hier gibt es nicht nur apples.", Outcome::Unmet),
            ("Mentions 30 days", "You have ３０ days.", Outcome::Met),
            ("Says 「退款」", "我们承诺退款。", Outcome::Met),
        ] {
            let library = AnswerCorpus::parse(std::iter::once(answer));
            let decided = decide(&Criterion::checklist("c", text), &library, None);
            assert_eq!(decided.outcome, expected, "{text}: {}", decided.reason);
        }
    }

    #[test]
    fn the_way_through_the_bands_is_monotone_and_reaches_both_ends() {
        let band = |low, high| ScoreBand {
            low: RawScore::new(low).unwrap(),
            high: RawScore::new(high).unwrap(),
            text: "x".into(),
        };
        let bands = ScoreBands::new(vec![band(0, 2), band(3, 3), band(4, 8), band(9, 10)]).unwrap();
        let scores: Vec<u8> = (0..=100).map(|n| score_on_bands(&bands, f64::from(n) / 100.0).get()).collect();
        assert!(scores.is_sorted());
        assert_eq!((scores[0], scores[100]), (0, 10));
        assert!(scores.contains(&3));
    }
}
