//! `assize calibrate`.

use std::path::PathBuf;

use assize_analysis::calibrate::{CalibrationGate, GateBasis, TruthRule};
use assize_rubric::LabelSplit;
use clap::{ArgAction, Subcommand};

use super::PowerArgs;
use super::headings::{ADVANCED, GATES, JUDGE, OUTPUT, SELECTION};
use super::tables::{AgreementArgs, CriteriaArgs, DriftArgs, NoiseArgs, PanelRatesArgs, TableArgs};
use super::values::{LABEL_SPLITS, OptionValues, one_of};

/// Values of `--gate-on`.
const GATE_BASES: &OptionValues<GateBasis> = &[
    ("estimate", GateBasis::Estimate, "The metric itself"),
    ("lower", GateBasis::Lower, "The lower end of its interval; for shares, Clopper and Pearson's"),
];

/// Values of `--reading`; true for the likeliest score.
const READINGS: &OptionValues<bool> =
    &[("expected", false, "Its mean"), ("likeliest", true, "Its most likely score")];

/// Values of `--truth`.
const TRUTH_RULES: &OptionValues<TruthRule> = &[
    ("agreed", TruthRule::Agreed, "Labels of items on which people agree, every score"),
    ("each", TruthRule::Each, "Every label by itself"),
    ("consensus", TruthRule::Consensus, "The majority of verdicts, the mean of scores"),
];

/// Values of `--cluster`; true for items.
const CLUSTERS: &OptionValues<bool> =
    &[("case", false, "Cases (or the column `cluster`)"), ("item", true, "Each criterion of each case")];

/// `assize calibrate`, by itself or with one of its commands.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "With a run, its verdicts are measured against the labels. Without one, the tables also hold the \
    judge's verdicts (a column `judge`, `probability` or `probabilities`).\n\n\
    Labels that the judge was tuned on or shown (`split` train or example) are excluded by default. A \
    limit that is not reached ends with exit code 1.\n\n\
    Examples:\n  \
    assize calibrate last --labels labels/\n  \
    assize calibrate last --labels labels/ --min-kappa 0.6 --gate-on lower\n  \
    assize calibrate --labels judged.csv \\\n      \
    --columns case=id,criterion=rule,label=human,judge=model\n  \
    assize calibrate --labels labels.jsonl --judge-is gpt-6-sol\n  \
    assize calibrate last --sensitivity 69/81 --specificity 268/285\n  \
    assize calibrate --pairs --labels pairs.jsonl\n  \
    assize calibrate --rescale --labels judged.jsonl"
)]
pub(crate) struct CalibrateCommandArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CalibrateCommand>,
    #[command(flatten)]
    pub(crate) calibrate: CalibrateArgs,
}

/// Measurements without a judge to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum CalibrateCommand {
    /// Measure how well raters agree with each other.
    Agreement(AgreementArgs),
    /// Find criteria that measure nothing, or duplicate another.
    Criteria(CriteriaArgs),
    /// Distinguish a changed judge from a changed system, by answers judged in every run.
    Drift(DriftArgs),
    /// Measure the variance of scores over repeats.
    Noise(NoiseArgs),
    /// Estimate the error rates of judges from their votes alone, without labels.
    Panel(PanelRatesArgs),
    /// Compute the sample size you need.
    Power(PowerArgs),
}

