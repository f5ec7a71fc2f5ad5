//! Exports results as OpenTelemetry events to a collector, over OTLP/HTTP. Failures of the export never affect
//! grading.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assize_engine::{EngineError, ProcessContext};
use assize_llm::{HttpOptions, HttpProxies, HttpRequest, HttpTransport, Method, Transport};
use assize_report::EventOrigin;
use assize_store::CaseRecord;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use url::Url;

use crate::options::{OperatorLog, TelemetryOptions};

/// Maximum number of samples whose events wait to be sent. Events of other samples are dropped.
const MAX_WAITING: usize = 4_096;
/// Maximum number of samples in one request to the collector.
const BATCH: usize = 128;
/// How long to wait for more samples before a request is sent.
const BATCH_WAIT: Duration = Duration::from_secs(1);
/// Time limit of a request, and of the last requests when the server ends.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Failures are reported to the operator at most once in this time.
const REPORT_INTERVAL: Duration = Duration::from_mins(1);
/// Longest answer that is sent, in characters, if answers are sent.
const MAX_ANSWER: usize = 8_000;
/// Path of log records below the address of a collector.
const LOGS: &str = "v1/logs";

/// Trace and span of a request, from its header `traceparent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TraceParent {
    trace: String,
    span: String,
}

impl TraceParent {
    /// Parses the header as the W3C recommendation defines it; `None` for anything else.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get("traceparent")?.to_str().ok()?;
        let mut fields = text.split('-');
        let (version, trace, span) = (fields.next()?, fields.next()?, fields.next()?);
        let is_id = |id: &str, digits: usize| {
            id.len() == digits
                && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                && id.bytes().any(|byte| byte != b'0')
        };

        (version.len() == 2 && version != "ff" && is_id(trace, 32) && is_id(span, 16))
            .then(|| Self { trace: trace.to_owned(), span: span.to_owned() })
    }
}

/// Sends events in the background.
pub(crate) struct TelemetryExporter {
    queue: Mutex<Option<mpsc::Sender<Vec<Value>>>>,
    sending: Mutex<Option<JoinHandle<()>>>,
    counts: Arc<TelemetryCounts>,
    clock: fn() -> jiff::Timestamp,
    has_texts: bool,
}

/// Number of samples by the fate of their events.
#[derive(Default)]
pub(crate) struct TelemetryCounts {
    pub(crate) sent: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

impl TelemetryExporter {
    /// Exporter to the collector of the options, or of the environment; `None` without either.
    ///
    /// # Errors
    /// When the address or a header can't be used.
    pub(crate) fn new(
        options: &TelemetryOptions,
        process: &ProcessContext,
        log: OperatorLog,
    ) -> Result<Option<Self>, EngineError> {
        let Some(url) = endpoint(options, process)? else { return Ok(None) };
        let mut headers = extra_headers(process)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));

        let proxies = Some(HttpProxies::from_env(&|name| process.variable(name)));
        let collector = Collector {
            transport: HttpTransport::new(HttpOptions { proxies, ..HttpOptions::default() }),
            url,
            headers,
            counts: Arc::default(),
            log,
            last_report: None,
        };
        let (queue, waiting) = mpsc::channel(MAX_WAITING);
        let counts = Arc::clone(&collector.counts);

        Ok(Some(Self {
            queue: Mutex::new(Some(queue)),
            sending: Mutex::new(Some(tokio::spawn(collector.send_all(waiting)))),
            counts,
            clock: process.clock(),
            has_texts: options.texts,
        }))
    }

    /// Queues the events of a sample. If the queue is full, they are dropped.
    pub(crate) fn export(
        &self,
        client: &str,
        config_hash: &str,
        trace: Option<&TraceParent>,
        record: &CaseRecord,
    ) {
        let origin = EventOrigin {
            attributes: &[("assize.client.name", client), ("assize.judge.config_hash", config_hash)],
            span: trace.map(|parent| (parent.trace.as_str(), parent.span.as_str())),
            reasons: self.has_texts,
            ..ORIGIN
        };
        let mut events = origin.events(record, (self.clock)().as_nanosecond());
        if let (true, Some(answer)) = (self.has_texts, &record.result.answer)
            && let Some(attributes) = events[0]["attributes"].as_array_mut()
        {
            let answer: String = answer.chars().take(MAX_ANSWER).collect();
            attributes.push(json!({ "key": "assize.answer.text", "value": { "stringValue": answer } }));
        }

        let queue = self.queue.lock();
        if queue.as_ref().is_none_or(|queue| queue.try_send(events).is_err()) {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn counts(&self) -> &TelemetryCounts {
        &self.counts
    }

    /// Sends the queued events, within the time limit of a request.
    pub(crate) async fn close(&self) {
        drop(self.queue.lock().take());
        let sending = self.sending.lock().take();
        if let Some(sending) = sending {
            let _ = tokio::time::timeout(TIMEOUT, sending).await;
        }
    }
}

/// Origin for events that are not about one sample.
const ORIGIN: EventOrigin<'static> = EventOrigin {
    version: env!("CARGO_PKG_VERSION"),
    attributes: &[],
    span: None,
    reasons: false,
    graders: true,
};

