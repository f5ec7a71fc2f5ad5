//! Anthropic's Message Batches. They have no name, so a batch is found again by its size, its time and its
//! results.

use serde_json::Value;
use serde_json::value::RawValue;

use super::client::BatchClient;
use super::draft::BatchDraft;
use super::exchange::{safe_id, seconds, short};
use super::{
    BatchFiles, BatchSearch, BatchState, BatchStatus, BatchTrace, MAX_CLOCK_DIFFERENCE, ReadLine, ResultSink,
    is_past, read_lines,
};
use crate::batch_lines::{BatchOutcome, BatchReplyLine, unreadable};
use crate::error::{AskError, ErrorKind};
use crate::wire::error_words;

const BATCHES: &str = "/v1/messages/batches";
/// The most pages of the list that are read, with 100 batches each.
const MAX_PAGES: usize = 50;

pub(super) async fn create(client: &BatchClient, draft: &BatchDraft) -> Result<String, AskError> {
    let created = client.post(BATCHES, draft.to_bytes(), "application/json").await?;
    safe_id(&created["id"])
}

pub(super) async fn find(client: &BatchClient, trace: BatchTrace<'_>) -> Result<BatchSearch, AskError> {
    let mut undecided = false;
    let mut after: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("limit", "100")];
        query.extend(after.as_deref().map(|after| ("after_id", after)));
        let page = client.get(BATCHES, &query).await?;
        let Some(batches) = page["data"].as_array() else {
            return Ok(BatchSearch::Unknown(format!("the list of batches can't be read: {}", short(&page))));
        };

        for batch in batches {
            match examine(client, batch, trace).await? {
                BatchSearch::Absent => {}
                BatchSearch::Undecided => undecided = true,
                known => return Ok(known),
            }
        }

        let last = batches.last();
        if is_past(batches, &trace, |batch| seconds(&batch["created_at"])) || page["has_more"] != true {
            return Ok(if undecided { BatchSearch::Undecided } else { BatchSearch::Absent });
        }
        after = last.and_then(|batch| batch["id"].as_str()).map(str::to_owned);
    }

    Ok(BatchSearch::Unknown(format!("it is not among the newest {} batches", MAX_PAGES * 100)))
}

/// Decides whether a batch in the list is the one we look for.
async fn examine(
    client: &BatchClient,
    batch: &Value,
    trace: BatchTrace<'_>,
) -> Result<BatchSearch, AskError> {
    let id = safe_id(&batch["id"])?;
    let created = seconds(&batch["created_at"]);
    let is_older = created.is_some_and(|created| created < trace.created - MAX_CLOCK_DIFFERENCE);
    if is_older || trace.others.contains(&id) || total(batch) != Some(trace.requests) {
        return Ok(BatchSearch::Absent);
    }

    let status = read_status(&id, batch)?;
    if status.state == BatchState::Running {
        return Ok(BatchSearch::Undecided);
    }
    if status.results == BatchFiles::Gone {
        return Ok(BatchSearch::Unknown(format!("the results of {id}, which may be it, are gone")));
    }

    let mut seen = None;
    let mut look = |line: ReadLine| {
        if let Ok(line) = line {
            seen.get_or_insert_with(|| (trace.holds)(&line.custom_id));
        }
    };
    results(client, &id, &status, &mut look).await?;
    Ok(match seen {
        Some(true) => BatchSearch::Found(id),
        Some(false) => BatchSearch::Absent,
        None => BatchSearch::Unknown(format!("the results of {id}, which may be it, are gone")),
    })
}

pub(super) async fn status(client: &BatchClient, id: &str) -> Result<BatchStatus, AskError> {
    read_status(id, &client.get(&format!("{BATCHES}/{id}"), &[]).await?)
}

