//! Starts a review of a run from its pages.

use assize_engine::{EngineError, LabelOptions, ProcessContext, current_scorecard, label_folders};
use assize_review::{
    LabelRecorder, OngoingReview, ReviewMaterial, ReviewOptions, ReviewOrder, ReviewQueue, ReviewerLabelFile,
    label_file_path, scorecard_run_items, suite_run_items,
};
use assize_store::{RunFolder, RunInfo};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::run_header::{run_header, suite_names};
use crate::library::RunLibrary;
use crate::page_reply::{Library, PageError, blocking, open_run, render, run_url};
use crate::pages::ReviewStartPage;
use crate::reviews::OfferedReview;
use crate::text::visible;

/// Longest name of a reviewer, in characters.
const MAX_NAME: usize = 200;

/// The choices of the form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewChoice {
    who: String,
    /// `queue`, `random`, `random:SEED`, `uncertain-first`, `adjudicate` or `traces`.
    what: String,
    #[serde(default)]
    limit: String,
    #[serde(default)]
    criterion: String,
}

/// The page that starts a review.
pub(crate) async fn page(State(library): Library, Path(slug): Path<String>) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;

        Ok(render(&ReviewStartPage {
            header: run_header(&run, &info, "review"),
            has_scorecard: info.scorecard.is_some(),
            who: login_name(&library),
        }))
    })
    .await
}

/// Name of the user who started the server, as a suggestion for the name of the reviewer.
pub(super) fn login_name(library: &RunLibrary) -> String {
    let login = ["USER", "LOGNAME", "USERNAME"];
    let found = login.into_iter().find_map(|name| library.process.variable(name));
    visible(&found.unwrap_or_default())
}

/// Starts a review and replaces the cookie: until the reviewer leaves, the browser can see nothing else.
pub(crate) async fn start(
    State(library): Library,
    Path(slug): Path<String>,
    Json(choice): Json<ReviewChoice>,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        let offered = match offer(&library, &run.folder, &info, &choice) {
            Ok(offered) => offered,
            Err(error) => {
                let body = json!({ "error": visible(&error.message) });
                return Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response());
            }
        };

        let registered = library.rules.reviews.add(offered, Some((run_url(&slug), run.folder.clone())));
        let cookie = library.rules.cookie(&registered.token);
        Ok(([(SET_COOKIE, cookie)], Json(json!({ "next": registered.url() }))).into_response())
    })
    .await
}

fn offer(
    library: &RunLibrary,
    folder: &RunFolder,
    info: &RunInfo,
    choice: &ReviewChoice,
) -> Result<OfferedReview, EngineError> {
    let options = review_options(choice, info)?;
    let process = &library.process;
    let material = if info.scorecard.is_none() {
        suite_run_items(folder, info, &options, process)?
    } else {
        let scorecard = current_scorecard(info, &LabelOptions::default(), process)?;
        scorecard_run_items(folder, info, &scorecard, &options)?
    };
    let review = review_by(&choice.who, material, &options, info, process)?;
    let text = match (review.progress().all, options.adjudicate, options.order.covers_all()) {
        (0, true, _) => "Reviewers agree on all items: there is nothing to adjudicate.",
        (0, _, true) => "No item needs a judge or a person.",
        (0, ..) => "Nothing needs review. You can still review a random sample of all items.",
        _ => "",
    };
    if !text.is_empty() {
        return Err(EngineError::usage(text));
    }

    Ok(OfferedReview { title: suite_names(info), subject: subject_of(folder), review })
}

fn review_options(choice: &ReviewChoice, info: &RunInfo) -> Result<ReviewOptions, EngineError> {
    let mut options = ReviewOptions::default();
    match choice.what.as_str() {
        "adjudicate" => options.adjudicate = true,
        "traces" => options.traces = true,
        order => {
            let parsed = order.parse::<ReviewOrder>();
            options.order = parsed.map_err(|error| EngineError::usage(error.to_string()))?;
        }
    }
    if (options.adjudicate || options.traces) && info.scorecard.is_none() {
        return Err(EngineError::usage("only a scorecard has that to decide"));
    }

    let limit = choice.limit.trim();
    if !limit.is_empty() {
        let limit = limit.parse().ok().filter(|limit| *limit > 0);
        options.limit =
            Some(limit.ok_or_else(|| EngineError::usage("the number of items is a whole number from 1"))?);
    }

    let criteria = choice.criterion.split(',').map(str::trim).filter(|id| !id.is_empty());
    options.criteria = criteria.map(str::to_owned).collect();
    Ok(options)
}

/// Text that is the same for all reviews of a run.
pub(super) fn subject_of(folder: &RunFolder) -> String {
    folder.path().display().to_string()
}

/// A review of items of a run by one person, whose labels go beside the files of the run.
pub(super) fn review_by(
    who: &str,
    material: ReviewMaterial,
    options: &ReviewOptions,
    info: &RunInfo,
    process: &ProcessContext,
) -> Result<OngoingReview, EngineError> {
    let who = who.trim();
    if who.is_empty() || who.chars().count() > MAX_NAME {
        return Err(EngineError::usage("enter your name: it is stored in every label"));
    }

    let folder = match info.scorecard {
        None => {
            let path = info.suites.first().map(|suite| process.resolve(&suite.path)).unwrap_or_default();
            path.with_file_name("labels")
        }
        Some(_) => label_folders(info, process).into_iter().next().ok_or_else(|| {
            EngineError::usage("a scorecard in one file has no folder for labels; use `assize review RUN --labels DIR --browser`")
        })?,
    };
    let given = options.label_metadata(who);
    let labels = ReviewerLabelFile::open(label_file_path(&folder, who))
        .map_err(|error| EngineError::usage(error.to_string()))?;
    let queue = ReviewQueue::new(material, options, &given, &labels)?;
    let recorder = LabelRecorder::new(process.clone(), labels, given);

    Ok(OngoingReview::new(queue, options, recorder))
}
