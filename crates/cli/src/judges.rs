//! Who judges: from names to judges.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use assize_grade::{Judge, JudgeOptions, KeyedFences, ModelJudge, OfflineJudge, WarmUp};
use assize_llm::{Ask, ModelCard, ModelId, ModelName};
use assize_run::{JudgeSelector, Judges};
use assize_store::JudgeInfo;
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::context::Context;
use crate::targets::TargetBook;

/// How a judge was chosen; the first that applies, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChosenBy {
    CommandLine,
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
            Self::CommandLine => "--judge",
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

/// The judges of a run, made when they are first needed.
pub(crate) struct JudgeBook {
    command: Vec<String>,
    warm_up: WarmUp,
    config: Option<String>,
    environment: Option<String>,
    targets: Arc<TargetBook>,
    access: Arc<Access>,
    limit: Arc<Semaphore>,
    variables: assize_evalfile::Environment,
    made: Mutex<BTreeMap<String, Made>>,
}

#[derive(Clone)]
struct Made {
    judge: Arc<dyn Judge>,
    /// The model it asks.
    ask: Option<Arc<dyn Ask>>,
    /// `provider:model`, for noticing that a model judges itself.
    model: Option<String>,
    /// What is known about the model.
    card: ModelCard,
    /// Everything about it that may change its decisions, in words.
    settings: Arc<str>,
    chosen_by: ChosenBy,
}

impl JudgeBook {
    /// Judges for a run: `command` is `--judge`, `warm_up` is `--warm-up`, `config` the configuration file's choice, `limit`
    /// the judge calls in flight at once, over all books of a run.
    pub(crate) fn new(
        command: Vec<String>,
        warm_up: WarmUp,
        config: Option<String>,
        limit: Arc<Semaphore>,
        targets: Arc<TargetBook>,
        access: Arc<Access>,
        context: &Context,
    ) -> Self {
        Self {
            command,
            warm_up,
            config,
            environment: context.variable("JUDGE_MODEL").filter(|name| !name.trim().is_empty()),
            targets,
            access,
            limit,
            variables: context.environment(),
            made: Mutex::new(BTreeMap::new()),
        }
    }

