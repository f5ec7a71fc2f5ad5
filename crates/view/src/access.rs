//! Rules of access: the token, the host that a request names, which paths accept writes, and the headers of
//! every reply.

use assize_listen::{HostRules, SecretHash};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use url::form_urlencoded;

use crate::reviews::{RegisteredReview, ReviewRegistry};

/// Content security policy of every page: only the program's own files, no inline script or style, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Query key of the token in the address that is opened first.
const TOKEN_KEY: &str = "token";

/// Header that only scripts of these pages set; a form on another site can't.
const SCRIPT_HEADER: &str = "x-assize-page";
/// Header in which a proxy says how the request reached it.
const PROXY_SCHEME: &str = "x-forwarded-proto";
/// Header in which browsers say what kind of site sent the request.
const FETCH_SITE: &str = "sec-fetch-site";

/// Rules of access of a server.
#[derive(Clone)]
pub(crate) struct AccessRules {
    pub(crate) token: Arc<str>,
    /// True if the server's own token opens nothing, and each reviewer's token opens only that reviewer's
    /// review.
    pub(crate) is_review_only: bool,
    /// Reviews, each with its own token.
    pub(crate) reviews: Arc<ReviewRegistry>,
    /// Encryption between the browser and this server or the proxy in front of it.
    pub(crate) transport: PageTransport,
    /// Port. The cookie's name contains it, because browsers share cookies between all servers of a host.
    pub(crate) port: u16,
    /// Hosts that the server answers for.
    pub(crate) hosts: HostRules,
}

/// How requests reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageTransport {
    /// Unencrypted, from this machine.
    Plain,
    /// Encrypted up to this server.
    Tls,
    /// Encrypted up to a proxy.
    Proxy,
}

impl PageTransport {
    pub(crate) const fn scheme(self) -> &'static str {
        match self {
            Self::Plain => "http",
            Self::Tls | Self::Proxy => "https",
        }
    }
}

/// The visitor to whom the token of a request belongs.
enum PageVisitor {
    /// May see every page.
    Owner,
    /// May see the pages of this review and no others.
    Reviewer(Arc<RegisteredReview>),
}

impl AccessRules {
    /// The cookie for a token.
    pub(crate) fn cookie(&self, token: &str) -> String {
        let secure = if self.transport == PageTransport::Plain { "" } else { "; Secure" };
        format!("{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie_name())
    }

    fn cookie_name(&self) -> String {
        format!("assize_view_{}", self.port)
    }

    fn is_token(&self, given: &str) -> bool {
        SecretHash::new(&self.token).matches(given)
    }

    fn visitor(&self, token: &str) -> Option<PageVisitor> {
        if !self.is_review_only && self.is_token(token) {
            return Some(PageVisitor::Owner);
        }
        self.reviews.by_token(token).map(PageVisitor::Reviewer)
    }

    fn visitor_of_cookie(&self, headers: &HeaderMap) -> Option<PageVisitor> {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(key, _)| *key == name)
            .find_map(|(_, value)| self.visitor(value))
    }

