//! Judges of a run, created from their names.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use assize_grade::{FenceSource, Judge, JudgeOptions, KeyedFences, ModelJudge, OfflineJudge, WarmUp};
use assize_llm::{ChatModel, ModelCard, ModelId, ModelName, NameError};
use assize_model::{FilePosition, Suite};
use assize_rubric::{IdentityWriter, JudgeIdentity};
use assize_run::{JudgeError, JudgeProvider, JudgeSelector};
use assize_store::JudgeInfo;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::gateway::ModelGateway;
use crate::samples::{FailureLog, GradingStop, StoppableJudge, StoppableModel};
use crate::targets::{PROGRAM, TargetRegistry};

/// Why a judge was chosen. The first reason that applies counts, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChosenBy {
    Options,
    Panel,
    Grader,
    Target,
    Suite,
    Config,
    Environment,
    Default,
}

impl ChosenBy {
    const fn name(self) -> &'static str {
        match self {
            Self::Options => "--judge",
            Self::Panel => "the panel",
            Self::Grader => "the grader",
            Self::Target => "the target's grader_target",
            Self::Suite => "the eval file",
            Self::Config => "the configuration file",
            Self::Environment => "JUDGE_MODEL",
            Self::Default => "default",
        }
    }
}

/// The judges of a run. Each is made when it is first needed.
pub(crate) struct JudgeRegistry {
    named: Vec<String>,
    warm_up: WarmUp,
    config: Option<String>,
    environment: Option<String>,
    targets: Arc<TargetRegistry>,
    gateway: Arc<ModelGateway>,
    limit: Arc<Semaphore>,
    variables: assize_evalfile::EnvironmentLookup,
    /// Judges that the caller provides, by name.
    provided: BTreeMap<String, Arc<dyn Judge>>,
    made: Mutex<BTreeMap<String, JudgeEntry>>,
    /// Models for embeddings or labels, by name.
    measuring: Mutex<BTreeMap<String, Arc<dyn ChatModel>>>,
    /// Source of the fences of all judges. It is made with the first judge, because its key is read from a
    /// file.
    fences: OnceLock<Arc<dyn FenceSource>>,
}

#[derive(Clone)]
struct JudgeEntry {
    judge: Arc<dyn Judge>,
    /// The model it asks.
    ask: Option<Arc<dyn ChatModel>>,
    /// Its identity, to detect that a model judges itself.
    model: Option<ModelId>,
    /// The card of the model.
    card: ModelCard,
    /// Everything about it that may affect its decisions.
    settings: IdentityWriter,
    chosen_by: ChosenBy,
}

impl JudgeRegistry {
    /// Judges for a run. `named` are the judges in the options, `config` is the configuration file's choice, and
    /// `limit` is the number of judge calls in flight over all registries of a run.
    pub(crate) fn new(
        named: Vec<String>,
        warm_up: WarmUp,
        config: Option<String>,
        limit: Arc<Semaphore>,
        targets: Arc<TargetRegistry>,
        gateway: Arc<ModelGateway>,
        engine: &Engine,
    ) -> Self {
        Self {
            named,
            warm_up,
            config,
            environment: engine.process().variable("JUDGE_MODEL").filter(|name| !name.trim().is_empty()),
            targets,
            gateway,
            limit,
            variables: engine.process().environment(),
            provided: engine.provided.judges.clone(),
            made: Mutex::new(BTreeMap::new()),
            measuring: Mutex::new(BTreeMap::new()),
            fences: OnceLock::new(),
        }
    }

    /// The judges that were made so far, for the record.
    pub(crate) fn infos(&self) -> Vec<JudgeInfo> {
        let made = self.made.lock();
        made.values()
            .map(|made| JudgeInfo {
                identity: made.judge.identity(),
                chosen_by: made.chosen_by.name().to_owned(),
            })
            .collect()
    }

    /// The number of judges, and of models for embeddings or labels, that were made so far.
    pub(crate) fn made(&self) -> usize {
        let judges = self.made.lock().len();
        judges + self.measuring.lock().len()
    }

    /// The judge's model, if it has one.
    pub(crate) fn model_of(&self, selector: JudgeSelector<'_>) -> Option<ModelId> {
        let (name, _) = self.choose(selector);
        let made = self.made.lock();
        made.get(name).and_then(|made| made.model.clone())
    }

    /// The models that judges and graders with these names use, if they were made.
    pub(crate) fn models_named(&self, names: &[String]) -> Vec<ModelId> {
        let made = self.made.lock();
        let measuring = self.measuring.lock();
        let judges = names.iter().filter_map(|name| made.get(name)?.model.clone());
        let measures = names.iter().filter_map(|name| Some(measuring.get(name)?.describe()));

        judges.chain(measures).collect()
    }

    /// The card of this judge's model, or of this model for embeddings or labels, once it was made.
    pub(crate) fn card(&self, name: &str) -> Option<ModelCard> {
        let made = self.made.lock();
        let judge = made.get(name).map(|made| made.card);
        judge.or_else(|| {
            let measuring = self.measuring.lock();
            measuring.get(name).map(|model| model.card())
        })
    }

