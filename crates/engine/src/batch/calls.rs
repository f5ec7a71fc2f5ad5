//! Judge calls that are sent in batches, from the view of the models of a run.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use assize_llm::{
    AskError, BatchClient, BatchStorage, BoxFuture, BudgetTracker, CallKey, ChatModel as _, ChatReply,
    ChatRequest, DeferredCalls, ErrorKind, HttpTransport, ModelClient, ReplyStore,
};
use assize_run::CachedReplyStore;
use assize_store::{BatchJournal, ReplyCache, SpoolFile};
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::collected::CollectedRequests;
use super::stopped;
use crate::error::EngineError;
use crate::spend_meter::{MeteredModel, SpendMeter};

/// File with replies of batches that no run has used yet.
const REPLIES_FILE: &str = "replies.db";

/// The judge calls of a run that are sent in batches.
pub(crate) struct BatchedCalls {
    folder: PathBuf,
    transport: Arc<HttpTransport>,
    storage: BatchStorage,
    pub(super) budget: Option<Arc<BudgetTracker>>,
    /// Counts the requests and the cost of this process, also for unfinished cases.
    pub(super) meter: Arc<SpendMeter>,
    clock: fn() -> jiff::Timestamp,
    clients: Mutex<Vec<BatchClient>>,
    /// Why models can't be used in batches.
    unsupported: Mutex<BTreeSet<String>>,
    arrived: OnceLock<ArrivedReplies>,
    state: Mutex<CallState>,
    /// One cell per client: its first request is sent live.
    probes: Mutex<HashMap<usize, Arc<OnceCell<()>>>>,
}

/// Replies of batches that no run has used yet.
struct ArrivedReplies {
    cache: Arc<ReplyCache>,
    store: CachedReplyStore,
}

#[derive(Default)]
struct CallState {
    pass: Option<CollectingPass>,
    /// Calls that are not put into a batch again.
    live: HashSet<CallKey>,
    /// Calls that were answered by a batch.
    served: HashSet<CallKey>,
    failure: Option<EngineError>,
}

/// A pass over the cases that collects their calls.
pub(super) struct CollectingPass {
    /// Requests that are in no batch yet.
    pub(super) requests: CollectedRequests,
    known: HashSet<CallKey>,
    /// Calls in open batches, with the index of the batch.
    pending: HashMap<CallKey, usize>,
    /// Indices of the batches with replies that were needed.
    pub(super) needed: BTreeSet<usize>,
    probes: bool,
    cancel: CancellationToken,
}

impl BatchedCalls {
    /// Creates it without clients. `folder` holds the journal; `transport` must accept answers as large as the results
    /// of a batch.
    pub(crate) fn new(
        folder: PathBuf,
        transport: Arc<HttpTransport>,
        storage: BatchStorage,
        budget: Option<Arc<BudgetTracker>>,
        meter: Arc<SpendMeter>,
        clock: fn() -> jiff::Timestamp,
    ) -> Self {
        Self {
            folder,
            transport,
            storage,
            budget,
            meter,
            clock,
            clients: Mutex::default(),
            unsupported: Mutex::default(),
            arrived: OnceLock::new(),
            state: Mutex::default(),
            probes: Mutex::default(),
        }
    }

    /// Adds a model that judges.
    pub(crate) fn register(&self, client: &ModelClient) {
        match BatchClient::new(client.clone(), Arc::clone(&self.transport), &self.storage) {
            Ok(client) => {
                let mut clients = self.clients.lock();
                if !clients.iter().any(|known| is_same(known.model(), client.model())) {
                    clients.push(client);
                }
            }
            Err(reason) => {
                self.unsupported.lock().insert(reason);
            }
        }
    }