    /// Why a request may not write, if so: it must come from a page of this server and carry the header that
    /// only its scripts set.
    fn write_refusal(&self, headers: &HeaderMap) -> Option<&'static str> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let own = text(HOST.as_str()).map(|host| format!("{}://{host}", self.transport.scheme()));
        // A proxy may pass another host name than the browser used.
        let names = self.hosts.names().iter().filter(|_| self.transport == PageTransport::Proxy);
        let mut owns = own.into_iter().chain(names.map(|name| format!("https://{name}")));
        let is_own =
            text(ORIGIN.as_str()).is_some_and(|origin| owns.any(|own| origin.eq_ignore_ascii_case(&own)));
        if !is_own || text(FETCH_SITE).is_some_and(|site| site != "same-origin") {
            return Some("The request does not come from a page of this server.");
        }
        text(SCRIPT_HEADER)
            .is_none()
            .then_some("The request was not made by a script of this server's pages.")
    }

    /// The reply to a request that must not reach a page; `None` if it may pass.
    fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        if !host.is_some_and(|host| self.hosts.is_allowed(host)) {
            let text = "The request names a host that this server does not answer for.";
            return Some((StatusCode::MISDIRECTED_REQUEST, text).into_response());
        }
        if self.transport == PageTransport::Proxy
            && headers.get(PROXY_SCHEME).is_some_and(|scheme| scheme != "https")
        {
            let text = "The proxy was reached without encryption.";
            return Some((StatusCode::FORBIDDEN, text).into_response());
        }

        let is_write = method == Method::POST && is_writable(uri.path());
        if !is_write && method != Method::GET && method != Method::HEAD {
            return Some((StatusCode::METHOD_NOT_ALLOWED, "Pages can only be read.").into_response());
        }
        if is_write && let Some(text) = self.write_refusal(headers) {
            return Some((StatusCode::FORBIDDEN, text).into_response());
        }

        let query = uri.query().unwrap_or_default();
        let given = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == TOKEN_KEY);
        match given {
            Some((_, token)) if !is_write && self.visitor(&token).is_some() => {
                Some(self.admit(uri.path(), query, &token))
            }
            None => match self.visitor_of_cookie(headers) {
                Some(visitor) => refuse_page(&visitor, uri.path(), is_write),
                None => Some(no_token()),
            },
            _ => Some(no_token()),
        }
    }

    /// Sets the token as a cookie, and redirects to the same page without the token in the address.
    fn admit(&self, path: &str, query: &str, token: &str) -> Response {
        let rest = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key != TOKEN_KEY);
        let rest = form_urlencoded::Serializer::new(String::new()).extend_pairs(rest).finish();
        // A path with two slashes at the start would name another server.
        let path = format!("/{}", path.trim_start_matches(['/', '\\']));
        let to = if rest.is_empty() { path } else { format!("{path}?{rest}") };
        let cookie = self.cookie(token);

        let header = |text: &str| HeaderValue::from_str(text);
        match (header(&to), header(&cookie)) {
            (Ok(to), Ok(cookie)) => {
                (StatusCode::SEE_OTHER, [(LOCATION, to), (SET_COOKIE, cookie)]).into_response()
            }
            _ => StatusCode::BAD_REQUEST.into_response(),
        }
    }
}

fn no_token() -> Response {
    let text =
        "This page needs the token of the server: open the address that was printed when it was started.";
    (StatusCode::FORBIDDEN, text).into_response()
}

/// Returns true if the path accepts writes: the start of a review, all review pages, and marks on a case.
fn is_writable(path: &str) -> bool {
    path.starts_with("/review/")
        || (path.starts_with("/runs/") && (path.ends_with("/review") || path.ends_with("/mark")))
}

/// The reply to a visitor who may not see a page; `None` if they may. A reviewer can't see pages with results, or
/// another person's review.
fn refuse_page(visitor: &PageVisitor, path: &str, is_write: bool) -> Option<Response> {
    let is_review = path == "/review" || path.starts_with("/review/");
    let PageVisitor::Reviewer(review) = visitor else {
        let text = "This review was closed. Start it again on the page of its run.";
        return is_review.then(|| (StatusCode::FORBIDDEN, text).into_response());
    };

    let own = review.url();
    let is_own = path.strip_prefix(&own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if is_own || path.starts_with("/assets/") {
        return None;
    }
    if is_review || is_write {
        let text = "Another review was opened in this browser. To continue this one, open its link again.";
        return Some((StatusCode::FORBIDDEN, text).into_response());
    }

    let to = if review.home.is_some() { format!("{own}?closed=1") } else { own };
    Some((StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response())
}

/// Lets a request pass or answers it, and sets the headers of every reply.
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
        AccessRules {
            token: "secret".into(),
            is_review_only: false,
            reviews: Arc::new(ReviewRegistry::new("secret".into())),
            transport: PageTransport::Plain,
            port: 4,
            hosts: HostRules::new(true, ["runs.example".to_owned()]),
        }
    }

    #[test]
    fn addresses_after_the_first_visit_stay_on_this_server() {
        let response = rules().admit("//evil.example/x", "token=secret&a=1", "secret");
        assert_eq!(response.headers()[LOCATION], "/evil.example/x?a=1");
    }
}
