//! Planning: the number of cases, repeats and labels for a wanted precision or a difference to detect.

use assize_stats::{
    ConfidenceLevel, McNemarVariant, MeanAccumulator, PlannedMean, UndefinedReason, bounded_mean_clustered,
    clustered_mean,
    correction::prediction_powered_half_width,
    power::{
        PairedNoise, PowerDesign, bounded_half_width, design_effect, inflate_for_clusters, least_cases,
        mean_half_width, mean_precision, rate_precision, round_up_cases,
    },
    proportion,
    repeats::repeat_variance,
    undefined_because,
};
use serde::Serialize;

use crate::case_metrics::format_number;
use crate::facts::{CaseFact, NameTable, RunFacts, case_key};

/// Known or assumed parameters. All are optional; questions that need a missing one are skipped.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PlanningInputs {
    /// Expected pass rate, 0 to 1.
    pub pass_rate: Option<f64>,
    /// Pass rate to plan with if all cases of a run passed, or none: the rate in its interval that needs the
    /// most cases.
    pub cautious_rate: Option<f64>,
    /// Standard deviation of scores over cases.
    pub score_sd: Option<f64>,
    /// Mean and spread of the scores of a run.
    pub score_spread: Option<ScoreSpread>,
    /// Verdicts of a run by cluster (1 for passed), if its cases have clusters.
    #[serde(skip)]
    pub clustered_verdicts: Option<PlannedMean>,
    /// Standard deviation of paired score differences over cases.
    pub difference_sd: Option<f64>,
    /// Share of pairs in which exactly one side passes.
    pub discordance: Option<f64>,
    /// Variance of the score between cases.
    pub between: Option<f64>,
    /// Variance of the score within a case: noise of answers and judges together.
    pub within: Option<f64>,
    /// Mean number of cases in a cluster.
    pub cluster_size: Option<f64>,
    /// Correlation of cases within a cluster.
    pub cluster_correlation: Option<f64>,
    /// Design effect, if it is given directly.
    pub design_effect: Option<f64>,
    /// The judge's sensitivity, 0 to 1.
    pub sensitivity: Option<f64>,
    /// The judge's specificity, 0 to 1.
    pub specificity: Option<f64>,
    /// Number of available cases.
    pub cases: Option<u64>,
}

/// Mean and spread of scores from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreSpread {
    /// The mean, 0 to 1.
    pub mean: f64,
    /// How many values at the ends of the range carry as much information as one score; 1 if scores do not
    /// vary.
    pub effective: f64,
    /// Mean to plan with: if scores do not vary, the mean in their interval that needs the most cases.
    pub cautious_mean: f64,
    /// The scores, by cluster.
    #[serde(skip)]
    pub scores: PlannedMean,
}

impl PlanningInputs {
    /// Returns the pass rate to plan with.
    fn planning_rate(&self) -> Option<f64> {
        self.cautious_rate.or(self.pass_rate)
    }
}

impl ScoreSpread {
    /// Computes the spread of the scores of a run; `None` for fewer than two clusters.
    fn new(scores: &[f64], clusters: &[u64]) -> Option<Self> {
        let found = bounded_mean_clustered(scores, clusters, (0.0, 1.0), ConfidenceLevel::P95).ok()?;
        let scores = PlannedMean::new(scores, clusters, ConfidenceLevel::P95).ok()?;
        Some(Self {
            mean: found.mean,
            effective: found.effective_n / found.n as f64,
            cautious_mean: scores.cautious_mean(),
            scores,
        })
    }
}

/// Clusters of the cases.
#[derive(Debug, Clone, Copy)]
struct PlannedClusters {
    /// Mean number of cases in a cluster; `None` if only the design effect is known.
    size: Option<f64>,
    /// Design effect.
    effect: f64,
}

impl PlannedClusters {
    /// Returns the half-width of the interval of a mean over `n` cases, if each case carries as much
    /// information as `effective` values at the ends of the range.
    fn half_width(
        self,
        mean: f64,
        effective: f64,
        n: u64,
        level: ConfidenceLevel,
    ) -> Result<f64, UndefinedReason> {
        let n = n as f64;
        let units = self.size.map(|size| n / size);
        bounded_half_width(mean, n * effective / self.effect, units, level)
    }

