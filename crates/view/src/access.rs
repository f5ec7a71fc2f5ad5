//! Rules of access: the token, the host that a request names, and the headers of every reply.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;
use url::form_urlencoded;

/// Policy of every page: nothing but the program's own files, no inline script or style, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Key of the token in the address that is opened first.
const TOKEN_KEY: &str = "token";

/// Rules of access of a server.
#[derive(Debug, Clone)]
pub(crate) struct AccessRules {
    pub(crate) token: Arc<str>,
    /// Port, which the name of the cookie holds: cookies are shared between all servers of a host.
    pub(crate) port: u16,
    /// True if it listens on this machine only.
    pub(crate) is_local: bool,
    /// Names by which others may reach it.
    pub(crate) hosts: Arc<[String]>,
}

impl AccessRules {
    fn cookie_name(&self) -> String {
        format!("assize_view_{}", self.port)
    }

    /// Compares in a time that does not depend on where the texts differ: equality of hashes is constant-time.
    fn is_token(&self, given: &str) -> bool {
        blake3::hash(given.as_bytes()) == blake3::hash(self.token.as_bytes())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(key, value)| key == name && self.is_token(value))
    }

    /// A page of another site can have its name lead here, but not change the name that the browser sends. An address in
    /// numbers is nobody's name.
    fn is_host_allowed(&self, host: &str) -> bool {
        let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let name = name.map_or(host, |(name, _)| name);
        let address: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();

        if let Some(address) = address {
            return !self.is_local || address.is_loopback();
        }

        let is_named = |known: &String| known.eq_ignore_ascii_case(name);
        name.eq_ignore_ascii_case("localhost") || self.hosts.iter().any(is_named)
    }

    /// The reply to a request that is not let through to a page; `None` for one that is.
    fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        if !host.is_some_and(|host| self.is_host_allowed(host)) {
            let text = "The request names a host that this server does not answer for.";
            return Some((StatusCode::MISDIRECTED_REQUEST, text).into_response());
        }
        if method != Method::GET && method != Method::HEAD {
            return Some((StatusCode::METHOD_NOT_ALLOWED, "Pages can only be read.").into_response());
        }

        let query = uri.query().unwrap_or_default();
        let given = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == TOKEN_KEY);
        match given {
            Some((_, token)) if self.is_token(&token) => Some(self.admit(uri.path(), query)),
            None if self.has_cookie(headers) => None,
            _ => {
                let text =
                    "This page needs the token of the server: open the address that `assize view` printed.";
                Some((StatusCode::FORBIDDEN, text).into_response())
            }
        }
    }

    /// Hands the token over as a cookie, and leads to the same page without it in the address.
    fn admit(&self, path: &str, query: &str) -> Response {
        let rest = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key != TOKEN_KEY);
        let rest = form_urlencoded::Serializer::new(String::new()).extend_pairs(rest).finish();
        // Two slashes would begin the name of another server.
        let path = format!("/{}", path.trim_start_matches(['/', '\\']));
        let to = if rest.is_empty() { path } else { format!("{path}?{rest}") };
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.token);

        let header = |text: &str| HeaderValue::from_str(text);
        match (header(&to), header(&cookie)) {
            (Ok(to), Ok(cookie)) => {
                (StatusCode::SEE_OTHER, [(LOCATION, to), (SET_COOKIE, cookie)]).into_response()
            }
            _ => StatusCode::BAD_REQUEST.into_response(),
        }
    }
}

/// Lets a request through or answers it, and sets the headers of every reply.
pub(crate) async fn guard(State(rules): State<AccessRules>, request: Request, next: Next) -> Response {
    let mut response = match rules.answer(request.method(), request.uri(), request.headers()) {
        Some(answer) => answer,
        None => next.run(request).await,
    };

    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 6] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }

    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(is_local: bool) -> AccessRules {
        AccessRules {
            token: "secret".into(),
            port: 4,
            is_local,
            hosts: Arc::new(["runs.example".to_owned()]),
        }
    }

    #[test]
    fn names_of_other_hosts_are_refused() {
        for host in ["127.0.0.1:4", "localhost", "LOCALHOST:80", "[::1]:4", "runs.example:443"] {
            assert!(rules(true).is_host_allowed(host), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:4", "", "192.0.2.1:4"]
        {
            assert!(!rules(true).is_host_allowed(host), "{host}");
        }
        assert!(rules(false).is_host_allowed("192.0.2.1:4"));
        assert!(!rules(false).is_host_allowed("evil.example"));
    }

    #[test]
    fn addresses_after_the_first_visit_stay_on_this_server() {
        let response = rules(true).admit("//evil.example/x", "token=secret&a=1");
        assert_eq!(response.headers()[LOCATION], "/evil.example/x?a=1");
    }
}
