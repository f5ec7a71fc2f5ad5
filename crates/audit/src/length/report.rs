//! Metrics of a length audit.

use std::collections::BTreeMap;

use assize_analysis::MetricEstimate;
use assize_analysis::shares::{mean_metric, share_metric, size_metric};
use assize_rubric::TOLERANCE;
use assize_stats::compare::{RepeatedUnit, exchange_test};
use assize_stats::{ConfidenceLevel, SeededRandom, judge_quality::fit_line};
use assize_store::{CaseRecord, ResultRow};

use super::edit::length_edits;
use crate::order::{decision_flips, describe_missing};
use crate::report::{format_count, shown_claims};
use crate::variant_id::{UNCHANGED, split_variant_id};
use crate::{AuditReport, AuditSection, DecisionPair, PairedDecisions};

/// Judged variants with the data that a length audit needs.
#[derive(Debug, Clone, Default)]
pub struct LengthFacts {
    judged: BTreeMap<VariantCaseKey, Vec<ScoredVariant>>,
}

/// Suite, case and target.
type VariantCaseKey = (String, String, Option<String>);

#[derive(Debug, Clone)]
struct ScoredVariant {
    label: String,
    trial: u32,
    score: Option<f64>,
    answer: String,
}

impl LengthFacts {
    /// Adds a record.
    pub fn add(&mut self, record: &CaseRecord) {
        let ResultRow { suite, case_id, target, trial, score, answer, error, .. } = &record.result;
        let (Some((case, label)), Some(answer), None) = (split_variant_id(case_id), answer, error) else {
            return;
        };
        let key = (suite.to_string(), case.to_owned(), target.as_deref().map(str::to_owned));
        self.judged.entry(key).or_default().push(ScoredVariant {
            label: label.to_owned(),
            trial: *trial,
            score: *score,
            answer: answer.clone(),
        });
    }

    /// Returns for each answer with a label its case, the shift of its score, and the ratio of its length to
    /// the original one.
    ///
    /// An edited answer is compared with the mean of all judgements of the unchanged answer. Otherwise the
    /// noise of one judgement would be in the shift of every edit. A repeat of the unchanged answer is
    /// compared with the first judgement.
    fn shifts(&self, label: &str) -> Vec<((String, String), f64, f64)> {
        let mut shifts = Vec::new();
        for ((suite, case, _), judged) in &self.judged {
            let unchanged = judged.iter().filter(|one| one.label == UNCHANGED);
            let Some(first) = unchanged.clone().find(|one| one.trial == 1) else { continue };
            let scores: Vec<f64> = match label {
                UNCHANGED => first.score.into_iter().collect(),
                _ => unchanged.filter_map(|one| one.score).collect(),
            };
            if scores.is_empty() {
                continue;
            }

            let before = scores.iter().sum::<f64>() / scores.len() as f64;
            for one in judged.iter().filter(|one| one.label == label) {
                let is_again = label == UNCHANGED && one.trial > 1;
                let is_edited = label != UNCHANGED && one.answer != first.answer;
                if let Some(after) = one.score.filter(|_| is_again || is_edited) {
                    let ratio = character_count(&one.answer) / character_count(&first.answer).max(1.0);
                    shifts.push(((suite.clone(), case.clone()), after - before, ratio));
                }
            }
        }

        shifts
    }

    /// Returns the scores of the answers that an edit changed, together with the scores of the same answers
    /// without it.
    fn edited_scores(&self, label: &str) -> Vec<RepeatedUnit> {
        let units = self.judged.values().filter_map(|judged| {
            let unchanged = judged.iter().filter(|one| one.label == UNCHANGED);
            let first = unchanged.clone().find(|one| one.trial == 1)?;
            let edited = judged.iter().filter(|one| one.label == label && one.answer != first.answer);

            Some(RepeatedUnit {
                changed: edited.filter_map(|one| one.score).collect(),
                unchanged: unchanged.filter_map(|one| one.score).collect(),
            })
        });
        units.filter(|unit| !unit.changed.is_empty() && !unit.unchanged.is_empty()).collect()
    }

    /// Returns the number of answers with this label if the edit changed none of them; `None` if it changed
    /// one, or if there are none.
    fn unchanged_by(&self, label: &str) -> Option<usize> {
        let mut answers = 0;
        for judged in self.judged.values() {
            let Some(edited) = judged.iter().find(|one| one.label == label) else { continue };
            let first = judged.iter().find(|one| one.label == UNCHANGED && one.trial == 1)?;
            if edited.answer != first.answer {
                return None;
            }
            answers += 1;
        }

        (answers > 0).then_some(answers)
    }

