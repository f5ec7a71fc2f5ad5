//! Replies with a page or an error, values in addresses, and the addresses of pages.

use std::sync::Arc;

use askama::Template;
use assize_engine::EngineError;
use assize_store::{CaseRecord, StoreError};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded;

use crate::library::RunLibrary;
use crate::open_run::OpenRun;
use crate::pages::ErrorPage;

/// State of every route: the runs.
pub(crate) type Library = axum::extract::State<Arc<RunLibrary>>;

/// Why there is no page.
pub(crate) struct PageError {
    status: StatusCode,
    pub(crate) message: String,
}

impl PageError {
    /// Nothing exists at this address.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.into() }
    }

    /// The page could not be created because of a bug in this program.
    pub(crate) fn defect() -> Self {
        let message = "The page could not be created. This is a bug in Assize; please report it.".to_owned();
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message }
    }

    /// The request is invalid.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, message: message.into() }
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message: error.to_string() }
    }
}

impl From<EngineError> for PageError {
    fn from(error: EngineError) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message: error.message }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let title = match self.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::UNPROCESSABLE_ENTITY => "Not possible",
            _ => "Can't be read",
        };
        let page = ErrorPage { title: title.to_owned(), message: crate::text::visible(&self.message) };
        (self.status, render(&page)).into_response()
    }
}

/// Renders a page.
pub(crate) fn render(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => ([(CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Renders a page on a thread that may wait for files.
pub(crate) async fn blocking(
    make: impl FnOnce() -> Result<Response, PageError> + Send + 'static,
) -> Result<Response, PageError> {
    let made = tokio::task::spawn_blocking(make).await;
    made.unwrap_or_else(|_| Err(PageError::defect()))
}

/// Opens the run that an address names.
pub(crate) fn open_run(library: &RunLibrary, slug: &str) -> Result<Arc<OpenRun>, PageError> {
    library.open(slug).ok_or_else(|| {
        PageError::missing(format!("There is no run `{slug}` here. It may have been removed or renamed."))
    })
}

/// The case in this row, and the row's number from 0. Addresses count rows from 1.
pub(crate) fn open_case(run: &OpenRun, row: &str) -> Result<(u32, CaseRecord), PageError> {
    let row = row.parse::<u32>().ok().and_then(|row| row.checked_sub(1));
    let record = row.map(|row| run.record(row)).transpose()?.flatten();
    row.zip(record).ok_or_else(|| PageError::missing("The run has no such case."))
}

/// Value of a key of a query; `None` if it is absent or empty.
pub(crate) fn query_value(uri: &Uri, key: &str) -> Option<String> {
    query_values(uri, key).into_iter().next()
}

/// Values of a key of a query.
pub(crate) fn query_values(uri: &Uri, key: &str) -> Vec<String> {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .filter(|(name, value)| name == key && !value.is_empty())
        .map(|(_, value)| value.into_owned())
        .collect()
}

/// A text encoded as part of a path.
pub(crate) fn path_part(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Address of a run.
pub(crate) fn run_url(slug: &str) -> String {
    format!("/runs/{}", path_part(slug))
}

/// Address of a page with a query, which may be empty.
pub(crate) fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Address of the comparison of two runs.
pub(crate) fn compare_url(base: &str, candidate: &str) -> String {
    let query = [("base", base), ("candidate", candidate)];
    format!("/compare?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish())
}

/// Address that leads to the case with this identity.
pub(crate) fn case_url(slug: &str, suite: &str, id: &str, target: Option<&str>, trial: u32) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("suite", suite).append_pair("id", id);
    query.extend_pairs(target.map(|target| ("target", target)));
    query.append_pair("repeat", &trial.to_string());
    format!("{}/case?{}", run_url(slug), query.finish())
}

/// Address of the page with these columns, each a run or `RUN@TARGET`.
pub(crate) fn matrix_url(columns: &[String]) -> String {
    let pairs = columns.iter().map(|name| ("run", name));
    format!("/matrix?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}
