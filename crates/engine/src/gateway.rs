//! Access to models: through the reply cache, within the budget, with the secret of the fences.
//!
//! `reach` builds the layers of a model. The reply cache ([`CachedModel`]) is outermost, because a hit is
//! free and must not count. Below it are the meter of sent requests ([`MeteredModel`]) and the client
//! ([`ModelClient`]), which reserves from the budget, waits for the rate limiter, and retries. Programs that
//! judge have no cache: they may change.
//!
//! Models are set up one by one, while files are planned, but a run is refused before its first request or
//! not at all. So setting up a model only records findings: an unknown price, a key that is sent unencrypted,
//! a variable that leaves for an address from a file. After planning, `check`, `deny_exposed` and the consent
//! gate decide about all of them.
//!
//! Two tokens stop work. `refused` fires when the budget refuses a call; `limit` fires as well, and stops the
//! cases. With judge batches, `limit` stays silent in that case (`runs_on`), because the cases still have to
//! pick up replies that are already paid for. A model server that is given up always fires `limit`, because
//! no other server can answer its calls.
//!
//! Clones share cache, budget and accounts. `in_namespace` makes one with its own part of the cache, so that
//! a client of the grading service can't learn from a hit that another client asked the same.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use assize_limits::BATCH_RESULT_BYTES as MAX_RESULT_BYTES;
use assize_llm::{
    AccountStatus, BatchStorage, Budget, BudgetTracker, CachedModel, CallEvent, CallObserver, ChatModel,
    ClientSetup, ConfigError, DeferredCalls, HttpOptions, HttpProxies, HttpTransport, ModelCard, ModelClient,
    ModelId, ModelName, OnCacheMiss, PriceTable, ProviderAccounts, RateLimits, ReplyStore, ServerMemory,
};
use assize_model::{NamedProgram, ProjectConfig, TextPart, TextVariable};
use assize_rubric::Usd;
use assize_run::{CachedReplyStore, CurrentOwner, ReplyOwner};
use assize_store::{ReplyCache, SentRequests, StoreError, fence_key};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::batch::{BATCH_FOLDER, BatchedCalls};
use crate::capability::{CapabilityList, OutsideFile, SentVariable, line_of_variable};
use crate::engine::{Engine, Sharing};
use crate::error::EngineError;
use crate::event::{EngineEvent, EventObserver};
use crate::exchange::BatchExchange;
use crate::exit::CallStop;
use crate::files::replace_file;
use crate::options::{BatchOptions, CacheUse, RunOptions, SpendingOptions, UnknownPrice};
use crate::prices::refuse_unpriced;
use crate::process::ProcessContext;
use crate::spend_meter::{MeteredModel, SpendMeter};

/// The folder of the reply cache.
const CACHE_FOLDER: &str = ".assize/cache";
/// The replies, in that folder.
const REPLIES_FILE: &str = "replies.db";
/// The secret of the fences, in that folder.
const FENCE_KEY_FILE: &str = "fence.key";

/// Limits of servers and properties of models that earlier processes observed, in that folder.
const SERVERS_FILE: &str = "servers.json";

/// The default number of concurrent commands.
const DEFAULT_COMMANDS: usize = 8;
/// The highest default limit of concurrent cases, because cases are held in memory.
const MAX_DEFAULT_CASES: usize = 1024;

/// How many accounts are expected to be in full use at a time: judges of a panel, targets.
const EXPECTED_ACCOUNTS: usize = 4;
/// The most files that are open besides connections: files of the run, of the cache and of commands.
const OTHER_OPEN_FILES: usize = 128;

/// Files reserved for other uses on a system with a low limit of open files.
const MIN_FREE_FILES: usize = 24;

/// The file of the reply cache.
pub fn replies_file(process: &ProcessContext) -> PathBuf {
    process.working_folder.join(CACHE_FOLDER).join(REPLIES_FILE)
}

