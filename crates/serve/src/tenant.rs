//! Clients: their judges, their part of the cache, and their quotas.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use assize_engine::{EngineError, EngineErrorKind, GradingStop, PreparedRubric, SampleGrader, SampleService};
use assize_listen::SecretHash;
use assize_llm::{Budget, BudgetTracker, CallSource};
use assize_rubric::dollars;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::key_file::{ClientKey, KeyFile, KeyQuotas};
use crate::problem::ApiError;

/// Number of prepared rubrics that are kept for a client.
const MAX_PREPARED: usize = 512;

/// A client of the server.
pub(crate) struct Tenant {
    /// Name of its key; empty for the single client of a server without keys.
    pub(crate) name: Arc<str>,
    pub(crate) grader: SampleGrader,
    /// True if metrics show it all clients.
    pub(crate) is_operator: bool,
    quotas: KeyQuotas,
    usage: Arc<TenantUsage>,
    prepared: Mutex<HashMap<blake3::Hash, Arc<PreparedRubric>>>,
}

/// The usage of a client; it stays when its quotas change.
struct TenantUsage {
    in_flight: AtomicUsize,
    /// Number of requests so far.
    requests: AtomicU64,
    budget: Arc<BudgetTracker>,
    /// A permit for each sample that may be graded now. Clients don't share them, so that none waits for another.
    slots: Arc<Semaphore>,
    at_once: usize,
    state: Mutex<TenantState>,
}

/// Values that change together.
struct TenantState {
    /// Requests that may be sent at once (a token bucket).
    allowance: f64,
    refilled: Instant,
}

impl TenantUsage {
    /// Usage of a new client.
    fn new(quotas: KeyQuotas, at_once: usize) -> Self {
        let allowance = quotas.requests_per_minute.map_or(0.0, f64::from);
        let at_once = at_once.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            in_flight: AtomicUsize::new(0),
            requests: AtomicU64::new(0),
            budget: BudgetTracker::new(budget_of(quotas), |_| {}),
            slots: Arc::new(Semaphore::new(at_once)),
            at_once,
            state: Mutex::new(TenantState { allowance, refilled: Instant::now() }),
        }
    }
}

impl Tenant {
    /// A client with these quotas. `usage` is its usage so far, also under earlier quotas.
    fn new(
        name: &str,
        grader: SampleGrader,
        quotas: KeyQuotas,
        is_operator: bool,
        usage: Arc<TenantUsage>,
    ) -> Self {
        Self { name: name.into(), grader, is_operator, quotas, usage, prepared: Mutex::default() }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// When the client has sent too many requests in this minute.
    pub(crate) fn count_request(&self) -> Result<(), ApiError> {
        let Some(limit) = self.quotas.requests_per_minute else { return Ok(()) };
        let (limit, mut state) = (f64::from(limit), self.state());
        let now = Instant::now();
        let gained = now.duration_since(state.refilled).as_secs_f64() * limit / 60.0;
        state.allowance = (state.allowance + gained).min(limit);
        state.refilled = now;

        if state.allowance < 1.0 {
            let wait =
                ((1.0 - state.allowance) * 60.0 / limit.max(f64::MIN_POSITIVE)).ceil().clamp(1.0, 60.0);
            return Err(
                quota(format!("this key may send {limit} requests a minute")).retry_after(wait as u64)
            );
        }

        state.allowance -= 1.0;
        Ok(())
    }

    /// Reserves samples until the guard is dropped.
    ///
    /// # Errors
    /// When too many would be in flight, or the budget is spent.
    pub(crate) fn take_samples(self: &Arc<Self>, count: usize) -> Result<TenantSamples, ApiError> {
        if let Some(reason) = self.exhausted() {
            return Err(quota(reason));
        }

        let before = self.usage.in_flight.fetch_add(count, Ordering::AcqRel);
        let samples = TenantSamples { tenant: Arc::clone(self), count };
        match self.quotas.samples_in_flight {
            Some(limit) if before + count > limit => {
                if count > limit {
                    let message = format!(
                        "this request has {count} samples; this key may have {limit} in flight: send fewer at once"
                    );
                    return Err(quota(message));
                }

                let message = format!(
                    "this key may have {limit} samples in flight; {before} are, and this request has {count}"
                );
                Err(quota(message).retry_after(1))
            }
            _ => Ok(samples),
        }
    }

    /// The source of the calls for a request that begins now.
    pub(crate) fn new_source(&self) -> CallSource {
        let name = blake3::hash(self.name.as_bytes());
        let client = name.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        CallSource { client, request: self.usage.requests.fetch_add(1, Ordering::Relaxed) }
    }

    /// Why no more calls are made for this client, if its budget is spent.
    pub(crate) fn exhausted(&self) -> Option<String> {
        let limit = self.quotas.budget_usd?;
        let spent = self.usage.budget.spent_up()?;
        Some(format!("the budget of this key is spent: {} of ${limit}", dollars(spent.as_dollars())))
    }

    /// Waits for a slot to grade a sample; `None` if grading is stopped before.
    pub(crate) async fn turn(&self, stop: &GradingStop) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            () = stop.stopped() => None,
            permit = Arc::clone(&self.usage.slots).acquire_owned() => permit.ok(),
        }
    }

    /// Number of samples being graded.
    fn working(&self) -> usize {
        self.usage.at_once.saturating_sub(self.usage.slots.available_permits())
    }

    /// The rubric prepared under this hash, or the one that `prepare` creates.
    pub(crate) fn prepared(
        &self,
        hash: blake3::Hash,
        prepare: impl FnOnce() -> Result<PreparedRubric, ApiError>,
    ) -> Result<Arc<PreparedRubric>, ApiError> {
        let known = self.prepared.lock().get(&hash).cloned();
        if let Some(known) = known {
            return Ok(known);
        }

        let made = Arc::new(prepare()?);
        let mut prepared = self.prepared.lock();
        // Rubrics with a sample's values are used only once, and others are quickly prepared again.
        if prepared.len() >= MAX_PREPARED {
            prepared.clear();
        }
        prepared.insert(hash, Arc::clone(&made));
        Ok(made)
    }

    pub(crate) fn samples_in_flight(&self) -> usize {
        self.usage.in_flight.load(Ordering::Acquire)
    }

    fn state(&self) -> MutexGuard<'_, TenantState> {
        self.usage.state.lock()
    }
}

