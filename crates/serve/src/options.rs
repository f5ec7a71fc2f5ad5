//! Options of a server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Options of a server. Judges, cache and budget are those of the [`RunOptions`](assize_engine::RunOptions) beside them.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address and port; port 0 for a free one.
    pub listen: SocketAddr,
    /// Folder of named rubrics.
    pub rubrics: Option<PathBuf>,
    /// File of keys. Without one nobody needs a key, and only this machine can reach the server.
    pub keys: Option<PathBuf>,
    /// Certificate chain and private key, PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// True if a proxy before the server encrypts the connections of clients.
    pub behind_proxy: bool,
    /// Names by which a proxy or other machines reach the server.
    pub names: Vec<String>,
    /// Samples that are graded at once; as many as keep all permitted requests in flight unless given.
    pub samples_at_once: Option<usize>,
    /// Samples that are accepted at once, those that are graded included. More are refused with 429.
    pub queue: usize,
    /// Time for requests in flight to finish once the server is told to stop. What is not decided then is ungraded.
    pub grace: Duration,
    /// Export of results to a collector of OpenTelemetry.
    pub telemetry: TelemetryOptions,
    /// Limits of requests.
    pub limits: RequestLimits,
}

/// Export of results as OpenTelemetry events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetryOptions {
    /// Address of a collector for OTLP over HTTP; that of the environment's `OTEL_EXPORTER_OTLP_ENDPOINT` without it.
    pub endpoint: Option<String>,
    /// Sends answers, and reasons of judges, which may quote them.
    pub texts: bool,
}

/// Limits of requests. What exceeds one is refused with an error that names it.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Bytes of the bodies of all requests that are being received or worked on; those of one body if that is more.
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
    /// Time until the headers of a request are there, and until a new connection sends its first request.
    pub header_time: Duration,
    /// Time until its body is there.
    pub body_time: Duration,
    /// Time in which a client must take something of a reply.
    pub stall_time: Duration,
    /// Connections at once.
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
            queue: 10_000,
            grace: Duration::from_secs(30),
            telemetry: TelemetryOptions::default(),
            limits: RequestLimits::default(),
        }
    }
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_bytes: 16 << 20,
            bodies_bytes: 1 << 30,
            nesting: 64,
            samples: 4_096,
            rubric_bytes: 1 << 20,
            criteria: 256,
            calls_per_sample: 1_024,
            name_bytes: 256,
            header_time: Duration::from_secs(30),
            body_time: Duration::from_mins(1),
            stall_time: Duration::from_mins(1),
            connections: 4_096,
        }
    }
}
