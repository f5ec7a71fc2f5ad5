//! Targets of a targets file, created when first used.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use assize_evalfile::{LoadOptions, readable_roots};
use assize_grade::ProgramSetup;
use assize_llm::{
    ChatModel, ConfigError, FILE_VARIABLES, ModelClient, ModelName, NameError, Redactor, RetryPolicy,
};
use assize_model::{
    CommandTargetSpec, CommandText, HealthSpec, HttpTargetSpec, MockTargetSpec, ModelTargetSpec,
    NamedProgram, RecordingKind, RecordingSpec, RetrySpec, SettingVariable, TargetRef, TargetSpec,
    TargetSpecKind, TextPart, TextVariable,
};
use assize_process::{Environment, ProcessCommand, ProgramConsent};
use assize_store::TargetInfo;
use assize_targets::{
    BatchTarget, CommandTarget, CommandTemplate, EchoTarget, FallbackTarget, HealthCheck,
    HealthCheckedTarget, LimitedTarget, MockTarget, ModelTarget, ReplayTarget, RetryingTarget, Target,
    TranscriptTarget,
};
use assize_trace::LogFormat;
use parking_lot::Mutex;

use super::destination::UserVariables;
use super::http::HttpTarget;
use super::http_request::fixed_address;
use super::program_judge::ProgramModel;
use super::program_setup::program_setup;
use super::secrets::redactor;
use super::wrapped::{RedactingTarget, RenamedTarget};
use crate::capability::{OutsideFile, SentVariable};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::gateway::ModelGateway;
use crate::process::ProcessContext;

/// The built-in target that answers with its prompt.
pub(crate) const ECHO: &str = "echo";

/// Shorter values of variables may occur in an address by chance.
const MIN_ADDRESS_LENGTH: usize = 8;

/// The default time limit of commands.
const DEFAULT_COMMAND_TIMEOUT: Duration = Duration::from_mins(10);
/// The default time limit of health checks.
const DEFAULT_HEALTH_TIMEOUT: Duration = Duration::from_secs(30);
/// Limit of an agent's output stream, in bytes. It is larger than an answer, because it includes all tool
/// results.
const STREAM_CAP: usize = 256 << 20;

/// The targets of a run. Each is made when it is first needed.
pub(crate) struct TargetRegistry {
    specs: Vec<TargetSpec>,
    /// The file with the specs.
    path: Option<PathBuf>,
    gateway: Arc<ModelGateway>,
    variables: assize_evalfile::EnvironmentLookup,
    process: ProcessContext,
    /// Options for reading files. They determine which recordings may be read.
    load_options: LoadOptions,
    /// Variables that commands inherit.
    inherited: Environment,
    /// Folder for files of commands.
    temp_folder: PathBuf,
    /// Setup of graders that are programs.
    programs: Arc<ProgramSetup>,
    /// Removes secrets from the error output of commands.
    redactor: Arc<Redactor>,
    /// Targets that the caller provides, by name.
    provided: BTreeMap<String, Arc<dyn Target>>,
    made: Mutex<BTreeMap<String, Arc<dyn Target>>>,
    /// Targets without their fallbacks. A target has one limit and one health check, even if several names lead to it.
    plain: Mutex<BTreeMap<String, Arc<dyn Target>>>,
    /// Remarks about targets that were made.
    notes: Mutex<BTreeMap<String, String>>,
}

/// The setup that also removes these values from records.
fn hiding(setup: &ProgramSetup, process: &ProcessContext, values: Vec<String>) -> ProgramSetup {
    if values.is_empty() {
        return setup.clone();
    }
    ProgramSetup { redactor: Some(Arc::new(redactor(process.variables(), values))), ..setup.clone() }
}

/// The target of cases that name none: the only one, or the one named `default`.
pub(crate) fn default_target<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    match (names.next()?, names.next()) {
        (only, None) => Some(only),
        (first, Some(second)) => [first, second].into_iter().chain(names).find(|name| *name == "default"),
    }
}