    /// Why two judges of a panel are the same model in two spellings, so that both would give the same reply.
    pub(crate) fn duplicate_judges(&self, selectors: &[JudgeSelector<'_>]) -> Option<String> {
        let mut seen: Vec<(String, &str)> = Vec::new();
        for selector in selectors.iter().filter(|_| selectors.len() > 1) {
            let (name, _) = self.choose(*selector);
            // Two targets may use the same model in different ways.
            let model = ModelName::from_str(name).ok().filter(|_| !self.targets.names(name));
            let whole = model.map_or_else(|| name.to_owned(), |model| model.to_string());
            match seen.iter().find(|(known, _)| *known == whole) {
                Some((_, first)) if *first == name => {
                    return Some(format!("`{name}` already votes, so it can't be escalated to"));
                }
                Some((_, first)) => {
                    return Some(format!(
                        "`{first}` and `{name}` are the same judge; to ask a judge several times, write `repeats: N`"
                    ));
                }
                None => seen.push((whole, name)),
            }
        }

        None
    }

    /// The name of the judge for a selector, and what chose it.
    pub(crate) fn choose<'n>(&'n self, selector: JudgeSelector<'n>) -> (&'n str, ChosenBy) {
        if let Some(name) = selector.exactly {
            let by = if self.named.iter().any(|named| named == name) {
                ChosenBy::Options
            } else {
                ChosenBy::Panel
            };
            return (name, by);
        }

        // The target that answered comes first. A fallback that names no judge uses its target's.
        let mut answering = [selector.answered_by, selector.target].into_iter().flatten();
        let of_target = answering.find_map(|target| self.targets.grader_target(target));
        let candidates = [
            (self.named.first().map(String::as_str), ChosenBy::Options),
            (selector.grader, ChosenBy::Grader),
            (of_target, ChosenBy::Target),
            (selector.suite, ChosenBy::Suite),
            (self.config.as_deref(), ChosenBy::Config),
            (self.environment.as_deref(), ChosenBy::Environment),
        ];
        candidates
            .into_iter()
            .find_map(|(name, by)| Some((name?, by)))
            .unwrap_or((OFFLINE, ChosenBy::Default))
    }

    fn make(&self, name: &str, chosen_by: ChosenBy) -> Result<JudgeEntry, EngineError> {
        let provided = self.provided.get(name).cloned();
        let offline = || (name == OFFLINE).then(|| Arc::new(OfflineJudge) as Arc<dyn Judge>);
        if let Some(judge) = provided.or_else(offline) {
            return Ok(JudgeEntry::new(judge, None, None, ModelCard::default(), chosen_by));
        }

        let ask = model(name, &self.targets, &self.gateway, &self.variables)?;
        let id = ask.describe();
        let card = ask.card();
        let judge = self.model_judge(Arc::clone(&ask), name);

        Ok(JudgeEntry::new(Arc::new(judge), Some(ask), Some(id), card, chosen_by))
    }

    fn model_judge(&self, ask: Arc<dyn ChatModel>, name: &str) -> ModelJudge {
        let fences = self.fences.get_or_init(|| Arc::new(KeyedFences::new(self.gateway.fence_key())));
        let options = JudgeOptions { warm_up: self.warm_up, ..JudgeOptions::default() };
        ModelJudge::new(ask, name, Arc::clone(fences), Arc::clone(&self.limit), options)
    }

    /// The judge for a selector. Once `stop` fires, it makes no further decisions; earlier ones stay.
    pub(crate) fn judge_until(
        &self,
        selector: JudgeSelector<'_>,
        stop: &GradingStop,
        failures: Option<&FailureLog>,
    ) -> Result<Arc<dyn Judge>, EngineError> {
        let (judge, ask) = self.with(selector, |made| (Arc::clone(&made.judge), made.ask.clone()))?;
        Ok(match ask {
            Some(ask) => {
                let (name, _) = self.choose(selector);
                Arc::new(
                    self.model_judge(
                        Arc::new(StoppableModel::new(ask, stop.clone(), failures.cloned())),
                        name,
                    ),
                )
            }
            None => Arc::new(StoppableJudge::new(judge, stop.clone())),
        })
    }

    /// The option, variable or file that chose the judge for a selector; `None` if the eval file or a file
    /// that it names did.
    pub(crate) fn chosen_outside_files(&self, selector: JudgeSelector<'_>) -> Option<&'static str> {
        let (_, chosen_by) = self.choose(selector);
        let is_outside = matches!(chosen_by, ChosenBy::Options | ChosenBy::Config | ChosenBy::Environment);

        is_outside.then(|| chosen_by.name())
    }

    /// Where the eval file names the judge for a selector, if that judge is the one chosen.
    pub(crate) fn place_of<'s>(
        &self,
        selector: JudgeSelector<'_>,
        suite: &'s Suite,
    ) -> Option<&'s FilePosition> {
        suite.settings.judge_place.as_ref().filter(|_| self.choose(selector).1 == ChosenBy::Suite)
    }

    /// The name of the judge for a selector.
    pub(crate) fn name_of<'n>(&'n self, selector: JudgeSelector<'n>) -> &'n str {
        self.choose(selector).0
    }

    /// Calls a function with the judge for a selector, which is made if necessary.
    fn with<T>(
        &self,
        selector: JudgeSelector<'_>,
        look: impl FnOnce(&JudgeEntry) -> T,
    ) -> Result<T, EngineError> {
        let (name, chosen_by) = self.choose(selector);
        let mut made = self.made.lock();
        if let Some(known) = made.get(name) {
            return Ok(look(known));
        }

        let new = self.make(name, chosen_by)?;
        Ok(look(made.entry(name.to_owned()).or_insert(new)))
    }
}

