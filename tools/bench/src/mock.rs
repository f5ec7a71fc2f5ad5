//! A model server that costs as little as possible: it looks only for the end of each request and always sends
//! the same reply. `assize-bench mock LATENCY_MS [FILE]`; FILE receives every request, preceded by its length.
//! `assize-bench limited LATENCY_MS RATE BURST ASKED HEADERS RANDOM` refuses requests beyond a token bucket,
//! and a random share.
//!
//! The mock server for tests parses and answers every wire format, which costs more than the calls measured
//! here.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpSocket;

use super::wire::HttpMessages;

/// Connections that may wait to be accepted.
pub(super) const BACKLOG: u32 = 4096;

type RequestRecord = Option<Arc<Mutex<std::io::BufWriter<std::fs::File>>>>;

/// Serves until its standard input ends; the first line it prints is its port.
pub(crate) fn run(latency: &str, record: Option<&str>, limit: Option<RequestLimit>) -> Result<(), String> {
    let latency = Duration::from_millis(latency.parse().map_err(|_| "the latency is in milliseconds")?);
    let limit = limit.map(|limit| Arc::new(Mutex::new(limit)));
    let record: RequestRecord = match record {
        None => None,
        Some(path) => {
            let file = std::fs::File::create(path).map_err(|error| format!("{path}: {error}"))?;
            Some(Arc::new(Mutex::new(std::io::BufWriter::new(file))))
        }
    };

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        // A measurement may open all connections at the same instant, and a short queue would reset some.
        let socket = TcpSocket::new_v4().map_err(|error| error.to_string())?;
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(any).map_err(|error| error.to_string())?;

        let listener = socket.listen(BACKLOG).map_err(|error| error.to_string())?;
        println!("{}", listener.local_addr().map_err(|error| error.to_string())?.port());

        let answer = Arc::new(answer());
        let mut ended = until_input_ends();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = &mut ended => break,
            };
            let Ok((stream, _)) = accepted else { continue };
            let (answer, record, limit) = (Arc::clone(&answer), record.clone(), limit.clone());
            tokio::spawn(async move {
                // The other side notices a broken connection.
                let _ = serve(stream, latency, &answer, record, limit).await;
            });
        }

        if let Some(record) = record {
            let mut file = record.lock().unwrap_or_else(PoisonError::into_inner);
            file.flush().map_err(|error| error.to_string())?;
        }

        Ok(())
    })
}

/// Completes when standard input ends, so that a helper process always ends with its parent.
pub(super) fn until_input_ends() -> tokio::sync::oneshot::Receiver<()> {
    let (end, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = end.send(());
    });
    ended
}

async fn serve(
    stream: tokio::net::TcpStream,
    latency: Duration,
    answer: &[u8],
    record: RequestRecord,
    limit: Option<Arc<Mutex<RequestLimit>>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (from, mut to) = stream.into_split();
    let mut messages = HttpMessages::new(from);
    while let Some(request) = messages.next().await? {
        if let Some(record) = &record {
            let mut file = record.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(&(request.len() as u64).to_le_bytes())?;
            file.write_all(request)?;
        }

        let refusal =
            limit.as_ref().and_then(|limit| limit.lock().unwrap_or_else(PoisonError::into_inner).refusal());
        if let Some(refusal) = refusal {
            to.write_all(refusal.as_bytes()).await?;
            continue;
        }

        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }

        to.write_all(answer).await?;
    }

    Ok(())
}

/// Limit of requests: a token bucket, and random refusals.
pub(crate) struct RequestLimit {
    rate: f64,
    burst: f64,
    level: f64,
    at: Instant,
    asked: AskedPause,
    headers: bool,
    /// Refuses one request in this many at any rate; 0 for none.
    one_in: u64,
    random: u64,
}

/// How a refusal asks for a pause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AskedPause {
    None,
    Exact,
    WholeSeconds,
}

impl RequestLimit {
    /// Parses the words of a command line: RATE BURST ASKED HEADERS ONE_IN.
    pub(crate) fn parse([rate, burst, asked, headers, one_in]: [&str; 5]) -> Option<Self> {
        let burst = burst.parse().ok()?;
        let asked = match asked {
            "absent" => AskedPause::None,
            "exact" => AskedPause::Exact,
            "whole" => AskedPause::WholeSeconds,
            _ => return None,
        };
        Some(Self {
            rate: rate.parse().ok()?,
            burst,
            level: burst,
            at: Instant::now(),
            asked,
            headers: headers == "headers",
            one_in: one_in.parse().ok()?,
            random: 0x9E37_79B9_7F4A_7C15,
        })
    }

    /// The refusal of a request; `None` if it is admitted.
    fn refusal(&mut self) -> Option<String> {
        let now = Instant::now();
        self.level = (self.level + (now - self.at).as_secs_f64() * self.rate).min(self.burst);
        self.at = now;

        // Xorshift (Marsaglia 2003): the same refusals in every measurement.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let is_unlucky = self.one_in > 0 && self.random.is_multiple_of(self.one_in);
        if self.level >= 1.0 && !is_unlucky {
            self.level -= 1.0;
            return None;
        }

        let wait = (1.0 - self.level).max(0.0) / self.rate;
        let asked = match self.asked {
            AskedPause::None => String::new(),
            AskedPause::Exact => format!("retry-after-ms: {}\r\n", (wait * 1e3).ceil()),
            AskedPause::WholeSeconds => format!("retry-after: {}\r\n", wait.ceil().max(1.0)),
        };
        let reported = if self.headers {
            format!(
                "x-ratelimit-limit-requests: {}\r\nx-ratelimit-remaining-requests: {}\r\n\
                 x-ratelimit-reset-requests: {}ms\r\n",
                self.burst,
                self.level.floor(),
                ((self.burst - self.level) / self.rate * 1e3).ceil()
            )
        } else {
            String::new()
        };

        Some(format!("HTTP/1.1 429 Too Many Requests\r\n{asked}{reported}content-length: 2\r\n\r\n{{}}"))
    }
}

/// A decision in the chat format, as a server sends it.
fn answer() -> Vec<u8> {
    let content = r#"{"evidence":[],"reason":"The answer says so in its second sentence.","outcome":"met"}"#;
    let body = serde_json::json!({
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "bench-1",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": content, "refusal": null },
            "logprobs": null,
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 600, "completion_tokens": 30, "total_tokens": 630,
                   "prompt_tokens_details": { "cached_tokens": 0 } },
    })
    .to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
