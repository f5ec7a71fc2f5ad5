//! Gemini's batches, with requests and results inline.

use serde_json::{Value, json};

use super::client::BatchClient;
use super::draft::{BatchDraft, display_name};
use super::exchange::{safe_id, seconds, short};
use super::{BatchFiles, BatchSearch, BatchState, BatchStatus, BatchTrace, ResultSink, is_past};
use crate::batch_lines::{BatchLineError, BatchOutcome, BatchReplyLine};
use crate::error::{AskError, ErrorKind};
use crate::wire::error_words;

/// The most pages of the list that are read, with 100 batches each.
const MAX_PAGES: usize = 50;

pub(super) async fn create(client: &BatchClient, draft: &BatchDraft) -> Result<String, AskError> {
    let model = draft.model.strip_prefix("models/").unwrap_or(&draft.model);
    let path = format!("/models/{}:batchGenerateContent", crate::wire::path_segment(model));
    let created = client.post(&path, draft.to_bytes(), "application/json").await?;
    id_of(&created)
}

/// The id without the name of the collection.
fn id_of(batch: &Value) -> Result<String, AskError> {
    let name = batch["name"].as_str().unwrap_or_default();
    safe_id(&json!(name.strip_prefix("batches/").unwrap_or(name)))
}

pub(super) async fn find(client: &BatchClient, trace: BatchTrace<'_>) -> Result<BatchSearch, AskError> {
    let mut next: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("pageSize", "100")];
        query.extend(next.as_deref().map(|next| ("pageToken", next)));
        let page = client.get("/batches", &query).await?;
        let batches = page["operations"].as_array().map(Vec::as_slice).unwrap_or_default();

        let name = display_name(trace.token);
        if let Some(batch) = batches.iter().find(|batch| batch["metadata"]["displayName"] == name) {
            return id_of(batch).map(BatchSearch::Found);
        }

        let is_past = is_past(batches, &trace, |batch| seconds(&batch["metadata"]["createTime"]));
        next = page["nextPageToken"].as_str().filter(|token| !token.is_empty()).map(str::to_owned);
        if is_past || next.is_none() {
            return Ok(BatchSearch::Absent);
        }
    }

    Ok(BatchSearch::Unknown(format!("it is not among the newest {} batches", MAX_PAGES * 100)))
}

pub(super) async fn status(client: &BatchClient, id: &str) -> Result<BatchStatus, AskError> {
    read_status(id, &client.get(&format!("/batches/{id}"), &[]).await?)
}

fn read_status(id: &str, batch: &Value) -> Result<BatchStatus, AskError> {
    let metadata = &batch["metadata"];
    let word = metadata["state"].as_str().unwrap_or_default();
    let word = word.split_once("STATE_").map_or(word, |(_, word)| word);
    let state = match word {
        "SUCCEEDED" | "PARTIALLY_SUCCEEDED" | "CANCELLED" | "EXPIRED" => BatchState::Ended,
        "FAILED" => BatchState::Refused(error_words(&batch["error"])),
        "PENDING" | "QUEUED" | "RUNNING" | "CANCELLING" | "UNSPECIFIED" => BatchState::Running,
        _ => {
            let message = format!("the batch has no known state: {}", short(batch));
            return Err(AskError::new(ErrorKind::MalformedReply, message));
        }
    };

    // Counts are 64-bit numbers, which Google writes as strings.
    let count = |name: &str| {
        let value = &metadata["batchStats"][name];
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    };
    let done = count("requestCount").zip(count("pendingRequestCount").or(Some(0)));
    let found = [&batch["response"], &batch["response"]["output"], &metadata["output"]]
        .into_iter()
        .find_map(|place| place["inlinedResponses"]["inlinedResponses"].as_array());
    let results = match found {
        Some(found) if state == BatchState::Ended => {
            BatchFiles::Inline(json!(found).to_string().into_bytes())
        }
        // Without results, requests that were answered and paid for would count as not processed.
        None if matches!(word, "SUCCEEDED" | "PARTIALLY_SUCCEEDED") => BatchFiles::Gone,
        _ => BatchFiles::None,
    };

    Ok(BatchStatus {
        id: id.to_owned(),
        state,
        // A stopped batch drops its pending requests, so the number of answered ones is unknown.
        done: done
            .filter(|_| !matches!(word, "CANCELLED" | "EXPIRED"))
            .map(|(all, pending)| all.saturating_sub(pending)),
        results,
    })
}

