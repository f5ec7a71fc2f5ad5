//! The service over TLS, with its own certificate: HTTP/1.1 and HTTP/2.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::tests::client::{request_text, send};
use crate::tests::fixture::Setup;

const CERTIFICATE: &str = include_str!("tls/cert.pem");
const KEY: &str = include_str!("tls/key.pem");

fn setup() -> Setup {
    let mut setup = Setup::offline();
    setup.file("cert.pem", CERTIFICATE);
    setup.file("key.pem", KEY);
    setup.options.tls = Some(("cert.pem".into(), "key.pem".into()));
    setup
}

/// Performs a handshake as a client that trusts only this certificate and offers one protocol.
async fn shake(address: SocketAddr, protocol: &str, trusts: bool) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    if trusts {
        roots.add(CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap()).unwrap();
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];

    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("127.0.0.1").unwrap(), stream).await
}

#[tokio::test]
async fn a_request_is_graded_over_an_encrypted_connection() {
    let server = setup().start().await;
    let mut stream = shake(server.address, "http/1.1", true).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));

    let body = json!({"rubric": ["mentions apples"], "samples": [{"output": "apples"}]}).to_string();
    stream.write_all(&request_text("POST", "/v1/grade", &[], body.as_bytes())).await.unwrap();
    let mut reply = String::new();
    let _ = stream.read_to_string(&mut reply).await;
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"reward\":1.0"), "{reply}");
    server.ended().await;
}

#[tokio::test]
async fn http_2_is_agreed_on_in_the_handshake() {
    let server = setup().start().await;
    let mut stream = shake(server.address, "h2", true).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));

    // The client's preface with empty settings; the server answers with its own settings frame.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!((head[3], &head[5..]), (4, &[0, 0, 0, 0][..]), "a settings frame of the connection");
    drop(stream);
    server.ended().await;
}

#[tokio::test]
async fn clients_that_trust_somebody_else_or_speak_in_the_clear_get_nothing() {
    let server = setup().start().await;

    assert!(shake(server.address, "http/1.1", false).await.is_err());
    let plain = send(server.address, &request_text("GET", "/healthz", &[], b"")).await;
    assert_eq!(plain.status, 0, "{plain:?}");
    assert!(shake(server.address, "http/1.1", true).await.is_ok(), "others are served");
    server.ended().await;
}

#[tokio::test]
async fn what_is_no_certificate_and_a_key_of_another_are_refused_without_a_word_of_the_key() {
    for (file, text) in [("cert.pem", KEY), ("key.pem", CERTIFICATE), ("cert.pem", ""), ("key.pem", "x")] {
        let setup = setup();
        setup.file(file, text);
        let error = setup.bind_error().await;
        assert!(error.contains(".pem") && !error.contains("PRIVATE"), "{error}");
    }
}
