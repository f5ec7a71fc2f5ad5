//! Pages of one reviewer: an item, the list of items, and the requests that record decisions.
//!
//! Only [`decided_text`] reads a judge's decision, and it is called for an item only while the reviewer's own
//! decision on it stands.

use std::sync::Arc;

use assize_review::{
    DecisionEffect, DecisionError, OngoingReview, ReviewAnswer, ReviewItem, ReviewProgress, ReviewQuestion,
    ReviewSectionKind, ScoreScale, decision_words, judge_words, parse_answer, parse_severity,
};
use assize_rubric::{NO_FAILURE, NONE_OF_THE_ABOVE};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use crate::library::RunLibrary;
use crate::page_reply::{Library, PageError, blocking, query_value, render};
use crate::pages::{
    ChoiceText, DecidedText, QuestionText, ReviewDonePage, ReviewHeader, ReviewItemPage, ReviewItemsPage,
    ReviewLine, SectionText, WholeScore,
};
use crate::reviews::RegisteredReview;
use crate::text::visible;

/// Maximum number of items of the list that are shown.
const MAX_ITEMS: usize = 2_000;

/// Error for a decision on an unknown item. Another review with other choices may ask for the item again.
pub(super) const NOT_ASKED: &str = "this review does not ask for the item. It was started with other choices, or the item's answer \
                         or question changed";

/// A decision, as the page sends it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentDecision {
    item: String,
    label: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    note: String,
}

/// The item to skip or to decide again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentItem {
    #[serde(default)]
    item: String,
}

/// A reply for a script.
pub(super) fn reply(status: StatusCode, body: serde_json::Value) -> Response {
    (status, Json(body)).into_response()
}

pub(super) fn refusal(status: StatusCode, error: &str) -> Response {
    reply(status, json!({ "error": visible(error) }))
}

/// The reply to a decision that was not recorded.
pub(super) fn decision_refusal(error: &DecisionError) -> Response {
    let status = match error {
        DecisionError::Unfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
        DecisionError::DecidedBefore(_) => StatusCode::CONFLICT,
        DecisionError::Unwritten(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refusal(status, &error.to_string())
}

fn find(library: &RunLibrary, id: &str) -> Result<Arc<RegisteredReview>, PageError> {
    library.rules.reviews.by_id(id).ok_or_else(|| PageError::missing("There is no such review here."))
}

fn header(registered: &RegisteredReview, review: &OngoingReview, is_held: bool) -> ReviewHeader {
    let ReviewProgress { decided, all, skipped } = review.progress();
    ReviewHeader {
        id: registered.id.clone(),
        url: registered.url(),
        title: visible(&registered.title),
        who: visible(&registered.who),
        decided,
        all,
        skipped,
        has_home: registered.home.is_some(),
        is_held,
        can_undo: review.session().can_undo(),
    }
}

/// Address of an item, or of the page that is shown when none is left.
fn item_url(registered: &RegisteredReview, review: &OngoingReview, at: Option<usize>) -> String {
    match at.and_then(|at| review.session().item_at(at)) {
        Some(item) => format!("{}?item={}", registered.url(), item.key()),
        None => format!("{}?done", registered.url()),
    }
}

fn redirect(to: String) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response()
}

/// The item that the address names, or the next one to decide.
pub(crate) async fn page(
    State(library): Library,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let registered = find(&library, &id)?;
        let mut review = registered.lock();
        let is_held = query_value(&uri, "closed").is_some();

        if let Some(key) = query_value(&uri, "after") {
            let next = review.find(&key).and_then(|at| review.after(at));
            return Ok(redirect(item_url(&registered, &review, next)));
        }
        if let Some(at) = query_value(&uri, "item").and_then(|key| review.find(&key)) {
            return Ok(item_page(&registered, &mut review, at, is_held));
        }

        match review.current() {
            // The page explains that other pages are closed; it must not redirect.
            Some(at) if is_held => Ok(item_page(&registered, &mut review, at, true)),
            Some(at) => Ok(redirect(item_url(&registered, &review, Some(at)))),
            None => {
                let page = done_page(&registered, &review, is_held);
                drop(review);
                registered.write_list(&library.process);
                Ok(page)
            }
        }
    })
    .await
}

