//! Slow pages: the browser gets the beginning at once, then a line of progress each second, then the page.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use askama::Template;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::task::JoinHandle;

use crate::page_reply::{PageError, blocking, render};

/// How long a page may take before its beginning is sent. Until then, the reply can still have an error status.
const PARTIAL_REPLY_DELAY: Duration = Duration::from_millis(600);
/// Time between two lines of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Tag up to which all pages of this server are alike.
const MAIN_TAG: &str = "<main id=\"main\" tabindex=\"-1\">";

/// Progress of the work on a page, in steps of any kind.
#[derive(Debug, Default)]
pub(crate) struct PageWork {
    done: AtomicU64,
    total: AtomicU64,
}

impl PageWork {
    /// Sets the number of steps.
    pub(crate) fn begin(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Counts steps that are done.
    pub(crate) fn add(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Percentage of the steps that are done; `None` until their number is known.
    fn percent(&self) -> Option<u64> {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        (total > 0).then(|| (done.saturating_mul(100) / total).min(100))
    }
}

/// The beginning of a page that is still being computed.
#[derive(Template)]
#[template(path = "working.html")]
struct WorkingPage {
    title: &'static str,
    text: String,
}

/// Renders a page on a thread that may wait for files. If that takes longer than [`PARTIAL_REPLY_DELAY`], the reply begins
/// with `what` and the progress; the page follows in the same reply, and its style hides those lines.
pub(crate) async fn working(
    title: &'static str,
    what: &'static str,
    make: impl FnOnce(&PageWork) -> Result<Response, PageError> + Send + 'static,
) -> Result<Response, PageError> {
    let work = Arc::new(PageWork::default());
    let counted = Arc::clone(&work);
    let mut making = tokio::spawn(blocking(move || make(&counted)));
    if let Ok(made) = tokio::time::timeout(PARTIAL_REPLY_DELAY, &mut making).await {
        return made.unwrap_or_else(|_| Err(PageError::defect()));
    }

    let beginning = render(&WorkingPage { title, text: progress_text(what, &work) });
    let headers = beginning.headers().clone();
    let beginning = page_text(beginning).await;
    let beginning = beginning.split("</main>").next().unwrap_or_default().to_owned();
    let stream = stream::unfold(StreamedPage::Begins(beginning, making), move |page| {
        let work = Arc::clone(&work);
        async move {
            let (text, next) = page.next_part(what, &work).await?;
            Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), next))
        }
    });

    let mut response = Body::from_stream(stream).into_response();
    *response.headers_mut() = headers;
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The parts of the reply that are still to be sent.
enum StreamedPage {
    Begins(String, JoinHandle<Result<Response, PageError>>),
    Waits(JoinHandle<Result<Response, PageError>>),
    Ended,
}

impl StreamedPage {
    async fn next_part(self, what: &str, work: &PageWork) -> Option<(String, Self)> {
        let mut making = match self {
            Self::Begins(beginning, making) => return Some((beginning, Self::Waits(making))),
            Self::Waits(making) => making,
            Self::Ended => return None,
        };

        let Ok(made) = tokio::time::timeout(PROGRESS_INTERVAL, &mut making).await else {
            let line = format!("<p class=\"notice working\">{}</p>\n", progress_text(what, work));
            return Some((line, Self::Waits(making)));
        };
        let made = made.unwrap_or_else(|_| Err(PageError::defect()));
        let page = page_text(made.unwrap_or_else(IntoResponse::into_response)).await;
        let rest = page.split_once(MAIN_TAG).map_or("", |(_, rest)| rest);
        Some((rest.to_owned(), Self::Ended))
    }
}

/// The line of progress. It contains no text of a user, and no character that has a meaning in HTML.
fn progress_text(what: &str, work: &PageWork) -> String {
    match work.percent() {
        Some(100) => format!("{what}: all are read, computing"),
        Some(percent) => format!("{what}: {percent}%"),
        None => format!("{what}…"),
    }
}

/// The HTML of a rendered page.
async fn page_text(page: Response) -> String {
    let bytes = to_bytes(page.into_body(), usize::MAX).await.unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Response {
        render(&WorkingPage { title: "Title", text: text.to_owned() })
    }

    #[tokio::test]
    async fn a_page_that_takes_long_says_what_it_computes_before_it_follows_in_the_same_document() {
        let response = working("Comparison", "Reading both runs", |work| {
            work.begin(4);
            work.add(1);
            std::thread::sleep(PARTIAL_REPLY_DELAY + PROGRESS_INTERVAL + PROGRESS_INTERVAL / 2);
            Ok(page("the page itself"))
        });
        let response = response.await.unwrap_or_else(IntoResponse::into_response);
        let text = page_text(response).await;

        let lines: Vec<usize> = text.match_indices("Reading both runs: 25%").map(|(at, _)| at).collect();
        assert!(lines.len() >= 2, "{text}");
        assert!(text.find("the page itself") > lines.last().copied(), "{text}");
        for tag in ["<!DOCTYPE", "<main", "</main>", "</html>"] {
            assert_eq!(text.matches(tag).count(), 1, "{tag} in {text}");
        }
    }

    #[tokio::test]
    async fn what_can_not_be_answered_soon_has_its_status_and_later_its_text() {
        let refused = |wait: Duration| {
            working("Trend", "Reading", move |_| {
                std::thread::sleep(wait);
                Err(PageError::refused("no such <case>"))
            })
        };
        let soon = refused(Duration::ZERO).await.unwrap_or_else(IntoResponse::into_response);
        assert_eq!(soon.status(), 422);

        let late = refused(PARTIAL_REPLY_DELAY * 2).await.unwrap_or_else(IntoResponse::into_response);
        let text = page_text(late).await;
        assert!(text.contains("no such &#60;case&#62;"), "{text}");
    }
}
