//! Access to pages.

use crate::{TlsIdentity, ViewError, ViewOptions, ViewServer};
use assize_engine::ProcessContext;

use crate::tests::support::{RUN, TOKEN, ViewTest};

const PATHS: [&str; 5] = ["/", "/trend", "/runs/x/cases", "/assets/0/view.css", "/nope"];

#[test]
fn nobody_sees_anything_without_the_token() {
    let test = ViewTest::with_runs();
    for path in PATHS {
        for cookie in ["", "Cookie: a=b", "Cookie: assize_view_1=token-of-a-test-1234"] {
            let reply = test.request(
                "GET",
                path,
                &["Host: 127.0.0.1", cookie].map(|line| if line.is_empty() { "X: y" } else { line }),
            );
            assert_eq!(reply.status, 403, "{path} {cookie}");
            assert!(!reply.body.contains(TOKEN) && !reply.body.contains(RUN), "{}", reply.body);
        }

        let wrong = format!("Cookie: {}={TOKEN}x", test.cookie_name());
        assert_eq!(test.request("GET", path, &["Host: 127.0.0.1", &wrong]).status, 403, "{path}");
        assert_eq!(test.request("GET", &format!("{path}?token=wrong"), &["Host: 127.0.0.1"]).status, 403);
    }
}

#[test]
fn the_token_becomes_a_cookie_and_leaves_the_address() {
    let test = ViewTest::with_runs();
    let path = format!("/runs/{RUN}/cases?verdict=fail&token={TOKEN}");
    let reply = test.request("GET", &path, &["Host: localhost"]).expect(303);
    assert_eq!(reply.header("location"), format!("/runs/{RUN}/cases?verdict=fail"));

    let cookie = reply.header("set-cookie");
    assert!(cookie.starts_with(&format!("{}={TOKEN}; ", test.cookie_name())), "{cookie}");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
}

#[test]
fn names_that_lead_here_from_elsewhere_are_refused() {
    let test = ViewTest::with_runs();
    let cookie = format!("Cookie: {}={TOKEN}", test.cookie_name());
    for host in ["Host: evil.example", "Host: 127.0.0.1.evil.example", "Host: 192.0.2.1", "X: no-host"] {
        let status = test.request("GET", "/", &[host, &cookie]).status;
        assert!(status == 421 || status == 400, "{host}: {status}");
    }
    test.request("GET", "/", &["Host: [::1]:80", &cookie]).expect(200);
}

#[test]
fn pages_can_only_be_read() {
    let test = ViewTest::with_runs();
    let cookie = format!("Cookie: {}={TOKEN}", test.cookie_name());
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        test.request(method, "/", &["Host: localhost", &cookie, "Content-Length: 0"]).expect(405);
    }
    let head = test.request("HEAD", "/", &["Host: localhost", &cookie]).expect(200);
    assert!(head.body.is_empty());
}

#[test]
fn every_reply_forbids_scripts_of_others() {
    let test = ViewTest::with_runs();
    let replies =
        PATHS.iter().map(|path| test.get(path)).chain([test.request("GET", "/", &["Host: localhost"])]);
    for reply in replies {
        let policy = reply.header("content-security-policy");
        for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("referrer-policy"), "no-referrer");
        assert_eq!(reply.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(reply.header("cache-control"), "no-store");
    }
}

const LONG_TOKEN: &str = "a-token-that-is-long";

fn bind(options: ViewOptions) -> Result<ViewServer, ViewError> {
    let folder = ViewTest::empty();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let process =
        ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), || jiff::Timestamp::UNIX_EPOCH);
    runtime.block_on(ViewServer::bind(ViewOptions { port: Some(0), ..options }, process))
}

fn everywhere(token: Option<&str>) -> ViewOptions {
    let host = "0.0.0.0".parse().expect("an address");
    ViewOptions { host, token: token.map(str::to_owned), ..ViewOptions::default() }
}

fn identity() -> TlsIdentity {
    TlsIdentity {
        certificate: include_bytes!("tls/cert.pem").to_vec(),
        key: include_bytes!("tls/key.pem").to_vec(),
    }
}