    /// Minimum number of cases for which an interval can be computed.
    fn least(self) -> u64 {
        (2.0 * self.size.unwrap_or(1.0)).ceil() as u64
    }
}

/// Wanted precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WantedPrecision {
    /// Full width of the interval, above 0.
    pub width: Option<f64>,
    /// Difference to be detected, above 0.
    pub difference: Option<f64>,
    /// Probability that it is detected if it exists.
    pub power: f64,
    /// Confidence level.
    pub level: ConfidenceLevel,
    /// P value of McNemar's test with which pass rates will be compared.
    pub variant: McNemarVariant,
}

impl WantedPrecision {
    /// Name of the test of pass rates, as in comparisons.
    const fn test_name(self) -> &'static str {
        match self.variant {
            McNemarVariant::Exact => "McNemar, exact",
            McNemarVariant::MidP => "McNemar, mid-p",
        }
    }
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleSizeAnswer {
    /// The question.
    pub question: String,
    /// The number of cases, pairs or labels; for questions about a given number of cases, a difference or a
    /// half-width.
    pub answer: Option<f64>,
    /// Unit of the number.
    pub unit: &'static str,
    /// Name of the formula.
    pub method: &'static str,
    /// Assumptions, or the reason why there is no answer.
    pub says: String,
}

/// Answers every question that the known parameters allow.
pub fn plan_sample_size(
    known: &PlanningInputs,
    wanted: WantedPrecision,
) -> Result<Vec<SampleSizeAnswer>, String> {
    let promise = PowerDesign::new(1.0 - wanted.level.get(), wanted.power)
        .map_err(|_| "the power must be above 1 minus the level and below 1, such as 0.8".to_owned())?;
    let effect = design_effect_of_inputs(known)?;
    let mut plan = SampleSizePlan { known, wanted, promise, effect, needs: Vec::new() };
    if let Some(half) = wanted.width.map(|width| width / 2.0) {
        plan.add_precision_answers(half);
        plan.add_label_answers(half);
        plan.add_corrected_answer(half);
    }
    if let Some(difference) = wanted.difference {
        plan.add_rate_difference_answers(difference);
        plan.add_mean_difference_answers(difference);
    }
    if let Some(cases) = known.cases {
        plan.add_detectable_answers(cases);
    }

    Ok(plan.needs)
}

fn design_effect_of_inputs(known: &PlanningInputs) -> Result<Option<f64>, String> {
    if let Some(effect) = known.design_effect {
        return Ok(Some(effect));
    }

    let Some(size) = known.cluster_size else { return Ok(None) };
    let correlation = known
        .cluster_correlation
        .ok_or_else(|| "clusters need the correlation of their cases as well (`--icc`)".to_owned())?;
    design_effect(size, correlation)
        .map(Some)
        .map_err(|reason| format!("the design effect of the clusters is {}", undefined_because(reason)))
}

/// A plan in the making: the inputs, the wanted precision, and the answers so far.
struct SampleSizePlan<'k> {
    known: &'k PlanningInputs,
    wanted: WantedPrecision,
    promise: PowerDesign,
    /// Design effect of the clusters, if there are any.
    effect: Option<f64>,
    needs: Vec<SampleSizeAnswer>,
}

