//! Pass rates: of people, of the judge, and of the judge corrected by human labels.

use std::collections::BTreeMap;

use assize_rubric::{PrerequisiteResult, SamplingMethod, resolve_prerequisites};
use assize_stats::{
    ClusteredMean, ConfidenceLevel, Proportion, UndefinedReason, bounded_mean_clustered, clustered_mean,
    correction::{
        DrawnLabel, JudgeRates, PredictionPowered, RoganGladen, prediction_powered_drawn,
        prediction_powered_within, rogan_gladen,
    },
    proportion,
};

use super::item::{CalibrationItem, DecisionValue};
use super::selection::{SelectionReport, selection_report};

/// Error rates of a judge that were measured elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GivenRates {
    /// Share of truly met criteria that it finds met, 0 to 1.
    pub sensitivity: f64,
    /// Number of decisions behind `sensitivity`; 0 if unknown.
    pub sensitivity_n: u64,
    /// Share of truly unmet criteria that it finds unmet, 0 to 1.
    pub specificity: f64,
    /// Number of decisions behind `specificity`; 0 if unknown.
    pub specificity_n: u64,
}

/// Mean of verdicts or scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassRate {
    /// Mean with its clustered error, and an interval within the range of the verdicts or scores.
    pub mean: Result<ClusteredMean, UndefinedReason>,
    /// For verdicts, the counts with the interval for independent verdicts.
    pub counted: Option<Proportion>,
}

/// Pass rates that count a criterion only if its prerequisites are met too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GatedPassRates {
    /// Pass rate if only direct prerequisites count.
    pub direct: PassRate,
    /// Pass rate if prerequisites of prerequisites count too, and so on.
    pub recursive: PassRate,
    /// Number of criteria with circular prerequisites.
    pub circular: u64,
}

/// Pass rates of one target, or of all items.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetPassRates {
    /// Name of the target, or `all`.
    pub of: String,
    /// True if the items are scores instead of verdicts.
    pub scores: bool,
    /// Rate of the human labels.
    pub people: Option<PassRate>,
    /// Rate of the judge over all items.
    pub judge: Option<PassRate>,
    /// The judge's rate corrected by the labels (PPI++), or the reason why it can't be.
    pub powered: Result<PredictionPowered, String>,
    /// Bounds of the rate if labels were not drawn at random.
    pub selection: Option<SelectionReport>,
    /// The judge's rate corrected by the given error rates.
    pub rogan_gladen: Option<Result<RoganGladen, UndefinedReason>>,
    /// People's verdicts with prerequisites; `None` if the table names no prerequisites.
    pub people_gated: Option<GatedPassRates>,
    /// The judge's verdicts with prerequisites.
    pub judge_gated: Option<GatedPassRates>,
}

/// Options for computing rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateOptions {
    pub(crate) level: ConfidenceLevel,
    pub(crate) assume_random: bool,
    pub(crate) given: Option<GivenRates>,
    /// Lowest and highest possible value of a decision.
    pub(crate) range: (f64, f64),
}

/// Computes the rates of some items, all verdicts or all scores.
pub(crate) fn compute_rates(
    of: &str,
    items: &[&CalibrationItem],
    scores: bool,
    options: RateOptions,
) -> TargetPassRates {
    let judged: Vec<(&CalibrationItem, f64)> =
        items.iter().filter_map(|item| Some((*item, item.judge_number()?))).collect();
    let labelled: Vec<(&CalibrationItem, f64)> =
        items.iter().filter_map(|item| Some((*item, item.people_mean()?))).collect();
    let single = items.iter().all(|item| item.people().len() < 2);
    let people = pass_rate(&labelled, !scores && single, options);
    let judge = pass_rate(&judged, !scores, options);
    let rogan_gladen = options.given.filter(|_| !scores).and_then(|given| {
        let counted = judge.as_ref()?.counted?;
        Some(counted.rate.and_then(|pass_rate| {
            let rates = JudgeRates {
                pass_rate,
                n: counted.n,
                specificity: given.specificity,
                n_fail: given.specificity_n,
                sensitivity: given.sensitivity,
                n_pass: given.sensitivity_n,
            };
            rogan_gladen(rates, options.level)
        }))
    });

    let needs = !scores && items.iter().any(|item| !item.requires().is_empty());
    TargetPassRates {
        of: of.to_owned(),
        scores,
        people,
        judge,
        powered: prediction_powered_rate(&judged, options),
        selection: if scores || options.assume_random {
            None
        } else {
            selection_report(&judged, options.level)
        },
        rogan_gladen,
        people_gated: needs
            .then(|| gated_rates(items, options, |item| item.people_mean().map(|mean| mean > 0.5)))
            .flatten(),
        judge_gated: needs
            .then(|| {
                gated_rates(items, options, |item| match item.judge.as_ref()?.said {
                    DecisionValue::Verdict(met) => Some(met),
                    _ => None,
                })
            })
            .flatten(),
    }
}

