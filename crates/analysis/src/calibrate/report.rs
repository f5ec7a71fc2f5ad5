//! Calibration report of a judge.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_rubric::SamplingMethod;
use assize_stats::{
    FEW_CLUSTERS, UndefinedReason,
    agreement::{AlphaMetric, RatingScale},
    judge_quality::ConfusionTable,
};

use super::bias::{JudgeBias, measure_biases};
use super::captured_mass::CapturedMass;
use super::grouped::grouped_metrics;
use super::item::{CalibrationItem, DecisionValue, JudgeItemDecision};
use super::material::{CalibrationMaterial, ExcludedLabels, MaterialError};
use super::pairing::{PairingCounts, TruthRule, pair_up};
use super::people::{people_score_metrics, people_verdict_metrics};
use super::rates::{GivenRates, RateOptions, TargetPassRates, compute_rates};
use super::replace::{ReplacementTest, test_replacement};
use super::scores::score_metrics;
use super::verdicts::{
    ReliabilityBinRate, alpha_metric, probability_metrics, reliability_bins, verdict_figures,
};
use crate::claims::FEW_ITEMS;
use crate::labels::{LabelLocation, LabelProblem};
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Options of a calibration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CalibrationOptions {
    /// How several labels of one item are compared with the judge.
    pub truth: TruthRule,
    /// Possible scores; if `None`, the scores that occur in the data.
    pub scale: Option<RatingScale>,
    /// Resampling for intervals.
    pub resampling: ResamplingOptions,
    /// True to treat the labelled cases as a random sample, even if their labels record another way of sampling.
    pub assume_random: bool,
    /// Error rates measured elsewhere.
    pub given: Option<GivenRates>,
    /// True to treat items of one case as independent.
    pub items_independent: bool,
    /// How much worse than a person the judge may agree and still replace one; `None` for the usual value where people are
    /// skilled annotators.
    pub epsilon: Option<f64>,
    /// True to also compute the metrics of all items with the missing decisions at their worst, which gates
    /// need.
    pub worst_case: bool,
}

/// Metrics of a group of items.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationSection {
    /// The common property of the items: a criterion id, a target name, or `all`.
    pub title: String,
    /// Kind of the title: `criterion`, `system` or `all`.
    pub by: &'static str,
    /// True if the section covers every item of its kind.
    pub is_overall: bool,
    /// True if the items are scores instead of verdicts.
    pub scores: bool,
    /// Counts of compared and skipped items.
    pub cells: PairingCounts,
    /// Number of clusters of the compared labels.
    pub clusters: usize,
    /// True if some of these clusters hold several labels.
    pub is_clustered: bool,
    /// Confusion table of verdicts.
    pub confusion: Option<ConfusionTable>,
    /// Reliability curve of the judge's probabilities; empty if it gave none.
    pub reliability: Vec<ReliabilityBinRate>,
    /// Metrics of the judge against people.
    pub figures: Vec<MetricEstimate>,
    /// The metrics if each missing decision of the judge contradicted the label. Empty if no decision is
    /// missing, or if the option is off.
    pub worst: Vec<MetricEstimate>,
    /// Metrics of people against each other; empty if no item has two labels.
    pub people: Vec<MetricEstimate>,
    /// Biases of the judge.
    pub biases: Vec<JudgeBias>,
    /// Whether the judge may replace a person; `None` for a part of the items, and if no two people labelled the same item.
    pub replacement: Option<ReplacementTest>,
}

/// Advantage granted to a judge over skilled annotators, between 0.2 over experts and 0.1 over crowd workers. Source: N.
/// Calderon, R. Reichart and R. Dror, ACL 2025, arXiv 2501.10970.
pub const DEFAULT_EPSILON: f64 = 0.15;

/// Calibration of a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationReport {
    /// Name of the judge, if it is known.
    pub judge: Option<String>,
    /// Sections for all verdicts and all scores, then by criterion, then by target.
    pub sections: Vec<CalibrationSection>,
    /// Pass rates of all items, then by target.
    pub rates: Vec<TargetPassRates>,
    /// Counts of excluded labels.
    pub left_out: ExcludedLabels,
    /// Number of clusters.
    pub clusters: usize,
    /// Number of items.
    pub items: usize,
    /// Mass of the probabilities that scores were read from; `None` if there were none.
    pub captured_mass: Option<CapturedMass>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// True if the run ended early, so labels without a match may be about cases that were not run.
    pub is_partial: bool,
}