/// Deletes the stored facts about servers and models.
///
/// # Errors
/// If the file can't be deleted.
pub fn forget_servers(process: &ProcessContext) -> Result<(), EngineError> {
    let path = process.working_folder.join(CACHE_FOLDER).join(SERVERS_FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(EngineError::storage(format!("{}: can't be deleted: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// The secret of the fences of this working folder. It is created if there is none.
///
/// # Errors
/// If it can't be read or written.
pub fn workspace_fence_key(process: &ProcessContext) -> Result<[u8; 32], EngineError> {
    let path = process.working_folder.join(CACHE_FOLDER).join(FENCE_KEY_FILE);
    Ok(fence_key(&path, random_key())?)
}

/// Gateway to the models of judges and targets. The cache is opened when the first model is needed, so that a
/// run without models creates no files.
#[derive(Clone)]
pub(crate) struct ModelGateway {
    /// True for plans. A plan sends no requests.
    pub(crate) is_plan: bool,
    pub(crate) findings: Arc<ModelFindings>,
    /// The setup that clients share.
    pub(crate) setup: ClientSetup,
    /// Judge calls that are sent in batches.
    pub(crate) batched: Option<Arc<BatchedCalls>>,
    /// What to do with a call that is not in the cache; `None` without a cache.
    miss: Option<OnCacheMiss>,
    /// Files that replace model servers.
    pub(crate) exchange: Option<Arc<BatchExchange>>,
    folder: PathBuf,
    cache: Arc<Mutex<Option<Arc<ReplyCache>>>>,
    /// The part of the cache that its models use; `None` for the common one.
    namespace: Option<[u8; 32]>,
    /// A store that the caller provides, used instead of the cache.
    provided_replies: Option<Arc<dyn ReplyStore>>,
    /// Resources shared with other processes that work on the same run.
    sharing: Option<Sharing>,
    reply_owner: Arc<CurrentOwner>,
    prices: PriceTable,
    /// The most tokens of a reply of any model that is not a target, by the command line.
    max_output_tokens: Option<u32>,
    /// True if models of unknown price are refused, because money is limited.
    pub(crate) all_priced: bool,
    /// Warning that the system allows few open files.
    few_files: Option<String>,
    /// True if an option can allow models of unknown price.
    may_be_unpriced: bool,
    /// Fires when a model server is given up, and when the budget refuses a call, unless cases run on after that.
    pub(crate) limit: CancellationToken,
    /// Fires when a model server is given up.
    pub(crate) given_up: CancellationToken,
    /// A permit for each concurrent command.
    pub(crate) commands: Arc<Semaphore>,
    meter: Arc<SpendMeter>,
    /// Fires when the budget refuses a call.
    pub(crate) refused: CancellationToken,
    /// True if cases still run after the limit was reached, because their replies may have arrived in batches.
    runs_on: Arc<AtomicBool>,
    /// Reason of the budget's first refusal.
    refusal: Arc<OnceLock<String>>,
    /// The last failure of a model server that was given up.
    outage: Arc<OnceLock<String>>,
    /// Why the cache can't be used.
    cache_error: Arc<OnceLock<String>>,
    clock: fn() -> jiff::Timestamp,
}

/// Models that a gateway has set up, and facts about them for the report of a run.
#[derive(Default)]
pub(crate) struct ModelFindings {
    /// The models, with their cards.
    models: Mutex<BTreeMap<ModelId, ModelCard>>,
    /// Variables of keys that a plan did not need but the run will.
    missing_keys: Mutex<BTreeSet<String>>,
    /// Hosts to which a key is sent unencrypted.
    unencrypted: Mutex<BTreeSet<String>>,
    /// Values of the environment that targets and judges send to addresses that files name.
    pub(crate) sent: Mutex<BTreeSet<SentVariable>>,
    /// Programs that judge.
    pub(crate) programs: Mutex<BTreeSet<NamedProgram>>,
    /// Files elsewhere that targets read.
    pub(crate) outside: Mutex<BTreeSet<OutsideFile>>,
    /// Addresses of servers that are no models.
    pub(crate) servers: Mutex<BTreeSet<String>>,
    /// Models whose requests can't be written to the files that replace servers.
    not_exchanged: Mutex<BTreeSet<String>>,
}

impl ModelFindings {
    fn has_models(&self) -> bool {
        !self.models.lock().is_empty()
    }
}

impl ModelGateway {
    /// The gateway of a run, from its options and the configuration. `usd` is the limit in money, from the
    /// options or a suite.
    pub(crate) fn for_run(
        options: &RunOptions,
        config: &ProjectConfig,
        prices: PriceTable,
        usd: Option<Usd>,
        engine: &Engine,
    ) -> Self {
        let mut gateway = Self::within_budget(&options.spending, usd, prices, engine);
        gateway.all_priced = usd.is_some() && options.unknown_price == UnknownPrice::Refuse;
        gateway.may_be_unpriced = true;

        let [requests, tokens] = options.rates(config).map(|rate| rate.map(|n| n.get().into()));
        // If the rate is shared by several processes, no single one enforces it.
        let is_shared = engine.provided.sharing.as_ref().is_some_and(|sharing| sharing.rate.is_some());
        let limits = RateLimits {
            max_concurrency: options.max_concurrency.or(config.max_concurrency),
            workers: options.workers.or(config.workers.and_then(NonZeroUsize::new)),
            requests_per_minute: requests.filter(|_| !is_shared),
            tokens_per_minute: tokens.filter(|_| !is_shared),
            recovery: None,
        };

        gateway.limit_accounts(limits);
        gateway.use_sockets(engine);

        if let Some(timeout) = options.request_timeout.or(config.request_timeout) {
            gateway.setup.timeout = timeout;
        }
        if let Some(retries) = options.max_retries {
            gateway.setup.policy.max_attempts = retries.saturating_add(1);
        }

        gateway
    }

    /// A gateway for a process that continues when a model server fails: the server is tried again after
    /// `recovery`.
    pub(crate) fn recovering_after(mut self, recovery: Duration) -> Self {
        let limits = RateLimits { recovery: Some(recovery), ..self.setup.accounts.limits() };
        self.limit_accounts(limits);
        self
    }

    /// Creates accounts with these limits. If this process may read the cache, they start with the facts that
    /// earlier processes stored.
    fn limit_accounts(&mut self, limits: RateLimits) {
        let path = self.miss.as_ref().map(|_| self.folder.join(SERVERS_FILE));
        let text = path.and_then(|path| assize_files::read_text(&path).ok()).unwrap_or_default();
        let memory = ServerMemory::from_json(&text, (self.clock)().as_second());
        self.setup.accounts = Arc::new(ProviderAccounts::new(limits).with_memory(memory));
    }

    /// Stores the facts that this process learned about servers and models. If that fails, the next process
    /// learns them again.
    fn keep_memory(&self) {
        let known = self.miss.as_ref().and_then(|_| self.setup.accounts.memory().to_json());
        if let Some(text) = known.filter(|_| self.folder.is_dir()) {
            let _ = replace_file(&self.folder.join(SERVERS_FILE), &text);
        }
    }

    /// A gateway to the same models with the same limits and budget, but with a separate part of the reply
    /// cache.
    pub(crate) fn in_namespace(&self, namespace: [u8; 32]) -> Self {
        Self {
            namespace: Some(namespace),
            findings: Arc::default(),
            exchange: None,
            batched: None,
            ..self.clone()
        }
    }

    /// A gateway for a client with a budget of its own. If that limits money, it refuses models of unknown price, as
    /// under a limit of the process.
    pub(crate) fn within_client_budget(
        mut self,
        budget: &Arc<BudgetTracker>,
        unknown_price: UnknownPrice,
    ) -> Self {
        self.all_priced |= budget.limits_money() && unknown_price == UnknownPrice::Refuse;
        self.setup.client_budget = Some(Arc::clone(budget));
        self
    }

    /// The gateway with judge calls in batches, if that is requested.
    pub(crate) fn with_batches(self, options: &RunOptions, engine: &Engine) -> Self {
        let batched = options.judge_batch.as_ref().map(|batches| self.batched_calls(batches, engine));
        self.runs_on.store(batched.is_some(), Ordering::Relaxed);
        Self { batched, ..self }
    }

    fn batched_calls(&self, batches: &BatchOptions, engine: &Engine) -> Arc<BatchedCalls> {
        let folder = engine.process().working_folder.join(BATCH_FOLDER);
        let options = HttpOptions { max_answer_bytes: MAX_RESULT_BYTES, ..http_options(engine) };
        let storage = BatchStorage::new(batches.storage.clone(), batches.role.clone(), &|name| {
            engine.process().variable(name)
        });
        let transport = Arc::new(HttpTransport::new(options));
        let (budget, meter) = (self.setup.budget.clone(), Arc::clone(&self.meter));
        Arc::new(BatchedCalls::new(folder, transport, storage, budget, meter, self.clock))
    }

    /// Removes the replies of batches that a run has used, if the run is complete.
    pub(crate) fn end_batches(&self, is_complete: bool) -> Result<(), EngineError> {
        self.batched.as_ref().filter(|_| is_complete).map_or(Ok(()), |batched| batched.forget_served())
    }

    /// Raises the limit of open files if necessary, and keeps the number of connections below it.
    fn use_sockets(&mut self, engine: &Engine) {
        let ceiling = self.ceiling();
        let wanted = ceiling.saturating_mul(EXPECTED_ACCOUNTS).saturating_add(OTHER_OPEN_FILES) as u64;
        let Some(allowed) = assize_process::open_files(wanted) else { return };
        let files = usize::try_from(allowed).unwrap_or(usize::MAX);
        let sockets = files.saturating_sub((files / 2).clamp(MIN_FREE_FILES, OTHER_OPEN_FILES)).max(1);
        self.setup.transport = Arc::new(transport(engine).with_sockets(sockets));

        self.few_files = (sockets < ceiling).then(|| {
            format!(
                "at most {sockets} requests are sent at once, because this system allows {allowed} open files; raise it with `ulimit -n`"
            )
        });
    }

    /// The gateway with files in place of servers, for replies and for requests.
    pub(crate) fn with_exchange(self, exchange: Option<Arc<BatchExchange>>) -> Self {
        let miss = if exchange.is_some() { self.miss.map(|_| OnCacheMiss::Refuse) } else { self.miss };

        Self { miss, exchange, ..self }
    }

    /// The gateway without an option to allow models of unknown price.
    pub(crate) fn all_priced(self) -> Self {
        Self { may_be_unpriced: false, ..self }
    }

    /// The gateway of an operation that makes no run. `usd` is the limit in money.
    pub(crate) fn within_budget(
        spending: &SpendingOptions,
        usd: Option<Usd>,
        prices: PriceTable,
        engine: &Engine,
    ) -> Self {
        let budget = spending.budget_with(usd);
        let miss = match spending.cache {
            CacheUse::Off => None,
            CacheUse::Only => Some(OnCacheMiss::Refuse),
            CacheUse::On => Some(OnCacheMiss::Ask),
        };

        let limit = CancellationToken::new();
        let refusal: Arc<OnceLock<String>> = Arc::default();
        let (refused, runs_on) = (CancellationToken::new(), Arc::<AtomicBool>::default());
        let source = engine.provided.sharing.as_ref().and_then(|sharing| sharing.budget.clone());
        let tracker = (budget != Budget::default()).then(|| {
            let limit = limit.clone();
            let refusal = Arc::clone(&refusal);
            let (refused, runs_on) = (refused.clone(), Arc::clone(&runs_on));
            let observer = Arc::clone(&engine.observer);
            let on_limit = move |why: &str| {
                if refusal.set(why.to_owned()).is_ok() {
                    observer.observe(EngineEvent::BudgetReached { reason: why.to_owned() });
                }
                refused.cancel();
                if !runs_on.load(Ordering::Relaxed) {
                    limit.cancel();
                }
            };
            match source {
                None => BudgetTracker::new(budget, on_limit),
                Some(source) => BudgetTracker::leasing(budget, source, on_limit),
            }
        });

        let outage: Arc<OnceLock<String>> = Arc::default();
        let given_up = CancellationToken::new();
        let observer = CallEvents {
            observer: Arc::clone(&engine.observer),
            outage: Arc::clone(&outage),
            limit: limit.clone(),
            given_up: given_up.clone(),
        };
        let setup = ClientSetup {
            transport: Arc::new(transport(engine)),
            budget: tracker,
            observer: Some(Arc::new(observer)),
            shared_rate: engine.provided.sharing.as_ref().and_then(|sharing| sharing.rate.clone()),
            ..ClientSetup::default()
        };

        let mut gateway = Self {
            is_plan: false,
            findings: Arc::default(),
            setup,
            batched: None,
            prices,
            max_output_tokens: spending.max_output_tokens.map(NonZeroU32::get),
            all_priced: usd.is_some(),
            few_files: None,
            may_be_unpriced: false,
            limit,
            given_up,
            refused,
            runs_on,
            refusal,
            outage,
            miss,
            exchange: None,
            folder: engine.process().working_folder.join(CACHE_FOLDER),
            cache: Arc::default(),
            namespace: None,
            provided_replies: engine.provided.replies.clone(),
            sharing: engine.provided.sharing.clone(),
            reply_owner: Arc::default(),
            meter: Arc::default(),
            commands: Arc::new(Semaphore::new(DEFAULT_COMMANDS)),
            cache_error: Arc::default(),
            clock: engine.process().clock(),
        };
        gateway.limit_accounts(RateLimits::default());
        gateway
    }

    /// The gateway of a plan. It sends no requests.
    pub(crate) fn for_plan(spending: &SpendingOptions, prices: PriceTable, engine: &Engine) -> Self {
        let nothing = SpendingOptions {
            cache: CacheUse::Off,
            max_output_tokens: spending.max_output_tokens,
            ..SpendingOptions::default()
        };

        Self {
            is_plan: true,
            may_be_unpriced: true,
            setup: ClientSetup::default(),
            ..Self::within_budget(&nothing, None, prices, engine)
        }
    }

    /// A client for a model, configured from variables of the environment.
    pub(crate) fn client(
        &self,
        name: &ModelName,
        variables: &assize_evalfile::EnvironmentLookup,
    ) -> Result<ModelClient, ConfigError> {
        let known = Arc::clone(variables);
        self.client_with(name, &move |key| known(key), self.setup.clone())
    }

    /// A client for a model. A plan sends no requests and needs no key; keys that its run will need are noted for
    /// [`ModelGateway::missing_keys`].
    pub(crate) fn client_with(
        &self,
        name: &ModelName,
        known: &dyn Fn(&str) -> Option<String>,
        setup: ClientSetup,
    ) -> Result<ModelClient, ConfigError> {
        // It plans, uses files in place of servers, or only the cache.
        let sends_nothing = self.is_plan || self.exchange.is_some() || self.uses_only_the_cache();
        let client = match ModelClient::from_name(name, known, setup.clone()) {
            Err(ConfigError::MissingKey { variable, .. }) if sends_nothing => {
                let names: Vec<&str> = variable.split(" or ").collect();
                let stand_in =
                    |key: &str| known(key).or_else(|| names.contains(&key).then(|| "not-set".to_owned()));
                let made = ModelClient::from_name(name, &stand_in, setup);
                if self.is_plan || self.exchange.is_some() {
                    self.findings.missing_keys.lock().insert(variable);
                }
                made
            }
            made => made,
        }?;

        self.findings.unencrypted.lock().extend(client.unencrypted_host());
        Ok(client)
    }

    /// Whether a reply that is not in the cache is refused.
    pub(crate) fn uses_only_the_cache(&self) -> bool {
        matches!(self.miss, Some(OnCacheMiss::Refuse))
    }

    /// The requests for consent of all targets and judges created so far, and of these texts. The texts of cases leave
    /// this process if the run uses a model or a server.
    pub(crate) fn capabilities(&self, texts: &BTreeSet<TextVariable>) -> CapabilityList {
        let mut servers = self.addresses();
        servers.extend(self.findings.servers.lock().iter().cloned());
        let all = servers.into_iter().collect::<Vec<_>>().join(", ");
        let mut variables = self.findings.sent.lock().clone();
        variables.extend(texts.iter().filter(|text| text.is_set || self.is_plan).filter_map(|text| {
            let to = match text.part {
                TextPart::Case if all.is_empty() => return None,
                TextPart::Case => all.clone(),
                TextPart::Workspace => "Git and programs of the workspace".to_owned(),
            };
            Some(SentVariable { place: text.place.clone(), variable: text.variable.clone(), to })
        }));

        CapabilityList {
            programs: self.findings.programs.lock().clone(),
            variables,
            files: self.findings.outside.lock().clone(),
        }
    }

    /// Warnings about keys that are sent unencrypted.
    pub(crate) fn exposed_keys(&self) -> Vec<String> {
        let hosts = self.findings.unencrypted.lock();
        let unencrypted = hosts.iter().map(|host| {
            format!("the API key is sent to {host} unencrypted (http://); use an https:// address")
        });
        unencrypted.collect()
    }

    /// Returns an error if a key is sent unencrypted, or a value of the environment to an address that a file names.
    pub(crate) fn deny_exposed(&self, asked: &CapabilityList) -> Result<(), EngineError> {
        let sent = asked.variables.iter().map(line_of_variable);
        let exposed: Vec<String> = self.exposed_keys().into_iter().chain(sent).collect();
        if exposed.is_empty() {
            return Ok(());
        }
        Err(EngineError::unrunnable(format!(
            "{} (denied with `--deny`); nothing was run",
            exposed.join("\n")
        )))
    }

    /// Warnings about variables that are not set and that the run will need.
    pub(crate) fn missing_keys(&self) -> Vec<String> {
        let missing = self.findings.missing_keys.lock();
        missing.iter().map(|variable| format!("{variable} is not set; the run will need it")).collect()
    }

    /// Sets the limit of concurrent commands, and returns how many cases run concurrently: the user's number,
    /// or as many as the requests need.
    ///
    /// A case has one or several requests in flight until it is done, so as many cases as allowed requests keep
    /// all of these in flight. Commands are limited separately, because each uses this machine's processor.
    pub(crate) fn cases_at_once(&self, wanted: Option<usize>) -> usize {
        let commands = wanted.unwrap_or(DEFAULT_COMMANDS).min(Semaphore::MAX_PERMITS);
        if commands > DEFAULT_COMMANDS {
            self.commands.add_permits(commands - DEFAULT_COMMANDS);
        } else {
            self.commands.forget_permits(DEFAULT_COMMANDS - commands);
        }

        let needed = if self.findings.has_models() {
            self.setup.accounts.limits().ceiling().clamp(DEFAULT_COMMANDS, MAX_DEFAULT_CASES)
        } else {
            DEFAULT_COMMANDS
        };
        wanted.unwrap_or(needed)
    }

    /// The present limits of the accounts at model servers.
    pub(crate) fn account_statuses(&self) -> Vec<AccountStatus> {
        self.setup.accounts.statuses(&*self.setup.clock)
    }

    /// The number of requests that may be in flight to one account.
    pub(crate) fn ceiling(&self) -> usize {
        self.setup.accounts.limits().ceiling()
    }

    /// Warning that the system allows fewer open files than requests in flight.
    pub(crate) fn few_files(&self) -> Option<&str> {
        self.few_files.as_deref().filter(|_| self.findings.has_models())
    }

    /// Why the budget stopped the run, if it did.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.refusal.get().map(String::as_str)
    }

    /// The last failure of the model server that stopped the run, if one did.
    pub(crate) fn outage(&self) -> Option<&str> {
        self.outage.get().map(String::as_str)
    }

    /// Why calls were stopped, if they were.
    pub(crate) fn stop(&self) -> Option<CallStop> {
        self.limit.is_cancelled().then(|| match (self.refusal(), self.outage()) {
            (None, Some(outage)) => CallStop::ServerGivenUp(outage.to_owned()),
            (refusal, _) => {
                CallStop::OverBudget(refusal.unwrap_or("the budget allows no further call").to_owned())
            }
        })
    }

    /// A client for targets. `context_tokens` is the context window of its own settings.
    pub(crate) fn ask(&self, client: ModelClient, context_tokens: Option<u64>) -> Arc<dyn ChatModel> {
        self.reach(client, context_tokens, None, None)
    }

    /// A client for judges and other models that are not targets. `max_output_tokens` is the output limit of
    /// its own settings.
    pub(crate) fn ask_judge(
        &self,
        client: ModelClient,
        context_tokens: Option<u64>,
        max_output_tokens: Option<u32>,
    ) -> Arc<dyn ChatModel> {
        self.reach(
            client,
            context_tokens,
            self.max_output_tokens.or(max_output_tokens),
            self.batched.as_ref(),
        )
    }

    /// A program that judges. Its replies are not cached, because it may change.
    pub(crate) fn ask_program(&self, program: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        Arc::new(MeteredModel::new(program, Arc::clone(&self.meter)))
    }

    fn reach(
        &self,
        client: ModelClient,
        context_tokens: Option<u64>,
        max_output_tokens: Option<u32>,
        batched: Option<&Arc<BatchedCalls>>,
    ) -> Arc<dyn ChatModel> {
        let id = client.describe();
        let card = ModelCard { max_output_tokens, ..self.prices.card(&id, context_tokens) };
        self.findings.models.lock().insert(id, card);

        let client = client.with_card(card);
        let inner: Arc<dyn ChatModel> =
            Arc::new(MeteredModel::new(Arc::new(client.clone()), Arc::clone(&self.meter)));
        if let Some(calls) = batched {
            calls.register(&client);
        }

        let deferred = batched.map(|calls| OnCacheMiss::Defer(Arc::clone(calls) as Arc<dyn DeferredCalls>));
        let miss = self.miss.clone().map(|miss| deferred.unwrap_or(miss));
        match miss.zip(self.replies()) {
            Some((miss, replies)) => {
                let speaks_it = client.has_batch_lines();
                let model = CachedModel::new(client, inner, replies, miss).with_namespace(self.namespace);
                match &self.exchange {
                    None => Arc::new(model),
                    Some(exchange) => {
                        if !speaks_it {
                            self.findings.not_exchanged.lock().insert(model.describe().to_string());
                        }
                        Arc::new(model.with_exchange(Arc::clone(exchange) as _))
                    }
                }
            }
            None => inner,
        }
    }

    /// The providers of the models of this run, with the hosts of their servers.
    pub(crate) fn addresses(&self) -> BTreeSet<String> {
        let models = self.findings.models.lock();
        let ids = models.keys().filter(|id| !id.base_url_host.is_empty());
        ids.map(|id| format!("{} at {}", id.provider, id.base_url_host)).collect()
    }

    /// The requests sent so far.
    pub(crate) fn sent(&self) -> SentRequests {
        self.meter.total()
    }

    /// The store of replies: the one that the caller provides, or else the reply cache if it can be used.
    fn replies(&self) -> Option<Arc<dyn ReplyStore>> {
        if let Some(replies) = &self.provided_replies {
            return Some(Arc::clone(replies));
        }

        let clock = self.clock;
        let owner = Arc::clone(&self.reply_owner);
        let mut store = CachedReplyStore::new(self.cache()?, owner, move || clock().as_second());
        if let Some(sharing) = &self.sharing {
            store = store.sharing(Arc::clone(&sharing.replies));
        }

        Some(Arc::new(store))
    }

    /// The secret of the fences. It is the same in every run that uses the cache, because with other fences
    /// every call would be a new one.
    pub(crate) fn fence_key(&self) -> [u8; 32] {
        if let Some(sharing) = &self.sharing {
            return sharing.fence_key;
        }

        // A plan sends no requests, and its numbers must not depend on a random key.
        if self.is_plan {
            return [0; 32];
        }
        let fresh = random_key();
        let stored = self.miss.as_ref().map(|_| fence_key(&self.folder.join(FENCE_KEY_FILE), fresh));
        stored.and_then(|stored| self.noting_error(stored)).unwrap_or(fresh)
    }

    /// Refuses a run with an unusable cache, because it would pay again for replies that it already has. Refuses a run
    /// whose limit in money can't be kept, because a price is unknown. Must be called after all models are set up and
    /// before the first request.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        self.check_settings()?;
        if self.all_priced { self.check_prices(None) } else { Ok(()) }
    }

    /// The part of [`ModelGateway::check`] that does not depend on prices.
    pub(crate) fn check_settings(&self) -> Result<(), EngineError> {
        if let Some(cache_error) = self.cache_error.get() {
            return Err(EngineError::storage(format!("{cache_error}; nothing was spent")));
        }

        if self.exchange.is_some() && self.batched.is_some() {
            return Err(EngineError::usage(
                "`--judge-batch` can't be combined with `--export-requests` or `--import-replies`; choose one",
            ));
        }
        if self.exchange.is_some() && self.miss.is_none() {
            return Err(EngineError::usage(
                "replies are imported into the reply cache, which this run does not use; remove `--no-cache`, or `cache: false`",
            ));
        }

        let others = self.findings.not_exchanged.lock();
        if let Some(model) = others.first() {
            return Err(EngineError::unrunnable(format!(
                "requests to {model} are not in OpenAI's chat format, the only one that `--export-requests` and `--import-replies` support"
            )));
        }
        if let Some(batched) = &self.batched {
            batched.check()?;
            if !self.is_plan && !matches!(self.miss, Some(OnCacheMiss::Ask)) {
                return Err(EngineError::usage(
                    "`--judge-batch` needs the reply cache: remove `--no-cache`, `--cache-only` or `cache: false`",
                ));
            }
        }

        Ok(())
    }

    /// Refuses models of unknown price among these, or among all that were set up.
    pub(crate) fn check_prices(&self, used: Option<&[ModelId]>) -> Result<(), EngineError> {
        let models = self.findings.models.lock();
        let is_used = |id: &ModelId| used.is_none_or(|used| used.contains(id));
        let unpriced = models.iter().filter(|(id, card)| card.price.is_none() && is_used(id));
        refuse_unpriced(unpriced.map(|(id, _)| id), self.may_be_unpriced)
    }

    /// The card of a model that was set up, as `provider:model`; an empty one for other models.
    pub(crate) fn card(&self, model: &str) -> ModelCard {
        let models = self.findings.models.lock();
        models.iter().find(|(id, _)| id.to_string() == model).map(|(_, card)| *card).unwrap_or_default()
    }

    /// Settings about money and limits for the record of a run: the options, and the dates of the list prices.
    pub(crate) fn notes(&self, options: &RunOptions) -> BTreeMap<String, String> {
        let providers: BTreeSet<String> = self
            .findings
            .models
            .lock()
            .keys()
            .filter_map(|id| Some(format!("{} {}", id.provider, self.prices.as_of(&id.provider)?)))
            .collect();
        let days = providers.into_iter().collect::<Vec<_>>().join(", ");
        [
            ("list_prices_as_of", (!days.is_empty()).then_some(days)),
            ("judge_batch", options.judge_batch.as_ref().map(BatchOptions::describe)),
            ("budget_usd", options.spending.budget.usd.map(|usd| usd.to_string())),
            ("context_tokens", options.context_tokens.map(|tokens| tokens.to_string())),
            ("max_output_tokens", options.spending.max_output_tokens.map(|tokens| tokens.to_string())),
            ("truncate", options.truncate.map(|mode| mode.name().to_owned())),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
    }

    /// Names the run that pays for requests from now on. Earlier requests for the same run count as requests of an
    /// earlier process.
    pub(crate) fn begin(&self, run_id: &str) {
        let process = uuid::Uuid::new_v4().to_string();
        self.reply_owner.set(ReplyOwner { run: run_id.to_owned(), process });
    }

    /// Begins an operation that makes no run. Requests of earlier operations do not count for this one.
    pub(crate) fn begin_alone(&self, command: &str) {
        self.begin(&format!("{command}-{}", uuid::Uuid::new_v4()));
    }

    /// Waits until every reply is written to the cache. Returns an error if some could not be.
    pub(crate) fn flush(&self) -> Result<(), EngineError> {
        self.keep_memory();
        let cache = self.cache.lock();
        let Some(cache) = &*cache else { return Ok(()) };
        cache.flush().map_err(|error| {
            let advice = remedy(&error);
            let message = format!("{error}{advice}; some calls may have to be paid again");
            EngineError { message, ..error.into() }
        })?;

        match cache.damaged() {
            0 => Ok(()),
            damaged => Err(EngineError::unreadable(format!(
                "`{}` is damaged: {damaged} corrupt replies were discarded and requested again",
                cache.path().display()
            ))),
        }
    }

    /// The cache, which is opened once; `None` if it can't be opened or is disabled.
    fn cache(&self) -> Option<Arc<ReplyCache>> {
        self.miss.as_ref()?;
        let mut cache = self.cache.lock();
        if let Some(cache) = &*cache {
            return Some(Arc::clone(cache));
        }
        if self.cache_error.get().is_some() {
            return None;
        }

        let opened = Arc::new(self.noting_error(ReplyCache::open(self.folder.join(REPLIES_FILE)))?);
        *cache = Some(Arc::clone(&opened));

        Some(opened)
    }

    /// The value, or `None` after noting the error.
    fn noting_error<T>(&self, result: Result<T, StoreError>) -> Option<T> {
        result
            .map_err(|error| {
                let advice = remedy(&error);
                let _ = self.cache_error.set(format!("{error}{advice}. Run without it with `--no-cache`"));
            })
            .ok()
    }
}

/// Advice on a cache that can't be used, if there is any.
pub fn remedy(error: &StoreError) -> &'static str {
    match error {
        StoreError::DamagedCache { .. } | StoreError::Version { .. } => {
            "; recreate it with `assize cache clear`"
        }
        _ => "",
    }
}

/// The real network, with the proxies of this process.
fn transport(engine: &Engine) -> HttpTransport {
    HttpTransport::new(http_options(engine))
}

fn http_options(engine: &Engine) -> HttpOptions {
    let proxies = Some(HttpProxies::from_env(&|name| engine.process().variable(name)));
    HttpOptions { proxies, ..HttpOptions::default() }
}

/// A random key, so that no answer can guess the fence around it.
fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    key[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    key
}

/// Forwards the events of calls to the observer of the engine, and stops the work when a server is given up.
struct CallEvents {
    observer: Arc<dyn EventObserver>,
    outage: Arc<OnceLock<String>>,
    limit: CancellationToken,
    given_up: CancellationToken,
}

impl CallObserver for CallEvents {
    fn observe(&self, event: &CallEvent<'_>) {
        if let CallEvent::GivenUp { account, reason } = event {
            // Each request that waited for the server reports it, so only the first is forwarded.
            if self.outage.set(format!("{account}: {reason}")).is_err() {
                return;
            }
            self.given_up.cancel();
            self.limit.cancel();
        }

        self.observer.observe(event.into());
    }
}