impl SampleSizePlan<'_> {
    fn add_precision_answers(&mut self, half: f64) {
        let (known, level, effect) = (self.known, self.wanted.level, self.effect);
        let clusters = effect.map(|effect| PlannedClusters { size: known.cluster_size, effect });
        if let Some(rate) = known.planning_rate() {
            let says = if known.cautious_rate.is_some() {
                "at most: of the rates that the run allows, this takes most cases; each case once"
            } else {
                "each case once"
            };
            let (answer, method) = match (&known.clustered_verdicts, clusters) {
                (Some(verdicts), _) => {
                    (verdicts.cases(half, level), "CI of the run's clusters, solved for n")
                }
                (None, Some(clusters)) => {
                    let half_width = |n| clusters.half_width(rate, 1.0, n, level);
                    (
                        least_cases(half, clusters.least(), half_width),
                        "Wilson's half-width on effective cases",
                    )
                }
                (None, None) => (rate_precision(rate, half, level), "Blaker, mean half-width solved for n"),
            };
            let question = format!("a pass rate of {} to ±{}", format_number(rate), format_number(half));
            self.needs.push(cases_answer(question, answer, "cases", method, None, with_effect(says, effect)));
        }

        if let Some(spread) = &known.score_spread {
            let mean = spread.cautious_mean;
            let says = if spread.scores.varies() {
                format!("a score carries as much as {} passes or fails", format_number(spread.effective))
            } else {
                "at most: of the means that the run allows, this takes most cases".to_owned()
            };
            let answer = match clusters.filter(|clusters| clusters.size.is_some()) {
                Some(clusters) => least_cases(half, clusters.least(), |n| {
                    clusters.half_width(mean, spread.effective, n, level)
                }),
                None => spread.scores.cases(half, level),
            };
            let question = format!("a mean score of {} to ±{}", format_number(mean), format_number(half));
            let method = "CI of the run's scores, solved for n";
            self.needs.push(cases_answer(
                question,
                answer,
                "cases",
                method,
                None,
                with_effect(&says, effect),
            ));
        } else if let Some(sd) = known.score_sd {
            self.needs.push(cases_answer(
                format!("a mean score to ±{}", format_number(half)),
                mean_precision(sd, half, level),
                "cases",
                "(t s / half-width)²",
                effect,
                format!("scores with a standard deviation of {}", format_number(sd)),
            ));
        }

        if let Some((between, within)) = known.between.zip(known.within) {
            for repeats in [1u32, 2, 3, 5, 10] {
                let sd = (between + within / f64::from(repeats)).sqrt();
                self.needs.push(cases_answer(
                    format!("a mean score to ±{}, {repeats} answers per case", format_number(half)),
                    mean_precision(sd, half, level),
                    "cases",
                    "(t s / half-width)², s² = between + within / repeats",
                    effect,
                    format!(
                        "variance {} between cases, {} within",
                        format_number(between),
                        format_number(within)
                    ),
                ));
            }
        }
    }

    fn add_label_answers(&mut self, half: f64) {
        let (known, level) = (self.known, self.wanted.level);
        let pass_rate = known.planning_rate();
        let parts = [
            ("sensitivity", known.sensitivity, "that people pass", pass_rate),
            ("specificity", known.specificity, "that people fail", pass_rate.map(|rate| 1.0 - rate)),
        ];
        for (name, rate, which, share) in parts {
            let Some(rate) = rate else { continue };
            let needed = rate_precision(rate, half, level).map(round_up_cases);
            let drawn =
                needed.ok().zip(share.filter(|share| *share > 0.0)).map(|(n, share)| (n / share).ceil());
            self.needs.push(cases_answer(
                format!("the judge's {name} of {} to ±{}", format_number(rate), format_number(half)),
                needed,
                "labels",
                "Blaker, mean half-width solved for n",
                None,
                match drawn {
                    Some(drawn) => {
                        format!("labels of cases {which}; a random sample needs about {drawn} cases")
                    }
                    None => format!("labels of cases {which}"),
                },
            ));
        }
    }

    /// Plans the interval of the corrected pass rate that `calibrate --labels` reports: the number of labels of randomly
    /// drawn cases.
    fn add_corrected_answer(&mut self, half: f64) {
        let (known, level) = (self.known, self.wanted.level);
        let (Some(rate), Some(sensitivity), Some(specificity)) =
            (known.planning_rate(), known.sensitivity, known.specificity)
        else {
            return;
        };

        let judged = known.cases.unwrap_or(MANY_CASES);
        let judge_rate = rate * sensitivity + (1.0 - rate) * (1.0 - specificity);
        let variances = rate * (1.0 - rate) / (judge_rate * (1.0 - judge_rate));
        let correlation = (sensitivity + specificity - 1.0) * variances.sqrt();
        let half_width = |labels: u64| {
            let labels = labels.min(judged);
            prediction_powered_half_width(rate, correlation, labels, judged - labels, level)
        };
        let labels = if correlation.is_finite() {
            least_cases(half, 2, half_width)
        } else {
            Err(UndefinedReason::EmptyClass)
        };
        let mut says = match known.cases {
            Some(cases) => format!("labels of randomly drawn cases, of {cases} that the judge decides"),
            None => {
                "labels of randomly drawn cases; the judge decides so many cases that their number adds no error \
                     (`--cases` says how many)"
                    .to_owned()
            }
        };
        if correlation <= 0.0 {
            says.push_str("; this judge saves none, because its decisions say nothing about those of people");
        }
        self.needs.push(cases_answer(
            format!("the corrected pass rate of {} to ±{}", format_number(rate), format_number(half)),
            labels,
            "labels",
            "PPI++, mean half-width solved for n",
            None,
            says,
        ));
    }

    fn add_rate_difference_answers(&mut self, difference: f64) {
        let Self { known, wanted, promise, effect, .. } = *self;
        let apart = format_number(difference);
        let pass_rate = known.planning_rate();
        let other = pass_rate.and_then(|rate| other_rate(rate, difference));
        let shares = match (known.discordance, pass_rate.zip(other)) {
            (Some(share), _) => vec![(share, "share of changed cases as given")],
            // The share of changed cases is unknown, so both extremes are planned: runs that differ only in one
            // direction, and independent runs.
            (None, Some((rate, other))) => {
                let unrelated = rate * (1.0 - other) + other * (1.0 - rate);
                vec![
                    (difference, "minimum: every change is in one direction"),
                    (f64::midpoint(difference, unrelated), "halfway between minimum and maximum"),
                    (unrelated, "maximum: the two runs are independent"),
                ]
            }
            (None, None) => Vec::new(),
        };
        for (share, why) in shares {
            let question = format!(
                "pass rates that differ by {apart}, same cases, {} of them change",
                format_number(share)
            );
            if share < difference - 1e-12 {
                let least =
                    format!("at least {apart} of the cases must change for rates to differ by as much");
                self.needs.push(no_answer(question, "pairs", wanted.test_name(), &least));
                continue;
            }

            self.needs.push(cases_answer(
                question,
                promise.mcnemar_variant_pairs(wanted.variant, share.max(difference), difference),
                "pairs",
                wanted.test_name(),
                effect,
                why.to_owned(),
            ));
        }

        if let (Some(rate), None) = (pass_rate, other) {
            let question = format!("pass rates of {} and another, {apart} away", format_number(rate));
            let reason = "the other rate would lie below 0 or above 1";
            self.needs.push(no_answer(question, "cases per run", "two independent rates", reason));
        }
        if let Some((rate, other)) = pass_rate.zip(other) {
            self.needs.push(cases_answer(
                format!(
                    "pass rates of {} and {}, different cases",
                    format_number(rate),
                    format_number(other)
                ),
                promise.rates_cases(rate, other),
                "cases per run",
                "two independent rates",
                effect,
                "paired runs need fewer".to_owned(),
            ));
        }
    }

    fn add_mean_difference_answers(&mut self, difference: f64) {
        let Self { known, promise, effect, .. } = *self;
        let apart = format_number(difference);
        if let Some(sd) = known.difference_sd {
            self.needs.push(cases_answer(
                format!("mean scores that differ by {apart}, same cases"),
                promise.paired_cases(noise_of_differences(sd), difference),
                "pairs",
                "paired means, Miller",
                effect,
                format!("differences with a standard deviation of {}", format_number(sd)),
            ));
        }

        if let (Some(within), None) = (known.within, known.difference_sd) {
            for repeats in [1u64, 3, 10] {
                let both = PairedNoise {
                    between: 0.0,
                    first: within,
                    first_repeats: repeats,
                    second: within,
                    second_repeats: repeats,
                };
                self.needs.push(cases_answer(
                    format!("mean scores that differ by {apart}, same cases, {repeats} answers each"),
                    promise.paired_cases(both, difference),
                    "pairs",
                    "paired means, Miller",
                    effect,
                    format!(
                        "variance {} within a case, same change in every case: the minimum",
                        format_number(within)
                    ),
                ));
            }
        }
    }

    /// Answers which difference a given number of cases can detect.
    fn add_detectable_answers(&mut self, cases: u64) {
        let Self { known, wanted, promise, effect, .. } = *self;
        let level = wanted.level;
        let pairs = if cases == 1 { "1 pair detects".to_owned() } else { format!("{cases} pairs detect") };
        let over = if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") };
        // Number of independent cases with as much information as the clustered ones.
        let alone = (cases as f64 / effect.unwrap_or(1.0)).floor().max(0.0) as u64;
        let mut push = |question: String, answer: Result<f64, UndefinedReason>, unit, method, says: &str| {
            let says = match answer {
                Ok(_) => says.to_owned(),
                Err(UndefinedReason::Undetectable) => format!(
                    "none: {} can't detect any difference with {}% power if so few of them differ",
                    if cases == 1 { "1 pair".to_owned() } else { format!("{cases} pairs") },
                    format_number(100.0 * wanted.power)
                ),
                Err(reason) => undefined_because(reason),
            };
            self.needs.push(SampleSizeAnswer { question, answer: answer.ok(), unit, method, says });
        };
        if let Some(share) = known.discordance {
            push(
                format!("smallest difference of pass rates that {pairs}"),
                promise.mcnemar_variant_difference(wanted.variant, alone, share),
                "difference",
                wanted.test_name(),
                "smaller differences can go undetected",
            );
        }

        if let Some(sd) = known.difference_sd {
            push(
                format!("smallest difference of mean scores that {pairs}"),
                promise.paired_difference(noise_of_differences(sd), alone),
                "difference",
                "paired means, Miller",
                "smaller differences can go undetected",
            );
        }

        let clusters = effect.map(|effect| PlannedClusters { size: known.cluster_size, effect });
        if let Some(rate) = known.pass_rate {
            let passed = (rate * cases as f64).round() as u64;
            let alone = proportion(passed, cases, level).interval;
            let (reach, method) = match (&known.clustered_verdicts, clusters) {
                (Some(verdicts), _) => (verdicts.half_width(cases as f64, level), "CI of clusters"),
                (None, Some(clusters)) => {
                    (clusters.half_width(rate, 1.0, cases, level), "Wilson on effective cases")
                }
                (None, None) => (
                    alone.map(|interval| interval.width() / 2.0),
                    alone.map_or("", |interval| interval.method.name()),
                ),
            };
            push(
                format!("margin of error of a pass rate of {} over {over}", format_number(rate)),
                reach,
                "either way",
                method,
                "half the width of the CI",
            );
        }

        if let Some(spread) = &known.score_spread {
            let reach = match clusters.filter(|clusters| clusters.size.is_some()) {
                Some(clusters) => clusters.half_width(spread.mean, spread.effective, cases, level),
                None => spread.scores.half_width(cases as f64, level),
            };
            push(
                format!("margin of error of a mean score of {} over {over}", format_number(spread.mean)),
                reach,
                "either way",
                "CI of the run's scores",
                "half the width of the CI",
            );
        } else if let Some(sd) = known.score_sd {
            push(
                format!("margin of error of the mean score over {over}"),
                mean_half_width(sd, alone, level),
                "either way",
                "Student's t",
                "half the width of the CI",
            );
        }
    }
}

