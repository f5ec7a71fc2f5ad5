//! Starts a review of a run from its pages.

use std::path::PathBuf;

use assize_engine::{EngineError, LabelOptions, current_scorecard, label_folders};
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
use super::{Library, PageError, blocking, open_run, render, run_url};
use crate::library::RunLibrary;
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
        let info = library.info(run.folder())?;
        let login = ["USER", "LOGNAME", "USERNAME"];
        let who = login.into_iter().find_map(|name| library.process().variable(name)).unwrap_or_default();

        Ok(render(&ReviewStartPage {
            header: run_header(&run, &info, "review"),
            has_scorecard: info.scorecard.is_some(),
            who: visible(&who),
        }))
    })
    .await
}

/// Starts a review and replaces the cookie: until the reviewer leaves, the browser can see nothing else.
pub(crate) async fn start(
    State(library): Library,
    Path(slug): Path<String>,
    Json(choice): Json<ReviewChoice>,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(run.folder())?;
        let offered = match offer(&library, run.folder(), &info, &choice) {
            Ok(offered) => offered,
            Err(error) => {
                let body = json!({ "error": visible(&error.message) });
                return Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response());
            }
        };

        let registered = library.reviews().add(offered, Some((run_url(&slug), run.folder().clone())));
        let cookie = library.access().cookie(registered.token());
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
    let who = choice.who.trim();
    if who.is_empty() || who.chars().count() > MAX_NAME {
        return Err(EngineError::usage("enter your name: it is stored in every label"));
    }

    let options = review_options(choice, info)?;
    let (material, labels) = load(library, folder, info, &options)?;
    let given = options.label_metadata(who);
    let labels = ReviewerLabelFile::open(label_file_path(&labels, who))
        .map_err(|error| EngineError::usage(error.to_string()))?;

    let queue = ReviewQueue::new(material, &options, &given, &labels)?;
    let recorder = LabelRecorder::new(library.process().clone(), labels, given);
    let review = OngoingReview::new(queue, &options, recorder);
    let text = match (review.progress().all, options.adjudicate, options.order.covers_all()) {
        (0, true, _) => "Reviewers agree on all items: there is nothing to adjudicate.",
        (0, _, true) => "No item needs a judge or a person.",
        (0, ..) => "Nothing needs review. You can still review a random sample of all items.",
        _ => "",
    };
    if !text.is_empty() {
        return Err(EngineError::usage(text));
    }

    let subject = folder.path().display().to_string();
    Ok(OfferedReview { title: suite_names(info), subject, review })
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

/// Reads the items of a run, and the folder for their labels.
fn load(
    library: &RunLibrary,
    folder: &RunFolder,
    info: &RunInfo,
    options: &ReviewOptions,
) -> Result<(ReviewMaterial, PathBuf), EngineError> {
    let process = library.process();
    let path = info.suites.first().map(|suite| process.resolve(&suite.path)).unwrap_or_default();
    if info.scorecard.is_none() {
        let material = suite_run_items(folder, info, options, process)?;
        return Ok((material, path.with_file_name("labels")));
    }

    let labels = LabelOptions::default();
    let scorecard = current_scorecard(info, &labels, process)?;
    let material = scorecard_run_items(folder, info, &scorecard, options)?;
    let labels = label_folders(info, process).into_iter().next().ok_or_else(|| {
        EngineError::usage("a scorecard in one file has no folder for labels; use `assize review RUN --labels DIR --browser`")
    })?;

    Ok((material, labels))
}