/// Options of `assize calibrate`.
#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// Run: folder, id or `last`; without one, the labels files hold the judge's verdicts.
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Labels: files, or folders of them.
    #[arg(long, short = 'l', value_name = "FILE", num_args = 1.., help_heading = SELECTION)]
    pub(crate) labels: Vec<PathBuf>,
    /// Name of the rater that is the judge.
    #[arg(long, value_name = "NAME", conflicts_with = "run", help_heading = SELECTION)]
    pub(crate) judge_is: Option<String>,
    /// Count only labels of this split.
    #[arg(long, value_parser = one_of(LABEL_SPLITS), value_name = "PART", conflicts_with = "holdout", help_heading = SELECTION)]
    pub(crate) split: Option<LabelSplit>,
    /// Measure on this share of the cases.
    ///
    /// Chosen by id.
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = SELECTION)]
    pub(crate) holdout: Option<f64>,
    /// Exclude a case the judge saw as an example; repeatable.
    #[arg(long, value_name = "CASE", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) exclude: Vec<String>,
    /// Read preferences between two answers.
    ///
    /// Each in both orders. Its columns are `preferred`, `first` and `second`.
    #[arg(long, conflicts_with_all = ["run", "judge_is", "holdout", "split", "sensitivity"], help_heading = SELECTION)]
    pub(crate) pairs: bool,
    /// Lowest probability that counts as `met`.
    #[arg(long, default_value_t = 0.5, value_name = "P", help_heading = JUDGE)]
    pub(crate) threshold: f64,
    /// Score to take from a distribution.
    ///
    /// A distribution of probabilities over scores.
    #[arg(long = "reading", action = ArgAction::Set, value_parser = one_of(READINGS), default_value = "expected", value_name = "HOW", help_heading = JUDGE, hide_short_help = true)]
    pub(crate) likeliest: bool,
    /// Truth where several people gave labels.
    #[arg(long, value_parser = one_of(TRUTH_RULES), default_value = "agreed", value_name = "WHAT", help_heading = JUDGE)]
    pub(crate) truth: TruthRule,
    /// Unit to treat as independent.
    #[arg(long = "cluster", action = ArgAction::Set, value_parser = one_of(CLUSTERS), default_value = "case", value_name = "UNIT", help_heading = JUDGE)]
    pub(crate) items_independent: bool,
    /// Fit the judge's scores to people's labels.
    ///
    /// Fits a line to scores or Platt's curve to probabilities, and an isotonic regression. Reports cross-validated errors, a
    /// threshold for probabilities and conformal intervals for scores.
    #[arg(long, conflicts_with_all = ["pairs", "sensitivity"], help_heading = JUDGE)]
    pub(crate) rescale: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Print all measures of agreement, and explain them.
    #[arg(long, short = 'v', help_heading = OUTPUT)]
    pub(crate) verbose: bool,
    /// Advantage granted to a judge that replaces a person [default: 0.15].
    ///
    /// The judge may win on this share of items less than the person: about 0.2 for experts, 0.15 for skilled annotators and
    /// 0.1 for crowd workers, because they cost that much more.
    #[arg(long, value_parser = epsilon, value_name = "X", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) epsilon: Option<f64>,
    /// Treat the labelled cases as a random sample, whatever their labels say.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) assume_random: bool,
    /// Known sensitivity: of truly met criteria, how many the judge finds met.
    ///
    /// As a count, `69/81`; or as a share, `0.85`, which gives no interval.
    #[arg(long, value_parser = known_rate, value_name = "K/N", requires = "specificity", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) sensitivity: Option<KnownRate>,
    /// Known specificity: of truly unmet criteria, how many the judge finds unmet.
    #[arg(long, value_parser = known_rate, value_name = "K/N", requires = "sensitivity", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) specificity: Option<KnownRate>,
}

