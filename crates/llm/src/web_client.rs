//! Requests to servers other than model servers, with the same limits and retries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::classify::classify;
use crate::client::ClientSetup;
use crate::endpoint::ModelEndpoint;
use crate::error::{AskError, ErrorKind};
use crate::rate_limit::{AcquireError, Permit, ProviderAccount, QueuedRequest};
use crate::retry::RetryJitter;
use crate::token_counts::TokenCounts;
use crate::transport::{HttpAnswer, HttpRequest};
use crate::{retry_after, sent_requests};

/// The most characters of a server's message in an error.
const MAX_WORDS: usize = 300;

/// A client of one server.
pub struct WebClient {
    setup: ClientSetup,
    account: Arc<ProviderAccount>,
    /// What is requested; used in place of a model's name.
    name: Arc<str>,
    requests: AtomicU64,
}

/// An answer of a server.
#[derive(Debug, Clone)]
pub struct WebAnswer {
    /// The answer of the last attempt.
    pub answer: HttpAnswer,
    /// How many requests were sent for it.
    pub attempts: u32,
    /// Time of the last attempt.
    pub latency: Duration,
}

impl WebClient {
    /// A client for the server of an endpoint. Requests to the same server share the limits of concurrency and
    /// rate.
    pub fn new(endpoint: &ModelEndpoint, setup: ClientSetup) -> Self {
        let account = setup.accounts.account_for(endpoint);
        Self { setup, account, name: "web".into(), requests: AtomicU64::new(0) }
    }

    /// Sends a request until `accepts` takes the status, or until trying again can't help.
    ///
    /// # Errors
    /// The last failure, with the number of attempts.
    pub async fn send(
        &self,
        request: &HttpRequest,
        accepts: &(dyn Fn(u16) -> bool + Sync),
    ) -> Result<WebAnswer, AskError> {
        let setup = &self.setup;
        let mut jitter = RetryJitter::new(setup.seed, self.requests.fetch_add(1, Ordering::Relaxed));
        let (mut attempts, mut waited) = (0, Duration::ZERO);
        loop {
            let permit = self.enter(setup.policy.max_total_wait.saturating_sub(waited)).await;
            let permit = permit.map_err(|error| AskError { attempts, ..error })?;
            if let Some(rate) = &setup.shared_rate {
                rate.admit(self.account.name(), permit.expected_tokens()).await;
            }

            let begun = Instant::now();
            sent_requests::note_in_flight(true);
            let sent = setup.transport.send(request.clone()).await;
            sent_requests::note_in_flight(false);
            let latency = begun.elapsed();
            attempts += 1;

            let error = match sent {
                Ok(answer) if accepts(answer.status) => {
                    let time = permit.time(latency, setup.timeout);
                    permit.answered(&*setup.clock, &answer.headers, time, TokenCounts::default());
                    return Ok(WebAnswer { answer, attempts, latency });
                }
                Ok(answer) => {
                    let error = refusal(
                        &answer,
                        retry_after::read(answer.status, &answer.headers, setup.clock.now()),
                    );
                    if matches!(error.kind, ErrorKind::RateLimited | ErrorKind::Overloaded) {
                        permit.limited(&*setup.clock, &answer.headers, error.retry_after, None);
                    }
                    error
                }
                Err(error) => AskError::from(&error),
            };
            // A request that waits is not in flight.
            drop(permit);

            let wait = setup.policy.next_wait(error.kind, attempts, waited, error.retry_after, &mut jitter);
            let Some(wait) = wait else { return Err(AskError { attempts, ..error }) };
            setup.clock.sleep(wait).await;
            waited += wait;
        }
    }

    async fn enter(&self, max_pause: Duration) -> Result<Permit, AskError> {
        let queued =
            QueuedRequest { model: &self.name, input: 0, max_output: Some(0), max_pause, source: None };
        self.account.acquire(&*self.setup.clock, queued).await.map_err(|error| match error {
            AcquireError::Pause(rest) => AskError::new(
                ErrorKind::RateLimited,
                format!("it asked for no requests for the next {} s", rest.as_secs_f64().ceil()),
            ),
            AcquireError::GivenUp(outage) => {
                let error = AskError::new(ErrorKind::Cancelled, &*outage.why);
                AskError { retry_after: outage.again, ..error }
            }
        })
    }
}

/// The error for an answer whose status is not a success.
fn refusal(answer: &HttpAnswer, retry_after: Option<Duration>) -> AskError {
    let text = answer.text();
    let words: String = text.trim().chars().take(MAX_WORDS).collect();
    let kind = classify(answer.status, "", &words);
    AskError { status: Some(answer.status), retry_after, ..AskError::new(kind, words) }
}