    /// Returns the binary logarithms of the lengths of the unchanged answers, and their scores.
    fn lengths(&self) -> (Vec<f64>, Vec<f64>) {
        let first = |judged: &Vec<ScoredVariant>| {
            let first = judged.iter().find(|one| one.label == UNCHANGED && one.trial == 1)?;
            (character_count(&first.answer) > 0.0)
                .then(|| Some((character_count(&first.answer).log2(), first.score?)))?
        };
        self.judged.values().filter_map(first).unzip()
    }

    /// Returns true if the edit left the answers of a pair unchanged.
    fn is_same(&self, pair: &DecisionPair) -> bool {
        pair.label != UNCHANGED
            && self
                .judged
                .iter()
                .filter(|((suite, case, _), _)| *suite == pair.suite && *case == pair.case)
                .all(|(_, judged)| {
                    let find = |label: &str| judged.iter().find(|one| one.label == label);
                    matches!((find(&pair.label), find(UNCHANGED)), (Some(a), Some(b)) if a.answer == b.answer)
                })
    }
}

fn character_count(text: &str) -> f64 {
    text.chars().count() as f64
}

/// Computes the judge's noise and the trend of scores with length.
fn noise_metrics(compared: &PairedDecisions, facts: &LengthFacts) -> Vec<MetricEstimate> {
    let noise: Vec<_> = facts.shifts(UNCHANGED).into_iter().map(|(case, shift, _)| (case, shift)).collect();
    let size: Vec<_> = noise.iter().map(|(case, shift)| (case.clone(), shift.abs())).collect();
    let again: Vec<&DecisionPair> = compared.pairs.iter().filter(|pair| pair.label == UNCHANGED).collect();
    let (lengths, scores) = facts.lengths();
    let trend = fit_line(&lengths, &scores, ConfidenceLevel::P95);

    vec![
        mean_metric(
            ("noise_shift", "score shift without an edit", "answers"),
            "The judge's noise: the shift of the score when the same answer is judged again.",
            &noise,
        ),
        size_metric(
            ("noise_size", "size of that shift", "answers"),
            "Mean size of that shift, in either direction.",
            &size,
        ),
        share_metric(
            ("noise", "decisions that changed without an edit", "decisions"),
            "The judge's noise per decision.",
            &decision_flips(&again),
        ),
        MetricEstimate {
            id: "score_per_doubling",
            name: "score per doubling of the length",
            value: trend.map(|found| found.slope),
            interval: trend.and_then(|found| found.interval),
            n: lengths.len() as u64,
            of: "answers",
            says: "Change of the score per doubling of the length of unchanged answers; not bias by itself, because longer answers may be better.",
        },
    ]
}

/// Maximum number of arrangements of the judgements that are drawn, and the seed of the draws.
const DRAWS: u32 = 9_999;
const SEED: u64 = 0;