fn read_status(id: &str, batch: &Value) -> Result<BatchStatus, AskError> {
    let (state, results) = match batch["processing_status"].as_str() {
        Some("in_progress" | "canceling") => (BatchState::Running, BatchFiles::None),
        Some("ended") if batch["archived_at"].is_string() => (BatchState::Ended, BatchFiles::Gone),
        Some("ended") => (BatchState::Ended, BatchFiles::OfBatch),
        _ => {
            let message = format!("the batch has no known status: {}", short(batch));
            return Err(AskError::new(ErrorKind::MalformedReply, message));
        }
    };
    let left = batch["request_counts"]["processing"].as_u64();
    let done = total(batch).zip(left).map(|(total, left)| total.saturating_sub(left));

    Ok(BatchStatus { id: id.to_owned(), state, done, results })
}

/// The number of requests in a batch.
fn total(batch: &Value) -> Option<u64> {
    let counts = batch["request_counts"].as_object()?;
    Some(counts.values().filter_map(Value::as_u64).sum())
}

/// Reads the results. They are requested at the provider's own address, and the address that the batch names for them
/// is ignored.
pub(super) async fn results(
    client: &BatchClient,
    id: &str,
    status: &BatchStatus,
    sink: ResultSink<'_>,
) -> Result<(), AskError> {
    match status.results {
        BatchFiles::None => return Ok(()),
        BatchFiles::Gone => return Err(AskError::new(ErrorKind::NotFound, "the results were archived")),
        BatchFiles::Named(_) | BatchFiles::OfBatch | BatchFiles::Inline(_) => {}
    }

    let bytes = client.download(&format!("{BATCHES}/{id}/results"), &[]).await?;
    read_lines(&bytes, read_line, sink);

    Ok(())
}

/// Reads a line of the results.
fn read_line(line: &[u8]) -> ReadLine {
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        custom_id: String,
        #[serde(borrow)]
        result: Outcome<'a>,
    }

    #[derive(serde::Deserialize)]
    struct Outcome<'a> {
        r#type: String,
        #[serde(default, borrow)]
        message: Option<&'a RawValue>,
        #[serde(default)]
        error: Value,
    }

    let Line { custom_id, result } = serde_json::from_slice(line).map_err(unreadable)?;
    let outcome = match (result.r#type.as_str(), result.message) {
        ("succeeded", Some(body)) => {
            BatchOutcome::Answered { status: 200, request_id: None, body: body.to_owned() }
        }
        (kind, _) => {
            let error = result.error.get("error").unwrap_or(&result.error);
            let message = if error.is_null() { kind.to_owned() } else { error_words(error) };
            BatchOutcome::Failed {
                status: None,
                code: Some(kind.to_owned()),
                message: crate::excerpt::cut(&message, crate::excerpt::MESSAGE_CHARS),
            }
        }
    };

    Ok(BatchReplyLine { custom_id, outcome })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn archived_results_are_gone_and_not_unprocessed() {
        let status = |archived: Value| {
            let batch = json!({"processing_status": "ended", "archived_at": archived, "request_counts": {}});
            let status = read_status("batch", &batch).unwrap();
            (status.state, status.results)
        };
        assert_eq!(status(Value::Null), (BatchState::Ended, BatchFiles::OfBatch));
        assert_eq!(status(json!("2026-01-01T00:00:00Z")), (BatchState::Ended, BatchFiles::Gone));
    }

    #[test]
    fn results_are_answers_or_failures_with_the_kind_for_a_code() {
        let line = json!({"custom_id": "a", "result": {"type": "succeeded", "message": {"content": []}}});
        let read = read_line(line.to_string().as_bytes()).unwrap();
        assert!(matches!(read.outcome, BatchOutcome::Answered { status: 200, .. }));

        for (result, expected) in [
            (json!({"type": "expired"}), ("expired", "expired")),
            (json!({"type": "succeeded"}), ("succeeded", "succeeded")),
            (
                json!({"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}}),
                ("errored", "bad"),
            ),
        ] {
            let line = json!({"custom_id": "a", "result": result}).to_string();
            let BatchOutcome::Failed { code, message, .. } = read_line(line.as_bytes()).unwrap().outcome
            else {
                panic!("{line}")
            };
            assert_eq!((code.as_deref(), message.as_str()), (Some(expected.0), expected.1), "{line}");
        }
        assert!(read_line(b"{}").is_err() && read_line(b"nonsense").is_err());
    }
}
