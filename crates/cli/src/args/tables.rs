//! Options of commands that read tables of labels.

use std::path::PathBuf;

use assize_analysis::ResamplingOptions;
use assize_analysis::labels::{ColumnMapping, OutcomeSpellings};
use assize_stats::ConfidenceLevel;
use assize_stats::agreement::RatingScale;
use assize_table::TextEncoding;

use super::headings::{ADVANCED, OUTPUT, SELECTION};
use super::values::{amount, share};

/// Options for reading tables and computing intervals.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Column names, such as `case=item_id`; repeatable.
    ///
    /// Several with commas between them: `case=item_id,label=verdict`.
    #[arg(long, alias = "column", value_parser = ColumnMapping::parse, value_name = "NAME=COLUMN", help_heading = SELECTION)]
    pub(crate) columns: Vec<ColumnMapping>,
    /// Spelling of outcomes, such as `met=1,unmet=0`.
    ///
    /// Also of `not_applicable`.
    #[arg(long, value_parser = OutcomeSpellings::parse, value_name = "OUTCOME=TEXT", help_heading = SELECTION)]
    pub(crate) values: Option<OutcomeSpellings>,
    /// Encoding of a CSV or TSV table, such as `gbk` or `windows-1252`.
    ///
    /// Without it, tables are UTF-8, or UTF-16, which is recognised.
    #[arg(long, value_parser = TextEncoding::parse, value_name = "NAME", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) encoding: Option<TextEncoding>,
    /// Possible scores, such as `0..10` or `1,2,3,4`.
    #[arg(long, value_parser = scale, value_name = "SCORES", help_heading = SELECTION)]
    pub(crate) scale: Option<RatingScale>,
    /// Print JSON instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Confidence level of every interval.
    #[arg(long, value_parser = level, default_value = "0.95", value_name = "SHARE", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) level: ConfidenceLevel,
    /// Bootstrap resamples.
    #[arg(long, default_value_t = ResamplingOptions::default().resamples, value_name = "N", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) resamples: usize,
    /// Random seed.
    #[arg(long, default_value_t = ResamplingOptions::default().seed, value_name = "N", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) seed: u64,
}

impl TableArgs {
    /// Settings of confidence intervals.
    pub(crate) const fn resampling(&self) -> ResamplingOptions {
        ResamplingOptions { resamples: self.resamples, seed: self.seed, level: self.level }
    }
}