impl TargetRegistry {
    /// Targets from a targets file. Programs need `consent`.
    pub(crate) fn new(
        specs: Vec<TargetSpec>,
        path: Option<PathBuf>,
        gateway: Arc<ModelGateway>,
        consent: Option<ProgramConsent>,
        load_options: LoadOptions,
        engine: &Engine,
    ) -> Self {
        let inherited = Environment::from_vars(engine.process().variables());
        let temp_folder = engine.process().temp_folder.clone();
        let setup = program_setup(engine.process(), &specs);
        let redactor = setup.redactor.clone().unwrap_or_default();
        let fixed = specs.iter().filter(|spec| matches!(spec.kind, TargetSpecKind::Mock(_)));
        let fixed = fixed.flat_map(|spec| &spec.variables);
        let values = fixed.filter_map(|used| engine.process().variable(&used.variable)).collect();
        let setup = hiding(&setup, engine.process(), values);
        let programs = ProgramSetup { slots: Some(Arc::clone(&gateway.commands)), consent, ..setup };

        Self {
            specs,
            path,
            gateway,
            variables: engine.process().environment(),
            process: engine.process().clone(),
            load_options,
            inherited,
            temp_folder,
            programs: Arc::new(programs),
            redactor,
            provided: engine.provided.targets.clone(),
            made: Mutex::new(BTreeMap::new()),
            plain: Mutex::default(),
            notes: Mutex::default(),
        }
    }

    /// Setup of graders that are programs: the variables that commands inherit.
    pub(crate) fn programs(&self) -> Arc<ProgramSetup> {
        Arc::clone(&self.programs)
    }

    /// The same, which also removes the values of these variables from records.
    pub(crate) fn programs_hiding(&self, variables: &[TextVariable]) -> Arc<ProgramSetup> {
        let values = variables.iter().filter_map(|text| (self.variables)(&text.variable)).collect();
        Arc::new(hiding(&self.programs, &self.process, values))
    }

    /// The file the targets come from.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The target of a name: one from the targets file, or a model such as `openai:gpt-6-luna`.
    pub(crate) fn target(&self, name: &str) -> Result<Arc<dyn Target>, EngineError> {
        let mut made = self.made.lock();
        if let Some(target) = made.get(name) {
            return Ok(Arc::clone(target));
        }

        let target = self.make(name)?;
        made.insert(name.to_owned(), Arc::clone(&target));

        Ok(target)
    }

    /// The target that a suite or a case refers to.
    pub(crate) fn referred(&self, reference: &TargetRef) -> Result<Arc<dyn Target>, EngineError> {
        match &reference.use_target {
            None => self.target(&reference.name),
            Some(real) => {
                let inner = self.target(real)?;
                Ok(Arc::new(RenamedTarget { name: reference.name.clone(), inner }))
            }
        }
    }

    /// Settings of a target that have no effect, and parts of a recording that were not understood. Call this
    /// after the target was made.
    pub(crate) fn remarks(&self, reference: &TargetRef) -> Vec<String> {
        let real = reference.real_name();
        let idle = self.spec(real).into_iter().flat_map(|spec| &spec.without_effect);
        let notes = self.notes.lock();
        idle.map(|idle| format!("{}: {} has no effect", idle.place, idle.feature))
            .chain(notes.get(real).cloned())
            .collect()
    }

    /// The programs that a target, or one of its fallbacks, starts.
    pub(crate) fn programs_of(&self, reference: &TargetRef) -> Vec<NamedProgram> {
        if self.provided.contains_key(reference.real_name()) {
            return Vec::new();
        }
        self.specs_of(reference).flat_map(target_programs).collect()
    }

    /// The definition of a target, and those of its fallbacks.
    fn specs_of(&self, reference: &TargetRef) -> impl Iterator<Item = &TargetSpec> {
        let spec = self.spec(reference.real_name());
        let fallbacks = spec.into_iter().flat_map(|spec| &spec.fallbacks);
        spec.into_iter().chain(fallbacks.filter_map(move |name| self.spec(name)))
    }