fn item_page(
    registered: &RegisteredReview,
    review: &mut OngoingReview,
    at: usize,
    is_held: bool,
) -> Response {
    review.show(at);
    let review = &*review;
    let Some(item) = review.session().item_at(at) else {
        return PageError::missing("There is no such item.").into_response();
    };

    let sections = |about: ReviewSectionKind| -> Vec<SectionText> {
        let sections = item.sections.iter().filter(|section| section.about == about);
        sections
            .map(|section| SectionText { title: visible(&section.title), text: visible(&section.text) })
            .collect()
    };
    let trial = item.trial.map(|trial| format!("trial {trial}"));
    let about: Vec<String> = [item.suite.clone(), item.system.clone(), trial]
        .into_iter()
        .flatten()
        .map(|text| visible(&text))
        .collect();

    render(&ReviewItemPage {
        header: header(registered, review, is_held),
        key: item.key(),
        place: at + 1,
        case: visible(&item.case),
        criterion: criterion_name(item),
        about: about.join(" · "),
        reason: item.describe_blindly(),
        material: sections(ReviewSectionKind::Material),
        question: sections(ReviewSectionKind::Question),
        kind: question_text(&item.question),
        decided: decided_text(review, item),
    })
}

/// The decisions on the shown item; `None` unless the reviewer has decided it.
fn decided_text(review: &OngoingReview, item: &ReviewItem) -> Option<DecidedText> {
    let session = review.session();
    let decision = session.decision().filter(|_| session.may_show_judge())?;
    Some(DecidedText {
        own: visible(&decision_words(&decision.answer, decision.severity, decision.note.as_deref())),
        judge: item.judge.as_ref().map(|judge| visible(&judge_words(judge))),
        reason: item.why.describe(),
    })
}

fn criterion_name(item: &ReviewItem) -> String {
    if item.criterion.is_empty() { "first failure".to_owned() } else { visible(&item.criterion) }
}

/// The whole numbers of a scale from 0 to 10 or of a part of it.
pub(super) fn whole_scores(scale: &ScoreScale) -> Vec<WholeScore> {
    let is_whole = |number: f64| number.fract() == 0.0 && (0.0..=10.0).contains(&number);
    if !is_whole(scale.min) || !is_whole(scale.max) {
        return Vec::new();
    }
    let key = |score: u32| char::from_digit(score, 10).unwrap_or('t');
    (scale.min as u32..=scale.max as u32).map(|score| WholeScore { score, key: key(score) }).collect()
}

fn question_text(question: &ReviewQuestion) -> QuestionText {
    match question {
        ReviewQuestion::Verdict(None) => QuestionText::Verdict,
        ReviewQuestion::Verdict(Some(scale)) => QuestionText::Score {
            min: scale.min.to_string(),
            max: scale.max.to_string(),
            whole: whole_scores(scale),
        },
        ReviewQuestion::Primary(choices) => {
            let choices = choices.iter().map(|choice| ChoiceText {
                value: choice.code.clone(),
                code: visible(&choice.code),
                text: visible(&choice.text),
                criterion: visible(&choice.criterion),
            });
            QuestionText::Failure(choices.collect())
        }
    }
}

fn done_page(registered: &RegisteredReview, review: &OngoingReview, is_held: bool) -> Response {
    let ReviewProgress { decided, all, .. } = review.progress();
    let text = if all == 0 {
        "There is nothing to decide here.".to_owned()
    } else {
        let what = match decided {
            1 => "The only item is decided.".to_owned(),
            decided => format!("All {decided} items are decided."),
        };
        format!("{what} Everything is saved; you can close this page.")
    };
    render(&ReviewDonePage {
        header: header(registered, review, is_held),
        text,
        file: visible(&review.recorder().labels().path().display().to_string()),
    })
}

/// The list of items with the reviewer's own decisions.
pub(crate) async fn items(State(library): Library, Path(id): Path<String>) -> Result<Response, PageError> {
    blocking(move || {
        let registered = find(&library, &id)?;
        let review = registered.lock();
        let session = review.session();
        let listed = session.listed();
        let lines = listed.iter().enumerate().take(MAX_ITEMS).map(|(at, item)| {
            let state = match session.decision_at(at) {
                Some(decision) => {
                    visible(&decision_words(&decision.answer, decision.severity, decision.note.as_deref()))
                }
                None if session.is_skipped(at) => "skipped".to_owned(),
                None if session.is_withdrawn(at) => "decided by others".to_owned(),
                None => "open".to_owned(),
            };
            ReviewLine {
                url: item_url(&registered, &review, Some(at)),
                place: at + 1,
                case: visible(&item.case),
                criterion: criterion_name(item),
                state,
                is_decided: session.decision_at(at).is_some(),
            }
        });

        Ok(render(&ReviewItemsPage {
            header: header(&registered, &review, false),
            items: lines.collect(),
            more: listed.len().saturating_sub(MAX_ITEMS),
        }))
    })
    .await
}