/// Measures a judge. Fails if verdicts and scores are mixed on one criterion.
pub fn calibrate(
    mut material: CalibrationMaterial,
    options: &CalibrationOptions,
) -> Result<CalibrationReport, MaterialError> {
    let mut problems = unify_codes(&mut material.items, options.scale.is_some());
    problems.extend(clamp_to_scale(&mut material.items, options));
    if !problems.is_empty() {
        return Err(MaterialError::Problems(problems));
    }

    if options.items_independent {
        for (number, item) in material.items.iter_mut().enumerate() {
            item.cluster = number.to_string().into();
        }
    }

    let is_scored =
        |item: &CalibrationItem| item_decision_kinds(item).contains(&CalibrationDecisionKind::Scores);
    let scored: BTreeSet<&str> =
        material.items.iter().filter(|item| is_scored(item)).map(|item| &*item.key.criterion).collect();

    let mut sections = Vec::new();
    let mut rates_found = Vec::new();
    let rate_options = RateOptions {
        level: options.resampling.level,
        assume_random: options.assume_random,
        given: options.given,
        range: (0.0, 1.0),
    };
    for scores in [false, true] {
        let of_kind: Vec<&CalibrationItem> =
            material.items.iter().filter(|item| scored.contains(&*item.key.criterion) == scores).collect();
        if of_kind.iter().all(|item| item_decision_kinds(item).is_empty()) {
            continue;
        }

        let mut overall = build_section("all", "all", &of_kind, scores, options);
        if options.worst_case {
            overall.worst = worst_metrics(&of_kind, scores, options);
        }
        sections.push(overall);
        let range = if scores { score_range(&of_kind, options) } else { (0.0, 1.0) };
        let rate_options = RateOptions { range, ..rate_options };
        rates_found.push(compute_rates("all", &of_kind, scores, rate_options));

        for (by, name) in [
            ("criterion", (|item| &item.key.criterion) as fn(&CalibrationItem) -> &Arc<str>),
            ("system", |item| &item.key.system),
        ] {
            let mut groups: BTreeMap<&str, Vec<&CalibrationItem>> = BTreeMap::new();
            for item in &of_kind {
                groups.entry(&**name(item)).or_default().push(item);
            }

            if groups.len() < 2 {
                continue;
            }

            for (title, members) in groups {
                sections.push(build_section(title, by, &members, scores, options));
                if by == "system" {
                    rates_found.push(compute_rates(title, &members, scores, rate_options));
                }
            }
        }
    }

    let clusters: BTreeSet<&str> = material.items.iter().map(|item| &*item.cluster).collect();
    let mut notes = collect_notes(&sections, &material);
    if options.scale.is_none()
        && let Some(range) = observed_range(&material.items, &scored)
    {
        notes.push(describe_observed_range(range));
    }
    Ok(CalibrationReport {
        judge: material.judge.clone(),
        sections,
        rates: rates_found,
        left_out: material.left_out,
        clusters: clusters.len(),
        items: material.items.len(),
        captured_mass: CapturedMass::of_items(&material.items),
        notes,
        is_partial: false,
    })
}