    /// Variables of the environment in fixed answers of a target, or of one of its fallbacks.
    pub(crate) fn texts_of(&self, reference: &TargetRef) -> Vec<TextVariable> {
        self.specs_of(reference)
            .filter(|spec| matches!(spec.kind, TargetSpecKind::Mock(_)))
            .flat_map(|spec| &spec.variables)
            .map(|used| TextVariable {
                place: used.place.clone(),
                variable: used.variable.clone(),
                part: TextPart::Case,
                is_set: (self.variables)(&used.variable).is_some(),
            })
            .collect()
    }

    /// Whether a target answers all cases in one run of a command, so that it can't be used turn by turn.
    pub(crate) fn answers_all_at_once(&self, reference: &TargetRef) -> bool {
        let batches =
            |spec: &TargetSpec| matches!(&spec.kind, TargetSpecKind::Command(command) if command.batch);
        self.spec(reference.real_name()).is_some_and(batches)
    }

    /// The judge with a name in the targets file: a model or a program. `None` if the file has no such target.
    pub(crate) fn ask(&self, name: &str) -> Option<Result<Arc<dyn ChatModel>, EngineError>> {
        let spec = self.spec(name)?;
        self.note_addressed(spec);
        Some(self.check_usable(spec).and_then(|()| match &spec.kind {
            TargetSpecKind::Model(model) => {
                self.client(spec, model).map(|client| {
                    self.gateway.ask_judge(client, model.context_tokens, model.max_output_tokens)
                })
            }
            TargetSpecKind::Command(command) if !command.batch && command.beside_suite => {
                self.gateway.findings.programs.lock().extend(target_programs(spec));
                let folder = spec.place.path().parent().unwrap_or(Path::new("")).to_path_buf();
                // It is recorded as a judge, not among the targets that answer.
                let target = self.make(name)?;
                Ok(self.gateway.ask_program(Arc::new(ProgramModel { target, folder })))
            }
            _ => Err(EngineError::unrunnable(format!(
                "{}: target `{name}` can't judge: it is neither a model nor a command that answers each question",
                spec.place
            ))),
        }))
    }

    /// Warning about settings for answers that have no effect when the target judges.
    pub(crate) fn idle_judge_settings(&self, name: &str) -> Option<String> {
        let TargetSpecKind::Model(model) = &self.spec(name)?.kind else { return None };
        let settings = [("`temperature`", model.temperature.is_some()), ("`seed`", model.seed.is_some())];
        let idle: Vec<&str> =
            settings.into_iter().filter(|(_, is_set)| *is_set).map(|(setting, _)| setting).collect();
        let have = if idle.len() > 1 { "have" } else { "has" };

        (!idle.is_empty()).then(|| {
            format!(
                "target `{name}` judges, where its {} {have} no effect: a judge's temperature is 0 unless \
                 `--judge-temperature` or the grader's panel sets it",
                idle.join(" and ")
            )
        })
    }

    /// The judge that a target names.
    pub(crate) fn grader_target(&self, name: &str) -> Option<&str> {
        self.spec(name)?.grader_target.as_deref()
    }

    /// The default target: the one named `default`, or the only one.
    pub(crate) fn default_name(&self) -> Option<&str> {
        default_target(self.specs.iter().map(|spec| spec.name.as_str()))
    }

    /// The number of cases that the named targets can work on concurrently, if each of them has a limit. Each
    /// target enforces its own limit.
    pub(crate) fn workers<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<usize> {
        names
            .map(|name| self.spec(name)?.workers)
            .try_fold(0, |sum: usize, own| Some(sum + own?))
            .filter(|sum| *sum > 0)
    }

