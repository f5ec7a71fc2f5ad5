//! A model server that costs as little as possible: it looks at nothing but where a request ends, and answers always the
//! same. `assize-bench mock LATENCY_MS [FILE]`; FILE takes every request, with its length before it.
//!
//! The mock server for tests reads and answers every wire format, which costs more than the calls that are measured here.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpSocket;

use super::wire::HttpMessages;

/// Connections that may wait to be taken.
const BACKLOG: u32 = 4096;

type RequestRecord = Option<Arc<Mutex<std::io::BufWriter<std::fs::File>>>>;

/// Serves until its standard input ends; the first line it prints is its port.
pub(crate) fn run(latency: &str, record: Option<&str>) -> Result<(), String> {
    let latency = Duration::from_millis(latency.parse().map_err(|_| "the latency is in milliseconds")?);
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
        // All connections of a measurement may be opened in one instant, and a queue that is too short resets some.
        let socket = TcpSocket::new_v4().map_err(|error| error.to_string())?;
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(any).map_err(|error| error.to_string())?;

        let listener = socket.listen(BACKLOG).map_err(|error| error.to_string())?;
        println!("{}", listener.local_addr().map_err(|error| error.to_string())?.port());

        let answer = Arc::new(answer());
        let (end, mut ended) = tokio::sync::oneshot::channel();

        // Ends with the one who started it, however that one ends.
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            let _ = end.send(());
        });

        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = &mut ended => break,
            };
            let Ok((stream, _)) = accepted else { continue };
            let (answer, record) = (Arc::clone(&answer), record.clone());
            tokio::spawn(async move {
                // A connection that breaks is the other side's to notice.
                let _ = serve(stream, latency, &answer, record).await;
            });
        }

        if let Some(record) = record {
            let mut file = record.lock().unwrap_or_else(PoisonError::into_inner);
            file.flush().map_err(|error| error.to_string())?;
        }

        Ok(())
    })
}

async fn serve(
    stream: tokio::net::TcpStream,
    latency: Duration,
    answer: &[u8],
    record: RequestRecord,
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

        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }

        to.write_all(answer).await?;
    }

    Ok(())
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