fn build_section(
    title: &str,
    by: &'static str,
    items: &[&CalibrationItem],
    scores: bool,
    options: &CalibrationOptions,
) -> CalibrationSection {
    let (pairs, cells) = pair_up(items, options.truth);
    let resampling = options.resampling;
    let (mut confusion, mut figures, mut people) = (None, Vec::new(), Vec::new());
    let mut reliability = Vec::new();
    if scores {
        if !pairs.is_empty() {
            figures = match effective_scale(items, options) {
                Ok(scale) => score_metrics(&pairs, &scale, score_range(items, options), resampling),
                Err(_) => Vec::new(),
            };
            figures.extend(grouped_metrics(items, resampling));
            let mut metrics = vec![AlphaMetric::Ordinal, AlphaMetric::Interval];
            // A mean over a distribution rarely equals a person's score, even if they agree well.
            if items.iter().filter_map(|item| item.judge_number()).all(|score| score.fract() == 0.0) {
                metrics.push(AlphaMetric::Nominal);
            }
            figures.extend(metrics.into_iter().map(|metric| alpha_metric(items, metric, true, resampling)));
        }
        people.extend(people_score_metrics(items, resampling));
    } else {
        if !pairs.is_empty() {
            let (table, found) = verdict_figures(&pairs, resampling);
            confusion = Some(table);
            figures = found;
            figures.push(alpha_metric(items, AlphaMetric::Nominal, true, resampling));
            figures.extend(probability_metrics(items, &pairs, resampling));
            reliability = reliability_bins(items, &pairs, resampling.level);
        }
        people.extend(people_verdict_metrics(items, resampling));
    }

    let clusters = pairs.iter().map(|pair| pair.cluster).collect::<BTreeSet<_>>().len();
    CalibrationSection {
        title: title.to_owned(),
        by,
        is_overall: by == "all",
        scores,
        cells,
        clusters,
        is_clustered: clusters < pairs.len(),
        confusion,
        reliability,
        figures,
        worst: Vec::new(),
        people,
        replacement: (by == "all")
            .then(|| test_replacement(items, scores, options.epsilon.unwrap_or(DEFAULT_EPSILON)))
            .flatten(),
        biases: if pairs.is_empty() {
            Vec::new()
        } else {
            let (least, most) = if scores { score_range(items, options) } else { (0.0, 1.0) };
            measure_biases(items, &pairs, most - least, resampling)
        },
    }
}

/// Metrics with each missing decision of the judge as far from the labels as possible; empty if none is
/// missing.
fn worst_metrics(
    items: &[&CalibrationItem],
    scores: bool,
    options: &CalibrationOptions,
) -> Vec<MetricEstimate> {
    let (least, most) = if scores { score_range(items, options) } else { (0.0, 1.0) };
    let mut is_filled = false;
    let filled: Vec<CalibrationItem> = items
        .iter()
        .map(|item| {
            let is_missing = item.judge.as_ref().is_none_or(|judge| judge.said == DecisionValue::Undecided);
            let mut item = (*item).clone();
            if let Some(mean) = item.people_mean().filter(|_| is_missing) {
                is_filled = true;
                let farthest = if mean * 2.0 > least + most { least } else { most };
                let said = if scores {
                    DecisionValue::Score(farthest)
                } else {
                    DecisionValue::Verdict(farthest > 0.5)
                };
                item.judge = Some(JudgeItemDecision {
                    said,
                    probability: None,
                    captured_mass: None,
                    same_family: None,
                });
            }
            item
        })
        .collect();
    if !is_filled {
        return Vec::new();
    }

    build_section("all", "all", &filled.iter().collect::<Vec<_>>(), scores, options).figures
}

/// Returns the ends of the declared scale, or the lowest and highest score that occur.
pub(crate) fn score_range(items: &[&CalibrationItem], options: &CalibrationOptions) -> (f64, f64) {
    let declared = options.scale.iter().flat_map(|scale| scale.points().iter().copied());
    let people = |item: &&CalibrationItem| -> Vec<f64> {
        item.words_of_people().filter_map(DecisionValue::number).chain(item.judge_number()).collect()
    };
    let found = items.iter().flat_map(people);
    let all = declared.chain(found);
    all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), score| (least.min(score), most.max(score)))
}

/// Returns the lowest and highest score of the scored criteria; `None` without scores.
fn observed_range(items: &[CalibrationItem], scored: &BTreeSet<&str>) -> Option<(f64, f64)> {
    let of_scores: Vec<&CalibrationItem> =
        items.iter().filter(|item| scored.contains(&*item.key.criterion)).collect();
    let range = score_range(&of_scores, &CalibrationOptions::default());
    (range.0 <= range.1).then_some(range)
}