    /// The targets that were made so far, for the record, in the order in which they are defined.
    pub(crate) fn infos(&self) -> Vec<TargetInfo> {
        let made = self.made.lock();
        let infos = made.values().map(|target| {
            let description = target.describe();
            TargetInfo {
                name: description.name,
                kind: description.kind.name().to_owned(),
                model: description.model,
            }
        });
        let mut infos: Vec<TargetInfo> = infos.collect();
        infos.sort_by_key(|info| self.specs.iter().position(|spec| spec.name == info.name));
        infos
    }

    /// The number of targets that were made so far.
    pub(crate) fn made(&self) -> usize {
        self.made.lock().len()
    }

    /// Whether the targets file has a target of this name.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.spec(name).is_some()
    }

    fn spec(&self, name: &str) -> Option<&TargetSpec> {
        self.specs.iter().find(|spec| spec.name == name)
    }

    fn make(&self, name: &str) -> Result<Arc<dyn Target>, EngineError> {
        if let Some(target) = self.provided.get(name) {
            return Ok(Arc::clone(target));
        }
        if let Some(spec) = self.spec(name) {
            let first = self.plain(spec)?;
            if spec.fallbacks.is_empty() {
                return Ok(first);
            }

            // Fallbacks are used without their own fallbacks.
            let behind = spec.fallbacks.iter().map(|other| match self.spec(other) {
                Some(other) => self.plain(other),
                None => Err(self.unknown(other)),
            });
            return Ok(Arc::new(FallbackTarget::new(first, behind.collect::<Result<_, _>>()?)));
        }

        if name == ECHO {
            return Ok(Arc::new(EchoTarget { name: name.into() }));
        }
        if name.contains([':', '/']) {
            let parsed = ModelName::from_str(name)
                .map_err(|error| EngineError::unrunnable(format!("target `{name}`: {error}")))?;
            let client = self
                .gateway
                .client(&parsed, &self.variables)
                .map_err(|error| EngineError::unrunnable(format!("target `{name}`: {error}")))?;
            let ask = self.gateway.ask(client, None);
            return Ok(Arc::new(ModelTarget::new(name, ask)));
        }

        Err(self.unknown(name))
    }

    /// A target of the file without its fallbacks.
    fn plain(&self, spec: &TargetSpec) -> Result<Arc<dyn Target>, EngineError> {
        let mut plain = self.plain.lock();
        if let Some(target) = plain.get(&spec.name) {
            return Ok(Arc::clone(target));
        }

        let target = self.defined(spec)?;
        plain.insert(spec.name.clone(), Arc::clone(&target));

        Ok(target)
    }

    fn defined(&self, spec: &TargetSpec) -> Result<Arc<dyn Target>, EngineError> {
        self.note_addressed(spec);
        self.check_usable(spec)?;
        let name = &spec.name;
        let mut target: Arc<dyn Target> = match &spec.kind {
            TargetSpecKind::Model(model) => {
                let client = self.client(spec, model)?;
                let client = if spec.fallbacks.is_empty() { client } else { client.with_substitute() };
                let ask = self.gateway.ask(client, model.context_tokens);
                Arc::new(ModelTarget {
                    temperature: model.temperature,
                    seed: model.seed,
                    max_output_tokens: model.max_output_tokens,
                    ..ModelTarget::new(name, ask)
                })
            }
            TargetSpecKind::Command(command) => self.command(spec, command)?,
            TargetSpecKind::Http(http) => self.server(spec, http)?,
            TargetSpecKind::Recording(recording) => self.recorded(spec, recording)?,
            TargetSpecKind::Echo => Arc::new(EchoTarget { name: name.clone() }),
            TargetSpecKind::Mock(mock) => Arc::new(mocked(name, mock)),
            TargetSpecKind::Unbuilt { provider } => {
                return Err(EngineError::unrunnable(format!(
                    "{}: target `{name}`: provider `{provider}` is not built yet",
                    spec.place
                )));
            }
            TargetSpecKind::Undetermined => {
                let problem = "leads to no target that says what it is (`use_target`)";
                return Err(EngineError::unrunnable(format!("{}: target `{name}` {problem}", spec.place)));
            }
        };
        if let Some(health) = &spec.health {
            let inner = HealthCheckedTarget::new(target, self.health(health));
            target = Arc::new(RedactingTarget { inner, redactor: Arc::clone(&self.redactor), slots: None });
        }
        if let Some(at_once) = spec.workers.and_then(NonZeroUsize::new) {
            target = Arc::new(LimitedTarget::new(target, at_once));
        }

        Ok(target)
    }

    fn health(&self, health: &HealthSpec) -> HealthCheck {
        match health {
            HealthSpec::Http { url, timeout } => {
                HealthCheck::Http { url: url.clone(), timeout: timeout.unwrap_or(DEFAULT_HEALTH_TIMEOUT) }
            }
            HealthSpec::Command { command, cwd, timeout } => {
                let env = self.inherited.clone();
                let mut command = match command {
                    CommandText::Shell(script) => ProcessCommand::shell(script, env),
                    CommandText::Argv(words) => ProcessCommand::argv(words.clone(), env),
                };
                command.cwd.clone_from(cwd);
                command.limits.timeout = Some(timeout.unwrap_or(DEFAULT_HEALTH_TIMEOUT));

                HealthCheck::Command { command, consent: self.programs.consent }
            }
        }
    }

    /// Whether commands of the run find a program in the folders of `PATH`.
    pub(crate) fn has_program(&self, name: &str) -> bool {
        assize_process::has_program(name, &self.inherited)
    }

    /// The name in the targets file that is most similar to a misspelled one, or the built-in name.
    pub(crate) fn near<'a>(&'a self, name: &str, built_in: &'a str) -> Option<&'a str> {
        let known = self.specs.iter().map(|spec| spec.name.as_str());
        assize_diagnostic::did_you_mean(name, known.chain([built_in]))
    }

    fn unknown(&self, name: &str) -> EngineError {
        if let Some(hint) = assize_evalfile::model_hint(name) {
            return EngineError::usage(format!("target `{name}` is not defined; {hint}"));
        }
        let near = self.near(name, ECHO);
        let Some(path) = &self.path else {
            let hint = near.map_or_else(
                || "Define it there, name a model such as `--target openai:gpt-6-luna`, or give the cases an `output`".to_owned(),
                |near| format!("Did you mean `{near}`?"),
            );
            return EngineError::usage(format!(
                "target `{name}` is not defined: no `.assize/targets.yaml` in the eval file's folder or above. {hint}"
            ));
        };

        let hint = if let Some(near) = near {
            format!("did you mean `{near}`?")
        } else {
            let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
            format!("it defines {}", names.join(", "))
        };
        EngineError::usage(format!("target `{name}` is not defined in `{}`; {hint}", path.display()))
    }

    /// Refuses a target that can't be used. Replies in the cache need no key.
    fn check_usable(&self, spec: &TargetSpec) -> Result<(), EngineError> {
        let mut spec = Cow::Borrowed(spec);
        if self.gateway.uses_only_the_cache() {
            spec.to_mut().missing_variables.retain(|missing| missing.setting != "api_key");
        }

        let obstacles = spec.obstacles();
        if obstacles.is_empty() { Ok(()) } else { Err(EngineError::unrunnable(obstacles.join("\n"))) }
    }

    fn client(&self, spec: &TargetSpec, model: &ModelTargetSpec) -> Result<ModelClient, EngineError> {
        let name = &spec.name;
        let is_version = |variable: &str| variable.ends_with("OPENAI_API_VERSION");
        let parsed = model_name(model)
            .map_err(|error| EngineError::unrunnable(format!("target `{name}`: {error}")))?;
        let file_variables = self.file_variables(&parsed, model);
        let lookup = |variable: &str| {
            if variable == FILE_VARIABLES {
                return Some(file_variables.clone());
            }
            if let Some((_, value)) = model.variables.iter().find(|(name, _)| *name == variable) {
                return Some(value.clone());
            }
            if parsed.base_url_variables().contains(&variable) {
                return model.base_url.clone().or_else(|| (self.variables)(variable));
            }
            if is_version(variable) && model.api_version.is_some() {
                return model.api_version.clone();
            }
            if !parsed.key_variables().contains(&variable) {
                return (self.variables)(variable);
            }

            match &model.api_key {
                Some(key) => Some(key.expose().to_owned()),
                // A key of the environment belongs to the provider's own server. It is not sent to an address
                // that a file names.
                None if model.base_url.is_some() => None,
                None => (self.variables)(variable),
            }
        };

        let mut setup = self.gateway.setup.clone();
        setup.policy = with_retries(setup.policy, &spec.retry);

        let failed = |error| match error {
            ConfigError::BadApiVersion { .. } if model.api_version.is_some() => format!(
                "{}: target `{name}`: its `api_version` is invalid: write a date such as 2024-10-21 or 2025-04-01-preview",
                spec.place
            ),
            ConfigError::MissingKey { host, base_url_variable, .. } if model.base_url.is_some() => format!(
                "{}: target `{name}`: no API key for {host}: a key of the environment is not sent to an address that a file \
                 names; name its variable too, as `api_key: ${{{{ NAME }}}}` of the target or `apiKeyEnvar: NAME` in the \
                 `config` of a provider, or remove the address and set {base_url_variable}",
                spec.place
            ),
            error => format!("target `{name}`: {error}"),
        };

        let client = self
            .gateway
            .client_with(&parsed, &lookup, setup)
            .map_err(|error| EngineError::unrunnable(failed(error)))?;
        if model.base_url.is_none() {
            let address = client.address();
            let sent = UserVariables::new(&self.variables).sent_to_model(spec, model, &parsed, &address);
            self.note_sent(spec, &address, sent);
        }

        Ok(client)
    }

    /// Notes the variables that go to an address in the target itself, whether or not they are set.
    fn note_addressed(&self, spec: &TargetSpec) {
        let user = UserVariables::new(&self.variables);
        match &spec.kind {
            TargetSpecKind::Http(http) => {
                let address = fixed_address(http).unwrap_or_default();
                self.note_sent(spec, &http.url, user.sent_to_server(spec, http, &address));
            }
            TargetSpecKind::Model(model) => {
                if let (Some(url), Ok(name)) = (&model.base_url, model_name(model)) {
                    self.note_sent(spec, url, user.sent_to_model(spec, model, &name, url));
                }
            }
            _ => {}
        }
        if let Some(HealthSpec::Http { url, .. }) = &spec.health {
            self.note_sent(spec, url, user.sent_to_health_check(spec, url));
        }
    }

    /// Notes variables of a target whose values go to an address that a file names.
    fn note_sent(&self, spec: &TargetSpec, address: &str, sent: Vec<&SettingVariable>) {
        let is_set = |used: &&SettingVariable| (self.variables)(&used.variable).is_some();
        // A variable that is not set has no value to send. But a plan may be made on another machine.
        for used in sent.into_iter().filter(|used| self.gateway.is_plan || is_set(used)) {
            self.gateway.findings.sent.lock().insert(SentVariable {
                place: used.place.clone(),
                variable: used.variable.clone(),
                to: format!("{} (target `{}`)", self.shown_address(spec, address), spec.name),
            });
        }
    }

    /// The address for messages: without path, credentials and values of variables.
    fn shown_address(&self, spec: &TargetSpec, address: &str) -> String {
        let origin_end = address.find("://").map_or(0, |at| at + 3);
        let (scheme, rest) = address.split_at(origin_end);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let mut shown = format!("{scheme}{host}");
        for used in &spec.variables {
            if let Some(value) = (self.variables)(&used.variable).filter(|value| !value.trim().is_empty()) {
                shown = shown.replace(value.trim(), &format!("${{{{ {} }}}}", used.variable));
            }
        }
        shown
    }

    /// Names of the variables that a file in the working folder set, translated to the variables that a target's
    /// settings use: its address and key may be copied from other variables. A literal address is trusted as much as
    /// the key beside it.
    fn file_variables(&self, name: &ModelName, model: &ModelTargetSpec) -> String {
        let listed = (self.variables)(FILE_VARIABLES).unwrap_or_default();
        let values: Vec<String> = listed
            .split(' ')
            .filter_map(|name| (self.variables)(name))
            .filter(|value| value.len() >= MIN_ADDRESS_LENGTH)
            .collect();
        let own = |variable: &str| {
            let is_address = name.base_url_variables().contains(&variable) && model.base_url.is_some();
            let is_key = name.key_variables().contains(&variable) && model.api_key.is_some();
            is_address || is_key
        };

        let mut names: Vec<&str> = listed.split(' ').filter(|variable| !own(variable)).collect();
        if model.base_url.as_ref().is_some_and(|url| values.iter().any(|value| url.contains(value))) {
            names.extend(name.base_url_variables());
        }
        if model.api_key.as_ref().is_some_and(|key| values.iter().any(|value| value == key.expose())) {
            names.extend(name.key_variables());
        }

        names.join(" ")
    }

    fn recorded(&self, spec: &TargetSpec, recording: &RecordingSpec) -> Result<Arc<dyn Target>, EngineError> {
        let failed = |error: &dyn std::fmt::Display| {
            EngineError::unrunnable(format!("{}: target `{}`: {error}", spec.place, spec.name))
        };
        let without_consent = LoadOptions { reads_everywhere: false, ..self.load_options.clone() };
        let allowed = readable_roots(spec.place.path(), &without_consent);
        if recording.path.exists() && !allowed.contain(&recording.path) {
            let path = recording.path.display().to_string();
            let outside = OutsideFile { place: spec.place.clone(), path };
            self.gateway.findings.outside.lock().insert(outside);
        }
        // With consent, a file may read every file that its programs could read.
        let roots = self.programs.consent.is_none().then_some(allowed);
        Ok(match &recording.kind {
            RecordingKind::Sessions { format } => {
                let format = format.map(LogFormat::from_str).transpose().map_err(|error| failed(&error))?;
                let target = TranscriptTarget::load(&spec.name, &recording.path, format, roots.as_ref())
                    .map_err(|error| failed(&error))?;
                let unknown = target.unknown_records();
                if !unknown.is_empty() {
                    let kinds: Vec<String> =
                        unknown.iter().map(|(kind, count)| format!("{kind} ({count})")).collect();
                    let note = format!(
                        "{}: records of unknown kinds in the sessions of `{}` were skipped: {}",
                        spec.place,
                        spec.name,
                        kinds.join(", ")
                    );

                    let mut notes = self.notes.lock();
                    notes.insert(spec.name.clone(), note);
                }

                Arc::new(target)
            }
            RecordingKind::Answers { source } => {
                let target =
                    ReplayTarget::load(&spec.name, &recording.path, source.as_deref(), roots.as_ref());
                Arc::new(target.map_err(|error| failed(&error))?)
            }
        })
    }

    /// A target that is an HTTP server with requests of any form.
    fn server(&self, spec: &TargetSpec, http: &HttpTargetSpec) -> Result<Arc<dyn Target>, EngineError> {
        let mut setup = self.gateway.setup.clone();
        setup.policy = with_retries(setup.policy, &spec.retry);
        self.gateway.findings.servers.lock().insert(self.shown_address(spec, &http.url));

        let target =
            HttpTarget::new(&spec.name, http, setup, self.programs.threads.clone()).map_err(|error| {
                EngineError::unrunnable(format!("{}: target `{}`: {error}", spec.place, spec.name))
            })?;
        let inner =
            RedactingTarget { inner: target, redactor: Arc::new(super::http::redactor(http)), slots: None };
        Ok(Arc::new(RedactingTarget { inner, redactor: Arc::clone(&self.redactor), slots: None }))
    }

    fn command(
        &self,
        spec: &TargetSpec,
        command: &CommandTargetSpec,
    ) -> Result<Arc<dyn Target>, EngineError> {
        let template = match &command.template {
            CommandText::Shell(script) => CommandTemplate::Shell(script.clone()),
            CommandText::Argv(words) => CommandTemplate::Argv(words.clone()),
        };
        let mut target =
            CommandTarget::new(&spec.name, template, self.inherited.clone(), self.temp_folder.clone())
                .with_timeout(command.timeout.unwrap_or(DEFAULT_COMMAND_TIMEOUT));
        if let Some(format) = &command.files_format {
            target.files_format.clone_from(format);
        }

        target.consent = self.programs.consent;
        target.cwd.clone_from(&command.cwd);
        target.beside_suite = command.beside_suite;
        target.stdin.clone_from(&command.stdin);

        if let Some(stream) = &command.stream {
            let format = LogFormat::from_str(stream)
                .map_err(|error| EngineError::unrunnable(format!("{}: {error}", spec.place)))?;
            target.stream = Some(format);
            target.limits.stdout_cap = STREAM_CAP;
        }

        let redactor = Arc::clone(&self.redactor);
        if command.batch {
            return Ok(Arc::new(RedactingTarget { inner: BatchTarget::new(target), redactor, slots: None }));
        }

        let slots = Some(Arc::clone(&self.gateway.commands));
        let target = RedactingTarget { inner: target, redactor, slots };
        Ok(match spec.retry.max_retries {
            None | Some(0) => Arc::new(target),
            Some(retries) => Arc::new(RetryingTarget::new(target, retries).with_waits(
                spec.retry.initial_delay.unwrap_or_default(),
                spec.retry.max_delay.unwrap_or(Duration::MAX),
            )),
        })
    }
}