/// Builds an answer in cases: multiplied by the design effect and rounded up.
fn cases_answer(
    question: String,
    answer: Result<f64, UndefinedReason>,
    unit: &'static str,
    method: &'static str,
    effect: Option<f64>,
    says: String,
) -> SampleSizeAnswer {
    let answer = answer
        .and_then(|n| effect.map_or(Ok(n), |effect| inflate_for_clusters(n, effect)))
        .map(round_up_cases);
    let says = match (answer, effect) {
        (Err(reason), _) => undefined_because(reason),
        (Ok(_), Some(effect)) => {
            format!("{says}; times the design effect {} of the clusters", format_number(effect))
        }
        (Ok(_), None) => says,
    };
    SampleSizeAnswer { question, answer: answer.ok(), unit, method, says }
}

/// Builds an entry for a question that has no answer.
fn no_answer(question: String, unit: &'static str, method: &'static str, reason: &str) -> SampleSizeAnswer {
    SampleSizeAnswer { question, answer: None, unit, method, says: undefined_because(reason) }
}

/// Returns the rate that is `difference` below another one, or above it if that would be negative.
fn other_rate(rate: f64, difference: f64) -> Option<f64> {
    // 0.3 - 0.3 may miss 0 by rounding.
    let is_rate = |other: &f64| (-1e-12..=1.0 + 1e-12).contains(other);
    [rate - difference, rate + difference].into_iter().find(is_rate).map(|other| other.clamp(0.0, 1.0))
}

