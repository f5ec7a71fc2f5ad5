//! `assize serve`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use assize_engine::{RunOptions, UnknownPrice};
use assize_rubric::{TruncationMode, UnitInterval, Usd};
use assize_serve::{KeyQuotas, RequestLimits, ServeOptions, TelemetryOptions};

use super::eval::UNKNOWN_PRICES;
use super::headings::{ADVANCED, JUDGE, LIMITS};
use super::judges::JudgeArgs;
use super::spending::SpendingArgs;
use super::values::{duration, one_of, truncate, unit, usd};

/// Grade over HTTP: rewards for training, scores for other programs.
///
/// Clients send a rubric, or the name of one of `--rubrics`, and samples to POST /v1/grade; the reply has a score, its bounds and
/// the decision on each criterion. All clients share the limits, the budget and the reply cache of this process. Ctrl-C or
/// SIGTERM ends it once every sample that was accepted is answered.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    assize serve\n  \
    assize serve --rubrics rubrics/ --judge openai:gpt-6-luna --budget-usd 50\n  \
    assize serve key new trainer --budget-usd 20\n  \
    assize serve --listen 0.0.0.0:8418 --keys .assize/serve-keys.json \\\n      \
    --behind-proxy --name grading.example.com\n\n\
    Trainers reach it as POST /get_reward (OpenRLHF), /slime, /verify (NeMo Gym), /lambda (AWS) and \
    /v1/fine_tuning/alpha/graders/run (OpenAI graders). GET /v1/openapi.json describes the rest."
)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
    /// Address and port.
    ///
    /// Port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8418")]
    listen: SocketAddr,
    /// Folder of rubrics and scorecards.
    ///
    /// Requests name them. The folder is read again when it changes.
    #[arg(long, value_name = "DIR")]
    rubrics: Option<PathBuf>,
    /// File of client keys.
    ///
    /// `assize serve key new NAME` adds one.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// TLS certificate chain, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Leave TLS to a proxy in front of the server.
    #[arg(long, conflicts_with = "tls_cert")]
    behind_proxy: bool,
    /// Host name for clients; repeatable.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    #[command(flatten)]
    judges: JudgeArgs,
    /// Pass threshold, 0 to 1.
    ///
    /// Overrides rubrics.
    #[arg(long, value_parser = unit, value_name = "SCORE", help_heading = JUDGE)]
    threshold: Option<UnitInterval>,
    /// Borderline threshold, 0 to 1.
    ///
    /// Overrides rubrics.
    #[arg(long, value_parser = unit, value_name = "SCORE", help_heading = JUDGE)]
    borderline: Option<UnitInterval>,
    #[command(flatten)]
    spending: SpendingArgs,
    /// Send results to this OpenTelemetry collector.
    ///
    /// As events, by OTLP over HTTP.
    #[arg(long, value_name = "URL", help_heading = ADVANCED)]
    otlp: Option<String>,
    /// Include answers and judges' reasons in those events.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    otlp_texts: bool,
    /// Treatment of models without a known price under `--budget-usd`, of the server and of keys.
    #[arg(
        long, value_parser = one_of(UNKNOWN_PRICES), default_value = "refuse", value_name = "WHAT",
        help_heading = LIMITS, hide_short_help = true
    )]
    budget_unknown_price: UnknownPrice,
    /// Grade N samples of each client at once.
    ///
    /// Default: enough to keep every permitted request in flight.
    #[arg(long, short = 'j', value_name = "N", help_heading = LIMITS)]
    workers: Option<NonZeroUsize>,
    /// Samples accepted at once.
    ///
    /// More are refused with 429.
    #[arg(long, value_name = "N", default_value = "10000", help_heading = LIMITS)]
    queue: NonZeroUsize,
    /// Time to finish at shutdown.
    ///
    /// For samples in flight.
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "30s", help_heading = LIMITS)]
    grace: Duration,
    /// Maximum concurrent requests per account [default: 256].
    #[arg(long, hide_short_help = true, value_name = "N", help_heading = LIMITS)]
    max_concurrency: Option<NonZeroUsize>,
    /// Maximum requests per minute and account.
    #[arg(long, hide_short_help = true, value_name = "N", help_heading = LIMITS)]
    requests_per_minute: Option<NonZeroU32>,
    /// Maximum input and output tokens per minute and account.
    #[arg(long, value_name = "N", help_heading = LIMITS, hide_short_help = true)]
    tokens_per_minute: Option<NonZeroU32>,
    /// Timeout of a model request [default: 3m].
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = LIMITS)]
    request_timeout: Option<Duration>,
    /// Largest request body, in MiB.
    #[arg(long, value_name = "MIB", default_value = "16", help_heading = LIMITS, hide_short_help = true)]
    max_body: NonZeroU32,
    /// Assume that models have a context of N tokens.
    #[arg(long, value_name = "N", help_heading = ADVANCED, hide_short_help = true)]
    context_tokens: Option<NonZeroU64>,
    /// Cut material too long for a judge: `head`, `tail`, `middle`, `chunk` or `never`.
    #[arg(long, value_parser = truncate, value_name = "MODE", help_heading = ADVANCED, hide_short_help = true)]
    truncate: Option<TruncationMode>,
    /// No notices; warnings and errors remain.
    #[arg(long, short = 'q', help_heading = ADVANCED)]
    pub(crate) quiet: bool,
}

