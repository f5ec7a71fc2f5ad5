//! Who may see a page.

use assize_engine::ProcessContext;
use assize_view::{ViewError, ViewOptions, ViewServer};

use crate::support::{RUN, TOKEN, ViewTest};

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

#[test]
fn a_server_that_others_can_reach_needs_a_long_token() {
    let folder = ViewTest::empty();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let bind = |host: &str, token: Option<&str>| {
        let options = ViewOptions {
            host: host.parse().expect("an address"),
            port: Some(0),
            token: token.map(str::to_owned),
            ..ViewOptions::default()
        };
        let process = ProcessContext::new(folder.path().to_owned(), std::env::temp_dir(), || {
            jiff::Timestamp::UNIX_EPOCH
        });
        runtime.block_on(ViewServer::bind(options, process))
    };

    for token in [None, Some("short")] {
        let Err(error) = bind("0.0.0.0", token) else { panic!("it listens without a long token") };
        assert!(
            matches!(error, ViewError::NeedsToken { .. }) && error.to_string().contains("TLS"),
            "{error}"
        );
    }
    assert!(bind("0.0.0.0", Some("a-token-that-is-long")).is_ok());
    assert!(matches!(bind("127.0.0.1", Some("a b; Domain=x")), Err(ViewError::BadToken)));

    let first = bind("127.0.0.1", None).expect("it listens").url();
    let second = bind("127.0.0.1", None).expect("it listens").url();
    let token = |url: &str| url.rsplit_once("token=").map(|(_, token)| token.to_owned());
    assert_ne!(token(&first), token(&second));
    assert!(token(&first).is_some_and(|token| token.len() == 32), "{first}");
}
