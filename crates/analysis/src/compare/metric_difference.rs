//! Comparison of one metric on two sides: difference, interval, test, and detectable difference.
//!
//! A reader looks at the interval and at p, so the two must not contradict each other, and neither may claim
//! more than the pairs can show:
//!
//! - Too few pairs (or clusters) to be significant even if all of them went one way get no interval and no
//!   conclusion, not even "no difference": a comparison that could not have shown a difference does not show
//!   that there is none.
//! - An interval that excludes 0 while p is above the error level is extended to 0. It only gets wider, so it
//!   covers no less. The opposite correction, narrowing an interval to agree with a significant test, would
//!   lose coverage.
//! - If no pair differs, the standard error is 0 and would claim certainty. The interval is then the exact
//!   bound that follows from the number of pairs, and is valid for any number.
//!
//! An adjusted p value may still be above the level while the interval excludes 0, because the interval is
//! about this one comparison; the sentence says so.

use assize_stats::{
    ConfidenceLevel, DifferenceReach, Interval, IntervalMethod, McNemarVariant, SeededRandom,
    UndefinedReason, bootstrap_clustered_mean, bootstrap_mean, bounded_difference, clustered_mean,
    compare::{PairedVerdicts, none_differ},
    power::{PowerDesign, round_up_cases},
};
use serde::Serialize;

use super::{AnytimeComparison, ComparisonAspect, ComparisonOptions, MetricUnit};
use crate::case_metrics::format_level;
use crate::claims::{DIFFERENCE_TOLERANCE, alpha_of, is_shown, least_pairs};
use crate::sample::ClusteredSample;

/// Conclusion about a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The candidate's metric is significantly higher.
    Better,
    /// The candidate's metric is significantly lower.
    Worse,
    /// The interval is within the margin.
    Equivalent,
    /// No pair differs, no margin was given, and there are enough pairs for the test to have shown a
    /// difference.
    NoDifference,
    /// None of these could be shown.
    Inconclusive,
    /// The metric was not measured in the same way on both sides, so it is not compared.
    NotComparable,
}

impl Conclusion {
    /// Returns the words shown to people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::NoDifference => "no difference",
            Self::Inconclusive => "inconclusive",
            Self::NotComparable => "not comparable",
        }
    }
}

/// A metric of the base and of the candidate over the same cases. Differences are candidate minus base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricDifference {
    /// Unit of the metric in texts.
    #[serde(skip)]
    pub unit: MetricUnit,
    /// Number of pairs of cases.
    pub n: usize,
    /// Number of clusters; null if every pair is independent.
    pub clusters: Option<usize>,
    /// Number of independent pairs, or of clusters of equal size, with the same amount of information.
    #[serde(skip)]
    pub(crate) independent: f64,
    /// Metric of the base over the pairs, 0 to 1.
    pub base: Option<f64>,
    /// Metric of the candidate over the pairs, 0 to 1.
    pub candidate: Option<f64>,
    /// Number of pairs in which the candidate is higher.
    pub higher: usize,
    /// Number of pairs in which the candidate is lower.
    pub lower: usize,
    /// Candidate minus base.
    pub difference: Option<f64>,
    /// Standard error of the difference: clustered (CR1) if pairs share clusters, else `se_independent`.
    /// Undefined if no pair differs: an error of 0 would claim certainty.
    pub se: Option<f64>,
    /// Standard error if every pair were independent.
    pub se_independent: Option<f64>,
    /// Clustered error without the correction for the number of clusters (CR0); null without clusters.
    pub se_cr0: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Confidence level of the interval.
    pub level: f64,
    /// Method of the interval.
    pub interval_method: Option<String>,
    /// Probability of a difference at least as large if the two sides did not differ.
    pub p: Option<f64>,
    /// Name of the test.
    pub test: &'static str,
    /// `p` adjusted for the number of comparisons made together; null for a single comparison.
    pub p_adjusted: Option<f64>,
    /// Approximate smallest difference that the test detects with a power of 80% in this number of pairs;
    /// null if there is none, such as with too few clusters.
    pub detectable: Option<f64>,
    /// Approximate number of pairs in which the test detects the observed difference with a power of 80%;
    /// null if no difference was observed.
    pub enough: Option<u64>,
    /// Reason why a field is undefined.
    pub undefined: Option<String>,
    /// Conclusion.
    pub call: Conclusion,
    /// Conclusion in a sentence.
    pub says: String,
}

/// Two lists of values over the same cases.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairSample {
    pub(crate) base: Vec<f64>,
    candidate: Vec<f64>,
    /// Hash of the cluster of each pair. Only a comparison numbers the clusters, to save memory: a report keeps many samples.
    clusters: Vec<u64>,
}