/// Describes the range of the observed scores, which was used because no scale was declared.
pub fn describe_observed_range((least, most): (f64, f64)) -> String {
    format!(
        "the scores that occur, {least} to {most}, were taken for the whole scale, which intervals and AC2 depend on: if others are \
         possible, name all with `--scale`"
    )
}

/// Returns the declared scale, or every integer score that occurs. Other scores are means, which no rater can
/// give.
fn effective_scale(
    items: &[&CalibrationItem],
    options: &CalibrationOptions,
) -> Result<RatingScale, UndefinedReason> {
    match &options.scale {
        Some(scale) => Ok(scale.clone()),
        None => RatingScale::new(items.iter().flat_map(|item| {
            item.judge_number()
                .into_iter()
                .chain(item.words_of_people().filter_map(DecisionValue::number))
                .filter(|score| score.fract() == 0.0)
                .collect::<Vec<_>>()
        })),
    }
}

/// Whether decisions are verdicts or scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CalibrationDecisionKind {
    Verdicts,
    Scores,
}

fn decision_kind(decision: DecisionValue) -> Option<CalibrationDecisionKind> {
    match decision {
        DecisionValue::Verdict(_) => Some(CalibrationDecisionKind::Verdicts),
        DecisionValue::Score(_) => Some(CalibrationDecisionKind::Scores),
        DecisionValue::NotApplicable | DecisionValue::Undecided => None,
    }
}

fn item_decision_kinds(item: &CalibrationItem) -> BTreeSet<CalibrationDecisionKind> {
    let judge = item.judge.iter().map(|judge| judge.said);
    item.words_of_people().chain(judge).filter_map(decision_kind).collect()
}

/// Reads 0 and 1 as verdicts if a criterion has no other numbers (unless the scale is declared and no verdict
/// is given in words), and reports criteria on which the judge and people use different codes.
pub(crate) fn unify_codes(items: &mut [CalibrationItem], scale_declared: bool) -> Vec<LabelProblem> {
    #[derive(Default)]
    struct SeenCodes {
        judge: BTreeSet<u64>,
        people: BTreeSet<u64>,
        kinds: BTreeSet<CalibrationDecisionKind>,
        place: Option<LabelLocation>,
    }

    let mut seen: BTreeMap<Arc<str>, SeenCodes> = BTreeMap::new();
    for item in items.iter() {
        let of = seen.entry(Arc::clone(&item.key.criterion)).or_default();
        of.kinds.extend(item_decision_kinds(item));
        of.place = of.place.clone().or_else(|| item.place().cloned());

        let score = |said: DecisionValue| match said {
            DecisionValue::Score(score) => Some((score + 0.0).to_bits()),
            _ => None,
        };
        of.judge.extend(item.judge.as_ref().and_then(|judge| score(judge.said)));

        of.people.extend(item.words_of_people().filter_map(score));
    }

    let verdict_codes = BTreeSet::from([0.0_f64.to_bits(), 1.0_f64.to_bits()]);
    let mut problems = Vec::new();
    let mut binary: BTreeSet<Arc<str>> = BTreeSet::new();
    for (criterion, of) in &seen {
        let numbers: BTreeSet<u64> = of.judge.union(&of.people).copied().collect();
        let shown = |codes: &BTreeSet<u64>| {
            let mut codes: Vec<f64> = codes.iter().map(|bits| f64::from_bits(*bits)).collect();
            codes.sort_by(f64::total_cmp);
            codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
        };

        let name =
            if criterion.is_empty() { "the labels".to_owned() } else { format!("criterion `{criterion}`") };
        let mut complain = |message: String| {
            problems.push(LabelProblem { place: problem_place(of.place.as_ref()), message });
        };

        let in_words = of.kinds.contains(&CalibrationDecisionKind::Verdicts);
        if !numbers.is_empty() && numbers.is_subset(&verdict_codes) && (in_words || !scale_declared) {
            binary.insert(Arc::clone(criterion));
        } else if of.kinds.len() > 1 {
            complain(format!(
                "{name}: met and unmet on one side, scores on the other; say with `--values met=…,unmet=…` which \
                 numbers are verdicts"
            ));
        } else if !scale_declared && of.judge.len() == 2 && of.people.len() == 2 && of.judge != of.people {
            complain(format!(
                "{name}: the judge uses {} and people use {}; say with `--values met=…,unmet=…` which is which, or \
                 give the scale with `--scale`",
                shown(&of.judge),
                shown(&of.people)
            ));
        }
    }

    for item in items.iter_mut().filter(|item| binary.contains(&item.key.criterion)) {
        let verdict = |said: &mut DecisionValue| {
            if let DecisionValue::Score(score) = *said {
                *said = DecisionValue::Verdict(score == 1.0);
            }
        };
        item.decisions_mut().for_each(verdict);
    }

    problems
}