    /// Refuses models that can't be used in batches.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match self.unsupported.lock().first() {
            Some(reason) => Err(EngineError::usage(format!("{reason}; nothing was spent"))),
            None => Ok(()),
        }
    }

    /// The models that were added.
    pub(super) fn clients(&self) -> Vec<BatchClient> {
        self.clients.lock().clone()
    }

    /// The time in seconds since 1970.
    pub(super) fn now(&self) -> i64 {
        (self.clock)().as_second()
    }

    /// Opens the journal and the store of replies in the same folder.
    pub(super) fn open(&self) -> Result<BatchJournal, EngineError> {
        let journal = BatchJournal::open(&self.folder)?;
        if self.arrived.get().is_none() {
            let cache = Arc::new(ReplyCache::open(self.folder.join(REPLIES_FILE))?);
            let clock = self.clock;
            let store =
                CachedReplyStore::new(Arc::clone(&cache), Arc::default(), move || clock().as_second());
            let _ = self.arrived.set(ArrivedReplies { cache, store });
        }

        Ok(journal)
    }

    /// Stores a reply.
    pub(super) fn keep(&self, key: CallKey, reply: &ChatReply) {
        if let Some(arrived) = self.arrived.get() {
            arrived.store.keep(key, reply);
        }
    }

    /// Waits until all replies are written.
    pub(super) fn flush(&self) -> Result<(), EngineError> {
        self.arrived.get().map_or(Ok(()), |arrived| arrived.cache.flush()).map_err(EngineError::from)
    }

    /// From now on these calls are sent live, because their batch brought no reply.
    pub(super) fn give_up_batches_for(&self, keys: impl IntoIterator<Item = CallKey>) {
        self.state.lock().live.extend(keys);
    }

    /// The number of calls that are sent live because their batch brought no reply.
    pub(super) fn given_up(&self) -> usize {
        self.state.lock().live.len()
    }

    /// Begins a pass over the cases. Until it ends, requests are collected and not sent. `pending` are the
    /// calls in open batches. With `probes`, the first request to each model is sent live.
    pub(super) fn begin_pass(
        &self,
        pending: HashMap<CallKey, usize>,
        probes: bool,
        cancel: CancellationToken,
    ) -> Result<(), EngineError> {
        let path = self.folder.join(format!("requests-{}", uuid::Uuid::new_v4()));
        let requests = CollectedRequests::new(SpoolFile::create(&path)?);
        self.state.lock().pass = Some(CollectingPass {
            requests,
            known: HashSet::new(),
            pending,
            needed: BTreeSet::new(),
            probes,
            cancel,
        });

        Ok(())
    }

    /// Ends the pass. From now on, calls without a reply are sent live.
    pub(super) fn end_pass(&self) -> Result<Option<CollectingPass>, EngineError> {
        let mut state = self.state.lock();
        let pass = state.pass.take();
        state.failure.take().map_or(Ok(pass), Err)
    }

    /// Removes the replies that the run has used.
    pub(crate) fn forget_served(&self) -> Result<(), EngineError> {
        let served = std::mem::take(&mut self.state.lock().served);
        let Some(arrived) = self.arrived.get() else { return Ok(()) };
        arrived.cache.remove_all(served.iter().map(|key| *key.as_bytes())).map_err(EngineError::from)
    }

    /// Ends the pass with this error.
    fn fail(&self, error: EngineError) {
        let mut state = self.state.lock();
        if let Some(pass) = &state.pass {
            pass.cancel.cancel();
        }
        state.failure.get_or_insert(error);
    }

    async fn answer_or_collect(
        &self,
        client: &ModelClient,
        key: CallKey,
        request: &ChatRequest,
    ) -> Result<Option<ChatReply>, AskError> {
        let arrived = match self.arrived.get() {
            Some(arrived) => arrived.store.find(key).await,
            None => None,
        };
        if let Some(hit) = arrived {
            self.state.lock().served.insert(key);
            return Ok(Some(client.reply_to(request, hit.reply)));
        }

        // "Cancelled" keeps the caller from asking another model in its place, as when a run is stopped.
        // Otherwise a stronger judge would be paid for decisions that only wait for their batch.
        let not_now = || AskError::new(ErrorKind::Cancelled, "waits for a batch");
        let probes = {
            let mut state = self.state.lock();
            let is_live = state.live.contains(&key);
            let Some(pass) = &mut state.pass else { return Ok(None) };
            if is_live {
                return Err(not_now());
            }
            if let Some(batch) = pass.pending.get(&key) {
                pass.needed.insert(*batch);
                return Err(not_now());
            }
            pass.probes
        };

        let Some(at) = self.clients.lock().iter().position(|known| is_same(known.model(), client)) else {
            return Err(not_now());
        };
        if probes && let Some(reply) = self.probe(at, client, key, request).await? {
            return Ok(Some(reply));
        }

        let prepared = client.batch_request(request)?;
        let mut state = self.state.lock();
        if let Some(pass) = &mut state.pass
            && pass.known.insert(key)
            && let Err(error) = pass.requests.add(key, at, &prepared)
        {
            drop(state);
            self.fail(error.into());
        }

        Err(not_now())
    }

    /// Sends the first request to a model live. This detects a wrong key before a batch is sent, and
    /// parameters that the model refuses are then omitted from the batch. Returns the reply if this request
    /// was the probe.
    async fn probe(
        &self,
        at: usize,
        client: &ModelClient,
        key: CallKey,
        request: &ChatRequest,
    ) -> Result<Option<ChatReply>, AskError> {
        let cell = Arc::clone(self.probes.lock().entry(at).or_default());
        let model = MeteredModel::new(Arc::new(client.clone()), Arc::clone(&self.meter));
        let mut own = None;
        let probed = cell
            .get_or_try_init(|| async {
                let reply = model.ask(request).await?;
                self.keep(key, &reply);
                own = Some(reply);
                Ok::<(), AskError>(())
            })
            .await;

        match probed {
            Ok(()) => {
                if own.is_some() {
                    self.state.lock().served.insert(key);
                }
                Ok(own)
            }
            Err(error) => {
                if concerns_model(error.kind) {
                    // The request was alone, so there is no concurrency to reduce.
                    let advice = error.advice.clone().filter(|_| error.kind != ErrorKind::RateLimited);
                    let words = AskError { advice, ..error.clone() }.to_string();
                    self.fail(stopped(format!(
                        "{}: the first request failed, so no batch was sent: {}. The command with `--resume` tries again",
                        client.host(),
                        words.trim_end_matches('.')
                    )));
                }
                Err(error)
            }
        }
    }
}

impl DeferredCalls for BatchedCalls {
    fn answer<'a>(
        &'a self,
        client: &'a ModelClient,
        key: CallKey,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<Option<ChatReply>, AskError>> {
        Box::pin(self.answer_or_collect(client, key, request))
    }
}

/// Whether a failure would also affect every other request to the model.
fn concerns_model(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Authentication
        | ErrorKind::PermissionDenied
        | ErrorKind::NotFound
        | ErrorKind::Connection
        | ErrorKind::Timeout
        | ErrorKind::Server
        | ErrorKind::Overloaded
        | ErrorKind::RateLimited => true,
        ErrorKind::BadRequest
        | ErrorKind::ContextLength
        | ErrorKind::ContentRefused
        | ErrorKind::MalformedReply
        | ErrorKind::Cancelled
        | ErrorKind::NotCached
        | ErrorKind::NoLogprobs => false,
    }
}

/// Whether both are clients of the same model at the same server.
fn is_same(one: &ModelClient, other: &ModelClient) -> bool {
    let identity = |client: &ModelClient| {
        (client.wire_name(), client.server().to_owned(), client.model_name().to_owned())
    };
    identity(one) == identity(other)
}