    /// The judges made so far, for the record.
    pub(crate) fn infos(&self) -> Vec<JudgeInfo> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.values()
            .map(|made| JudgeInfo {
                identity: made.judge.identity(),
                chosen_by: made.chosen_by.name().to_owned(),
            })
            .collect()
    }

    /// The judge's model, as `provider:model`, if it has one.
    pub(crate) fn model_of(&self, selector: JudgeSelector<'_>) -> Option<String> {
        let (name, _) = self.choose(selector);
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.get(name).and_then(|made| made.model.clone())
    }

    /// What is known about the model of the judge of this name, once it was made.
    pub(crate) fn card(&self, name: &str) -> Option<ModelCard> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.get(name).map(|made| made.card)
    }

    /// Why these judges of one panel can't vote beside each other: two of them are the same model in two spellings, so that
    /// both would give the same reply.
    pub(crate) fn twins(&self, selectors: &[JudgeSelector<'_>]) -> Option<String> {
        let mut seen: Vec<(String, &str)> = Vec::new();
        for selector in selectors.iter().filter(|_| selectors.len() > 1) {
            let (name, _) = self.choose(*selector);
            // Two targets may ask the same model in different ways.
            let model = ModelName::from_str(name).ok().filter(|_| !self.targets.names(name));
            let whole = model.map_or_else(|| name.to_owned(), |model| model.to_string());
            match seen.iter().find(|(known, _)| *known == whole) {
                Some((_, first)) if *first == name => {
                    return Some(format!("`{name}` is asked already, so it can't be escalated to"));
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

    fn choose<'n>(&'n self, selector: JudgeSelector<'n>) -> (&'n str, ChosenBy) {
        if let Some(name) = selector.exactly {
            let by = if self.command.iter().any(|named| named == name) {
                ChosenBy::CommandLine
            } else {
                ChosenBy::Panel
            };
            return (name, by);
        }
        let of_target = selector.target.and_then(|target| self.targets.grader_target(target));
        let candidates = [
            (self.command.first().map(String::as_str), ChosenBy::CommandLine),
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

    fn make(&self, name: &str, chosen_by: ChosenBy) -> Result<Made, String> {
        if name == OFFLINE {
            let judge = Arc::new(OfflineJudge);
            return Ok(Made::new(judge, None, None, ModelCard::default(), chosen_by));
        }
        let ask = model(name, &self.targets, &self.access, &self.variables)?;
        let id = ask.describe();
        let card = ask.card();
        let judge = ModelJudge::new(
            Arc::clone(&ask),
            name.to_owned(),
            Arc::new(KeyedFences::new(self.access.fence_key())),
            Arc::clone(&self.limit),
            JudgeOptions { warm_up: self.warm_up, ..JudgeOptions::default() },
        );
        Ok(Made::new(Arc::new(judge), Some(ask), Some(id), card, chosen_by))
    }

    /// Looks at the judge for a selector, making it where it is missing.
    fn with<T>(&self, selector: JudgeSelector<'_>, look: impl FnOnce(&Made) -> T) -> Result<T, String> {
        let (name, chosen_by) = self.choose(selector);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(name) {
            return Ok(look(known));
        }
        let new = self.make(name, chosen_by)?;
        Ok(look(made.entry(name.to_owned()).or_insert(new)))
    }
}

impl Made {
    fn new(
        judge: Arc<dyn Judge>,
        ask: Option<Arc<dyn Ask>>,
        id: Option<ModelId>,
        card: ModelCard,
        chosen_by: ChosenBy,
    ) -> Self {
        let model = id.as_ref().map(|id| format!("{}:{}", id.provider, id.model));
        let host = id.map(|id| id.base_url_host);
        let limit = card.max_output_tokens.map(|most| format!(" {most}")).unwrap_or_default();
        let settings = format!("{:?} {model:?} {host:?} {:?}{limit}", judge.identity(), card.context_tokens);
        Self { judge, ask, model, card, settings: settings.into(), chosen_by }
    }
}

/// The model of a name: a target of the targets file that is one, or a model such as `openai:gpt-4o-mini`. That of
/// `JUDGE_MODEL` may have variables of its own.
pub(crate) fn model(
    name: &str,
    targets: &TargetBook,
    access: &Access,
    variables: &assize_evalfile::Environment,
) -> Result<Arc<dyn Ask>, String> {
    if let Some(ask) = targets.ask(name) {
        return ask;
    }
    let parsed = if variables("JUDGE_MODEL").as_deref() == Some(name) {
        ModelName::of_judge(name, &|variable| variables(variable))
    } else {
        ModelName::from_str(name)
    };
    let parsed = parsed.map_err(|error| {
        let known = format!("judge `{name}` is neither `offline`, nor a target's name, nor a model");
        match targets.near(name) {
            Some(near) => format!("{known}; did you mean `{near}`?"),
            None => format!("{known}: {error}"),
        }
    })?;
    let client = access.client(&parsed, variables).map_err(|error| format!("judge `{name}`: {error}"))?;
    Ok(access.ask_judge(client, None, None))
}

/// Name of the judge that needs no model.
pub(crate) const OFFLINE: &str = "offline";

impl Judges for JudgeBook {
    fn judge(&self, selector: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, String> {
        self.with(selector, |made| Arc::clone(&made.judge))
    }

    fn model(&self, selector: JudgeSelector<'_>) -> Result<(String, Arc<dyn Ask>), String> {
        let ask = self.with(selector, |made| made.ask.clone())?;
        let (name, _) = self.choose(selector);
        ask.map(|ask| (name.to_owned(), ask))
            .ok_or_else(|| format!("the judge `{name}` is no model that a program could ask"))
    }

    fn settings(&self, selector: JudgeSelector<'_>) -> Arc<str> {
        // A judge that can't be made decides nothing.
        self.with(selector, |made| Arc::clone(&made.settings)).unwrap_or_else(Into::into)
    }
}
