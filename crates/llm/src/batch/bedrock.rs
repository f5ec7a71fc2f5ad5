//! Jobs of Amazon Bedrock. Requests and results are objects in a bucket.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::client::BatchClient;
use super::draft::{BatchDraft, display_name};
use super::exchange::short;
use super::storage::JobSetup;
use super::{BatchFiles, BatchSearch, BatchState, BatchStatus, BatchTrace, ReadLine, ResultSink, read_lines};
use crate::batch_lines::{BatchOutcome, BatchReplyLine, unreadable};
use crate::error::{AskError, ErrorKind};
use crate::wire::path_segment;

const JOB: &str = "/model-invocation-job";
const JOBS: &str = "/model-invocation-jobs";
/// The most pages of the list that are read.
const MAX_PAGES: usize = 50;

/// Digits and letters at the end of a job's ARN.
const JOB_ID_CHARS: usize = 12;

/// Key of the object with the requests.
fn requests_key(setup: &JobSetup, draft: &BatchDraft) -> String {
    setup.place.key(&format!("requests/{}.jsonl", display_name(&draft.token)))
}

pub(super) async fn upload(
    client: &BatchClient,
    setup: &JobSetup,
    draft: &BatchDraft,
) -> Result<(), AskError> {
    setup.bucket.put(&client.transport, &requests_key(setup, draft), draft.to_bytes()).await
}

pub(super) async fn create(
    client: &BatchClient,
    setup: &JobSetup,
    draft: &BatchDraft,
) -> Result<String, AskError> {
    let place = &setup.place;
    let name = display_name(&draft.token);
    let key = requests_key(setup, draft);
    let job = json!({
        "jobName": name,
        // If the same token is sent twice, Bedrock makes one job.
        "clientRequestToken": draft.token,
        "roleArn": setup.role.0,
        "modelId": draft.model,
        "modelInvocationType": "Converse",
        "inputDataConfig": {"s3InputDataConfig": {"s3Uri": place.uri(&key), "s3InputFormat": "JSONL"}},
        "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": place.uri(&format!("{}/", place.key("replies")))}},
    });
    let created = client.post(JOB, job.to_string().into_bytes(), "application/json").await?;
    arn(&created["jobArn"])
}

pub(super) async fn find(client: &BatchClient, trace: BatchTrace<'_>) -> Result<BatchSearch, AskError> {
    let name = display_name(trace.token);
    let mut next: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("nameContains", name.as_str()), ("maxResults", "100")];
        query.extend(next.as_deref().map(|next| ("nextToken", next)));
        let page = client.get(JOBS, &query).await?;
        let Some(jobs) = page["invocationJobSummaries"].as_array() else {
            return Ok(BatchSearch::Unknown(format!("the list of jobs can't be read: {}", short(&page))));
        };

        if let Some(job) = jobs.iter().find(|job| job["jobName"] == name.as_str()) {
            return arn(&job["jobArn"]).map(BatchSearch::Found);
        }
        next = page["nextToken"].as_str().filter(|token| !token.is_empty()).map(str::to_owned);
        if next.is_none() {
            return Ok(BatchSearch::Absent);
        }
    }

    Ok(BatchSearch::Unknown(format!("its name is not among {} jobs", MAX_PAGES * 100)))
}

pub(super) async fn status(
    client: &BatchClient,
    setup: &JobSetup,
    id: &str,
) -> Result<BatchStatus, AskError> {
    let job = client.get(&job_path(id), &[]).await?;
    let done = job["processedRecordCount"].as_u64();
    let status_with = |state, results| Ok(BatchStatus { id: id.to_owned(), state, done, results });

    let word = job["status"].as_str().unwrap_or_default();
    match word {
        "Submitted" | "Validating" | "Scheduled" | "InProgress" | "Stopping" => {
            return status_with(BatchState::Running, BatchFiles::None);
        }
        "Completed" | "PartiallyCompleted" => {
            return status_with(BatchState::Ended, BatchFiles::Named(vec![results_key(setup, id, &job)?]));
        }
        "Expired" | "Stopped" | "Failed" => {}
        _ => {
            let message = format!("the job has no known status: {}", short(&job));
            return Err(AskError::new(ErrorKind::MalformedReply, message));
        }
    }

    // Part of the requests may have been processed, and paid for. If none was, there is no file.
    let key = results_key(setup, id, &job)?;
    match setup.bucket.get(&client.transport, &key).await {
        Ok(lines) => status_with(BatchState::Ended, BatchFiles::Inline(lines)),
        Err(error) if error.kind != ErrorKind::NotFound => Err(error),
        Err(_) if done.is_some_and(|done| done > 0) => status_with(BatchState::Ended, BatchFiles::Gone),
        Err(_) if word == "Failed" => status_with(BatchState::Refused(refusal(&job)), BatchFiles::None),
        Err(_) => status_with(BatchState::Ended, BatchFiles::None),
    }
}

pub(super) async fn results(
    client: &BatchClient,
    setup: &JobSetup,
    status: &BatchStatus,
    sink: ResultSink<'_>,
) -> Result<(), AskError> {
    match &status.results {
        BatchFiles::Named(keys) => {
            for key in keys {
                read_lines(&setup.bucket.get(&client.transport, key).await?, read_line, sink);
            }
        }
        BatchFiles::Inline(bytes) => read_lines(bytes, read_line, sink),
        BatchFiles::Gone => return Err(AskError::new(ErrorKind::NotFound, "the results were deleted")),
        BatchFiles::OfBatch | BatchFiles::None => {}
    }

    Ok(())
}

