//! Settings and parts of a client.

use std::sync::Arc;
use std::time::Duration;

use crate::budget::BudgetTracker;
use crate::call_event::CallObserver;
use crate::clock::{Clock, TokioClock};
use crate::endpoint::ModelEndpoint;
use crate::http::HttpTransport;
use crate::rate_limit::ProviderAccounts;
use crate::retry::RetryPolicy;
use crate::shared_limits::SharedRate;
use crate::transport::Transport;
use crate::wire::WireCodec;

/// Settings that clients share: the network, time, limits, and the retry policy.
#[derive(Clone)]
pub struct ClientSetup {
    /// Sends the requests. Clients with the same transport share its connections.
    pub transport: Arc<dyn Transport>,
    /// Waits between attempts.
    pub clock: Arc<dyn Clock>,
    /// Retry policy.
    pub policy: RetryPolicy,
    /// Time limit of one request, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// Seed of the random part of waits.
    pub seed: u64,
    /// Accounts with their rate limits.
    pub accounts: Arc<ProviderAccounts>,
    /// Budget of all clients that share it. `None` means no budget.
    pub budget: Option<Arc<BudgetTracker>>,
    /// Budget of one of several clients of the process, in addition to `budget`.
    pub client_budget: Option<Arc<BudgetTracker>>,
    /// Rates that are shared with other processes. `None` leaves them to the accounts.
    pub shared_rate: Option<Arc<dyn SharedRate>>,
    /// Receives retries and pauses, if anyone wants to know.
    pub observer: Option<Arc<dyn CallObserver>>,
}

impl Default for ClientSetup {
    /// Real network and time, five attempts, three minutes for a request.
    fn default() -> Self {
        Self {
            transport: Arc::new(HttpTransport::default()),
            clock: Arc::new(TokioClock),
            policy: RetryPolicy::default(),
            timeout: Duration::from_mins(3),
            seed: 0,
            accounts: Arc::default(),
            budget: None,
            client_budget: None,
            shared_rate: None,
            observer: None,
        }
    }
}

/// Parts of one client.
#[derive(Debug)]
pub struct ClientParts {
    /// The provider's name, for people and records.
    pub provider: String,
    /// The model to ask when a request names none.
    pub model: Arc<str>,
    /// Address and credentials.
    pub endpoint: ModelEndpoint,
    /// The wire format.
    pub wire: Arc<dyn WireCodec>,
}
