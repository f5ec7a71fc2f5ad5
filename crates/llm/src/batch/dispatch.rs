//! The calls of batches, each in the form of the provider.

use super::client::BatchClient;
use super::draft::BatchDraft;
use super::format::BatchFormat;
use super::{
    BatchSearch, BatchStatus, BatchTrace, ResultSink, UploadedRequests, anthropic, bedrock, gemini, openai,
};
use crate::error::AskError;

impl BatchClient {
    /// Uploads the requests of a batch, if they are not sent when it is created.
    ///
    /// # Errors
    /// If the provider refuses them. The batch was certainly not created.
    pub async fn upload(&self, draft: &BatchDraft) -> Result<UploadedRequests, AskError> {
        match self.format {
            BatchFormat::OpenAi(_) => openai::upload(self, draft).await.map(|id| UploadedRequests(Some(id))),
            BatchFormat::Bedrock => {
                bedrock::upload(self, self.jobs()?, draft).await.map(|()| UploadedRequests::default())
            }
            BatchFormat::Anthropic | BatchFormat::Gemini => Ok(UploadedRequests::default()),
        }
    }

    /// Creates a batch and returns its id. Unless the error is a refusal, the batch may have been created.
    ///
    /// # Errors
    /// If the provider refuses it, or no answer came.
    pub async fn create(&self, draft: &BatchDraft, file: &UploadedRequests) -> Result<String, AskError> {
        match self.format {
            BatchFormat::OpenAi(endpoint) => openai::create(self, draft, endpoint, file).await,
            BatchFormat::Anthropic => anthropic::create(self, draft).await,
            BatchFormat::Gemini => gemini::create(self, draft).await,
            BatchFormat::Bedrock => bedrock::create(self, self.jobs()?, draft).await,
        }
    }

    /// Looks for a batch that may have been created.
    ///
    /// # Errors
    /// If the provider can't be reached.
    pub async fn find(&self, trace: BatchTrace<'_>) -> Result<BatchSearch, AskError> {
        match self.format {
            BatchFormat::OpenAi(_) => openai::find(self, trace).await,
            BatchFormat::Anthropic => anthropic::find(self, trace).await,
            BatchFormat::Gemini => gemini::find(self, trace).await,
            BatchFormat::Bedrock => bedrock::find(self, trace).await,
        }
    }

    /// Returns the state of a batch.
    ///
    /// # Errors
    /// If the provider can't be reached, or does not know the batch.
    pub async fn status(&self, id: &str) -> Result<BatchStatus, AskError> {
        match self.format {
            BatchFormat::OpenAi(_) => openai::status(self, id).await,
            BatchFormat::Anthropic => anthropic::status(self, id).await,
            BatchFormat::Gemini => gemini::status(self, id).await,
            BatchFormat::Bedrock => bedrock::status(self, self.jobs()?, id).await,
        }
    }

    /// Reads the results of a batch that has ended, in any order.
    ///
    /// # Errors
    /// If they can't be read in full.
    pub async fn results(&self, status: &BatchStatus, sink: ResultSink<'_>) -> Result<(), AskError> {
        match self.format {
            BatchFormat::OpenAi(_) => openai::results(self, status, sink).await,
            BatchFormat::Anthropic => anthropic::results(self, &status.id, status, sink).await,
            BatchFormat::Gemini => gemini::results(status, sink),
            BatchFormat::Bedrock => bedrock::results(self, self.jobs()?, status, sink).await,
        }
    }

    /// Asks the provider to stop a batch. Requests that were processed by then are paid for and part of the results.
    ///
    /// # Errors
    /// If the provider can't be reached, or refuses.
    pub async fn cancel(&self, id: &str) -> Result<(), AskError> {
        let path = match self.format {
            BatchFormat::OpenAi(_) => format!("/batches/{id}/cancel"),
            BatchFormat::Anthropic => format!("/v1/messages/batches/{id}/cancel"),
            BatchFormat::Gemini => format!("/batches/{id}:cancel"),
            BatchFormat::Bedrock => format!("{}/stop", bedrock::job_path(id)),
        };
        self.post(&path, b"{}".to_vec(), "application/json").await.map(drop)
    }
}
