//! From results and labels to the cases of each benchmark of a scorecard.

use std::collections::{BTreeMap, BTreeSet};

use assize_evalfile::{
    BenchmarkApplicability, EvaluatorType, Scorecard, ScorecardOutcome, ScorecardResult, ScoringScale,
};
use assize_rubric::{CaseTally, LabelOutcome, LabelScore, SettledLabels, UnitInterval, settle_labels};

/// The cases of every benchmark, and what a person should look at.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardTallies {
    /// One for each benchmark, in the order of the scorecard.
    pub tallies: Vec<CaseTally>,
    /// Cases (first) and benchmarks (second) that were uncertain or on which reviewers differ.
    pub review: Vec<(usize, usize)>,
}

/// A reviewer and their label.
type ReviewerLabel<'a> = (Option<&'a str>, LabelOutcome);

/// Sorts results and labels by benchmark. Labels count for `manual_sme` benchmarks. A case to which a
/// benchmark does not apply by list or tags is left out, whatever was said about it; one that applies, or
/// may apply, and has no result is missing, and so is one on which reviewers differ ([`settle_labels`]).
pub fn card_tallies(scorecard: &Scorecard, results: &[ScorecardResult]) -> ScorecardTallies {
    let mut said: BTreeMap<(usize, usize), Vec<ScorecardOutcome>> = BTreeMap::new();
    for result in results {
        said.entry((result.benchmark, result.case)).or_default().push(result.outcome);
    }

    let cases: BTreeMap<&str, usize> =
        scorecard.cases.iter().enumerate().map(|(at, case)| (&*case.id, at)).collect();
    let mut spoken: BTreeMap<(usize, usize), Vec<ReviewerLabel<'_>>> = BTreeMap::new();
    for label in &scorecard.labels {
        let Some((benchmark, case)) = label.benchmark.zip(cases.get(label.trace_id.as_str()).copied()) else {
            continue;
        };
        if scorecard.benchmarks[benchmark].evaluator != EvaluatorType::ManualSme {
            continue;
        }

        spoken.entry((benchmark, case)).or_default().push((label.reviewer.as_deref(), label.outcome));
    }

    let mut differ: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (place, labels) in spoken {
        let label = match settle_labels(labels) {
            SettledLabels::Nothing => continue,
            SettledLabels::Differ => {
                differ.insert(place);
                continue;
            }
            SettledLabels::Decided(label) => label,
        };

        let scale = scorecard.benchmarks[place.0].scale.as_ref();
        let outcome = match LabelScore::new(label, scale.map(ScoringScale::benchmark_scale)) {
            LabelScore::Undecided | LabelScore::OffScale(_) => continue,
            LabelScore::NotApplicable => ScorecardOutcome::NotApplicable,
            LabelScore::Score(score) => ScorecardOutcome::Scored(score),
        };
        said.entry(place).or_default().push(outcome);
    }

    let mut review = Vec::new();
    let mut tallies = Vec::with_capacity(scorecard.benchmarks.len());
    for benchmark in 0..scorecard.benchmarks.len() {
        let (mut scores, mut missing) = (Vec::new(), 0);
        for (at, case) in scorecard.cases.iter().enumerate() {
            if scorecard.applies(benchmark, case) == BenchmarkApplicability::No {
                continue;
            }

            let outcomes = said.get(&(benchmark, at)).map(Vec::as_slice).unwrap_or_default();

            if differ.contains(&(benchmark, at)) {
                missing += 1;
                review.push((at, benchmark));
                continue;
            }

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
                Some((ScorecardOutcome::NotApplicable, _)) => {}
            }
        }

        tallies.push(CaseTally::new(scores, missing));
    }

    review.sort_unstable();
    ScorecardTallies { tallies, review }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use assize_evalfile::{LoadOptions, load_scorecard};

    use super::*;

    /// The scorecard of the examples.
    fn example() -> Scorecard {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard");
        let options = LoadOptions {
            environment: Arc::new(|_| None),
            working_folder: folder.clone(),
            extra_roots: Vec::new(),
        };
        load_scorecard(&folder, &options).scorecard.expect("sound")
    }

    fn places(card: &Scorecard, benchmark: &str, case: &str) -> (usize, usize) {
        (
            card.benchmarks.iter().position(|found| &*found.code == benchmark).expect("there"),
            card.cases.iter().position(|found| &*found.id == case).expect("there"),
        )
    }

    #[test]
    fn labels_fill_what_people_judge_and_nothing_else() {
        let card = example();
        let (reading, _) = places(&card, "S-DOC1", "med-01-nausea");
        let (dose, _) = places(&card, "A-MED1", "med-04-ankle");
        let found = card_tallies(&card, &[]);
        assert_eq!(found.tallies[reading], CaseTally::new([1.0, 0.0, 1.0, 1.0].map(unit), 4));
        assert_eq!(found.tallies[dose], CaseTally::new([], 8), "a label is no result of a hybrid");
        assert!(found.review.is_empty());
    }

    #[test]
    fn reviewers_who_differ_leave_a_case_undecided() {
        let mut card = example();
        let (reading, case) = places(&card, "S-DOC1", "med-01-nausea");
        let mut other = card.labels[0].clone();
        other.outcome = LabelOutcome::Unmet;
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
        assert_eq!(found.tallies[dose], CaseTally::new([UnitInterval::ZERO], 6));
        assert_eq!(found.review, [(first, dose)]);
    }

    fn unit(value: f64) -> UnitInterval {
        UnitInterval::new(value).expect("in range")
    }
}
