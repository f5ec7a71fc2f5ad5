//! Decides single criteria from the coverage of their terms.

use std::fmt::Write as _;

use assize_rubric::{Criterion, CriterionOperator, CriterionScale, Outcome, ScoreBands, TOLERANCE};

use super::claim::{ClaimPolarity, ClaimTerm, ClaimedAct, CriterionClaim, SearchTerm, plain_words};
use super::language::{is_english_criterion, is_foreign_text};
use super::limits::LengthLimit;
use super::search::{AnswerCorpus, ClaimCoverage, NegationHandling};
use super::text::AnswerWord;

/// Coverage of all words; sums of weights are not exact.
const ALL_WORDS: f64 = 1.0 - TOLERANCE;
/// A passage that covers at least this share of a fact has the same subject.
const SAME_SUBJECT_THRESHOLD: f64 = 0.55;
/// A passage denies the fact if at least this share of its covered weight is negated.
const DENIAL_THRESHOLD: f64 = 0.5;
/// An answer with at least this share of a reference's words counts as complete.
const FULL_REFERENCE_SHARE: f64 = 0.6;
/// Limit of words listed in a reason.
const MAX_LISTED_WORDS: usize = 8;

#[derive(Debug)]
pub(super) struct CoverageDecision {
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    pub(super) quote: Option<String>,
    /// Why the outcome is `Ungraded`, for counting; the reason also lists the findings.
    pub(super) ungraded: Option<&'static str>,
}

const NEEDS_MODEL: &str = "words alone don't decide it; it needs a model";
const CRITERION_NOT_ENGLISH: &str = "the offline judge reads only English criteria; it needs a model";
const ANSWER_NOT_ENGLISH: &str = "the offline judge reads only English answers; it needs a model";

impl CoverageDecision {
    fn new(outcome: Outcome, reason: impl Into<String>, quote: Option<String>) -> Self {
        Self { outcome, reason: reason.into(), quote, ungraded: None }
    }

    /// The decision on a criterion that words can't decide.
    fn needs_model(found: impl std::fmt::Display) -> Self {
        let reason = format!("Words alone don't decide it; it needs a model. {found}");
        Self { ungraded: Some(NEEDS_MODEL), ..Self::new(Outcome::Ungraded, reason, None) }
    }
}

pub(super) fn decide(criterion: &Criterion, library: &AnswerCorpus<'_>) -> CoverageDecision {
    match unread_language(criterion, library) {
        Some(reason) => CoverageDecision {
            ungraded: Some(reason),
            ..CoverageDecision::new(Outcome::Ungraded, reason, None)
        },
        None => decide_read(criterion, library),
    }
}

/// Decides a criterion whose language is read.
pub(super) fn decide_read(criterion: &Criterion, library: &AnswerCorpus<'_>) -> CoverageDecision {
    match (&criterion.scale, criterion.operator) {
        (CriterionScale::Bands(bands), _) => decide_score(criterion, bands, library),
        (CriterionScale::Checklist, CriterionOperator::Contradiction) => {
            decide_contradiction(criterion, library)
        }
        (CriterionScale::Checklist, CriterionOperator::Correctness) => {
            decide_checklist(&criterion.text, library)
        }
    }
}