pub(super) fn results(status: &BatchStatus, sink: ResultSink<'_>) -> Result<(), AskError> {
    let bytes = match &status.results {
        BatchFiles::Inline(bytes) => bytes,
        BatchFiles::Gone => {
            return Err(AskError::new(ErrorKind::NotFound, "the batch has succeeded and has no results"));
        }
        BatchFiles::Named(_) | BatchFiles::OfBatch | BatchFiles::None => return Ok(()),
    };
    let all: Vec<Value> = serde_json::from_slice(bytes).unwrap_or_default();
    for result in all {
        let Some(custom_id) = result["metadata"]["key"].as_str().map(str::to_owned) else {
            sink(Err(BatchLineError::Unreadable("a result has no key".to_owned())));
            continue;
        };
        let body = result.get("response").filter(|response| response.is_object());
        let outcome = if let Some(body) = body.and_then(|body| serde_json::value::to_raw_value(body).ok()) {
            BatchOutcome::Answered { status: 200, request_id: None, body }
        } else {
            let error = &result["error"];
            let message = crate::excerpt::cut(&error_words(error), crate::excerpt::MESSAGE_CHARS);
            BatchOutcome::Failed { status: None, code: Some(word_for(&error["code"])), message }
        };
        sink(Ok(BatchReplyLine { custom_id, outcome }));
    }

    Ok(())
}

/// A name for Google's code of a failure, if the code means that the request was not processed.
fn word_for(code: &Value) -> String {
    match code.as_i64() {
        Some(1) => "cancelled".to_owned(),
        Some(4) => "expired".to_owned(),
        _ => code.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_inline_results_are_read_wherever_they_stand() {
        let results_of = |batch: &Value| {
            let status = read_status("b", batch).unwrap();
            let mut ids = Vec::new();
            let mut push = |line: Result<BatchReplyLine, BatchLineError>| {
                let read =
                    line.map(|line| (line.custom_id, matches!(line.outcome, BatchOutcome::Answered { .. })));
                ids.push(read.unwrap_or(("unreadable".to_owned(), false)));
            };
            results(&status, &mut push).unwrap();
            (status.state, status.done, ids)
        };
        let inlined = json!({"inlinedResponses": {"inlinedResponses": [
            {"response": {"candidates": []}, "metadata": {"key": "a"}},
            {"error": {"code": 8, "message": "late"}, "metadata": {"key": "b"}},
            {"response": {}},
        ]}});
        let expected =
            [("a", true), ("b", false), ("unreadable", false)].map(|(id, is_good)| (id.to_owned(), is_good));
        let expected = expected.to_vec();
        for (state, done) in [
            ("BATCH_STATE_SUCCEEDED", Some(2)),
            ("JOB_STATE_PARTIALLY_SUCCEEDED", Some(2)),
            ("JOB_STATE_EXPIRED", None),
        ] {
            let stats = json!({"requestCount": "3", "pendingRequestCount": "1"});
            let batch = json!({"metadata": {"state": state, "batchStats": stats}, "response": inlined});
            assert_eq!(results_of(&batch), (BatchState::Ended, done, expected.clone()));
            let batch = json!({"metadata": {"state": state, "output": inlined}});
            assert_eq!(results_of(&batch), (BatchState::Ended, None, expected.clone()));
        }
        let running = json!({"metadata": {"state": "BATCH_STATE_RUNNING"}, "response": inlined});
        assert_eq!(results_of(&running), (BatchState::Running, None, Vec::new()));
        assert!(read_status("b", &json!({"metadata": {"state": "ODD"}})).is_err());

        // If its results are gone, it was still paid for.
        for (state, is_gone) in [("SUCCEEDED", true), ("PARTIALLY_SUCCEEDED", true), ("CANCELLED", false)] {
            let status =
                read_status("b", &json!({"metadata": {"state": format!("BATCH_STATE_{state}")}})).unwrap();
            assert_eq!(results(&status, &mut |_| {}).is_err(), is_gone, "{state}");
        }
    }
}