/// Metrics that a judge must reach.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = GATES)]
pub(crate) struct LimitArgs {
    /// Minimum Cohen's kappa of verdicts.
    #[arg(long, value_parser = limit, allow_hyphen_values = true, value_name = "X", conflicts_with = "pairs")]
    min_kappa: Option<f64>,
    /// Minimum Gwet's AC1 of verdicts.
    #[arg(long, value_parser = limit, allow_hyphen_values = true, value_name = "X", conflicts_with = "pairs")]
    min_ac1: Option<f64>,
    /// Minimum raw agreement of verdicts.
    #[arg(long, value_parser = limit, value_name = "X", conflicts_with = "pairs")]
    min_accuracy: Option<f64>,
    /// Minimum balanced accuracy of verdicts.
    ///
    /// The mean of sensitivity and specificity.
    #[arg(long, value_parser = limit, value_name = "X", conflicts_with = "pairs")]
    min_balanced_accuracy: Option<f64>,
    /// Minimum share of met items judged met.
    ///
    /// Met by people's labels.
    #[arg(long, value_parser = limit, value_name = "X", conflicts_with = "pairs")]
    min_sensitivity: Option<f64>,
    /// Minimum share of unmet items judged unmet.
    ///
    /// Unmet by people's labels.
    #[arg(long, value_parser = limit, value_name = "X", conflicts_with = "pairs")]
    min_specificity: Option<f64>,
    /// Minimum mean F1 of met and unmet.
    #[arg(long, value_parser = limit, value_name = "X", conflicts_with = "pairs", hide_short_help = true)]
    min_macro_f1: Option<f64>,
    /// Minimum Matthews' correlation of verdicts.
    #[arg(long, value_parser = limit, allow_hyphen_values = true, value_name = "X", conflicts_with = "pairs", hide_short_help = true)]
    min_mcc: Option<f64>,
    /// Minimum Spearman's correlation of scores.
    #[arg(long, value_parser = limit, allow_hyphen_values = true, value_name = "X", conflicts_with = "pairs", hide_short_help = true)]
    min_spearman: Option<f64>,
    /// Minimum quadratic kappa of scores.
    #[arg(long, value_parser = limit, allow_hyphen_values = true, value_name = "X", conflicts_with = "pairs", hide_short_help = true)]
    min_quadratic_kappa: Option<f64>,
    /// Basis: estimate or lower.
    ///
    /// On the metric, or on the lower end of its interval.
    #[arg(long, value_parser = one_of(GATE_BASES), default_value = "estimate", value_name = "WHAT")]
    pub(crate) gate_on: GateBasis,
}

impl LimitArgs {
    /// The limits given.
    pub(crate) fn requests(&self) -> Vec<CalibrationGate> {
        [
            ("kappa", self.min_kappa),
            ("ac1", self.min_ac1),
            ("accuracy", self.min_accuracy),
            ("balanced_accuracy", self.min_balanced_accuracy),
            ("sensitivity", self.min_sensitivity),
            ("specificity", self.min_specificity),
            ("macro_f1", self.min_macro_f1),
            ("mcc", self.min_mcc),
            ("spearman", self.min_spearman),
            ("kappa_quadratic", self.min_quadratic_kappa),
        ]
        .into_iter()
        .filter_map(|(figure, least)| Some(CalibrationGate { figure, least: least? }))
        .collect()
    }
}

/// A rate known from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KnownRate {
    /// The share.
    pub(crate) rate: f64,
    /// From how many; 0 if that is not known.
    pub(crate) n: u64,
}

fn known_rate(text: &str) -> Result<KnownRate, String> {
    let usage = || "expected K of N such as 69/81, or a share such as 0.85".to_owned();
    if let Some((part, whole)) = text.split_once('/') {
        let (part, n): (u64, u64) =
            (part.trim().parse().map_err(|_| usage())?, whole.trim().parse().map_err(|_| usage())?);
        if n == 0 || part > n {
            return Err(usage());
        }

        return Ok(KnownRate { rate: part as f64 / n as f64, n });
    }

    share(text).map(|rate| KnownRate { rate, n: 0 }).map_err(|_| usage())
}

fn share(text: &str) -> Result<f64, String> {
    let within = |share: &f64| (0.0..=1.0).contains(share);
    text.parse().ok().filter(within).ok_or_else(|| "expected a share from 0 to 1, such as 0.3".to_owned())
}

fn epsilon(text: &str) -> Result<f64, String> {
    let within = |share: &f64| (0.0..=0.5).contains(share);
    text.parse().ok().filter(within).ok_or_else(|| "expected a share from 0 to 0.5, such as 0.15".to_owned())
}

fn limit(text: &str) -> Result<f64, String> {
    let within = |limit: &f64| (-1.0..=1.0).contains(limit);
    text.parse().ok().filter(within).ok_or_else(|| "expected a number from -1 to 1, such as 0.6".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_rates_are_counts_or_shares() {
        assert_eq!(known_rate("69/81"), Ok(KnownRate { rate: 69.0 / 81.0, n: 81 }));
        assert_eq!(known_rate("0.85"), Ok(KnownRate { rate: 0.85, n: 0 }));
        for wrong in ["85", "9/8", "1/0", "x", "-0.1"] {
            assert!(known_rate(wrong).is_err(), "{wrong}");
        }
    }
}