/// The budget of a client with these quotas.
fn budget_of(quotas: KeyQuotas) -> Budget {
    Budget { usd: quotas.budget_usd, ..Budget::default() }
}

/// An error that names the key whose budget can't be enforced.
fn of_key(name: &str, error: EngineError) -> EngineError {
    match error.kind {
        EngineErrorKind::Budget => {
            EngineError { message: format!("`--budget-usd` of the key `{name}`: {}", error.message), ..error }
        }
        _ => error,
    }
}

fn quota(message: impl Into<String>) -> ApiError {
    ApiError { retry_after: None, ..ApiError::overloaded(message, 0) }.kind("quota_exceeded")
}

/// Samples of a client that are not answered yet.
pub(crate) struct TenantSamples {
    tenant: Arc<Tenant>,
    count: usize,
}

impl Drop for TenantSamples {
    fn drop(&mut self) {
        self.tenant.usage.in_flight.fetch_sub(self.count, Ordering::AcqRel);
    }
}

/// The clients of a server.
pub(crate) struct TenantList {
    /// The client for everyone, if no keys are needed.
    anyone: Option<Arc<Tenant>>,
    keyed: Vec<(SecretHash, ClientKey, Arc<Tenant>)>,
}

impl TenantList {
    /// Clients of a key file, or one for everyone without a file. Keys that `earlier` contains keep their
    /// usage, even with new quotas. For each client, `at_once` samples are graded at once.
    ///
    /// # Errors
    /// When a judge can't be used.
    pub(crate) fn new(
        file: Option<&KeyFile>,
        samples: &SampleService,
        at_once: usize,
        earlier: Option<&Self>,
    ) -> Result<Self, EngineError> {
        let Some(file) = file else {
            let grader = samples.grader(None)?;
            grader.check()?;
            let usage = Arc::new(TenantUsage::new(KeyQuotas::default(), at_once));
            let tenant = Tenant::new("", grader, KeyQuotas::default(), true, usage);
            return Ok(Self { anyone: Some(Arc::new(tenant)), keyed: Vec::new() });
        };

        let mut keyed = Vec::with_capacity(file.keys.len());
        for key in &file.keys {
            let Some(hash) = SecretHash::from_hex(&key.hash) else { continue };
            let known =
                earlier.into_iter().flat_map(|list| &list.keyed).find(|(_, known, _)| known.hash == key.hash);
            let tenant = if let Some((.., tenant)) = known.filter(|(_, known, _)| known == key) {
                Arc::clone(tenant)
            } else {
                // The part of the cache belongs to the name, so that a client with a new key still finds its
                // replies.
                let usage = known.map(|(.., tenant)| Arc::clone(&tenant.usage));
                let usage = usage.unwrap_or_else(|| Arc::new(TenantUsage::new(key.quotas, at_once)));
                let grader = samples.client_grader(&key.name, &usage.budget)?;
                grader.check().map_err(|error| of_key(&key.name, error))?;
                Arc::new(Tenant::new(&key.name, grader, key.quotas, key.operator, usage))
            };
            keyed.push((hash, key.clone(), tenant));
        }

        Ok(Self { anyone: None, keyed })
    }

    /// Applies the budgets of the clients. Until then, the previous budgets are valid.
    pub(crate) fn apply_budgets(&self) {
        for (.., tenant) in &self.keyed {
            tenant.usage.budget.set_budget(budget_of(tenant.quotas));
        }
    }

    /// Number of samples being graded.
    pub(crate) fn working(&self) -> usize {
        let all = self.anyone.iter().chain(self.keyed.iter().map(|(.., tenant)| tenant));
        all.map(|tenant| tenant.working()).sum()
    }

    /// The client with this key. Compares all keys even after a match, so that the time reveals nothing.
    pub(crate) fn find(&self, key: Option<&str>) -> Option<Arc<Tenant>> {
        if let Some(anyone) = &self.anyone {
            return Some(Arc::clone(anyone));
        }

        let key = key?;
        let mut found = None;
        for (hash, _, tenant) in &self.keyed {
            if hash.matches(key) {
                found = Some(tenant);
            }
        }

        found.cloned()
    }

    /// True if no key is needed.
    pub(crate) const fn is_open(&self) -> bool {
        self.anyone.is_some()
    }

    /// Samples in flight by client name.
    pub(crate) fn in_flight(&self) -> BTreeMap<Arc<str>, usize> {
        let all = self.anyone.iter().chain(self.keyed.iter().map(|(.., tenant)| tenant));
        all.map(|tenant| (Arc::clone(&tenant.name), tenant.samples_in_flight())).collect()
    }
}
