//! Connections to a server on this machine: reused, replaced when the server closes them, and their failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::{
    HeaderMap, HttpOptions, HttpRequest, HttpTransport, Method, Transport as _, TransportError, Url,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The connections that were made to a server, and those it has closed.
struct Connections {
    made: AtomicUsize,
    closed: AtomicUsize,
    /// A permit for each connection that it may close.
    may_close: Semaphore,
}

/// A server that answers a number of requests on each connection and then closes it silently. Returns its port
/// and its connections.
async fn server(answers: usize, answer: &'static str) -> (u16, Arc<Connections>) {
    let (port, connections) = server_that(answers, answer, false).await;
    connections.may_close.add_permits(1000);
    (port, connections)
}

/// The same, but it closes connections only with a permit, and resets them if `resets` is true.
async fn server_that(answers: usize, answer: &'static str, resets: bool) -> (u16, Arc<Connections>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (made, closed, may_close) = (AtomicUsize::new(0), AtomicUsize::new(0), Semaphore::new(0));
    let connections = Arc::new(Connections { made, closed, may_close });
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.made.fetch_add(1, Ordering::Relaxed);
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                for _ in 0..answers {
                    let mut request = Vec::new();
                    while !request.ends_with(b"the question") {
                        if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
                counted.may_close.acquire().await.unwrap().forget();
                if resets {
                    stream.set_zero_linger().unwrap();
                }
                drop(stream);
                counted.closed.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    (port, connections)
}

fn question(port: u16) -> HttpRequest {
    HttpRequest {
        method: Method::POST,
        url: Url::parse(&format!("http://localhost:{port}/v1?x=1")).unwrap(),
        headers: HeaderMap::new(),
        body: b"the question".to_vec(),
        timeout: Duration::from_secs(20),
    }
}

fn transport(max_answer_bytes: usize) -> HttpTransport {
    HttpTransport::new(HttpOptions { max_answer_bytes, ..HttpOptions::default() })
}

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine";

#[tokio::test]
async fn connections_are_reused_and_replaced_when_closed() {
    for (answers, connections) in [(usize::MAX, 1), (2, 3), (1, 6)] {
        let (port, counted) = server(answers, ANSWER).await;
        let client = transport(1 << 20);
        for attempt in 0..6 {
            let mut answer = client.send(question(port)).await;
            // The server may close the connection while the question is on its way. Retrying is up to the
            // caller.
            if let Err(TransportError::Broken(_)) = answer {
                answer = client.send(question(port)).await;
            }
            let answer = answer.unwrap();
            assert_eq!((answer.status, &*answer.body), (200, &b"fine"[..]), "{attempt}");
        }
        let counted = counted.made.load(Ordering::Relaxed);
        assert!(counted >= connections && (answers < usize::MAX || counted == 1), "{answers}: {counted}");
    }
}

#[tokio::test]
async fn idle_connection_closed_by_the_server_fails_no_request() {
    for resets in [false, true] {
        let (port, connections) = server_that(1, ANSWER, resets).await;
        let client = transport(1 << 20);
        for attempt in 1..=20 {
            let answer = client.send(question(port)).await.unwrap();
            assert_eq!(answer.body, b"fine", "{resets}");
            connections.may_close.add_permits(1);
            while connections.closed.load(Ordering::Relaxed) < attempt {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(connections.made.load(Ordering::Relaxed), 20, "{resets}");
    }
}

#[tokio::test]
async fn broken_answers_and_servers_that_are_not_there_are_told_apart() {
    let (port, _) = server(1, "HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\nfine").await;
    let cut_off = transport(1 << 20).send(question(port)).await.unwrap_err();
    assert!(matches!(cut_off, TransportError::Broken(_)), "{cut_off}");
    let small = transport(3);
    let (port, _) = server(1, ANSWER).await;
    assert_eq!(small.send(question(port)).await.unwrap_err(), TransportError::TooLarge(3));
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let refused = transport(1 << 20).send(question(nobody)).await.unwrap_err();
    assert!(matches!(&refused, TransportError::Connect(why) if why.contains("refused")), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_open_no_more_connections_than_are_in_flight() {
    const IN_FLIGHT: usize = 24;
    let (port, counted) = server(usize::MAX, ANSWER).await;
    let transport = Arc::new(transport(1 << 20).with_sockets(IN_FLIGHT));
    let senders = (0..100).map(|_| {
        let transport = Arc::clone(&transport);
        tokio::spawn(async move {
            for _ in 0..20 {
                transport.send(question(port)).await.unwrap();
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }

    let made = counted.made.load(Ordering::Relaxed);
    assert!((2..=IN_FLIGHT).contains(&made), "{made}");
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    // Answers anything in plain HTTP.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut hello = [0; 64];
            let _ = stream.read(&mut hello).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    });

    // A server that waits for more is given up after the connect timeout, not after the request's.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let options = HttpOptions { connect_timeout: Duration::from_millis(200), ..HttpOptions::default() };
    let transport = HttpTransport::new(options);
    for port in [port, silent_port] {
        let url = Url::parse(&format!("https://localhost:{port}/v1")).unwrap();
        let refused = transport.send(HttpRequest { url, ..question(port) }).await.unwrap_err();
        assert!(!refused.to_string().contains("20 s"), "the time for an answer did not pass: {refused}");
        assert!(
            matches!(&refused, TransportError::Connect(why) if why.contains("needs `http://`")),
            "{refused}"
        );
    }
}
