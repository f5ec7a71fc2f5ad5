//! A case in two runs: the answers side by side, and the criteria on both sides.

use std::time::Duration;

use assize_report::{CaseExplanation, CriterionPart, GraderPart, explain_case, format_score};
use assize_store::{CaseRecord, named_case};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use similar::{Algorithm, ChangeTag, TextDiff};

use super::case_work::negated_text;
use super::compared_run::ComparedSide;
use crate::page_reply::{Library, PageError, blocking, compare_url, query_value, render, run_url};
use crate::pages::{CaseComparisonPage, CaseSideText, DiffPiece, MovedCriterion};
use crate::text::{ResultMark, sentence, visible};

/// How long comparing two answers may take; the rest is then shown as one change.
const DIFF_TIME: Duration = Duration::from_millis(400);
/// Maximum length of answers that are compared word by word, in bytes.
const MAX_DIFF: usize = 400_000;

pub(crate) async fn page(State(library): Library, uri: Uri) -> Result<Response, PageError> {
    blocking(move || {
        let needed = |key: &str| {
            query_value(&uri, key).ok_or_else(|| PageError::missing(format!("The address names no {key}.")))
        };
        let base = ComparedSide::open(&library, &needed("base")?)?;
        let candidate = ComparedSide::open(&library, &needed("candidate")?)?;
        let (suite, id) = (needed("suite")?, needed("id")?);
        let trial = query_value(&uri, "repeat").and_then(|trial| trial.parse().ok()).unwrap_or(1);

        let prompt = query_value(&uri, "prompt");
        let find = |side| find_record(side, &suite, &id, prompt.as_deref(), trial);
        let (row_before, before) = find(&base)?;
        let (row_after, after) = find(&candidate)?;
        let asked = base.run.question(&before.result)?.or(candidate.run.question(&after.result)?);
        let explained = [explain_case(&before, asked.as_ref()), explain_case(&after, asked.as_ref())];

        let texts = [&before.result.answer, &after.result.answer].map(Option::as_deref);
        let is_coarse = texts.iter().flatten().any(|text| text.len() > MAX_DIFF);
        let [left, right] = answer_pieces(texts, is_coarse);
        let side = |title, side: &ComparedSide, row: u32, explained: &CaseExplanation, pieces| CaseSideText {
            title,
            run: visible(&side.name),
            url: format!("{}/cases/{}", run_url(&side.run.slug), row + 1),
            mark: ResultMark::of_verdict(explained.verdict),
            score: explained.figures.score.map_or_else(String::new, format_score),
            because: sentence(&explained.because),
            pieces,
        };

        Ok(render(&CaseComparisonPage {
            id: visible(&named_case(&id, prompt.as_deref())),
            compare_url: compare_url(&base.name, &candidate.name),
            question: explained[0].question.as_deref().map(visible),
            is_same: texts[0].is_some() && texts[0] == texts[1],
            is_coarse,
            sides: [
                side("Base", &base, row_before, &explained[0], left),
                side("Candidate", &candidate, row_after, &explained[1], right),
            ],
            criteria: moved_criteria(&explained[0], &explained[1]),
        }))
    })
    .await
}

fn find_record(
    side: &ComparedSide,
    suite: &str,
    id: &str,
    prompt: Option<&str>,
    trial: u32,
) -> Result<(u32, CaseRecord), PageError> {
    let mut part = side.part.clone();
    part.prompt = part.prompt.or_else(|| prompt.map(str::to_owned));
    let row = side.run.index()?.find(suite, id, &part, trial);
    let record = row.map(|row| side.run.record(row)).transpose()?.flatten();
    row.zip(record).ok_or_else(|| PageError::missing(format!("`{}` has no case `{id}`.", side.name)))
}

/// Runs of words of an answer, each with its tag.
type TaggedWords = Vec<(&'static str, String)>;

/// Splits two answers, word by word, into pieces that both have and pieces that only one has.
fn answer_pieces(texts: [Option<&str>; 2], is_coarse: bool) -> [Option<Vec<DiffPiece>>; 2] {
    let whole = |text: &str| vec![DiffPiece { tag: "", text: visible(text) }];
    let [Some(before), Some(after)] = texts else { return texts.map(|text| text.map(whole)) };
    if is_coarse {
        return [Some(whole(before)), Some(whole(after))];
    }

    let diff =
        TextDiff::configure().algorithm(Algorithm::Patience).timeout(DIFF_TIME).diff_words(before, after);
    let (mut left, mut right): (TaggedWords, TaggedWords) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => {
                push(&mut left, "", change.value());
                push(&mut right, "", change.value());
            }
            ChangeTag::Delete => push(&mut left, "del", change.value()),
            ChangeTag::Insert => push(&mut right, "ins", change.value()),
        }
    }

    [left, right].map(|pieces| {
        Some(pieces.into_iter().map(|(tag, text)| DiffPiece { tag, text: visible(&text) }).collect())
    })
}

/// Adds a word to the last piece if that has the same tag.
fn push(pieces: &mut TaggedWords, tag: &'static str, text: &str) {
    match pieces.last_mut() {
        Some((last, so_far)) if *last == tag => so_far.push_str(text),
        _ => pieces.push((tag, text.to_owned())),
    }
}

/// Criteria of both runs by grader and id, changed ones first.
fn moved_criteria(before: &CaseExplanation, after: &CaseExplanation) -> Vec<MovedCriterion> {
    let (left, right) = (all_criteria(before), all_criteria(after));
    let find = |list: &[NamedCriterion], id: &str| list.iter().find(|other| other.id == id).cloned();
    let ids = left.iter().chain(right.iter().filter(|one| !left.iter().any(|other| other.id == one.id)));

    let mut criteria: Vec<MovedCriterion> = ids
        .map(|one| {
            let sides = [find(&left, &one.id), find(&right, &one.id)];
            let outcome = |side: &Option<NamedCriterion>| {
                side.as_ref().map(|one| (one.part.outcome, one.part.value, one.is_negated))
            };
            MovedCriterion {
                id: visible(&one.id),
                text: negated_text(&one.part.text, one.is_negated),
                has_moved: outcome(&sides[0]) != outcome(&sides[1]),
                sides: sides.map(|side| {
                    let NamedCriterion { part, is_negated, .. } = side?;
                    let is_penalty = part.weight < 0.0;
                    let mark = ResultMark::of_outcome(part.outcome, part.of_ten, is_penalty, is_negated);
                    Some((mark, visible(&part.reason)))
                }),
            }
        })
        .collect();
    criteria.sort_by_key(|criterion| !criterion.has_moved);

    criteria
}

/// A criterion of a case, by the path of its grader and its id.
#[derive(Clone)]
struct NamedCriterion {
    id: String,
    part: CriterionPart,
    is_negated: bool,
}

/// Criteria of a case with their names, including criteria of members of composites.
fn all_criteria(explained: &CaseExplanation) -> Vec<NamedCriterion> {
    fn collect(part: &GraderPart, path: &str, found: &mut Vec<NamedCriterion>) {
        let path = if path.is_empty() { part.name.clone() } else { format!("{path}/{}", part.name) };
        found.extend(part.criteria.iter().map(|one| NamedCriterion {
            id: format!("{path}/{}", one.id),
            part: one.clone(),
            is_negated: part.negate,
        }));
        part.members.iter().for_each(|member| collect(member, &path, found));
    }

    let mut found = Vec::new();
    explained.graders.iter().for_each(|part| collect(part, "", &mut found));
    found
}
