//! OpenAI's batches: a file of lines, a batch made from it, a file of results and one of errors.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::BatchClient;
use super::draft::{BatchDraft, display_name};
use super::exchange::{safe_id, seconds, short};
use super::{
    BatchFiles, BatchSearch, BatchState, BatchStatus, BatchTrace, MAX_CLOCK_DIFFERENCE, ResultSink,
    UploadedRequests, is_past, read_lines,
};
use crate::batch_lines::BatchReplyLine;
use crate::error::{AskError, ErrorKind};

/// The key for the token in a batch's metadata.
const TOKEN_KEY: &str = "assize";
/// The most pages of the list that are read, with 100 batches each.
const MAX_PAGES: usize = 50;
/// How often to check a file that is not ready yet, and the wait before each check.
const FILE_CHECKS: u32 = 60;
const FILE_WAIT: Duration = Duration::from_secs(2);

/// Uploads the file of requests and returns its id.
pub(super) async fn upload(client: &BatchClient, draft: &BatchDraft) -> Result<String, AskError> {
    let boundary = format!("assize-{}", draft.token);
    let name = file_name(&draft.token);
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/jsonl\r\n\r\n"
    )
    .into_bytes();
    body.extend(draft.to_bytes());
    body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());

    let kind = format!("multipart/form-data; boundary={boundary}");
    let mut file = client.post("/files", body, &kind).await?;
    let id = safe_id(&file["id"])?;

    // Azure validates a file first, and refuses to make a batch from one that is not validated.
    for _ in 0..FILE_CHECKS {
        match file["status"].as_str() {
            Some("pending" | "running" | "notRunning") => tokio::time::sleep(FILE_WAIT).await,
            Some("error" | "failed") => {
                let message =
                    format!("the file of requests was not accepted: {}", short(&file["status_details"]));
                return Err(AskError { status: Some(400), ..AskError::new(ErrorKind::BadRequest, message) });
            }
            _ => break,
        }
        file = client.get(&format!("/files/{id}"), &[]).await?;
    }

    Ok(id)
}

pub(super) async fn create(
    client: &BatchClient,
    draft: &BatchDraft,
    endpoint: &str,
    file: &UploadedRequests,
) -> Result<String, AskError> {
    let batch = json!({
        "input_file_id": file.0,
        "endpoint": endpoint,
        "completion_window": "24h",
        "metadata": { TOKEN_KEY: draft.token },
    });
    let created = client.post("/batches", batch.to_string().into_bytes(), "application/json").await?;
    safe_id(&created["id"])
}