/// The place that a problem names: its line in a table, or the run if its decision is from there.
fn problem_place(place: Option<&LabelLocation>) -> LabelLocation {
    place.cloned().unwrap_or_else(|| LabelLocation { file: Arc::from(std::path::Path::new("run")), line: 1 })
}

/// How far a score may be outside the scale because a mean or sum was rounded.
const ROUNDING: f64 = 1e-9;

/// Clamps scores that are outside the declared scale only by rounding, and returns the scores that are
/// further outside. Scores between the points of the scale are accepted, because they may be means.
pub(crate) fn clamp_to_scale(
    items: &mut [CalibrationItem],
    options: &CalibrationOptions,
) -> Vec<LabelProblem> {
    let Some(scale) = &options.scale else { return Vec::new() };
    let ends = scale.points().iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), point| {
        (least.min(*point), most.max(*point))
    });
    let mut problems = Vec::new();
    for item in items.iter() {
        let judge = item.judge.iter().map(|judge| ("the judge", judge.said));
        for (who, said) in judge.chain(item.words_of_people().map(|said| ("a label", said))) {
            let DecisionValue::Score(score) = said else { continue };
            if (ends.0 - ROUNDING..=ends.1 + ROUNDING).contains(&score) {
                continue;
            }

            let case = &item.key.case;
            problems.push(LabelProblem {
                place: problem_place(item.place()),
                message: format!(
                    "case `{case}`: the score of {who} must be on the scale of {} to {}, found {score}",
                    ends.0, ends.1
                ),
            });
        }
    }

    for said in items.iter_mut().flat_map(CalibrationItem::decisions_mut) {
        if let DecisionValue::Score(score) = said {
            *score = score.clamp(ends.0, ends.1);
        }
    }

    problems
}

fn collect_notes(sections: &[CalibrationSection], material: &CalibrationMaterial) -> Vec<String> {
    let mut notes = Vec::new();
    for section in sections.iter().filter(|section| section.is_overall) {
        if section.is_clustered && section.clusters < FEW_CLUSTERS {
            let note = match section.clusters {
                1 => "only 1 cluster with labels, so there are no CIs".to_owned(),
                n => format!("only {n} clusters with labels: below {FEW_CLUSTERS}, CIs are wide"),
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        if section.cells.compared > 0 && section.cells.compared < FEW_ITEMS {
            notes.push(format!(
                "only {} compared: below {FEW_ITEMS} items, CIs are wide",
                section.cells.compared
            ));
        }
        if section.cells.compared == 0 && section.cells.labelled > 0 {
            notes.push("no item has both a verdict and a label".to_owned());
        }
    }

    if material.items.iter().any(|item| item.sampled() == Some(SamplingMethod::Weighted)) {
        notes.push(
            "the labelled items were drawn with different probabilities: the corrected rate allows for that, all other metrics are \
             of the labelled items only"
                .to_owned(),
        );
    }

    if let (Some(example), true) = (&material.unmatched_example, material.left_out.unmatched > 0) {
        let labels = match material.left_out.unmatched {
            1 => "1 label matches".to_owned(),
            n => format!("{n} labels match"),
        };
        notes.push(format!("{labels} no item that was judged; {example}"));
    }
    match material.beside_judge {
        0 => {}
        1 => notes.push(
            "1 label was given after its reviewer saw the judge's decision, so it may lean towards it".to_owned(),
        ),
        labels => notes.push(format!(
            "{labels} labels were given after their reviewers saw the judge's decision, so they may lean towards it"
        )),
    }

    notes
}
