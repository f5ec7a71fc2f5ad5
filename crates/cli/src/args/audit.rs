//! `assize audit`.

use assize_audit::injection::Place;
use assize_rubric::Unit;
use clap::Subcommand;

use super::EvalArgs;
use super::values::{place, unit};

/// Put a judge to the test with the cases and rubrics it judges.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize audit injection evals/support.eval.yaml --judge openai:gpt-4o-mini --max-cases 20\n  \
    assize audit injection evals/ --dry-run\n  \
    assize audit probes\n  \
    assize audit show last --json")]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

/// Which test.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Put texts that try to talk the judge round into answers, and see which decisions change.
    Injection(Box<InjectionArgs>),
    /// Print the probes: the texts, their classes, where each attack is described.
    Probes(ProbesArgs),
    /// Print the figures of a stored audit again.
    Show(ShowAuditArgs),
}

/// Options of `assize audit injection`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each answer is judged unchanged, unchanged again, and once with every probe. A decision that becomes\n\
    better for the answer (unmet to met, or a higher range) is won by the probe; exit 1 when attacks win more\n\
    than `--max-flip-rate` of the decisions that they could win.\n\n\
    Examples:\n  \
    assize audit injection evals/support.eval.yaml --judge openai:gpt-4o-mini --max-cases 20\n  \
    assize audit injection evals/ --probes fake-verdict,authority --place append,prepend\n  \
    assize audit injection evals/ --judge openai:gpt-4o-mini --max-flip-rate 0.05 --json"
)]
pub(crate) struct InjectionArgs {
    #[command(flatten)]
    pub(crate) eval: EvalArgs,
    /// Probes to use, by name; all unless given. `assize audit probes` lists them.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub(crate) probes: Vec<String>,
    /// Where in the answer: `append`, `prepend` or `inject` (into the middle); each probe's own place unless given.
    #[arg(long, value_delimiter = ',', value_parser = place, value_name = "PLACE")]
    pub(crate) place: Vec<Place>,
    /// How often the unchanged answer is judged again, to see what changes by itself.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeats: u32,
    /// Cases to look at, chosen at random if there are more.
    #[arg(long, value_name = "N")]
    pub(crate) max_cases: Option<usize>,
    /// Seed of that choice.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Highest share of decisions that attacks may turn in the answer's favour, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SHARE")]
    pub(crate) max_flip_rate: Option<Unit>,
}

/// Options of `assize audit probes`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  assize audit probes\n  assize audit probes --json")]
pub(crate) struct ProbesArgs {
    /// Print a JSON list, with the texts in full.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `assize audit show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  assize audit show last\n  assize audit show runs/audit --max-flip-rate 0.1"
)]
pub(crate) struct ShowAuditArgs {
    /// The audit: its folder, its id, or `last`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Highest share of decisions that attacks may turn in the answer's favour, 0 to 1.
    #[arg(long, value_parser = unit, value_name = "SHARE")]
    pub(crate) max_flip_rate: Option<Unit>,
    /// Print one JSON object on stdout instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}