/// Computes the effect of length edits on scores and decisions.
pub fn length_report(compared: &PairedDecisions, facts: &LengthFacts) -> AuditReport {
    let mut sections = Vec::new();
    let mut unmeasured = Vec::new();
    let mut worst: Option<(f64, String)> = None;
    let mut claims: Vec<(f64, String)> = Vec::new();
    for edit in length_edits() {
        let shifts = facts.shifts(edit.name);
        let pairs: Vec<&DecisionPair> =
            compared.pairs.iter().filter(|pair| pair.label == edit.name && !facts.is_same(pair)).collect();

        if shifts.is_empty() {
            unmeasured.push(match facts.unchanged_by(edit.name) {
                Some(answers) => format!(
                    "`{}` was not measured: it changes none of the {}.",
                    edit.name,
                    format_count(answers, "answer", "answers")
                ),
                None => format!("`{}` was not measured: no edited answer has a score.", edit.name),
            });
            continue;
        }

        let ratios: Vec<_> = shifts.iter().map(|(case, _, ratio)| (case.clone(), *ratio)).collect();
        let moved: Vec<_> = shifts.iter().map(|(case, shift, _)| (case.clone(), *shift)).collect();
        let shift = mean_metric(
            ("shift", "score shift", "answers"),
            "Above 0, the edited answer scores higher than the unchanged one does on average.",
            &moved,
        );
        if let Ok(value) = shift.value {
            let random = &mut SeededRandom::new(SEED);
            let p =
                exchange_test(&facts.edited_scores(edit.name), DRAWS, random).map_or(1.0, |found| found.p);
            claims.push((p, format!("`{}` shifts scores by {value:+.3}", edit.name)));
            if worst.as_ref().is_none_or(|(most, _)| value.abs() > most + TOLERANCE) {
                worst = Some((value.abs(), format!("mean score shift of `{}`", edit.name)));
            }
        }

        let changed = share_metric(
            ("flips", "decisions that it changed", "decisions"),
            "Compare with the judge's noise above.",
            &decision_flips(&pairs),
        );

        let mut ratio = mean_metric(
            ("length_ratio", "length, edited to unchanged", "answers"),
            "Ratio of the lengths of edited and unchanged answers.",
            &ratios,
        );
        // A length is never below 0.
        ratio.interval = ratio.interval.map(|interval| interval.clip(0.0, f64::INFINITY));

        let title = format!("{}: {}", edit.name, edit.does);
        sections.push(AuditSection { title, figures: vec![shift, changed, ratio] });
    }

    let concluded = shown_claims(claims);
    let says = if sections.is_empty() {
        "Nothing was measured: no edited answer has a score.".to_owned()
    } else if concluded.is_empty() {
        format!("No edit shifts scores significantly ({}).", format_count(compared.cases, "case", "cases"))
    } else {
        format!("Length alone shifts scores: {}.", concluded.join(", "))
    };

    let missing = describe_missing(compared, compared.pairs.iter());
    AuditReport {
        cases: compared.cases,
        figures: noise_metrics(compared, facts),
        sections,
        worst,
        says,
        unmeasured,
        missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with a score before and after an edit.
    fn facts(scores: &[(f64, f64)]) -> LengthFacts {
        let mut facts = LengthFacts::default();
        for (case, (before, after)) in scores.iter().enumerate() {
            for (label, score, answer) in [(UNCHANGED, before, "short"), ("frame", after, "longer")] {
                let variant = ScoredVariant {
                    label: label.to_owned(),
                    trial: 1,
                    score: Some(*score),
                    answer: answer.to_owned(),
                };
                facts.judged.entry(("s".to_owned(), format!("c{case}"), None)).or_default().push(variant);
            }
        }

        facts
    }

    #[test]
    fn an_edit_that_changes_no_answer_is_said_to() {
        let mut facts = facts(&[(0.4, 0.6); 3]);
        for judged in facts.judged.values_mut() {
            judged.push(ScoredVariant {
                label: "trim".to_owned(),
                trial: 1,
                score: Some(0.4),
                answer: "short".to_owned(),
            });
        }

        let unmeasured = length_report(&PairedDecisions::default(), &facts).unmeasured;
        let expected = "`trim` was not measured: it changes none of the 3 answers.";
        assert!(unmeasured.iter().any(|line| line == expected), "{unmeasured:?}");
    }

    #[test]
    fn the_size_of_the_noise_is_not_below_zero() {
        let mut facts = facts(&[(0.4, 0.6); 6]);
        for (at, judged) in facts.judged.values_mut().enumerate() {
            let again = if at == 0 { 0.9 } else { 0.4 };
            judged.push(ScoredVariant {
                label: UNCHANGED.to_owned(),
                trial: 2,
                score: Some(again),
                answer: "short".to_owned(),
            });
        }

        let report = length_report(&PairedDecisions::default(), &facts);
        let size = report.figures.iter().find(|figure| figure.id == "noise_size").expect("a metric");
        let interval = size.interval.expect("defined");
        assert!(interval.low >= 0.0 && interval.high <= 1.0, "{interval:?}");
    }

    #[test]
    fn lengths_have_no_interval_below_zero() {
        let mut facts = facts(&[(0.4, 0.6); 2]);
        for judged in facts.judged.values_mut().take(1) {
            judged[1].answer = "much longer than the other one".to_owned();
        }

        let report = length_report(&PairedDecisions::default(), &facts);
        let figures = report.sections.iter().flat_map(|section| &section.figures);
        let ratio = figures.into_iter().find(|figure| figure.id == "length_ratio").expect("a metric");
        let interval = ratio.interval.expect("defined");
        assert!(interval.low >= 0.0 && interval.high > 6.0, "{interval:?}");
    }

    #[test]
    fn few_equal_shifts_show_nothing_and_many_do() {
        let says =
            |cases: usize| length_report(&PairedDecisions::default(), &facts(&vec![(0.4, 0.6); cases])).says;
        for few in [1, 3, 5] {
            assert!(says(few).starts_with("No edit shifts scores"), "{}", says(few));
        }
        assert_eq!(says(10), "Length alone shifts scores: `frame` shifts scores by +0.200.");
        assert_eq!(says(0), "Nothing was measured: no edited answer has a score.");
    }
}