fn refusal(options: ViewOptions) -> String {
    match bind(options) {
        Ok(_) => panic!("it listens"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_server_that_others_can_reach_needs_a_long_token_and_encryption() {
    for token in [None, Some("short")] {
        let tls = Some(identity());
        let error = refusal(ViewOptions { tls, ..everywhere(token) });
        assert!(error.contains("ASSIZE_VIEW_TOKEN to a secret of at least 16"), "{error}");
    }

    let error = refusal(everywhere(Some(LONG_TOKEN)));
    assert!(error.contains("--tls-cert") && error.contains("--behind-proxy"), "{error}");

    let server =
        bind(ViewOptions { tls: Some(identity()), ..everywhere(Some(LONG_TOKEN)) }).expect("it listens");
    assert!(server.url().starts_with("https://127.0.0.1:"), "{}", server.url());
    let names = vec!["runs.example".to_owned()];
    let proxied = ViewOptions { behind_proxy: true, names, ..everywhere(Some(LONG_TOKEN)) };
    assert!(bind(proxied).expect("it listens").url().starts_with("https://runs.example/?token="));
}

#[test]
fn what_is_no_certificate_or_no_key_is_refused() {
    let TlsIdentity { certificate, key } = identity();
    let other = include_bytes!("tls/cert.pem").map(|byte| byte ^ 1).to_vec();
    for (certificate, key, wanted) in [
        (key.clone(), key.clone(), "holds none"),
        (other, key.clone(), "certificate"),
        (certificate.clone(), certificate.clone(), "no unencrypted private key"),
        (certificate, Vec::new(), "no unencrypted private key"),
    ] {
        let tls = Some(TlsIdentity { certificate, key });
        let error = refusal(ViewOptions { tls, ..ViewOptions::default() });
        assert!(error.contains(wanted) && !error.contains("PRIVATE"), "{wanted}: {error}");
    }
}

#[test]
fn tokens_are_plain_and_random_unless_given() {
    let bad = ViewOptions { token: Some("a b; Domain=x".to_owned()), ..ViewOptions::default() };
    assert!(matches!(bind(bad), Err(ViewError::BadToken)));

    let [first, second] = [0, 1].map(|_| bind(ViewOptions::default()).expect("it listens").url());
    let token = |url: &str| url.rsplit_once("token=").map(|(_, token)| token.to_owned());
    assert_ne!(token(&first), token(&second));
    assert!(token(&first).is_some_and(|token| token.len() == 32), "{first}");
}

#[test]
fn a_proxy_is_believed_about_encryption_and_names_only_where_it_is_announced() {
    let mut test = ViewTest::empty();
    test.write_run(RUN, assize_rubric::Outcome::Met);
    let names = vec!["runs.example".to_owned()];
    test.serve_with(ViewOptions { behind_proxy: true, names, ..ViewOptions::default() });

    let cookie = format!("Cookie: {}={TOKEN}", test.cookie_name());
    let plain = ["Host: runs.example", &cookie, "X-Forwarded-Proto: http"];
    test.request("GET", "/", &plain).expect(403);
    test.request("GET", "/", &["Host: runs.example", &cookie, "X-Forwarded-Proto: https"]).expect(200);
    let admitted = test.request("GET", &format!("/?token={TOKEN}"), &["Host: runs.example"]).expect(303);
    assert!(admitted.header("set-cookie").ends_with("; Secure"), "{}", admitted.head);

    // The proxy may pass this machine as the host; the page in the browser still has the public name.
    let body = r#"{"who": "ann", "what": "random"}"#;
    let path = format!("/runs/{RUN}/review");
    for (origin, wanted) in
        [("https://runs.example", 200), ("http://runs.example", 403), ("https://evil.example", 403)]
    {
        let headers = [&format!("Origin: {origin}"), "X-Assize-Page: 1"];
        assert_eq!(test.post_with(TOKEN, &path, body, &headers).status, wanted, "{origin}");
    }

    let unannounced = ViewTest::with_runs();
    let headers = ["Origin: https://runs.example", "X-Assize-Page: 1"];
    assert_eq!(unannounced.post_with(TOKEN, &path, body, &headers).status, 403);
}

#[test]
fn pages_travel_encrypted_and_a_client_that_says_nothing_holds_up_nobody() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    let mut test = ViewTest::empty();
    test.write_run(RUN, assize_rubric::Outcome::Met);
    test.serve_with(ViewOptions { tls: Some(identity()), ..ViewOptions::default() });
    let silent = std::net::TcpStream::connect(test.address()).expect("it listens");
    let mut plain = std::net::TcpStream::connect(test.address()).expect("it listens");
    std::io::Write::write_all(&mut plain, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").expect("it reads");

    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(&identity().certificate).expect("a certificate");
    roots.add(certificate).expect("it can be trusted");
    let provider = std::sync::Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let address = test.address();
    let reply = test.block_on(async move {
        let stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
        let name = ServerName::try_from("127.0.0.1").expect("a name");
        let connector = TlsConnector::from(std::sync::Arc::new(config));
        let mut stream = connector.connect(name, stream).await.expect("it is encrypted");
        let request = format!("GET /?token={TOKEN} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut reply = Vec::new();
        // Servers may close a connection without a TLS goodbye.
        let _ = stream.read_to_end(&mut reply).await;
        String::from_utf8(reply).expect("text")
    });
    assert!(reply.starts_with("HTTP/1.1 303") && reply.contains("; Secure"), "{reply}");
    drop((silent, plain));
}
