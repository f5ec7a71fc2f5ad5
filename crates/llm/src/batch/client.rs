//! A client of a provider's batches.

use std::sync::Arc;

use super::format::BatchFormat;
use super::storage::{BatchStorage, JobSetup};
use crate::client::ModelClient;
use crate::error::{AskError, ErrorKind};
use crate::http::HttpTransport;

/// A client for a provider's batch API, with the address and key of a model client. It retries nothing, because only
/// the caller knows which requests must not be sent twice.
#[derive(Clone)]
pub struct BatchClient {
    pub(super) client: ModelClient,
    pub(super) transport: Arc<HttpTransport>,
    pub(super) format: BatchFormat,
    /// Bucket and role of Bedrock's jobs.
    pub(super) setup: Option<Arc<JobSetup>>,
}

impl BatchClient {
    /// A client for the batches of a model's provider. `transport` must accept answers as large as the results
    /// of a batch.
    ///
    /// # Errors
    /// The reason, if the provider has no batches, has some in an unsupported format, or lacks its storage.
    pub fn new(
        client: ModelClient,
        transport: Arc<HttpTransport>,
        storage: &BatchStorage,
    ) -> Result<Self, String> {
        let format = BatchFormat::for_provider(client.provider(), client.wire_name())?;
        let setup = match format {
            BatchFormat::Bedrock => {
                let setup = storage.open(&client)?;
                // Jobs accept no tools. Live requests then use the same form of schema, so that a model that
                // refuses it does so at the first request and not in a job.
                client.ask_without_tools();
                Some(Arc::new(setup))
            }
            BatchFormat::OpenAi(_) | BatchFormat::Anthropic | BatchFormat::Gemini => None,
        };
        Ok(Self { client, transport, format, setup })
    }

    /// Bucket and role of Bedrock's jobs.
    pub(super) fn jobs(&self) -> Result<&JobSetup, AskError> {
        let missing = || AskError::new(ErrorKind::BadRequest, "jobs of Bedrock need a bucket");
        self.setup.as_deref().ok_or_else(missing)
    }

    /// The client of the model.
    pub fn model(&self) -> &ModelClient {
        &self.client
    }

    /// The format of the batches.
    pub fn format(&self) -> BatchFormat {
        self.format
    }
}
