//! `assize audit`.

use std::num::NonZeroUsize;

use assize_audit::injection::InsertPosition;
use assize_engine::audit::ProbingOptions;
use assize_rubric::UnitInterval;
use clap::Subcommand;

use super::EvalArgs;
use super::headings::SELECTION;
use super::help_end::rare_beside_eval;
use super::values::{named, place, unit};

/// Test a judge with the cases and rubrics it judges.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize audit injection evals/support.eval.yaml --judge openai:gpt-6-luna \\\n      \
    --max-cases 20\n  \
    assize audit injection evals/ --dry-run\n  \
    assize audit order evals/ --judge openai:gpt-6-luna\n  \
    assize audit length evals/ --judge openai:gpt-6-luna --max-shift 0.05\n  \
    assize audit probes\n  \
    assize audit show last --json")]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

/// Tests of a judge.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Test whether instructions hidden in answers change decisions.
    Injection(Box<InjectionArgs>),
    /// Test whether the order of criteria changes decisions.
    Order(Box<OrderArgs>),
    /// Test whether the length of answers changes scores.
    Length(Box<LengthArgs>),
    /// Test whether judges prefer answers of their own model family.
    #[command(name = "self")]
    OwnFamily(Box<SelfArgs>),
    /// Print the probes with their classes and sources.
    Probes(ProbesArgs),
    /// Print the metrics of a stored audit again.
    Show(ShowAuditArgs),
}

/// Options of `assize audit injection`.
#[derive(Debug, clap::Args)]
#[command(
    mut_args(rare_beside_eval),
    mut_arg("max_cases", |argument| argument.help_heading(SELECTION)),
    after_help = "Each answer is judged unchanged, unchanged again, and once with every probe. A probe wins a decision \
    that changes in the answer's favour (unmet to met, or to a higher range). The exit code is 1 when \
    attacks win more than `--max-flip-rate` of the decisions that they could win.\n\n\
    Examples:\n  \
    assize audit injection evals/support.eval.yaml --judge openai:gpt-6-luna \\\n      \
    --max-cases 20\n  \
    assize audit injection evals/ --probes fake-verdict,authority \\\n      \
    --place append,prepend\n  \
    assize audit injection evals/ --judge openai:gpt-6-luna \\\n      \
    --max-flip-rate 0.05 --json"
)]
pub(crate) struct InjectionArgs {
    #[command(flatten)]
    pub(crate) eval: EvalArgs,
    /// Only these probes (see `assize audit probes`).
    #[arg(long, value_delimiter = ',', value_name = "NAME", help_heading = SELECTION)]
    pub(crate) probes: Vec<String>,
    /// Place: `append`, `prepend` or `inject`.
    ///
    /// In the answer. Default: each probe's own.
    #[arg(long, value_delimiter = ',', value_parser = place, value_name = "PLACE", help_heading = SELECTION)]
    pub(crate) place: Vec<InsertPosition>,
    #[command(flatten)]
    pub(crate) probing: ProbingArgs,
    /// Fail if attacks flip more than this.
    ///
    /// The mean over all attacks counts, and each probe that is shown to flip more.
    #[arg(long, value_parser = unit, value_name = "SHARE")]
    pub(crate) max_flip_rate: Option<UnitInterval>,
}

/// Options of audits that compare decisions.
#[derive(Debug, clap::Args)]
pub(crate) struct ProbingArgs {
    /// Judge unchanged answers N more times.
    ///
    /// To measure the judge's own noise.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeats: u32,
    /// Audit at most N cases, chosen at random.
    #[arg(long, value_name = "N")]
    pub(crate) max_cases: Option<NonZeroUsize>,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// Options of `assize audit order`.
#[derive(Debug, clap::Args)]
#[command(
    mut_args(rare_beside_eval),
    after_help = "All criteria of a rubric go into one call (or as many as `--judging batched:N` allows): in the \
    author's order, in the same order again, reversed, and in random orders.\n\n\
    Examples:\n  \
    assize audit order evals/support.eval.yaml --judge openai:gpt-6-luna \\\n      \
    --max-cases 20\n  \
    assize audit order evals/ --judge openai:gpt-6-luna --permutations 5 \\\n      \
    --max-flip-rate 0.05 --json"
)]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    pub(crate) eval: EvalArgs,
    #[command(flatten)]
    pub(crate) probing: ProbingArgs,
    /// Try N other orders of each rubric.
    ///
    /// The reverse order, then random ones.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = permutations, help_heading = SELECTION)]
    pub(crate) permutations: usize,
    /// Fail if other orders change more than this.
    ///
    /// A share of the decisions.
    #[arg(long, value_parser = unit, value_name = "SHARE")]
    pub(crate) max_flip_rate: Option<UnitInterval>,
}