/// Returns why a criterion can't be decided, if it or the answer is in a language that is not read. In an answer of any
/// language, quoted text and numbers can be found.
fn unread_language(criterion: &Criterion, library: &AnswerCorpus<'_>) -> Option<&'static str> {
    let text = searched_text(criterion);
    if !is_english_criterion(plain_words(text).iter().map(String::as_str)) {
        return Some(CRITERION_NOT_ENGLISH);
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
    (!is_decidable).then_some(ANSWER_NOT_ENGLISH)
}

fn is_foreign_answer(library: &AnswerCorpus<'_>) -> bool {
    library.documents.iter().any(|document| is_foreign_text(document.text))
}

/// Returns true if a fact of a ground truth can be compared with an answer. A fact is often a name or a number, and
/// then its language can't be detected.
pub(super) fn is_readable_fact(fact: &str, library: &AnswerCorpus<'_>) -> bool {
    !is_foreign_text(fact) && !is_foreign_answer(library)
}

/// Returns the text with the terms to search for: the criterion's, or else that of its highest score range.
fn searched_text(criterion: &Criterion) -> &str {
    match &criterion.scale {
        CriterionScale::Bands(bands) if criterion.text.trim().is_empty() => {
            bands.as_slice().last().map_or("", |band| &band.text)
        }
        CriterionScale::Bands(_) | CriterionScale::Checklist => &criterion.text,
    }
}

fn decide_checklist(text: &str, library: &AnswerCorpus<'_>) -> CoverageDecision {
    if library.is_empty() {
        return CoverageDecision::new(Outcome::Unmet, "The answer is empty.", None);
    }

    let answer = library.documents.first().map_or("", |document| document.text);
    if let Some((kept, length)) = LengthLimit::parse(text).map(|limit| limit.check_answer(answer)) {
        let outcome = if kept { Outcome::Met } else { Outcome::Unmet };
        return CoverageDecision::new(outcome, format!("Counted: {length}."), None);
    }

    let claim = CriterionClaim::parse_checklist(text);
    if claim.wanted.is_empty() {
        return CoverageDecision::needs_model("The criterion has no words to look for.");
    }

    let coverage = library.search_claim(&claim, NegationHandling::Claimed);
    let quote = quote_best_passage(&claim, &coverage, library);
    let found = FoundWords::of(&claim, &coverage, library);
    let is_shown = claim.act != ClaimedAct::Other;
    if claim.polarity == ClaimPolarity::Absence {
        return match found {
            FoundWords::All if is_shown => {
                let found = list_terms_by_match(&claim, &coverage, true);
                let reason = format!("It should be absent, but a passage contains: {found}.");
                CoverageDecision::new(Outcome::Unmet, reason, quote)
            }
            FoundWords::Opposite | FoundWords::None if is_shown => {
                let terms = format_list(claim.wanted.iter().map(|wanted| &*wanted.spelling));
                let reason = format!("No passage says it; looked for {terms}.");
                CoverageDecision::new(Outcome::Met, reason, None)
            }
            _ => CoverageDecision::needs_model(describe_coverage(&claim, &coverage, coverage.best)),
        };
    }

    let mut reason = describe_coverage(&claim, &coverage, combined_coverage(&claim, &coverage));
    let missing = missing_terms(&claim, &coverage);
    let is_literal =
        |term: &&&ClaimTerm| term.required || !matches!(term.sought, SearchTerm::Stem(_)) && !term.is_count;
    let required = format_list(missing.iter().filter(is_literal).map(|term| &*term.spelling));
    if !required.is_empty() {
        let _ = write!(reason, " A name, number or quotation is missing: {required}.");
        if claim.is_open {
            return CoverageDecision::needs_model(reason);
        }
        return CoverageDecision::new(Outcome::Unmet, reason, quote);
    }

    match found {
        // "Mentions the price and no others" asks for two things.
        _ if claim.act == ClaimedAct::Mention && claim.polarity == ClaimPolarity::Denial => {
            CoverageDecision::needs_model(reason)
        }
        FoundWords::All => CoverageDecision::new(Outcome::Met, reason, quote),
        FoundWords::Scattered if matches!(claim.act, ClaimedAct::Mention | ClaimedAct::Quote) => {
            CoverageDecision::new(Outcome::Met, reason, quote)
        }
        FoundWords::Opposite if claim.polarity == ClaimPolarity::Denial && claim.says_no => {
            reason.push_str(" The criterion says no; the passage does not.");
            CoverageDecision::new(Outcome::Unmet, reason, quote)
        }
        // A sentence that denies a thing mentions it, too.
        FoundWords::Opposite
            if claim.polarity == ClaimPolarity::Plain && claim.act != ClaimedAct::Mention =>
        {
            CoverageDecision::new(Outcome::Unmet, reason, quote)
        }
        FoundWords::None if is_shown && !claim.is_open => CoverageDecision::new(Outcome::Unmet, reason, None),
        _ => CoverageDecision::needs_model(reason),
    }
}

/// How much of a claim an answer contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FoundWords {
    /// One passage has all its words, and says yes or no as the claim does.
    All,
    /// One passage has all its words, and says yes where the claim says no, or the reverse.
    Opposite,
    /// The answer has all its words, but no passage has.
    Scattered,
    Some,
    None,
}

impl FoundWords {
    fn of(claim: &CriterionClaim, coverage: &ClaimCoverage, library: &AnswerCorpus<'_>) -> Self {
        if coverage.best >= ALL_WORDS {
            return Self::All;
        }
        if !coverage.found.contains(&true) {
            return Self::None;
        }

        let words = library.search_claim(claim, NegationHandling::Words);
        let is_opposite = match claim.polarity {
            ClaimPolarity::Denial => !words.has_negation,
            ClaimPolarity::Plain | ClaimPolarity::Absence => words.denied >= DENIAL_THRESHOLD,
        };
        match (words.best >= ALL_WORDS, words.whole >= ALL_WORDS) {
            (true, _) if is_opposite => Self::Opposite,
            (_, true) => Self::Scattered,
            _ => Self::Some,
        }
    }
}

fn decide_contradiction(criterion: &Criterion, library: &AnswerCorpus<'_>) -> CoverageDecision {
    let claim = CriterionClaim::parse(&criterion.text);
    let coverage = library.search_claim(&claim, NegationHandling::Words);
    if !coverage.found.contains(&true) {
        let reason = "Nothing in the answer is about the same thing, so nothing contradicts it.";
        return CoverageDecision::new(Outcome::Met, reason, None);
    }
    if coverage.best < SAME_SUBJECT_THRESHOLD {
        return CoverageDecision::needs_model(describe_coverage(&claim, &coverage, coverage.best));
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
        Some(reason) => CoverageDecision::new(Outcome::Unmet, reason, quote),
        None if coverage.best >= ALL_WORDS => {
            let reason = "The passage about the same thing agrees as far as words and numbers go.";
            CoverageDecision::new(Outcome::Met, reason, quote)
        }
        None => CoverageDecision::needs_model(describe_coverage(&claim, &coverage, coverage.best)),
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

/// Words show only whether an answer mentions all or none of the content of its best score.
fn decide_score(criterion: &Criterion, bands: &ScoreBands, library: &AnswerCorpus<'_>) -> CoverageDecision {
    let text = searched_text(criterion);
    let decision = decide_checklist(text, library);
    let (first, last) = (bands.as_slice().first(), bands.as_slice().last());
    let is_counted = LengthLimit::parse(text).is_some() || library.is_empty();
    let score = match decision.outcome {
        _ if !is_counted && CriterionClaim::parse_checklist(text).act == ClaimedAct::Other => None,
        Outcome::Met => last.map(|band| band.high),
        Outcome::Unmet => first.map(|band| band.low),
        _ => return decision,
    };
    match score {
        Some(score) => CoverageDecision { outcome: Outcome::Scored(score), ..decision },
        None => CoverageDecision::needs_model(decision.reason),
    }
}

/// The share of a criterion's words that an answer covers, for comparing answers; `None` if it is not English. With a
/// reference, most of it is the share of the reference's words.
pub(super) fn covered_share(
    criterion: &Criterion,
    library: &AnswerCorpus<'_>,
    reference: Option<&CriterionClaim>,
) -> Option<f64> {
    if unread_language(criterion, library).is_some() {
        return None;
    }

    let claim = CriterionClaim::parse(searched_text(criterion));
    let share = combined_coverage(&claim, &library.search_claim(&claim, NegationHandling::Words));
    let Some(reference) = reference else { return Some(share) };
    let coverage = library.search_claim(reference, NegationHandling::Words);
    Some(0.4 * share + 0.6 * (coverage.whole / FULL_REFERENCE_SHARE).min(1.0))
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

fn format_list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| word.chars().take(40).collect()).collect();
    let more = words.len().saturating_sub(MAX_LISTED_WORDS);
    let shown = words[..words.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negation_in_the_sentence_does_not_reverse_a_quoted_text() {
        let decide = |text: &str, answer: &'static str| {
            let library = AnswerCorpus::parse(std::iter::once(answer));
            decide_checklist(text, &library)
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
        // In each language: the criterion that an answer names the price, its negation, a prohibition, and an answer that
        // names it. Each also with a quotation of the answer.
        for (language, plain, negated, prohibited, answer) in [
            (
                "German", "Nennt den Preis", "Nennt keinen Preis", "Darf den Preis nicht nennen",
                "Der Preis beträgt 10 Euro.",
            ),
            (
                "French", "Indique le prix", "N’indique pas le prix", "Ne doit pas indiquer le prix",
                "Le prix est de 10 euros.",
            ),
            (
                "Spanish", "Menciona el precio", "No menciona el precio", "No debe mencionar el precio",
                "El precio es de 10 euros.",
            ),
            (
                "Portuguese", "Menciona o preço", "Não menciona o preço", "Não deve mencionar o preço",
                "O preço é 10 euros.",
            ),
            (
                "Italian", "Indica il prezzo", "Non indica il prezzo", "Non deve indicare il prezzo",
                "Il prezzo è di 10 euro.",
            ),
            (
                "Dutch", "Noemt de prijs", "Noemt geen prijs", "Mag de prijs niet noemen",
                "De prijs is 10 euro.",
            ),
            ("Swedish", "Nämner priset", "Nämner inte priset", "Får inte nämna priset", "Priset är 10 euro."),
            ("Danish", "Nævner prisen", "Nævner ikke prisen", "Må ikke nævne prisen", "Prisen er 10 euro."),
            (
                "Finnish", "Mainitsee hinnan", "Ei mainitse hintaa", "Ei saa mainita hintaa",
                "Hinta on 10 euroa.",
            ),
            ("Polish", "Podaje cenę", "Nie podaje ceny", "Nie wolno podawać ceny", "Cena wynosi 10 euro."),
            ("Czech", "Uvádí cenu", "Neuvádí cenu", "Nesmí uvádět cenu", "Cena je 10 eur."),
            ("Hungarian", "Említi az árat", "Nem említi az árat", "Tilos említeni az árat", "Az ár 10 euró."),
            (
                "Romanian", "Menționează prețul", "Nu menționează prețul", "Nu trebuie să menționeze prețul",
                "Prețul este 10 euro.",
            ),
            (
                "Turkish", "Fiyattan bahsediyor", "Fiyattan bahsetmiyor", "Fiyattan bahsetmemeli",
                "Fiyat 10 avro.",
            ),
            ("Vietnamese", "Nêu giá", "Không nêu giá", "Cấm nêu giá", "Giá là 10 euro."),
            (
                "Indonesian", "Menyebutkan harga", "Tidak menyebutkan harga", "Dilarang menyebutkan harga",
                "Harganya 10 euro.",
            ),
            ("Russian", "Указывает цену", "Не указывает цену", "Запрещено указывать цену", "Цена 10 евро."),
            (
                "Greek",
                "Αναφέρει την τιμή",
                "Δεν αναφέρει την τιμή",
                "Απαγορεύεται να αναφέρει την τιμή",
                "Η τιμή είναι 10 ευρώ.",
            ),
            ("Arabic", "يذكر السعر", "لا يذكر السعر", "يُمنع ذكر السعر", "السعر 10 يورو."),
            ("Hebrew", "מציין מחיר", "לא מציין מחיר", "אסור לציין מחיר", "המחיר הוא 10 אירו."),
            ("Hindi", "कीमत बताता है", "कीमत नहीं बताता", "कीमत बताना मना है", "कीमत 10 यूरो है।"),
            ("Thai", "ระบุราคา", "ไม่ระบุราคา", "ห้ามระบุราคา", "ราคา 10 ยูโร"),
            ("Chinese", "提及价格", "不提及价格", "不得提及价格", "价格是10欧元。"),
            (
                "Japanese", "価格に言及する", "価格に言及しない", "価格に言及してはならない",
                "価格は10ユーロです。",
            ),
            (
                "Korean", "가격을 언급함", "가격을 언급하지 않음", "가격을 언급하면 안 됨",
                "가격은 10유로입니다.",
            ),
        ] {
            let library = AnswerCorpus::parse(std::iter::once(answer));
            let texts = [plain, negated, prohibited].map(str::to_owned);
            let quoting = texts.clone().map(|text| format!("{text}: “{answer}”"));
            for text in texts.into_iter().chain(quoting) {
                for operator in [CriterionOperator::Correctness, CriterionOperator::Contradiction] {
                    let criterion = Criterion { operator, ..Criterion::checklist("c", &*text) };
                    let decided = decide(&criterion, &library);
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
            let decided = decide(&Criterion::checklist("c", text), &library);
            assert_eq!(decided.outcome, expected, "{text}: {}", decided.reason);
        }
    }
}
