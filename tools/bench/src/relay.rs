//! A server that forwards each request and its reply: the minimum work of a program between clients and a judge, with
//! the libraries that `assize serve` uses. `assize-bench relay PORT`.

use std::io::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpSocket;
use tokio::sync::Mutex;

use super::load::connected;
use super::mock::{BACKLOG, until_input_ends};

/// Serves until its standard input ends; the first line it prints is its port. Each connection gets its own
/// connection to the judge.
pub(crate) fn run(port: &str) -> Result<(), String> {
    let judge: u16 = port.parse().map_err(|_| "the port is a number")?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4().map_err(|error| error.to_string())?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).map_err(|error| error.to_string())?;
        let listener = socket.listen(BACKLOG).map_err(|error| error.to_string())?;
        println!("{}", listener.local_addr().map_err(|error| error.to_string())?.port());

        let mut ended = until_input_ends();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = &mut ended => return Ok(()),
            };
            let Ok((stream, _)) = accepted else { continue };
            tokio::spawn(async move {
                let _ = stream.set_nodelay(true);
                // The other side notices a broken connection.
                let _ = pass_on(TokioIo::new(stream), judge).await;
            });
        }
    })
}

async fn pass_on(stream: TokioIo<tokio::net::TcpStream>, judge: u16) -> std::io::Result<()> {
    let (sender, connection) =
        handshake(TokioIo::new(connected(judge).await?)).await.map_err(Error::other)?;
    tokio::spawn(connection);

    let sender: Arc<Mutex<SendRequest<Full<Bytes>>>> = Arc::new(Mutex::new(sender));
    let service = service_fn(move |request: Request<Incoming>| {
        let sender = Arc::clone(&sender);
        async move {
            let (head, body) = request.into_parts();
            let request = Request::from_parts(head, Full::new(collected(body).await?));
            let (head, body) =
                sender.lock().await.send_request(request).await.map_err(Error::other)?.into_parts();
            Ok::<_, Error>(hyper::Response::from_parts(head, Full::new(collected(body).await?)))
        }
    });
    http1::Builder::new().serve_connection(stream, service).await.map_err(Error::other)
}

async fn collected(body: Incoming) -> std::io::Result<Bytes> {
    Ok(body.collect().await.map_err(Error::other)?.to_bytes())
}