/// Manage what the server needs.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ServeCommand {
    /// Create, list and revoke client keys.
    #[command(after_help = "Examples:\n  assize serve key new trainer\n  assize serve key list")]
    Key {
        #[command(subcommand)]
        action: KeyAction,
    },
}

/// Actions on keys.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum KeyAction {
    /// Make a key and print it once; only its hash is stored.
    #[command(after_help = "Examples:\n  \
        assize serve key new trainer\n  \
        assize serve key new ci --requests-per-minute 60 --samples-in-flight 100 \\\n      \
        --budget-usd 5")]
    New {
        /// Name of the client: metrics show it, and its cached replies belong to it.
        #[arg(value_name = "NAME")]
        name: String,
        /// File of the keys.
        #[arg(long, value_name = "FILE", default_value_os_t = assize_serve::KeyFile::default_path())]
        keys: PathBuf,
        /// Show all clients in `GET /metrics`.
        ///
        /// Other keys see their own amounts.
        #[arg(long)]
        operator: bool,
        #[command(flatten)]
        quotas: QuotaArgs,
    },
    /// List the keys by name, with their limits.
    #[command(after_help = "Examples:\n  assize serve key list")]
    List {
        /// File of the keys.
        #[arg(long, value_name = "FILE", default_value_os_t = assize_serve::KeyFile::default_path())]
        keys: PathBuf,
    },
    /// Remove a key; a running server refuses it within seconds.
    #[command(after_help = "Examples:\n  assize serve key remove trainer")]
    Remove {
        /// Name of the client.
        #[arg(value_name = "NAME")]
        name: String,
        /// File of the keys.
        #[arg(long, value_name = "FILE", default_value_os_t = assize_serve::KeyFile::default_path())]
        keys: PathBuf,
    },
}

/// Limits of a client.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct QuotaArgs {
    /// Requests it may send in a minute.
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    requests_per_minute: Option<NonZeroU32>,
    /// Samples that it may have in flight.
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    samples_in_flight: Option<NonZeroUsize>,
    /// US dollars it may spend.
    ///
    /// As long as the server runs. Samples in flight are finished.
    #[arg(long, value_parser = usd, value_name = "DOLLARS", help_heading = LIMITS)]
    budget_usd: Option<Usd>,
}

impl QuotaArgs {
    /// Typed limits of these flags.
    pub(crate) fn quotas(&self) -> KeyQuotas {
        KeyQuotas {
            requests_per_minute: self.requests_per_minute.map(NonZeroU32::get),
            samples_in_flight: self.samples_in_flight.map(NonZeroUsize::get),
            budget_usd: self.budget_usd,
        }
    }
}

impl ServeArgs {
    /// Typed options of the server.
    pub(crate) fn options(&self) -> ServeOptions {
        let limits = RequestLimits {
            body_bytes: (self.max_body.get() as usize).saturating_mul(1 << 20),
            ..RequestLimits::default()
        };

        ServeOptions {
            listen: self.listen,
            rubrics: self.rubrics.clone(),
            keys: self.keys.clone(),
            tls: self.tls_cert.clone().zip(self.tls_key.clone()),
            behind_proxy: self.behind_proxy,
            names: self.name.clone(),
            samples_at_once: self.workers.map(NonZeroUsize::get),
            queue: self.queue.get(),
            grace: self.grace,
            telemetry: TelemetryOptions { endpoint: self.otlp.clone(), texts: self.otlp_texts },
            limits,
        }
    }

    /// Typed options of judging.
    pub(crate) fn run_options(&self) -> RunOptions {
        RunOptions {
            workers: self.workers,
            max_concurrency: self.max_concurrency,
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            request_timeout: self.request_timeout,
            spending: self.spending.options(),
            unknown_price: self.budget_unknown_price,
            context_tokens: self.context_tokens,
            truncate: self.truncate,
            threshold: self.threshold,
            borderline: self.borderline,
            ..self.judges.options()
        }
    }
}
