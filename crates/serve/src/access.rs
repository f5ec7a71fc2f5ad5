//! Rules of access: the host that a request names, its key, its content type.

use std::borrow::Cow;
use std::sync::Arc;

use assize_listen::HostRules;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, HOST, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::time::Instant;

use crate::paths::PATHS;
use crate::problem::ApiError;
use crate::service::Service;
use crate::tenant::Tenant;

/// Paths that need no key: they reveal nothing about anyone's requests.
const OPEN_PATHS: [&str; 3] = ["/healthz", "/readyz", "/v1/openapi.json"];

/// What the access rules need to check a request.
#[derive(Clone)]
pub(crate) struct ClientAccess {
    pub(crate) service: Arc<Service>,
    pub(crate) hosts: HostRules,
}

/// Lets a request pass or answers it, counts it, and sets the headers of every reply.
pub(crate) async fn guard(State(rules): State<ClientAccess>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let known = PATHS.iter().find(|path| request.uri().path() == **path);
    let route = known.copied().unwrap_or("other");
    let mut response = match rules.admit(&request) {
        Ok(tenant) => {
            if let Some(tenant) = tenant {
                request.extensions_mut().insert(tenant);
            }
            next.run(request).await
        }
        Err(error) => {
            let is_unknown = error.status == StatusCode::UNAUTHORIZED;
            let mut response = error.into_response();
            if is_unknown {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            response
        }
    };

    rules.service.metrics.count_request(route, response.status().as_u16(), begun.elapsed());
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

impl ClientAccess {
    fn admit(&self, request: &Request) -> Result<Option<Arc<Tenant>>, ApiError> {
        let host = host_of(request.headers(), request.uri());
        if !host.is_some_and(|host| self.hosts.is_allowed(host)) {
            let message =
                "the request names a host that this server does not answer for; name it with `--name`";
            return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "misdirected", message));
        }

        let path = request.uri().path();
        if OPEN_PATHS.contains(&path) {
            return Ok(None);
        }

        let Some(tenant) = self.service.tenants().find(key_of(request.headers()).as_deref()) else {
            let message = "a valid key is needed: `Authorization: Bearer KEY`, `X-Api-Key: KEY`, or as the password of the address";
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message));
        };
        Ok(Some(tenant))
    }
}

/// The host that a request names: in its address (HTTP/2), otherwise in its header. `None` if it names several: a proxy
/// might have checked another one.
fn host_of<'r>(headers: &'r HeaderMap, uri: &'r Uri) -> Option<&'r str> {
    let mut hosts = headers.get_all(HOST).iter();
    let in_header = hosts.next().and_then(|host| host.to_str().ok());
    if hosts.next().is_some() {
        return None;
    }

    uri.authority().map(axum::http::uri::Authority::as_str).or(in_header)
}

/// The key of a request: a bearer token, the password of HTTP Basic authentication, or the key's own header.
fn key_of(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let authorized = text(AUTHORIZATION.as_str()).and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        match &*scheme.to_ascii_lowercase() {
            "bearer" => Some(Cow::from(key.trim())),
            "basic" => password(key.trim()).map(Cow::from),
            _ => None,
        }
    });

    authorized.or_else(|| text("x-api-key").map(|key| Cow::from(key.trim())))
}

/// Password of HTTP Basic authentication (RFC 7617), with any user name. Clients send it for an address such as
/// `http://assize:KEY@HOST`.
fn password(credentials: &str) -> Option<String> {
    let decoded = String::from_utf8(BASE64_STANDARD.decode(credentials).ok()?).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned())
}
