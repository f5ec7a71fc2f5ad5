//! The mock server's bucket, below `/s3/`, with one key per object; Bedrock's jobs read and write it.

use serde_json::json;

use super::BatchesState;
use super::exchange::{BatchAnswer, BatchCall, text_of};

/// Bucket and key of the object at a path.
pub(super) fn key_of(path: &str) -> Option<&str> {
    path.strip_prefix("/s3/")
}

/// The job that a path names, with slashes and colons decoded.
pub(super) fn job_of(path: &str) -> &str {
    let (_, id) = path.split_once("/model-invocation-job/").unwrap_or(("", path));
    id.trim_end_matches("/stop")
}

impl BatchesState {
    /// Reads or writes an object. Addresses must be signed, but the signature is not verified.
    pub(super) fn object(&mut self, key: &str, call: &BatchCall<'_>) -> BatchAnswer {
        let is_signed = ["X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Credential=", "X-Amz-Signature="]
            .iter()
            .all(|part| call.query.contains(part));
        let bears_key = call.headers.iter().any(|(name, _)| name == "authorization");
        if !is_signed || bears_key || self.faults.bucket_closed {
            return refusal(403, "AccessDenied", "Access Denied");
        }

        if call.is_put {
            self.files.insert(key.to_owned(), call.body.to_vec());
            return BatchAnswer::new(200, String::new());
        }
        let is_gone = self.faults.results_gone && key.strip_suffix(".out").is_some();
        match self.files.get(key).filter(|_| !is_gone) {
            Some(bytes) => BatchAnswer {
                delay: self.faults.result_delay,
                ..BatchAnswer::new(200, String::from_utf8_lossy(bytes).into_owned())
            },
            None => refusal(404, "NoSuchKey", "The specified key does not exist."),
        }
    }

    /// Writes the results of an ended job, if there are any, and its manifest.
    pub(super) fn put_results(&mut self, at: usize) {
        let batch = &self.batches[at];
        let text = text_of(batch.output.iter().chain(&batch.errors));
        let place = |pointer: &str| {
            let uri = batch.name.pointer(pointer).and_then(|uri| uri.as_str()).unwrap_or_default();
            uri.trim_start_matches("s3://").trim_end_matches('/').to_owned()
        };
        let input = place("/inputDataConfig/s3InputDataConfig/s3Uri");
        let output = place("/outputDataConfig/s3OutputDataConfig/s3Uri");
        let job = batch.id.rsplit('/').next().unwrap_or_default();
        let file = input.rsplit('/').next().unwrap_or_default();
        let folder = format!("{output}/{job}");
        let results = format!("{folder}/{file}.out");
        let manifest = json!({
            "totalRecordCount": batch.requests.len(),
            "processedRecordCount": batch.output.len() + batch.errors.len(),
            "successRecordCount": batch.output.len(), "errorRecordCount": batch.errors.len(),
        });
        if !text.is_empty() {
            self.files.insert(results, text.into_bytes());
            self.files.insert(format!("{folder}/manifest.json.out"), manifest.to_string().into_bytes());
        }
    }
}

fn refusal(status: u16, code: &str, message: &str) -> BatchAnswer {
    let xml =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>");
    BatchAnswer::new(status, xml)
}
