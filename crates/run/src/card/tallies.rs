//! Computes the cases of each benchmark of a scorecard from results and labels.

use std::collections::{BTreeMap, BTreeSet};

use assize_model::{
    BenchmarkApplicability, EvaluatorType, Scorecard, ScorecardOutcome, ScorecardResult, ScoringScale,
};
use assize_rubric::{CaseTally, Label, LabelAccount, LabelCounts, LabelScore, SettledLabels, UnitInterval};

/// The cases of every benchmark, and which of them a person should look at.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardTallies {
    /// One for each benchmark, in the order of the scorecard.
    pub tallies: Vec<CaseTally>,
    /// The cases that each benchmark applies to, and whether each has a result.
    pub cases: Vec<Vec<(usize, bool)>>,
    /// Case and benchmark of each result that was uncertain or on which reviewers disagree.
    pub review: Vec<(usize, usize)>,
    /// The numbers of labels that count and that do not.
    pub labels: LabelCounts,
}

/// Results of a benchmark on a case, as the files have them.
type PlaceOutcomes = BTreeMap<(usize, usize), Vec<ScorecardOutcome>>;

/// Sorts results and labels by benchmark. Labels of the current content of a case count for `manual_sme` benchmarks,
/// and if a judge was uncertain or results differ or are missing. If a benchmark does not apply to a case by list or
/// tags, the case is excluded even if there are results. If it applies or may apply, a case counts as missing if it has
/// no result or if reviewers disagree.
pub fn card_tallies(scorecard: &Scorecard, results: &[ScorecardResult]) -> ScorecardTallies {
    let mut outcomes = PlaceOutcomes::new();
    for result in results {
        outcomes.entry((result.benchmark, result.case)).or_default().push(result.outcome);
    }

    let (differ, labels) = add_labels(scorecard, &mut outcomes);

    let mut review = Vec::new();
    let mut tallies = Vec::with_capacity(scorecard.benchmarks.len());
    let mut cases = Vec::with_capacity(scorecard.benchmarks.len());
    for benchmark in 0..scorecard.benchmarks.len() {
        let (mut scores, mut missing, mut applicable) = (Vec::new(), 0, Vec::new());
        for (at, case) in scorecard.cases.iter().enumerate() {
            if scorecard.applies(benchmark, case) == BenchmarkApplicability::No {
                continue;
            }

            let outcomes = outcomes.get(&(benchmark, at)).map(Vec::as_slice).unwrap_or_default();

            if differ.contains(&(benchmark, at)) {
                missing += 1;
                applicable.push((at, false));
                review.push((at, benchmark));
                continue;
            }

            let scored = scores.len();
            match outcomes.split_first() {
                None => missing += 1,
                Some((first, others)) if others.iter().any(|other| other != first) => {
                    missing += 1;
                    review.push((at, benchmark));
                }
                Some((ScorecardOutcome::Scored(score), _)) => scores.push(*score),
                Some((ScorecardOutcome::Uncertain, _)) => {
                    scores.push(UnitInterval::ZERO);
                    review.push((at, benchmark));
                }
                Some((ScorecardOutcome::NotApplicable, _)) => continue,
            }
            applicable.push((at, scores.len() > scored));
        }
        cases.push(applicable);

        tallies.push(CaseTally::new(scores, missing));
    }

    review.sort_unstable();
    ScorecardTallies { tallies, cases, review, labels }
}

/// Replaces results that wait for people by their decisions. Returns the cases on which people disagree.
fn add_labels(
    scorecard: &Scorecard,
    outcomes: &mut PlaceOutcomes,
) -> (BTreeSet<(usize, usize)>, LabelCounts) {
    let cases: BTreeMap<&str, usize> =
        scorecard.cases.iter().enumerate().map(|(at, case)| (&*case.id, at)).collect();
    let codes: BTreeMap<&str, usize> =
        scorecard.benchmarks.iter().enumerate().map(|(at, benchmark)| (&*benchmark.code, at)).collect();
    let mut spoken: BTreeMap<(usize, usize), Vec<Label>> = BTreeMap::new();
    for label in scorecard.stored_labels() {
        let (benchmark, case) = (codes.get(label.criterion.as_str()), cases.get(label.case.as_str()));
        if let Some((&benchmark, &case)) = benchmark.zip(case) {
            spoken.entry((benchmark, case)).or_default().push(label);
        }
    }

    let mut differ: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut counts = LabelCounts::default();
    for (place, labels) in spoken {
        let benchmark = &scorecard.benchmarks[place.0];
        let results = outcomes.get(&place).map(Vec::as_slice).unwrap_or_default();
        if !is_for_people(benchmark.evaluator, results) {
            continue;
        }

        let seen = scorecard.seen_in_files(place.0, &scorecard.cases[place.1]);
        let account =
            LabelAccount::new(&labels, seen, None, scorecard.unbound_labels).with_raters(benchmark.raters);
        counts.add(&account);

        let scale = benchmark.scale.as_ref().map(ScoringScale::benchmark_scale);
        let label = match account.settle(scale) {
            SettledLabels::Nothing | SettledLabels::TooFew => continue,
            SettledLabels::Differ => {
                differ.insert(place);
                continue;
            }
            SettledLabels::Decided(label) => label,
        };

        let outcome = match LabelScore::new(label, scale) {
            LabelScore::Undecided | LabelScore::OffScale(_) => continue,
            LabelScore::NotApplicable => ScorecardOutcome::NotApplicable,
            LabelScore::Score(score) => ScorecardOutcome::Scored(score),
        };
        outcomes.insert(place, vec![outcome]);
    }

    (differ, counts)
}