/// Path of a job. Its ARN contains a slash.
pub(super) fn job_path(id: &str) -> String {
    format!("{JOB}/{}", path_segment(id))
}

/// Key of the object with a job's results, derived from the addresses that the job was created with: they may
/// have another prefix.
fn results_key(setup: &JobSetup, id: &str, job: &Value) -> Result<String, AskError> {
    let input = job.pointer("/inputDataConfig/s3InputDataConfig/s3Uri").unwrap_or(&Value::Null);
    let output = job.pointer("/outputDataConfig/s3OutputDataConfig/s3Uri").unwrap_or(&Value::Null);
    let key = |uri: &Value| uri.as_str().and_then(|uri| setup.place.key_of(uri)).map(str::to_owned);
    let (Some(input), Some(output)) = (key(input), key(output)) else {
        let message = format!(
            "its results are at {}, and `--batch-storage` names {}: name the bucket that it was sent with",
            short(output),
            setup.place
        );
        return Err(AskError::new(ErrorKind::BadRequest, message));
    };

    let file = input.rsplit('/').next().unwrap_or_default();
    let job = id.rsplit('/').next().unwrap_or_default();
    let folder = if output.is_empty() { String::new() } else { format!("{output}/") };
    Ok(format!("{folder}{job}/{file}.out"))
}

/// The reason that a failed job gives.
fn refusal(job: &Value) -> String {
    let words = job["message"].as_str().filter(|words| !words.trim().is_empty());
    words.map_or_else(
        || "it gave no reason".to_owned(),
        |words| crate::excerpt::cut(words, crate::excerpt::MESSAGE_CHARS),
    )
}

/// The ARN of a job. It becomes part of an address, so only the documented form is accepted.
fn arn(value: &Value) -> Result<String, AskError> {
    let is_job = |text: &&str| {
        let parts: Vec<&str> = text.split(':').collect();
        let [arn, partition, "bedrock", region, account, resource] = parts[..] else { return false };
        let plain =
            |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let id = resource.strip_prefix("model-invocation-job/").unwrap_or_default();
        arn == "arn"
            && partition.starts_with("aws")
            && [partition, region].into_iter().all(plain)
            && region.len() <= 20
            && account.len() == 12
            && account.bytes().all(|byte| byte.is_ascii_digit())
            && id.len() == JOB_ID_CHARS
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    value.as_str().filter(is_job).map(str::to_owned).ok_or_else(|| {
        AskError::new(
            ErrorKind::MalformedReply,
            format!("the answer has no usable ARN of a job: {}", short(value)),
        )
    })
}

/// Reads a line of the results.
fn read_line(line: &[u8]) -> ReadLine {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        record_id: String,
        #[serde(default, borrow)]
        model_output: Option<&'a RawValue>,
        #[serde(default)]
        error: Value,
    }

    let Line { record_id, model_output, error } = serde_json::from_slice(line).map_err(unreadable)?;
    let output = model_output.filter(|output| error.is_null() && output.get() != "null");
    let outcome = if let Some(body) = output {
        BatchOutcome::Answered { status: 200, request_id: None, body: body.to_owned() }
    } else {
        let message = error["errorMessage"].as_str().unwrap_or("no output");
        let code = match &error["errorCode"] {
            Value::String(word) => word.clone(),
            Value::Null => "no output".to_owned(),
            other => other.to_string(),
        };
        let status = code.parse().ok();
        let message = crate::excerpt::cut(message, crate::excerpt::MESSAGE_CHARS);
        BatchOutcome::Failed { status, code: Some(code), message }
    };

    Ok(BatchReplyLine { custom_id: record_id, outcome })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arns_of_jobs_become_part_of_an_address() {
        let good = "arn:aws:bedrock:eu-west-1:123456789012:model-invocation-job/abc123def456";
        assert_eq!(arn(&json!(good)), Ok(good.to_owned()));
        assert_eq!(
            job_path(good),
            "/model-invocation-job/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Amodel-invocation-job%2Fabc123def456"
        );
        for bad in [
            json!("arn:aws:bedrock:eu-west-1:123456789012:model-invocation-job/../../x"),
            json!("arn:aws:s3:eu-west-1:123456789012:model-invocation-job/abc123def456"),
            json!("arn:aws:bedrock:eu/west:123456789012:model-invocation-job/abc123def456"),
            json!("abc123def456"),
            json!(7),
        ] {
            assert!(arn(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lines_are_answers_or_failures() {
        let read = |line: Value| read_line(line.to_string().as_bytes());
        let answered =
            read(json!({"recordId": "a", "modelInput": {}, "modelOutput": {"output": {}}})).unwrap();
        assert_eq!(answered.custom_id, "a");
        assert!(matches!(answered.outcome, BatchOutcome::Answered { status: 200, .. }));

        for (error, expected) in [
            (json!({"errorCode": 400, "errorMessage": "bad"}), (Some(400), "400", "bad")),
            (json!({"errorCode": "Throttled", "errorMessage": "slow"}), (None, "Throttled", "slow")),
            (Value::Null, (None, "no output", "no output")),
        ] {
            let line = json!({"recordId": "a", "modelInput": {}, "error": error});
            let BatchOutcome::Failed { status, code, message } = read(line.clone()).unwrap().outcome else {
                panic!("{line}")
            };
            assert_eq!((status, code.as_deref().unwrap(), message.as_str()), expected, "{line}");
        }
        assert!(read(json!({"modelOutput": {}})).is_err());
        assert!(read_line(b"nonsense").is_err());
    }
}