impl JudgeEntry {
    fn new(
        judge: Arc<dyn Judge>,
        ask: Option<Arc<dyn ChatModel>>,
        id: Option<ModelId>,
        card: ModelCard,
        chosen_by: ChosenBy,
    ) -> Self {
        let settings = settings(&judge.identity(), id.as_ref(), &card);

        Self { judge, ask, model: id, card, settings, chosen_by }
    }
}

/// Everything about a judge and its model that may affect its decisions.
fn settings(judge: &JudgeIdentity, model: Option<&ModelId>, card: &ModelCard) -> IdentityWriter {
    let ModelCard { price: _, batch_discount: _, context_tokens, estimator: _, max_output_tokens } = card;
    let mut settings = IdentityWriter::new("model judge", 1);
    settings.field(judge);
    settings.field(&model);
    settings.field(context_tokens);
    settings.field(max_output_tokens);

    settings
}

/// The model of a name: a target of the targets file that is a model, or a model such as `openai:gpt-6-luna`. The
/// judge of `JUDGE_MODEL` may have variables of its own.
pub(crate) fn model(
    name: &str,
    targets: &TargetRegistry,
    gateway: &ModelGateway,
    variables: &assize_evalfile::EnvironmentLookup,
) -> Result<Arc<dyn ChatModel>, EngineError> {
    if let Some(ask) = targets.ask(name) {
        return ask;
    }

    let parsed = if variables("JUDGE_MODEL").as_deref() == Some(name) {
        ModelName::for_judge(name, &|variable| variables(variable))
    } else {
        ModelName::from_str(name)
    };
    let parsed = parsed.map_err(|error| {
        EngineError::usage(match (targets.near(name, OFFLINE), &error) {
            (Some(near), _) => format!("unknown judge `{name}`; did you mean `{near}`?"),
            (None, NameError::NoModel(_)) => format!("judge `{name}`: {error}"),
            (None, NameError::NoProvider(_)) => {
                format!("unknown judge `{name}`: no target has this name, and {error}")
            }
            (None, _) => format!("unknown judge `{name}`: {error}"),
        })
    })?;

    let client = gateway
        .client(&parsed, variables)
        .map_err(|error| EngineError::usage(format!("judge `{name}`: {error}")))?;

    Ok(gateway.ask_judge(client, None, None))
}

/// The name of the judge that needs no model.
pub const OFFLINE: &str = "offline";

fn unavailable(error: EngineError) -> JudgeError {
    JudgeError::Unavailable(error.message)
}

impl JudgeProvider for JudgeRegistry {
    fn judge(&self, selector: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, JudgeError> {
        self.with(selector, |made| Arc::clone(&made.judge)).map_err(unavailable)
    }

    fn model(&self, selector: JudgeSelector<'_>) -> Result<(String, Arc<dyn ChatModel>), JudgeError> {
        let ask = self.with(selector, |made| made.ask.clone()).map_err(unavailable)?;
        let (name, _) = self.choose(selector);
        ask.map(|ask| (name.to_owned(), ask)).ok_or_else(|| JudgeError::NotModel(name.into()))
    }

    fn measuring_model(&self, name: &str) -> Result<Arc<dyn ChatModel>, JudgeError> {
        let mut made = self.measuring.lock();
        if let Some(known) = made.get(name) {
            return Ok(Arc::clone(known));
        }

        let new = model(name, &self.targets, &self.gateway, &self.variables).map_err(unavailable)?;
        if new.describe().provider == PROGRAM {
            return Err(JudgeError::Unavailable(format!("`{name}` is a program, which can only judge")));
        }
        made.insert(name.to_owned(), Arc::clone(&new));
        Ok(new)
    }

    fn write_settings(&self, selector: JudgeSelector<'_>, identity: &mut IdentityWriter) {
        // A judge that can't be created makes no decisions.
        if let Err(error) = self.with(selector, |made| identity.bytes(made.settings.as_bytes())) {
            identity.text(&error.message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_of_a_judge_is_held() {
        let judge =
            JudgeIdentity { name: "openai:m".into(), version: Some("3".into()), ..JudgeIdentity::default() };
        let model =
            ModelId { provider: "openai".into(), model: "m".into(), base_url_host: "api.openai.com".into() };
        let card =
            ModelCard { context_tokens: Some(8192), max_output_tokens: Some(100), ..ModelCard::default() };

        let held = blake3::hash(settings(&judge, Some(&model), &card).as_bytes()).to_hex();

        assert_eq!(held[..16], *"afa78ab69a67fb72");
    }
}
