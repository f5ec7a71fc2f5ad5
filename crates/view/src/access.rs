//! Rules of access: the token, the host that a request names, and the headers of every reply.

use assize_listen::{HostRules, SecretHash};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
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
    /// Hosts that it answers for.
    pub(crate) hosts: HostRules,
}

impl AccessRules {
    fn cookie_name(&self) -> String {
        format!("assize_view_{}", self.port)
    }

    fn is_token(&self, given: &str) -> bool {
        SecretHash::new(&self.token).matches(given)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(key, value)| key == name && self.is_token(value))
    }

    /// The reply to a request that is not let through to a page; `None` for one that is.
    fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        if !host.is_some_and(|host| self.hosts.is_allowed(host)) {
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

    fn rules() -> AccessRules {
        AccessRules { token: "secret".into(), port: 4, hosts: HostRules::new(true, []) }
    }

    #[test]
    fn addresses_after_the_first_visit_stay_on_this_server() {
        let response = rules().admit("//evil.example/x", "token=secret&a=1");
        assert_eq!(response.headers()[LOCATION], "/evil.example/x?a=1");
    }
}