/// Options of `assize calibrate agreement`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A row has one label, or a list of labels of several raters. Leave missing ratings empty.\n\n\
    Examples:\n  \
    assize calibrate agreement labels/*.jsonl\n  \
    assize calibrate agreement ratings.csv \\\n      \
    --columns case=text_id,criterion=question,label=score,who=annotator \\\n      \
    --scale 1..4\n  \
    assize calibrate agreement judged.jsonl \\\n      \
    --columns case=idx,label=gpt4_score,system=model --json"
)]
pub(crate) struct AgreementArgs {
    /// Tables of ratings: labels files, JSON lines, CSV, TSV, XLSX or Parquet.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// Options of `assize calibrate criteria`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Criteria that at least five answers have in common are compared: those of a rubric that many cases share. \
    Several runs are several answers.\n\n\
    Examples:\n  \
    assize calibrate criteria last\n  \
    assize calibrate criteria last~2 last~1 last\n  \
    assize calibrate criteria judged.csv \\\n      \
    --columns case=id,criterion=rule,label=verdict"
)]
pub(crate) struct CriteriaArgs {
    /// Stored runs; or tables with a decision on each criterion of each case.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// Options of `assize calibrate drift`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Anchors are answers that several runs judged by the same criteria: those of a suite whose answers are in the \
    file. Decisions from the reply cache are not counted, since no judge made them again (`assize eval --no-cache`).\n\n\
    Examples:\n  \
    assize calibrate drift runs/may runs/june runs/july\n  \
    assize calibrate drift last~9 last~5 last --fail-on-drift"
)]
pub(crate) struct DriftArgs {
    /// Stored runs, the oldest first.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<String>,
    /// Only the anchors of this suite.
    #[arg(long, value_name = "NAME", help_heading = SELECTION)]
    pub(crate) suite: Option<String>,
    /// Exit with 1 if the judge changed significantly.
    #[arg(long)]
    pub(crate) fail_on_drift: bool,
    /// Print JSON instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// Options of `assize calibrate panel`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Takes three raters or more, most of them better than guessing, whose errors are independent given the \
    truth. Pairs that err together are named if there are four or more.\n\n\
    Examples:\n  \
    assize calibrate panel last\n  \
    assize calibrate panel votes.jsonl --columns case=id,who=model,label=verdict"
)]
pub(crate) struct PanelRatesArgs {
    /// One stored run with a panel; or tables with the verdicts of several raters.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// Options of `assize calibrate noise`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A row has a list of scores of one answer, or one list for each of several answers; a failed score is \
    null. If several judges or prompts scored, each row names its own in `who` and `prompt`. Or a row has one score (`label`) of one \
    judge, and repeats are further rows. For a stored run, the variance is split into cases, answers to a case, and decisions on an \
    answer (`assize eval --judge-repeats N`). If several judges or prompts decided, the error of the mean is split into cases, \
    judges, prompts and their interactions.\n\n\
    Examples:\n  \
    assize calibrate noise judged.jsonl --columns scores=gpt4_score\n  \
    assize calibrate noise last\n  \
    assize calibrate noise last --width 0.05\n  \
    assize calibrate noise votes.csv \\\n      \
    --columns case=id,who=model,prompt=version,label=verdict\n  \
    assize calibrate noise best-of-four.jsonl \\\n      \
    --columns case=id,scores=full_scores --right 0 -k 1,3,8"
)]
pub(crate) struct NoiseArgs {
    /// Tables of repeated scores, or of the decisions of several judges; or stored runs of the same answers.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Position of the right answer in each row, from 0.
    #[arg(long, value_name = "PLACE")]
    pub(crate) right: Option<usize>,
    /// Average the first N scores of each row.
    #[arg(short, value_delimiter = ',', default_value = "1", value_parser = at_least_one, value_name = "N,…")]
    pub(crate) k: Vec<usize>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Find the cheapest design of this interval width.
    ///
    /// The full width of the interval.
    #[arg(long, value_parser = share, value_name = "X", help_heading = ADVANCED)]
    pub(crate) width: Option<f64>,
    /// Cost of an answer, in judge calls.
    #[arg(long, default_value_t = 1.0, value_parser = amount, value_name = "CALLS", requires = "width", help_heading = ADVANCED)]
    pub(crate) answer_cost: f64,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a whole number from 1".to_owned())
}

fn level(text: &str) -> Result<ConfidenceLevel, String> {
    let level = text.parse().map_err(|_| "expected a number such as 0.95".to_owned())?;
    ConfidenceLevel::new(level).map_err(|error| error.to_string())
}

/// `0..10`, both ends included, or a list.
pub(super) fn scale(text: &str) -> Result<RatingScale, String> {
    let usage = || "expected a range of whole numbers such as 0..10, or a list such as 1,2,3,4".to_owned();
    let points: Vec<f64> = match text.split_once("..") {
        Some((low, high)) => {
            let (low, high): (i32, i32) =
                (low.trim().parse().map_err(|_| usage())?, high.trim().parse().map_err(|_| usage())?);
            if high.saturating_sub(low) > 1_000 {
                return Err("a scale has at most 1,001 scores".to_owned());
            }

            (low..=high).map(f64::from).collect()
        }
        None => text
            .split(',')
            .map(|point| point.trim().parse().map_err(|_| usage()))
            .collect::<Result<_, _>>()?,
    };
    if points.len() < 2 {
        Err(usage())
    } else {
        RatingScale::new(points).map_err(|reason| reason.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_ranges_or_lists() {
        assert_eq!(scale("0..10").map(|scale| scale.len()), Ok(11));
        assert_eq!(scale("4, 1,2").map(|scale| scale.points().to_vec()), Ok(vec![1.0, 2.0, 4.0]));
        for wrong in ["5", "10..0", "a..b", "0..2000000", ""] {
            assert!(scale(wrong).is_err(), "{wrong}");
        }
    }
}