impl ProbingArgs {
    /// Typed options of these flags, with the limit of the audit.
    pub(crate) fn options(&self, limit: Option<UnitInterval>) -> ProbingOptions {
        ProbingOptions {
            repeats: self.repeats,
            max_cases: self.max_cases.map(NonZeroUsize::get),
            seed: self.seed,
            limit: limit.map(UnitInterval::get),
        }
    }
}

/// A number of orders.
fn permutations(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| (1..=100).contains(number));
    number.ok_or_else(|| "expected a whole number from 1 to 100".to_owned())
}

/// Options of `assize audit length`.
#[derive(Debug, clap::Args)]
#[command(
    mut_args(rare_beside_eval),
    after_help = "Each answer is judged unchanged, unchanged again, framed by courtesies, repeated twice, and trimmed \
    of courtesies, repeated paragraphs and blank space. Edits that leave an answer unchanged are not \
    counted.\n\n\
    Examples:\n  \
    assize audit length evals/support.eval.yaml --judge openai:gpt-6-luna \\\n      \
    --max-cases 20\n  \
    assize audit length evals/ --judge openai:gpt-6-luna --max-shift 0.05 --json"
)]
pub(crate) struct LengthArgs {
    #[command(flatten)]
    pub(crate) eval: EvalArgs,
    #[command(flatten)]
    pub(crate) probing: ProbingArgs,
    /// Fail if an edit shifts the mean score by more.
    ///
    /// Than this, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "X")]
    pub(crate) max_shift: Option<UnitInterval>,
}

/// Options of `assize audit self`.
#[derive(Debug, clap::Args)]
#[command(
    mut_args(rare_beside_eval),
    after_help = "Every judge judges the answers of every target. The family of a judge or target is detected from its \
    model name; set others with `--family`. What can't be measured from the data is reported as such.\n\n\
    Examples:\n  \
    assize audit self evals/ --target gpt --target claude \\\n      \
    --judge openai:gpt-6-luna --judge anthropic:claude-haiku-5-5\n  \
    assize audit self evals/ --target a --target b --judge j --judge k \\\n      \
    --family a=x --family j=x --family b=y --family k=y"
)]
pub(crate) struct SelfArgs {
    #[command(flatten)]
    pub(crate) eval: EvalArgs,
    #[command(flatten)]
    pub(crate) probing: ProbingArgs,
    /// Model family of a judge or target; repeatable.
    #[arg(long, value_parser = named, value_name = "NAME=FAMILY", help_heading = SELECTION)]
    pub(crate) family: Vec<(String, String)>,
    /// Fail if self-preference exceeds this, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "X")]
    pub(crate) max_preference: Option<UnitInterval>,
}

/// Options of `assize audit probes`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  assize audit probes\n  assize audit probes --json")]
pub(crate) struct ProbesArgs {
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `assize audit show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  assize audit show last\n  assize audit show runs/audit --max-flip-rate 0.1"
)]
pub(crate) struct ShowAuditArgs {
    /// Audit: folder, id or `last`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Fail above this share, shift or preference.
    ///
    /// Share of changed decisions, score shift or self-preference. Alias: `--limit`.
    #[arg(long, alias = "limit", value_parser = unit, value_name = "SHARE")]
    pub(crate) max_flip_rate: Option<UnitInterval>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