/// Appends a note to a text about a number of cases if the number includes a design effect.
fn with_effect(says: &str, effect: Option<f64>) -> String {
    match effect {
        Some(effect) => format!("{says}; with the design effect {} of the clusters", format_number(effect)),
        None => says.to_owned(),
    }
}

/// Assumed number of judged cases if none is given: large enough to add no error.
const MANY_CASES: u64 = 1_000_000_000;

/// Noise of paired differences with this standard deviation over cases.
fn noise_of_differences(sd: f64) -> PairedNoise {
    PairedNoise { between: sd * sd, first: 0.0, first_repeats: 1, second: 0.0, second_repeats: 1 }
}

/// Estimates the parameters from runs. With several runs over the same cases, the last is paired with the
/// first.
pub fn estimate_inputs(runs: &[RunFacts], names: &NameTable) -> PlanningInputs {
    let mut known = PlanningInputs::default();
    let Some(first) = runs.first() else { return known };
    let decided: Vec<f64> =
        first.cases.iter().filter_map(CaseFact::passed).map(|passed| f64::from(u8::from(passed))).collect();
    known.pass_rate =
        decided.iter().copied().collect::<MeanAccumulator>().mean(ConfidenceLevel::P95).mean.ok();
    let passed = decided.iter().filter(|passed| **passed > 0.0).count();
    if let Ok(interval) = proportion(passed as u64, decided.len() as u64, ConfidenceLevel::P95).interval
        && (passed == 0 || passed == decided.len())
    {
        known.cautious_rate = Some(0.5_f64.clamp(interval.low, interval.high));
    }

    let scored: Vec<(&CaseFact, f64)> =
        first.cases.iter().filter_map(|case| Some((case, case.score?))).collect();
    let scores: Vec<f64> = scored.iter().map(|(_, score)| *score).collect();
    known.score_sd = scores.iter().copied().collect::<MeanAccumulator>().mean(ConfidenceLevel::P95).sd.ok();
    known.cases = Some(first.cases.len() as u64);

    let clusters: Vec<u64> = scored.iter().map(|(case, _)| case.cluster).collect();
    known.score_spread = ScoreSpread::new(&scores, &clusters);
    let verdict_clusters: Vec<u64> =
        first.cases.iter().filter(|case| case.passed().is_some()).map(|case| case.cluster).collect();
    let verdicts = PlannedMean::new(&decided, &verdict_clusters, ConfidenceLevel::P95).ok();
    known.clustered_verdicts = verdicts.filter(|verdicts| !verdicts.is_independent());
    if let Ok(mean) = clustered_mean(&scores, &clusters, ConfidenceLevel::P95)
        && mean.clusters < mean.n
    {
        known.design_effect = mean.design_effect.ok();
    }

    let mut by_case: std::collections::BTreeMap<(u32, u32), Vec<f64>> = std::collections::BTreeMap::new();
    for (case, score) in &scored {
        by_case.entry((case.suite, case.case)).or_default().push(*score);
    }

    let groups: Vec<Vec<f64>> = by_case.into_values().collect();
    if let Ok(parts) = repeat_variance(&groups) {
        (known.between, known.within) = (Some(parts.between), Some(parts.within));
    }
    if let Some(last) = runs.last().filter(|_| runs.len() > 1) {
        estimate_pair_inputs(first, last, names, &mut known);
    }

    known
}

fn estimate_pair_inputs(first: &RunFacts, last: &RunFacts, names: &NameTable, known: &mut PlanningInputs) {
    let mut theirs = last.cases.iter().peekable();
    let (mut apart, mut differing, mut decided) = (MeanAccumulator::new(), 0u64, 0u64);
    for case in &first.cases {
        let own = case_key(case, names);
        while theirs.next_if(|other| case_key(other, names) < own).is_some() {}

        let Some(other) = theirs.next_if(|other| case_key(other, names) == own) else { continue };
        if let Some((a, b)) = case.score.zip(other.score) {
            apart.push(b - a);
        }
        if let Some((a, b)) = case.passed().zip(other.passed()) {
            decided += 1;
            differing += u64::from(a != b);
        }
    }

    known.difference_sd = apart.mean(ConfidenceLevel::P95).sd.ok();
    known.discordance = (decided > 0).then(|| differing as f64 / decided as f64);

    known.cases = Some(apart.n().max(decided));
}