/// Connection to a collector.
struct Collector {
    transport: HttpTransport,
    url: Url,
    headers: HeaderMap,
    counts: Arc<TelemetryCounts>,
    log: OperatorLog,
    /// When a failure was last reported to the operator.
    last_report: Option<Instant>,
}

impl Collector {
    /// Sends events as they come, until the queue is closed.
    async fn send_all(mut self, mut waiting: mpsc::Receiver<Vec<Value>>) {
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(first) = waiting.recv().await {
            batch.push(first);
            let more = async {
                while batch.len() < BATCH
                    && let Some(events) = waiting.recv().await
                {
                    batch.push(events);
                }
            };
            // Events that came in time are sent; the rest wait in the queue.
            let _ = tokio::time::timeout(BATCH_WAIT, more).await;
            self.send(std::mem::take(&mut batch)).await;
        }
    }

    async fn send(&mut self, batch: Vec<Vec<Value>>) {
        let samples = batch.len() as u64;
        let body = ORIGIN.request(batch.into_iter().flatten().collect()).to_string().into_bytes();
        let call = HttpRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body,
            timeout: TIMEOUT,
        };
        let failure = match self.transport.send(call).await {
            Ok(answer) if (200..300).contains(&answer.status) => {
                self.counts.sent.fetch_add(samples, Ordering::Relaxed);
                return;
            }
            Ok(answer) => format!("it answered with status {}", answer.status),
            Err(error) => error.to_string(),
        };

        self.counts.dropped.fetch_add(samples, Ordering::Relaxed);
        if self.last_report.is_none_or(|last_report| last_report.elapsed() >= REPORT_INTERVAL) {
            self.last_report = Some(Instant::now());
            let host = self.url.host_str().unwrap_or_default();
            (self.log)(&format!("events of {samples} samples did not reach the collector {host}: {failure}"));
        }
    }
}

/// The address that log records are sent to.
fn endpoint(options: &TelemetryOptions, process: &ProcessContext) -> Result<Option<Url>, EngineError> {
    let variable = |name: &str| process.variable(name).filter(|value| !value.trim().is_empty());
    let (written, source, is_whole) = if let Some(written) = &options.endpoint {
        (written.clone(), "--otlp", false)
    } else if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
        return Ok(None);
    } else if let Some(written) = variable("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT") {
        (written, "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", true)
    } else if let Some(written) = variable("OTEL_EXPORTER_OTLP_ENDPOINT") {
        (written, "OTEL_EXPORTER_OTLP_ENDPOINT", false)
    } else {
        return Ok(None);
    };

    // The address may contain credentials, so the message does not repeat it.
    let unusable = || {
        EngineError::usage(format!(
            "the address of `{source}` can't be used; expected one such as http://localhost:4318"
        ))
    };
    let mut url = Url::parse(written.trim()).map_err(|_| unusable())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(unusable());
    }
    if !is_whole && !url.path().ends_with(LOGS) {
        let path = format!("{}/{LOGS}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }

    Ok(Some(url))
}

/// Headers from `OTEL_EXPORTER_OTLP_HEADERS`, such as `api-key=...,tenant=...`.
fn extra_headers(process: &ProcessContext) -> Result<HeaderMap, EngineError> {
    let mut headers = HeaderMap::new();
    let written = process.variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    for pair in written.split(',').filter(|pair| !pair.trim().is_empty()) {
        let read = pair.split_once('=').and_then(|(name, value)| {
            let value =
                url::form_urlencoded::parse(format!("v={}", value.trim().replace('+', "%2B")).as_bytes())
                    .next()
                    .map(|(_, value)| value.into_owned())?;
            Some((name.trim().parse::<HeaderName>().ok()?, HeaderValue::from_str(&value).ok()?))
        });
        let Some((name, mut value)) = read else {
            return Err(EngineError::usage(
                "OTEL_EXPORTER_OTLP_HEADERS can't be used; expected `name=value` pairs with commas between them",
            ));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }

    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_as_the_recommendation_has_it_and_from_nothing_else() {
        let read = |text: &str| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("traceparent"),
                HeaderValue::from_str(text).unwrap(),
            )]);
            TraceParent::from_headers(&headers)
        };
        let found = read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").unwrap();
        assert_eq!((&*found.trace, &*found.span), ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"));
        for wrong in [
            "",
            "00",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
