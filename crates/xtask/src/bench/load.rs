//! The yardstick: recorded requests sent again, byte for byte, by something that does nothing else. It reads no answer
//! beyond its end. `xtask bench-load PORT FILE IN_FLIGHT`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::wire::Messages;

/// Sends every request of the file, so many at a time, each connection one after another. Prints the seconds it took.
pub(crate) fn run(port: &str, file: &str, in_flight: &str) -> Result<(), String> {
    let port: u16 = port.parse().map_err(|_| "the port is a number")?;
    let in_flight: usize = in_flight.parse().map_err(|_| "the number in flight is a number")?;
    let requests = Arc::new(read(file)?);
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let next = Arc::new(AtomicUsize::new(0));
        let begun = Instant::now();
        let senders: Vec<_> = (0..in_flight)
            .map(|_| tokio::spawn(send(port, Arc::clone(&requests), Arc::clone(&next))))
            .collect();
        for sender in senders {
            sender.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        }
        println!("{}", begun.elapsed().as_secs_f64());
        Ok(())
    })
}

async fn send(port: u16, requests: Arc<Vec<Vec<u8>>>, next: Arc<AtomicUsize>) -> std::io::Result<()> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let (from, mut to) = stream.into_split();
    let mut answers = Messages::new(from);
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        to.write_all(request).await?;
        let answer = answers.next().await?.unwrap_or_default();
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err(std::io::Error::other("an answer is missing or refused"));
        }
    }
    Ok(())
}

/// The recorded requests: each with its length in 8 bytes before it.
pub(super) fn read(file: &str) -> Result<Vec<Vec<u8>>, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let mut rest = &bytes[..];
    let mut requests = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<8>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((request, after)) = after.split_at_checked(length) else {
            return Err(format!("{file}: the record is cut off"));
        };
        requests.push(request.to_vec());
        rest = after;
    }
    Ok(requests)
}