/// The programs that a target itself starts; its fallbacks are not looked at.
fn target_programs(spec: &TargetSpec) -> Vec<NamedProgram> {
    let named = |kind: &str, command: &CommandText, is_shown: bool| {
        let command = if is_shown {
            format!("`{}`", command.shown())
        } else {
            "not shown, because it contains variables".to_owned()
        };
        NamedProgram {
            place: spec.place.clone(),
            what: format!("target `{}` ({kind}): {command}", spec.name),
        }
    };
    let own = match &spec.kind {
        TargetSpecKind::Command(target) => {
            Some(named("a command", &target.template, !target.holds_variables))
        }
        _ => None,
    };
    let health = match &spec.health {
        Some(HealthSpec::Command { command, .. }) => Some(named("a health check", command, true)),
        _ => None,
    };
    own.into_iter().chain(health).collect()
}

/// The model of a target, as `PROVIDER:MODEL`.
fn model_name(model: &ModelTargetSpec) -> Result<ModelName, NameError> {
    let provider = match model.provider {
        "openai-compatible" => "openai",
        provider => provider,
    };
    ModelName::from_str(&format!("{provider}:{}", model.model))
}

/// The policy with a target's own retry settings.
fn with_retries(usual: RetryPolicy, own: &RetrySpec) -> RetryPolicy {
    RetryPolicy {
        max_attempts: own.max_retries.map_or(usual.max_attempts, |retries| retries.saturating_add(1)),
        base: own.initial_delay.unwrap_or(usual.base),
        cap: own.max_delay.unwrap_or(usual.cap),
        ..usual
    }
}

fn mocked(name: &str, mock: &MockTargetSpec) -> MockTarget {
    MockTarget {
        name: name.to_owned(),
        response: mock.response.clone().unwrap_or_default(),
        shortest: mock.shortest,
        longest: mock.longest,
        fail: mock.fail.clone(),
    }
}