impl PairSample {
    pub(crate) fn push(&mut self, base: f64, candidate: f64, cluster: u64) {
        self.base.push(base);
        self.candidate.push(candidate);
        self.clusters.push(cluster);
    }

    /// The values of the candidate with their clusters.
    pub(crate) fn candidate(&self) -> ClusteredSample {
        let mut sample = ClusteredSample::default();
        for (value, cluster) in self.candidate.iter().zip(&self.clusters) {
            sample.push(*value, *cluster);
        }
        sample
    }

    pub(crate) fn len(&self) -> usize {
        self.base.len()
    }

    pub(crate) fn is_binary(&self) -> bool {
        self.base.iter().chain(&self.candidate).all(|value| *value == 0.0 || *value == 1.0)
    }
}

/// Largest number of pairs that a plan reports. Collecting more is not realistic, so larger numbers are omitted.
const MAX_PLANNED_PAIRS: u64 = 1_000_000_000;
/// Number of bootstrap resamples.
const RESAMPLES: usize = 10_000;

/// Fields of a difference that depend on the method.
struct DifferenceParts {
    interval: Result<Interval, UndefinedReason>,
    p: Result<f64, UndefinedReason>,
    test: &'static str,
    detectable: Result<f64, UndefinedReason>,
    enough: Result<f64, UndefinedReason>,
    /// Number of independent pairs, or of clusters of equal size, with the same amount of information.
    independent: f64,
}

/// Compares the two sides. Verdicts without clusters use McNemar's test and the interval of Bonett and Price.
/// All other values use the paired Wilson interval, which makes no assumption about the distribution, and its
/// p value. If no pair differs, the interval follows from the number of pairs or clusters.
pub(crate) fn compare_metric(
    pairs: &PairSample,
    unit: MetricUnit,
    options: &ComparisonOptions,
) -> MetricDifference {
    let (base, sample) = (&pairs.base, pairs.candidate());
    let candidate = &sample.values;
    let differences: Vec<f64> =
        candidate.iter().zip(base).map(|(candidate, base)| candidate - base).collect();
    let clusters = sample.clusters();
    let difference = mean(&differences);
    let errors = DifferenceErrors::new(&differences, &sample.clusters, clusters.is_some(), options.level);
    let se = errors.clustered.map_or(errors.independent, |(_, cr1)| cr1);
    let parts = if pairs.is_binary() && clusters.is_none() {
        compare_verdicts(base, candidate, options)
    } else {
        compare_scores(base, &sample, &differences, se, options)
    };
    let undefined = parts.interval.err().or(parts.p.err()).map(|reason| match reason {
        UndefinedReason::OneValue if clusters.is_some() => UndefinedReason::OneCluster,
        other => other,
    });
    let too_few = too_few_units(&parts, clusters, &differences, options.level);
    let interval = parts.interval.ok().filter(|_| undefined.is_some() || too_few.is_none());
    let interval = interval.map(|interval| match parts.p {
        // The interval is an approximation; it must not exclude a difference of 0 that the test does not
        // exclude.
        Ok(p) if !is_shown(p, alpha_of(options.level)) => {
            Interval { low: interval.low.min(0.0), high: interval.high.max(0.0), ..interval }
        }
        _ => interval,
    });
    let mut contrast = MetricDifference {
        unit,
        n: pairs.len(),
        clusters,
        independent: parts.independent,
        base: mean(base).ok(),
        candidate: mean(candidate).ok(),
        higher: differences.iter().filter(|value| **value > DIFFERENCE_TOLERANCE).count(),
        lower: differences.iter().filter(|value| **value < -DIFFERENCE_TOLERANCE).count(),
        difference: difference.ok(),
        se,
        se_independent: errors.independent,
        se_cr0: errors.clustered.and_then(|(cr0, _)| cr0),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        level: options.level.get(),
        interval_method: interval.map(|interval| interval.method.name().to_owned()),
        p: parts.p.ok(),
        test: parts.test,
        p_adjusted: None,
        detectable: parts.detectable.ok(),
        enough: parts
            .enough
            .ok()
            .filter(|_| difference.is_ok_and(|difference| difference.abs() > DIFFERENCE_TOLERANCE))
            .map(|n| round_up_cases(n) as u64)
            .filter(|n| (1..=MAX_PLANNED_PAIRS).contains(n)),
        undefined: undefined.map(|reason| reason.to_string()).or(too_few),
        call: Conclusion::Inconclusive,
        says: String::new(),
    };

    if options.is_stopped {
        contrast.withdraw_claims();
    } else {
        contrast.conclude(options);
    }
    contrast
}