pub(super) async fn find(client: &BatchClient, trace: BatchTrace<'_>) -> Result<BatchSearch, AskError> {
    let mut after = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("limit", "100")];
        query.extend(after.as_deref().map(|after| ("after", after)));
        let page = match client.get("/batches", &query).await {
            Ok(page) => page,
            Err(error) if error.kind == ErrorKind::NotFound => {
                return Ok(BatchSearch::Unknown("the server has no list of batches".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let Some(batches) = page["data"].as_array() else {
            return Ok(BatchSearch::Unknown(format!("the list of batches can't be read: {}", short(&page))));
        };

        for batch in batches {
            let is_it = match batch["metadata"].as_object() {
                Some(metadata) => metadata.get(TOKEN_KEY).is_some_and(|token| token == trace.token),
                None => may_be(batch, &trace) && has_file_of(client, batch, trace.token).await?,
            };
            if is_it {
                return safe_id(&batch["id"]).map(BatchSearch::Found);
            }
        }

        let last = batches.last();
        if is_past(batches, &trace, |batch| seconds(&batch["created_at"])) || page["has_more"] != true {
            return Ok(BatchSearch::Absent);
        }
        after = last.and_then(|batch| batch["id"].as_str()).map(str::to_owned);
    }

    Ok(BatchSearch::Unknown(format!("it is not among the newest {} batches", MAX_PAGES * 100)))
}

/// Whether a batch without metadata may be the one: it is not too old, and has the same number of requests if that is
/// known. Some servers keep no metadata.
fn may_be(batch: &Value, trace: &BatchTrace<'_>) -> bool {
    let total = batch["request_counts"]["total"].as_u64().filter(|total| *total > 0);
    let is_old =
        seconds(&batch["created_at"]).is_some_and(|created| created < trace.created - MAX_CLOCK_DIFFERENCE);
    !is_old && total.is_none_or(|total| total == trace.requests)
}

/// Whether a batch was made from the file that was sent with this token.
async fn has_file_of(client: &BatchClient, batch: &Value, token: &str) -> Result<bool, AskError> {
    let Ok(id) = safe_id(&batch["input_file_id"]) else { return Ok(false) };
    match client.get(&format!("/files/{id}"), &[]).await {
        Ok(file) => Ok(file["filename"] == file_name(token)),
        // The file of another program, which was deleted. Assize deletes none.
        Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Name of the file of requests that is sent with this token.
fn file_name(token: &str) -> String {
    format!("{}.jsonl", display_name(token))
}

pub(super) async fn status(client: &BatchClient, id: &str) -> Result<BatchStatus, AskError> {
    read_status(id, &client.get(&format!("/batches/{id}"), &[]).await?)
}

fn read_status(id: &str, batch: &Value) -> Result<BatchStatus, AskError> {
    let state = match batch["status"].as_str() {
        Some("completed" | "expired" | "cancelled") => BatchState::Ended,
        Some("failed") => BatchState::Refused(refusal(batch)),
        Some("validating" | "in_progress" | "finalizing" | "cancelling") => BatchState::Running,
        _ => {
            let message = format!("the batch has no known status: {}", short(batch));
            return Err(AskError::new(ErrorKind::MalformedReply, message));
        }
    };

    let files: Vec<String> = ["output_file_id", "error_file_id"]
        .iter()
        .filter(|name| batch[**name].as_str().is_some_and(|id| !id.is_empty()))
        .map(|name| safe_id(&batch[*name]))
        .collect::<Result<_, _>>()?;
    let counts = &batch["request_counts"];
    let done = counts["completed"].as_u64().map(|done| done + counts["failed"].as_u64().unwrap_or(0));

    // Without the file, requests that were answered and paid for would count as not processed.
    let has_output = batch["output_file_id"].as_str().is_some_and(|id| !id.is_empty());
    let is_gone = !has_output && counts["completed"].as_u64().is_some_and(|answered| answered > 0);
    let results = if is_gone { BatchFiles::Gone } else { BatchFiles::Named(files) };

    Ok(BatchStatus { id: id.to_owned(), state, done, results })
}

/// The messages and codes of a batch that was not accepted.
fn refusal(batch: &Value) -> String {
    let errors = batch["errors"]["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let words = |error: &Value| {
        let code = error["code"].as_str().unwrap_or_default();
        let message = error["message"].as_str().unwrap_or_default();
        if code.is_empty() { message.to_owned() } else { format!("{message} ({code})") }
    };
    match errors.iter().map(words).next() {
        Some(first) => crate::excerpt::cut(&first, crate::excerpt::MESSAGE_CHARS),
        None => "it gave no reason".to_owned(),
    }
}

pub(super) async fn results(
    client: &BatchClient,
    status: &BatchStatus,
    sink: ResultSink<'_>,
) -> Result<(), AskError> {
    match &status.results {
        BatchFiles::Named(files) => {
            for file in files {
                let bytes = client.download(&format!("/files/{file}/content"), &[]).await?;
                read_lines(&bytes, BatchReplyLine::parse, sink);
            }
            Ok(())
        }
        BatchFiles::Gone => {
            Err(AskError::new(ErrorKind::NotFound, "the batch names no file with its results"))
        }
        BatchFiles::OfBatch | BatchFiles::Inline(_) | BatchFiles::None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answered_requests_without_a_file_are_gone_and_not_unprocessed() {
        let results = |output: Value, completed: u64| {
            let counts = json!({"total": 2, "completed": completed, "failed": 1});
            let batch = json!({
                "status": "expired", "output_file_id": output, "error_file_id": "file-2", "request_counts": counts,
            });
            read_status("b", &batch).unwrap().results
        };
        assert_eq!(results(Value::Null, 1), BatchFiles::Gone);
        assert_eq!(results(json!(""), 1), BatchFiles::Gone);
        assert_eq!(results(Value::Null, 0), BatchFiles::Named(vec!["file-2".to_owned()]));
        let both = ["file-1", "file-2"].map(str::to_owned).to_vec();
        assert_eq!(results(json!("file-1"), 1), BatchFiles::Named(both));
    }
}