/// Records a decision. It is on disk before the reply is sent.
pub(crate) async fn decide(
    State(library): Library,
    Path(id): Path<String>,
    Json(sent): Json<SentDecision>,
) -> Result<Response, PageError> {
    blocking(move || {
        let registered = find(&library, &id)?;
        let mut review = registered.lock();
        let found = review.find(&sent.item);
        let Some((at, item)) = found.and_then(|at| Some((at, review.session().item_at(at)?))) else {
            return Ok(refusal(StatusCode::NOT_FOUND, NOT_ASKED));
        };

        let (answer, severity) = match parse_decision(&item.question, &sent) {
            Ok(parsed) => parsed,
            Err(error) => return Ok(refusal(StatusCode::UNPROCESSABLE_ENTITY, &error)),
        };

        let effect = review.decide(at, answer, severity, Some(sent.note));
        // Telling other reviews locks them, so this lock must be released first.
        drop(review);
        match effect {
            Ok(effect) => {
                registered.note_label();
                if effect == DecisionEffect::Written(true) {
                    library.rules.reviews.tell_others(&registered.subject, &registered.who, &sent.item);
                }
                Ok(reply(StatusCode::OK, json!({ "saved": true })))
            }
            Err(error) => Ok(decision_refusal(&error)),
        }
    })
    .await
}

type ParsedDecision = (ReviewAnswer, Option<assize_rubric::FailureSeverity>);

fn parse_decision(question: &ReviewQuestion, sent: &SentDecision) -> Result<ParsedDecision, String> {
    let answer = match question {
        // Codes are not parsed like other decisions, because a code may be a word with another meaning.
        ReviewQuestion::Primary(choices) => {
            let without = [NONE_OF_THE_ABOVE, NO_FAILURE].contains(&sent.label.as_str());
            if !without && !choices.iter().any(|choice| choice.code == sent.label) {
                return Err(format!("unknown code `{}`", sent.label));
            }
            ReviewAnswer::Primary(sent.label.clone())
        }
        ReviewQuestion::Verdict(_) => parse_answer(sent.label.trim())?,
    };
    let severity = Some(sent.severity.as_str()).filter(|word| !word.is_empty());
    Ok((answer, severity.map(parse_severity).transpose()?))
}

/// Skips an item for now.
pub(crate) async fn skip(
    State(library): Library,
    Path(id): Path<String>,
    Json(sent): Json<SentItem>,
) -> Result<Response, PageError> {
    let registered = find(&library, &id)?;
    let mut review = registered.lock();
    let next = review.find(&sent.item).and_then(|at| review.skip(at));
    Ok(reply(StatusCode::OK, json!({ "next": item_url(&registered, &review, next) })))
}

/// Reopens an item: the named one if it is decided, otherwise the one decided last.
pub(crate) async fn undo(
    State(library): Library,
    Path(id): Path<String>,
    Json(sent): Json<SentItem>,
) -> Result<Response, PageError> {
    let registered = find(&library, &id)?;
    let mut review = registered.lock();
    let named = review.find(&sent.item).filter(|at| {
        review.show(*at);
        review.session().may_show_judge()
    });
    if let Some(at) = named {
        review.reopen(at);
    }

    match named.or_else(|| review.undo()) {
        Some(at) => Ok(reply(StatusCode::OK, json!({ "next": item_url(&registered, &review, Some(at)) }))),
        None => Ok(refusal(StatusCode::UNPROCESSABLE_ENTITY, "there is nothing to undo")),
    }
}

/// Leaves the review. A visitor who started it from a page of a run gets access to the other pages back.
pub(crate) async fn leave(State(library): Library, Path(id): Path<String>) -> Result<Response, PageError> {
    blocking(move || {
        let registered = find(&library, &id)?;
        let Some(home) = &registered.home else {
            return Ok(refusal(StatusCode::UNPROCESSABLE_ENTITY, "there are no other pages here"));
        };

        registered.write_list(&library.process);
        let cookie = library.rules.cookie(&library.rules.token);
        let mut reply = reply(StatusCode::OK, json!({ "next": home }));
        if let Ok(cookie) = cookie.parse() {
            reply.headers_mut().insert(SET_COOKIE, cookie);
        }
        Ok(reply)
    })
    .await
}