/// Returns why there is no interval if the pairs or clusters are so few that no difference would be
/// significant even if all of them went one way. `None` if there are enough, or if none differs: the exact
/// bound is then valid for any number.
fn too_few_units(
    parts: &DifferenceParts,
    clusters: Option<usize>,
    differences: &[f64],
    level: ConfidenceLevel,
) -> Option<String> {
    let least = least_pairs(level);
    let differs = differences.iter().any(|value| value.abs() > DIFFERENCE_TOLERANCE);
    // With mid-p values, one pair less may be enough.
    let is_shown = parts.p.is_ok_and(|p| is_shown(p, alpha_of(level)));
    if !differs || is_shown || parts.independent + DIFFERENCE_TOLERANCE >= least as f64 {
        return None;
    }

    let (found, unit) = match clusters {
        Some(n) => (n, "cluster"),
        None => (differences.len(), "pair"),
    };
    let is = if found == 1 { "is" } else { "are" };
    // Clusters of unequal size carry less information.
    let size = if found >= least { " of equal size" } else { "" };
    Some(format!(
        "{} {is} too few; at least {least}{size} are needed for {} confidence",
        counted(found, unit),
        format_level(level)
    ))
}

/// Standard errors of a mean difference.
#[derive(Default)]
struct DifferenceErrors {
    independent: Option<f64>,
    /// CR0 and CR1, if there are clusters.
    clustered: Option<(Option<f64>, Option<f64>)>,
}

impl DifferenceErrors {
    fn new(differences: &[f64], ids: &[u32], clustered: bool, level: ConfidenceLevel) -> Self {
        if differences.iter().all(|value| value.abs() <= DIFFERENCE_TOLERANCE) {
            return Self::default();
        }
        clustered_mean(differences, ids, level).map_or_else(
            |_| Self::default(),
            |mean| Self {
                independent: mean.se_independent.ok(),
                clustered: clustered.then(|| (mean.se_cr0.ok(), mean.se_cr1.ok())),
            },
        )
    }
}

fn mean(values: &[f64]) -> Result<f64, UndefinedReason> {
    values.iter().copied().collect::<assize_stats::MeanAccumulator>().mean(ConfidenceLevel::P95).mean
}