/// Whether people decide a case: the benchmark is for people, or a judge left the case ungraded.
fn is_for_people(evaluator: EvaluatorType, results: &[ScorecardOutcome]) -> bool {
    match (evaluator, results) {
        (EvaluatorType::ManualSme, _) => true,
        (EvaluatorType::Code, _) => false,
        (EvaluatorType::LlmJudge | EvaluatorType::Hybrid, results) => match results.split_first() {
            None | Some((ScorecardOutcome::Uncertain, _)) => true,
            Some((first, others)) => others.iter().any(|other| other != first),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use assize_evalfile::LoadOptions;
    use assize_rubric::{LabelOutcome, UnboundLabels};
    use assize_scorecard::load_scorecard;

    use super::*;

    /// The scorecard of the examples.
    fn example() -> Scorecard {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard");
        let options = LoadOptions::new(&folder);
        load_scorecard(&folder, &options).scorecard.expect("sound")
    }

    fn places(card: &Scorecard, benchmark: &str, case: &str) -> (usize, usize) {
        (
            card.benchmarks.iter().position(|found| &*found.code == benchmark).expect("there"),
            card.cases.iter().position(|found| &*found.id == case).expect("there"),
        )
    }

    #[test]
    fn labels_fill_what_people_judge_and_what_no_judge_decided() {
        let card = example();
        let (reading, _) = places(&card, "S-DOC1", "med-01-nausea");
        let (dose, case) = places(&card, "A-MED1", "med-04-ankle");
        let found = card_tallies(&card, &[]);
        assert_eq!(found.tallies[reading], CaseTally::new([1.0, 0.0, 1.0, 1.0].map(unit), 4));
        assert_eq!(found.tallies[dose], CaseTally::new([UnitInterval::ZERO], 7));
        assert!(found.review.is_empty());
        assert_eq!(found.labels, LabelCounts { counted: 5, ..LabelCounts::default() });

        let passed = |outcome| [ScorecardResult { case, benchmark: dose, outcome }];
        let certain = card_tallies(&card, &passed(ScorecardOutcome::Scored(UnitInterval::ONE)));
        assert_eq!(
            certain.tallies[dose],
            CaseTally::new([UnitInterval::ONE], 7),
            "a judge that decided stands"
        );
        let doubtful = card_tallies(&card, &passed(ScorecardOutcome::Uncertain));
        assert_eq!(doubtful.tallies[dose], CaseTally::new([UnitInterval::ZERO], 7));
        assert!(doubtful.review.is_empty(), "a person decided");
    }

    #[test]
    fn labels_of_another_answer_or_of_none_do_not_count() {
        let mut card = example();
        let (reading, case) = places(&card, "S-DOC1", "med-01-nausea");
        card.cases[case].candidate_output = Some("another".into());
        let found = card_tallies(&card, &[]);
        assert_eq!(found.tallies[reading], CaseTally::new([0.0, 1.0, 1.0].map(unit), 5));
        assert_eq!(found.labels, LabelCounts { counted: 4, stale: 1, ..LabelCounts::default() });

        let mut card = example();
        card.benchmarks[reading].concept.push_str(" Or not.");
        assert_eq!(card_tallies(&card, &[]).tallies[reading], CaseTally::new([], 8), "another question");

        let mut card = example();
        for label in &mut card.labels {
            label.seen = None;
        }
        let found = card_tallies(&card, &[]);
        assert_eq!(found.tallies[reading], CaseTally::new([], 8));
        assert_eq!(found.labels.unbound, 5);
        card.unbound_labels = UnboundLabels::Accept;
        assert_eq!(card_tallies(&card, &[]).labels.counted, 5);
    }

    #[test]
    fn reviewers_who_differ_leave_a_case_undecided() {
        let mut card = example();
        let (reading, case) = places(&card, "S-DOC1", "med-01-nausea");
        let mut other = card.labels[0].clone();
        other.outcome = LabelOutcome::NotApplicable;
        other.reviewer = Some("clinician-z".to_owned());
        card.labels.push(other);
        let found = card_tallies(&card, &[]);
        assert_eq!(found.tallies[reading], CaseTally::new([0.0, 1.0, 1.0].map(unit), 5));
        assert_eq!(found.review, [(case, reading)]);
    }

    #[test]
    fn what_is_uncertain_fails_and_what_does_not_apply_is_skipped() {
        let card = example();
        let (dose, first) = places(&card, "A-MED1", "med-01-nausea");
        let (_, second) = places(&card, "A-MED1", "med-02-wheeze");
        let (_, foreign) = places(&card, "A-MED1", "neg-01-chest");
        let result = |case, outcome| ScorecardResult { case, benchmark: dose, outcome };
        let results = [
            result(first, ScorecardOutcome::Uncertain),
            result(second, ScorecardOutcome::NotApplicable),
            result(foreign, ScorecardOutcome::Scored(UnitInterval::ONE)),
        ];
        let found = card_tallies(&card, &results);
        assert_eq!(found.tallies[dose], CaseTally::new([UnitInterval::ZERO; 2], 5));
        assert_eq!(found.review, [(first, dose)]);
    }

    fn unit(value: f64) -> UnitInterval {
        UnitInterval::new(value).expect("in range")
    }
}
