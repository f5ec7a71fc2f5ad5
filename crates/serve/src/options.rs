//! Options of a server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a server. Judges, cache and budget are in the [`RunOptions`](assize_engine::RunOptions).
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address and port; port 0 for a free one.
    pub listen: SocketAddr,
    /// Folder of named rubrics.
    pub rubrics: Option<PathBuf>,
    /// Key file. `None`: no key is needed, and only this machine can reach the server.
    pub keys: Option<PathBuf>,
    /// Certificate chain and private key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// True if a proxy in front of the server encrypts the connections of clients.
    pub behind_proxy: bool,
    /// Names under which a proxy or other machines reach the server.
    pub names: Vec<String>,
    /// Number of samples graded at once; by default enough to keep all permitted requests in flight.
    pub samples_at_once: Option<usize>,
    /// Number of samples accepted at once, including those being graded. More are refused with 429.
    pub queue: usize,
    /// How long requests in flight may run after the server is stopped. Criteria without a decision by then are
    /// ungraded.
    pub grace: Duration,
    /// Export of results to an OpenTelemetry collector.
    pub telemetry: TelemetryOptions,
    /// Limits of requests.
    pub limits: RequestLimits,
}

/// Export of results as OpenTelemetry events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetryOptions {
    /// Address of a collector for OTLP over HTTP; `None` uses the environment's `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub endpoint: Option<String>,
    /// Sends answers, and judges' reasons, which may quote answers.
    pub texts: bool,
}

/// Limits of requests. A request that exceeds one is refused with an error that names the limit.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Bytes of the bodies of all requests being received or graded together; at least the size of one body.
    pub bodies_bytes: usize,
    /// Levels of nesting of a body.
    pub nesting: usize,
    /// Samples of a request.
    pub samples: usize,
    /// Bytes of a rubric or scorecard in a request.
    pub rubric_bytes: usize,
    /// Criteria of a rubric in a request.
    pub criteria: usize,
    /// Judge calls of one sample by a rubric in a request: criteria times judges times repeats.
    pub calls_per_sample: usize,
    /// Bytes of an id, a group, an idempotency key.
    pub name_bytes: usize,
    /// Time limit for the headers of a request, and for a new connection to send its first request.
    pub header_time: Duration,
    /// Time limit for the body.
    pub body_time: Duration,
    /// Time limit for a client to take something of a reply.
    pub stall_time: Duration,
    /// Number of connections at once.
    pub connections: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8418)),
            rubrics: None,
            keys: None,
            tls: None,
            behind_proxy: false,
            names: Vec::new(),
            samples_at_once: None,
            queue: assize_limits::QUEUED_SAMPLES,
            grace: Duration::from_secs(30),
            telemetry: TelemetryOptions::default(),
            limits: RequestLimits::default(),
        }
    }
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_bytes: assize_limits::BODY_BYTES,
            bodies_bytes: assize_limits::BODIES_BYTES,
            nesting: assize_limits::BODY_NESTING,
            samples: assize_limits::REQUEST_SAMPLES,
            rubric_bytes: assize_limits::REQUEST_RUBRIC_BYTES,
            criteria: assize_limits::REQUEST_CRITERIA,
            calls_per_sample: assize_limits::REQUEST_CALLS_PER_SAMPLE,
            name_bytes: assize_limits::REQUEST_NAME_BYTES,
            header_time: assize_limits::HEADER_TIME,
            body_time: assize_limits::BODY_TIME,
            stall_time: assize_limits::STALL_TIME,
            connections: assize_limits::CONNECTIONS,
        }
    }
}

/// Receives messages for the operator, one line each.
pub(crate) type OperatorLog = Arc<dyn Fn(&str) + Send + Sync>;
