//! A plain client with one connection for each request, so that tests see every byte.

use std::fmt::Write as _;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A reply, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Messages of the problems with their places.
    pub(crate) fn problems(&self) -> Vec<(String, String)> {
        let json = self.json();
        let list = json["error"]["problems"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        list.iter().map(|problem| (text(&problem["path"]), text(&problem["message"]))).collect()
    }

    pub(crate) fn kind(&self) -> String {
        self.json()["error"]["type"].as_str().unwrap_or_default().to_owned()
    }
}

/// Text of a request with a body.
pub(crate) fn request_text(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let has = |name: &str| headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
    if !has("host") {
        text.push_str("Host: localhost\r\n");
    }
    if method == "POST" && !has("content-type") {
        text.push_str("Content-Type: application/json\r\n");
    }
    for (key, value) in headers {
        let _ = write!(text, "{key}: {value}\r\n");
    }
    let _ = write!(text, "Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());

    [text.as_bytes(), body].concat()
}

/// Sends bytes and reads the reply to its end. If the connection closes without a reply, the status is 0.
pub(crate) async fn send(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    // A server that refuses a body closes the connection while the body is being sent.
    let _ = stream.write_all(bytes).await;
    read_reply(&mut stream).await
}

pub(crate) async fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).expect("replies are UTF-8");
    let Some((headers, body)) = text.split_once("\r\n\r\n") else {
        return Reply { status: 0, headers: text, body: String::new() };
    };

    let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let is_chunked = headers.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunk(body) } else { body.to_owned() };
    Reply { status, headers: headers.to_owned(), body }
}

fn unchunk(mut text: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        if size == 0 || rest.len() < size {
            break;
        }
        body.push_str(&rest[..size]);
        text = rest[size..].trim_start_matches("\r\n");
    }

    body
}
