//! Marks of people on the decisions of a judge: labels that are made beside the decision, on pages with results.

use assize_engine::{EngineError, LabelOptions, current_scorecard, write_review_list};
use assize_review::{
    DecisionEffect, ReviewAnswer, ReviewDecision, ReviewItem, ReviewMaterial, ReviewOptions, ReviewQuestion,
    parse_answer, scorecard_case_items, suite_case_items,
};
use assize_rubric::LabelOutcome;
use assize_store::{CaseRecord, RunInfo};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::review::{NOT_ASKED, decision_refusal, refusal, reply, whole_scores};
use super::review_start::{login_name, review_by, subject_of};
use crate::library::RunLibrary;
use crate::open_run::OpenRun;
use crate::page_reply::{Library, PageError, blocking, open_case, open_run, query_value, render};
use crate::pages::{MarkChoice, MarkItem, MarkPage, OwnMark};
use crate::people::{labels_of, words_of_people};
use crate::text::visible;

/// A mark, as the page sends it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentMark {
    who: String,
    item: String,
    /// Missing to take the last mark on the item back.
    label: Option<String>,
    #[serde(default)]
    note: String,
}

/// A case whose decisions are marked.
struct MarkedCase {
    row: u32,
    record: CaseRecord,
    items: Vec<ReviewItem>,
}

fn find_case(
    library: &RunLibrary,
    run: &OpenRun,
    info: &RunInfo,
    row: &str,
) -> Result<MarkedCase, PageError> {
    let (row, record) = open_case(run, row)?;
    let items = if info.scorecard.is_none() {
        suite_case_items(info, &record, run.question(&record.result)?.as_ref())
    } else {
        let scorecard = current_scorecard(info, &LabelOptions::default(), &library.process)?;
        scorecard_case_items(info, record.clone(), &scorecard)
    };
    Ok(MarkedCase { row, record, items })
}

/// The decisions of a case that a person can mark.
pub(crate) async fn page(
    State(library): Library,
    Path((slug, row)): Path<(String, String)>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        let case = find_case(&library, &run, &info, &row)?;
        let who = query_value(&uri, "who").unwrap_or_default();
        let people = run.people(&*run.index()?)?;
        let options = ReviewOptions::default();
        let material = ReviewMaterial { others: case.items.clone(), ..ReviewMaterial::default() };
        let review = review_by(&who, material, &options, &info, &library.process).ok();
        let items = case.items.iter().map(|item| {
            let own = review.as_ref().and_then(|review| review.recorder().earlier(item));
            let own = own.map(|(_, own)| own_mark(own));
            // People see the labels of others only after their own decision.
            let others = labels_of(people.of(case.row), &item.criterion).filter(|_| own.is_some());
            MarkItem {
                own,
                people: others.map(words_of_people).unwrap_or_default(),
                ..mark_item(item, &case.record)
            }
        });

        Ok(render(&MarkPage {
            is_named: !who.is_empty(),
            who: if who.is_empty() { login_name(&library) } else { visible(&who) },
            items: items.collect(),
        }))
    })
    .await
}

fn own_mark(own: ReviewDecision) -> OwnMark {
    let say = match &own.answer {
        ReviewAnswer::Outcome(outcome) => outcome.to_string(),
        ReviewAnswer::Primary(code) => code.clone(),
    };
    OwnMark { say, note: own.note.unwrap_or_default() }
}

fn mark_item(item: &ReviewItem, record: &CaseRecord) -> MarkItem {
    let judge = item.judge.as_ref().and_then(|judge| judge.outcome);
    let choice = |outcome: LabelOutcome| MarkChoice {
        say: outcome.to_string(),
        words: outcome.to_string().replace('_', " "),
    };
    let (wrong, whole) = match (&item.question, judge) {
        (ReviewQuestion::Verdict(Some(scale)), _) => (Vec::new(), whole_scores(scale)),
        (_, Some(LabelOutcome::Met)) => (vec![choice(LabelOutcome::Unmet)], Vec::new()),
        (_, Some(LabelOutcome::Unmet)) => (vec![choice(LabelOutcome::Met)], Vec::new()),
        _ => (vec![choice(LabelOutcome::Met), choice(LabelOutcome::Unmet)], Vec::new()),
    };
    let can_not_apply = item.may_not_apply && judge != Some(LabelOutcome::NotApplicable);
    let names = record.result.graders.iter().flat_map(|grader| {
        grader.criteria.iter().map(move |criterion| format!("{}/{}", grader.name, criterion.id))
    });
    let is_named = |name: String| {
        let rest = name.strip_suffix(&item.criterion);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };

    MarkItem {
        key: item.key(),
        at: names.into_iter().position(is_named),
        name: visible(&item.criterion),
        text: item.sections.first().map(|section| visible(&section.text)).unwrap_or_default(),
        reason: item.judge.as_ref().map(|judge| visible(&judge.reason)).unwrap_or_default(),
        right: judge.filter(|judge| *judge != LabelOutcome::Unsure).map(choice),
        wrong: wrong.into_iter().chain(can_not_apply.then(|| choice(LabelOutcome::NotApplicable))).collect(),
        whole,
        own: None,
        people: Vec::new(),
    }
}

/// Records a mark, or takes it back. This is on disk before the reply is sent.
pub(crate) async fn decide(
    State(library): Library,
    Path((slug, row)): Path<(String, String)>,
    Json(sent): Json<SentMark>,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        let case = find_case(&library, &run, &info, &row)?;
        let material = ReviewMaterial { others: case.items, ..ReviewMaterial::default() };
        let review = review_by(&sent.who, material, &ReviewOptions::default(), &info, &library.process);
        let usage = |error: &str| Ok(refusal(StatusCode::UNPROCESSABLE_ENTITY, error));
        let mut review = match review {
            Ok(review) => review,
            Err(EngineError { message, .. }) => return usage(&message),
        };
        let Some(at) = review.find(&sent.item) else {
            return Ok(refusal(StatusCode::NOT_FOUND, NOT_ASKED));
        };
        let decided = match sent.label.as_deref().map(|label| parse_answer(label.trim())) {
            Some(Err(error)) => return usage(&error),
            Some(Ok(answer)) => review.decide_openly(at, answer, Some(sent.note)),
            None => review.take_back(at).map(|()| DecisionEffect::Unchanged),
        };

        match decided {
            Ok(effect) => {
                if effect == DecisionEffect::Written(true) {
                    library.rules.reviews.tell_others(&subject_of(&run.folder), review.who(), &sent.item);
                }
                // The list can be computed again from the labels, so an error is ignored.
                let _ = write_review_list(&run.folder, &LabelOptions::default(), &library.process);
                Ok(reply(StatusCode::OK, json!({ "written": effect != DecisionEffect::Unchanged })))
            }
            Err(error) => Ok(decision_refusal(&error)),
        }
    })
    .await
}