fn pass_rate(values: &[(&CalibrationItem, f64)], verdicts: bool, options: RateOptions) -> Option<PassRate> {
    if values.is_empty() {
        return None;
    }

    let (numbers, clusters) = split_values(values);
    let passed = numbers.iter().filter(|&&value| value == 1.0).count() as u64;
    let level = options.level;
    let bounded = bounded_mean_clustered(&numbers, &clusters, options.range, level);
    Some(PassRate {
        mean: clustered_mean(&numbers, &clusters, level)
            .map(|found| ClusteredMean { interval: bounded.and_then(|bounded| bounded.interval), ..found }),
        counted: verdicts.then(|| proportion(passed, numbers.len() as u64, level)),
    })
}

fn split_values<'i>(values: &[(&'i CalibrationItem, f64)]) -> (Vec<f64>, Vec<&'i str>) {
    values.iter().map(|(item, value)| (*value, &*item.cluster)).unzip()
}

fn prediction_powered_rate(
    judged: &[(&CalibrationItem, f64)],
    options: RateOptions,
) -> Result<PredictionPowered, String> {
    let (mut labelled, mut unlabelled) = (Vec::new(), Vec::new());
    for &(item, judge) in judged {
        match item.people_mean() {
            Some(people) => labelled.push((item, people, judge)),
            None => unlabelled.push((item, judge)),
        }
    }

    if labelled.is_empty() {
        return Err("no item that the judge decided has a label".to_owned());
    }

    if unlabelled.is_empty() {
        return Err("every judged item has a label, so no correction is needed".to_owned());
    }

    let drawn_items: Vec<&CalibrationItem> = labelled.iter().map(|(item, ..)| *item).collect();
    let drawn = drawing_probabilities(&drawn_items, judged.len(), options.assume_random)?;
    if is_weighted(&drawn_items) {
        let label = |((_, human, judge), probability): (&(&CalibrationItem, f64, f64), &f64)| DrawnLabel {
            human: *human,
            judge: *judge,
            probability: *probability,
        };
        let labels: Vec<DrawnLabel> = labelled.iter().zip(&drawn).map(label).collect();
        let clusters: Vec<&str> = drawn_items.iter().map(|item| &*item.cluster).collect();
        let all: Vec<f64> = judged.iter().map(|(_, judge)| *judge).collect();
        return prediction_powered_drawn(&labels, &clusters, &all, options.range, options.level)
            .map_err(|reason| reason.to_string());
    }

    let people: Vec<f64> = labelled.iter().map(|(_, people, _)| *people).collect();
    let judge: Vec<f64> = labelled.iter().map(|(_, _, judge)| *judge).collect();
    let within: Vec<&str> = labelled.iter().map(|(item, _, _)| &*item.cluster).collect();
    let (rest, outside) = split_values(&unlabelled);
    let one_each = |clusters: &[&str]| {
        let mut sorted = clusters.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    let clusters =
        (!one_each(&within) || !one_each(&outside)).then_some((within.as_slice(), outside.as_slice()));
    prediction_powered_within(&people, &judge, &rest, clusters, options.range, options.level)
        .map_err(|reason| reason.to_string())
}

/// Returns true if the items were drawn for labelling with probabilities of their own.
fn is_weighted(labelled: &[&CalibrationItem]) -> bool {
    labelled.iter().all(|item| item.sampled() == Some(SamplingMethod::Weighted))
}

/// Returns the probabilities with which labelled items were drawn from `judged` items, up to a common factor, or the
/// reason why the labels are no sample of them.
pub(crate) fn drawing_probabilities(
    labelled: &[&CalibrationItem],
    judged: usize,
    assume_random: bool,
) -> Result<Vec<f64>, String> {
    if is_weighted(labelled) {
        return weighted_probabilities(labelled, judged);
    }
    if assume_random {
        return Ok(vec![1.0; labelled.len()]);
    }

    let of = |wanted: Option<SamplingMethod>| labelled.iter().filter(|item| item.sampled() == wanted).count();
    let weighted = of(Some(SamplingMethod::Weighted));
    if weighted > 0 {
        return Err(format!(
            "{weighted} of {} labels were drawn with probabilities of their own and the others were not: the two kinds can't be \
             weighted together",
            labelled.len()
        ));
    }
    let (chosen, unknown) = (of(Some(SamplingMethod::Chosen)), of(None));
    if chosen + unknown > 0 {
        return Err(format!(
            "the labelled cases must be a random sample: {chosen} of {} were chosen, {unknown} do not say (`sampled`); `--assume-random` treats them as random",
            labelled.len()
        ));
    }
    Ok(vec![1.0; labelled.len()])
}

fn weighted_probabilities(labelled: &[&CalibrationItem], judged: usize) -> Result<Vec<f64>, String> {
    let twice =
        labelled.iter().filter(|item| item.labels.as_ref().is_some_and(|labels| labels.drawn_twice)).count();
    if twice > 0 {
        let items = if twice == 1 { "1 item was".to_owned() } else { format!("{twice} items were") };
        return Err(format!(
            "{items} drawn twice, with different probabilities: labels of two draws can't be weighted together; calibrate \
             each draw by itself"
        ));
    }
    let probabilities: Option<Vec<f64>> = labelled.iter().map(|item| item.drawn()).collect();
    let Some(probabilities) = probabilities else {
        return Err(
            "some labels are `weighted` and do not say with which probability they were drawn (`drawn`)"
                .to_owned(),
        );
    };
    if stands_for_more(&probabilities, judged) {
        return Err(format!(
            "the labels represent {:.0} items, but {judged} were judged: they come from several draws, which can't be weighted \
             together; calibrate each draw by itself",
            probabilities.iter().map(|probability| 1.0 / probability).sum::<f64>(),
        ));
    }
    Ok(probabilities)
}

/// How far the weights of labels from a single draw may exceed the number of judged items: in standard
/// errors, and as a share of the items.
const DRAW_SLACK: (f64, f64) = (4.0, 0.05);

/// Returns true if labels represent many more items than were judged, which happens when labels of two draws
/// are combined. A label represents as many items as the reciprocal of its probability. The standard error is
/// that of a draw of fixed size: J. Hájek, Annals of Mathematical Statistics 35 (1964), 1491-1523.
fn stands_for_more(drawn: &[f64], judged: usize) -> bool {
    let weight = |probability: &f64| 1.0 / probability;
    let total: f64 = drawn.iter().map(weight).sum();
    let left = |probability: &f64| 1.0 - probability;
    let open: f64 = drawn.iter().map(left).sum();
    if open <= 0.0 {
        return false;
    }

    let mean = drawn.iter().map(|one| left(one) * weight(one)).sum::<f64>() / open;
    let variance: f64 = drawn.iter().map(|one| left(one) * (weight(one) - mean).powi(2)).sum();
    total > judged as f64 * (1.0 + DRAW_SLACK.1) + DRAW_SLACK.0 * variance.sqrt()
}

/// Computes the pass rates of each answer's verdicts with prerequisites. An item without a verdict is
/// ignored, also as a prerequisite.
fn gated_rates(
    items: &[&CalibrationItem],
    options: RateOptions,
    verdict: impl Fn(&CalibrationItem) -> Option<bool>,
) -> Option<GatedPassRates> {
    let mut answers: BTreeMap<(&str, &str, &str, u32), Vec<&CalibrationItem>> = BTreeMap::new();
    for item in items.iter().filter(|item| verdict(item).is_some()) {
        let key = &item.key;
        answers.entry((&key.suite, &key.case, &key.system, key.trial)).or_default().push(item);
    }

    let (mut direct, mut recursive, mut circular) = (Vec::new(), Vec::new(), 0u64);
    for members in answers.values() {
        let place = |id: &String| {
            // An index out of range marks a missing prerequisite, which can't be met.
            members.iter().position(|item| *item.key.criterion == **id).unwrap_or(members.len())
        };
        let needs: Vec<Vec<usize>> =
            members.iter().map(|item| item.requires().iter().map(place).collect()).collect();
        let held: Vec<bool> = members.iter().map(|item| verdict(item).unwrap_or(false)).collect();
        let PrerequisiteResult { direct: holds, recursive: follows, circular: round } =
            resolve_prerequisites(&held, &needs);
        let number = |flags: Vec<bool>| -> Vec<(&CalibrationItem, f64)> {
            members.iter().copied().zip(flags.into_iter().map(|flag| f64::from(u8::from(flag)))).collect()
        };
        direct.extend(number(holds));
        recursive.extend(number(follows));

        circular += round.len() as u64;
    }

    Some(GatedPassRates {
        direct: pass_rate(&direct, true, options)?,
        recursive: pass_rate(&recursive, true, options)?,
        circular,
    })
}