/// Formats a count with its noun: `1 pair`, `2 pairs`.
fn counted(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// Undefined for a level so low that a power of 80 % would be meaningless.
fn power_design(level: ConfidenceLevel) -> Result<PowerDesign, UndefinedReason> {
    PowerDesign::new(1.0 - level.get(), 0.8).map_err(|_| UndefinedReason::OutOfRange)
}

fn compare_verdicts(base: &[f64], candidate: &[f64], options: &ComparisonOptions) -> DifferenceParts {
    let passes = |values: &[f64]| values.iter().map(|value| *value > 0.5).collect::<Vec<bool>>();
    let pairs = match PairedVerdicts::from_verdicts(&passes(candidate), &passes(base)) {
        Ok(pairs) if pairs.n() > 0 => pairs,
        Ok(_) => return DifferenceParts::undefined(UndefinedReason::NoValues, "McNemar, exact"),
        Err(reason) => return DifferenceParts::undefined(reason, "McNemar, exact"),
    };
    let test = pairs.mcnemar(options.level);
    let discordant = (pairs.only_first + pairs.only_second) as f64 / pairs.n() as f64;
    let promise = power_design(options.level);
    let variant = if options.mid_p { McNemarVariant::MidP } else { McNemarVariant::Exact };

    DifferenceParts {
        interval: test.interval,
        p: Ok(if options.mid_p { test.p_mid } else { test.p_exact }),
        test: if options.mid_p { "McNemar, mid-p" } else { "McNemar, exact" },
        detectable: promise.and_then(|promise| {
            let found = promise.mcnemar_variant_difference(variant, pairs.n(), discordant);
            found.or_else(|_| promise.mcnemar_variant_one_way_difference(variant, pairs.n()))
        }),
        enough: promise
            .and_then(|promise| promise.mcnemar_variant_pairs(variant, discordant, test.difference?)),
        independent: pairs.n() as f64,
    }
}

fn compare_scores(
    base: &[f64],
    candidate: &ClusteredSample,
    differences: &[f64],
    se: Option<f64>,
    options: &ComparisonOptions,
) -> DifferenceParts {
    let (ids, clusters) = (&candidate.clusters, candidate.clusters());
    let bounded = bounded_difference(differences, ids, DifferenceReach::of_scores(base, &candidate.values));

    let independent = bounded.map_or(0.0, |found| found.effective_units);
    let n = differences.len() as u64;
    let nothing_differs = n > 0 && differences.iter().all(|value| value.abs() <= DIFFERENCE_TOLERANCE);
    let interval = if nothing_differs {
        none_differ(independent as u64, options.level)
    } else if options.bootstrap {
        let mut random = SeededRandom::new(options.seed);
        let drawn = match clusters {
            None => bootstrap_mean(differences, RESAMPLES, options.level, &mut random),
            Some(_) => bootstrap_clustered_mean(differences, ids, RESAMPLES, options.level, &mut random),
        };
        // Resampling equal differences gives an interval of width 0, but further cases may differ.
        drawn
            .and_then(|drawn| drawn.bca.or(Ok(drawn.percentile)))
            .ok()
            .filter(|interval| interval.width() > DIFFERENCE_TOLERANCE)
            .map_or_else(|| bounded.and_then(|found| found.interval(options.level)), Ok)
    } else {
        bounded.and_then(|found| found.interval(options.level))
    };

    let promise = power_design(options.level);
    let se = se.filter(|_| !nothing_differs).ok_or(UndefinedReason::NoSpread);
    DifferenceParts {
        interval,
        p: bounded.and_then(|found| found.p()),
        test: "inverted interval",
        detectable: bounded.and_then(|found| found.detectable(se?, promise?)),
        enough: bounded.and_then(|found| Ok(found.factor_to_detect(se?, promise?)? * n as f64)),
        independent,
    }
}

impl DifferenceParts {
    fn undefined(reason: UndefinedReason, test: &'static str) -> Self {
        Self {
            interval: Err(reason),
            p: Err(reason),
            test,
            detectable: Err(reason),
            enough: Err(reason),
            independent: 0.0,
        }
    }
}

impl AnytimeComparison {
    /// The conclusion that the interval allows. A margin says which differences do not matter, so it takes precedence.
    pub fn conclusion(&self, margin: Option<f64>) -> Conclusion {
        match margin {
            Some(margin) if self.low > -margin && self.high < margin => Conclusion::Equivalent,
            _ if self.low > 0.0 => Conclusion::Better,
            _ if self.high < 0.0 => Conclusion::Worse,
            _ => Conclusion::Inconclusive,
        }
    }
}

impl MetricDifference {
    /// Decides the conclusion. With a margin, an interval within it means equivalent, even if the test is
    /// significant: the user declared such a small difference irrelevant. Otherwise the test decides, by its
    /// adjusted p value if there is one.
    pub(crate) fn conclude(&mut self, options: &ComparisonOptions) {
        if self.call == Conclusion::NotComparable {
            return;
        }

        let shown = self.p_adjusted.or(self.p).is_some_and(|p| is_shown(p, alpha_of(options.level)));
        let within = |margin: f64| {
            self.low.zip(self.high).is_some_and(|(low, high)| {
                low >= -margin - DIFFERENCE_TOLERANCE && high <= margin + DIFFERENCE_TOLERANCE
            })
        };
        // With fewer pairs, the exact test shows no difference even if all of them differ.
        let is_enough = self.independent + DIFFERENCE_TOLERANCE >= least_pairs(options.level) as f64;
        self.call = match (options.margin, self.difference) {
            (Some(margin), Some(_)) if within(margin) && is_enough => Conclusion::Equivalent,
            (_, Some(difference)) if shown && difference > 0.0 => Conclusion::Better,
            (_, Some(difference)) if shown && difference < 0.0 => Conclusion::Worse,
            (None, Some(_)) if self.higher + self.lower == 0 && is_enough => Conclusion::NoDifference,
            _ => Conclusion::Inconclusive,
        };

        self.says = self.summary_sentence(options);
    }

    /// Removes all values that require a number of cases fixed in advance: the interval, the error, the test, and
    /// conclusions from them.
    fn withdraw_claims(&mut self) {
        (self.low, self.high, self.interval_method) = (None, None, None);
        (self.se, self.se_independent, self.se_cr0) = (None, None, None);
        (self.p, self.p_adjusted, self.detectable, self.enough) = (None, None, None, None);
        self.test = "none";
        self.undefined = Some(
            "a run stopped because its result was clear; tests and intervals assume that it could not"
                .to_owned(),
        );
        self.call = match self.call {
            Conclusion::NotComparable => Conclusion::NotComparable,
            _ => Conclusion::Inconclusive,
        };
        self.says = format!("No conclusion: {}.", self.undefined.as_deref().unwrap_or_default());
    }

    /// Takes the interval and the conclusion from a comparison that holds at any time, if this one makes no claim
    /// because a run stopped. The interval is about the mean over clusters, so it is only taken if both have the same
    /// mean.
    pub(super) fn use_anytime(&mut self, found: &AnytimeComparison, options: &ComparisonOptions) {
        let is_same =
            self.difference.is_some_and(|own| (own - found.difference).abs() <= DIFFERENCE_TOLERANCE);
        if !is_same || self.p.is_some() || self.call == Conclusion::NotComparable {
            return;
        }
        (self.low, self.high, self.level) = (Some(found.low), Some(found.high), found.level);
        self.interval_method = Some(IntervalMethod::Betting.name().to_owned());
        self.undefined = None;
        self.call = found.conclusion(options.margin);
        self.says = self.summary_sentence(options);
    }

    /// Returns a metric of `n` pairs that was not measured in the same way on both sides.
    pub(crate) fn withheld(
        n: usize,
        unit: MetricUnit,
        reason: ComparisonAspect,
        options: &ComparisonOptions,
    ) -> Self {
        let reason = format!("not compared: {}", reason.describe());
        Self {
            says: format!("N{}.", &reason[1..]),
            call: Conclusion::NotComparable,
            ..Self::undefined(n, unit, &reason, options)
        }
    }

    /// Returns a metric of `n` pairs without any value.
    pub(crate) fn undefined(n: usize, unit: MetricUnit, reason: &str, options: &ComparisonOptions) -> Self {
        Self {
            unit,
            n,
            clusters: None,
            independent: n as f64,
            base: None,
            candidate: None,
            higher: 0,
            lower: 0,
            difference: None,
            se: None,
            se_independent: None,
            se_cr0: None,
            low: None,
            high: None,
            level: options.level.get(),
            interval_method: None,
            p: None,
            test: "none",
            p_adjusted: None,
            detectable: None,
            enough: None,
            undefined: Some(reason.to_owned()),
            call: Conclusion::Inconclusive,
            says: format!("No conclusion: {reason}."),
        }
    }

    fn summary_sentence(&self, options: &ComparisonOptions) -> String {
        let (Some(difference), Some(low), Some(high)) = (self.difference, self.low, self.high) else {
            let reason = self.undefined.as_deref().unwrap_or("there are no values");
            return format!("No conclusion: {reason}.");
        };
        let level = format_level(options.level);
        let unit = self.unit;
        let mut range = format!("{level} CI {}", unit.format_interval(low, high));
        if matches!(self.call, Conclusion::Better | Conclusion::Worse) && low <= 0.0 && high >= 0.0 {
            let p = self.p_adjusted.or(self.p).unwrap_or(1.0);
            range = format!(
                "{range}; the test decides (p = {p:.3} by {}), although the interval includes 0",
                self.test
            );
        }
        let pairs = counted(self.n, "pair");
        let pairs = self.clusters.map_or(pairs.clone(), |n| format!("{pairs} in {}", counted(n, "cluster")));
        match self.call {
            Conclusion::Better => format!("Higher by {} ({range}).", unit.format_size(difference)),
            Conclusion::Worse => format!("Lower by {} ({range}).", unit.format_size(difference)),
            Conclusion::Equivalent => format!(
                "Equivalent within the margin of ±{} ({range}).",
                unit.format_size(options.margin.unwrap_or_default())
            ),
            Conclusion::NoDifference => {
                format!("No pair differs; with {pairs}, the change is at most ±{}.", unit.format_size(high))
            }
            Conclusion::NotComparable => self.says.clone(),
            Conclusion::Inconclusive if self.higher + self.lower == 0 => format!(
                "No pair differs, but with {pairs}, the change may still be up to ±{}.",
                unit.format_size(high)
            ),
            // The interval is not adjusted: it is about this comparison alone.
            Conclusion::Inconclusive if low > 0.0 || high < 0.0 => format!(
                "No significant difference: p = {:.3}, adjusted for several comparisons ({range}).",
                self.p_adjusted.or(self.p).unwrap_or(1.0),
            ),
            Conclusion::Inconclusive => {
                let detectable = self.detectable.map(|size| {
                    let size = unit.format_size(size);
                    format!(
                        " With {pairs}, a change of about {size} either way would be detected (80% power)"
                    )
                });
                let power = detectable.map_or_else(String::new, |detectable| format!("{detectable}."));
                format!("No significant difference ({range}).{power}")
            }
        }
    }
}
