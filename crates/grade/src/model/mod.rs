//! The judge that asks a model.

mod answer;
mod behaviour;
mod fit;
mod group;
mod kin;
mod pair;
mod parts;
mod put;
mod tally;
mod whole;
mod window;

use std::sync::Arc;

use assize_llm::{
    BoxFuture, ChatModel, ChatRequest, JsonSchemaFormat, ModelCard, USUAL_CACHED_BYTES, cached_prefix_bytes,
    offers_logprobs,
};
use assize_rubric::{JudgeIdentity, Judgement, Judging, Truncate, Truncated};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::Semaphore;

use crate::evidence::EvidenceIndex;
use crate::fence::fence_for_material;
use crate::prompt::{PROMPT_VERSION, SYSTEM_BYTES, messages, prompt_hash, shared_part};
use crate::task::draw;
use crate::{
    BehaviourJudgement, BehaviourTask, FenceSource, Forecast, PairJudgement, PairTask, RubricJudge,
    RubricTask, WholeJudgement, WholeTask,
};

use fit::Shown;
use group::Group;
use kin::Kinds;
use parts::merge;

/// Tokens left for what a repair adds to a request.
const REPAIR: u64 = 600;
/// The shortest beginning that providers cache, in tokens.
const CACHEABLE: u64 = 1024;

/// Tokens that could have stood in place of each one, as many as any provider tells.
const ALTERNATIVES: u8 = 20;

/// How a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Sampling seed, the same for every call; `None` sends none.
    pub seed: Option<u64>,
    /// How often a criterion is asked again after an unusable reply.
    pub repairs: u32,
    /// Whether the first call about an answer is awaited before the others are sent.
    pub warm_up: WarmUp,
}

/// Whether the first call about an answer is awaited before the others are sent, so that they find what they share
/// with it in the provider's cache. It makes an answer take one call longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WarmUp {
    /// Where the provider charges for each call that finds nothing there.
    #[default]
    Auto,
    /// Wherever what is shared is long enough to be cached.
    Always,
    /// Never.
    Never,
}

impl Default for JudgeOptions {
    /// Temperature 0, seed 0, two repairs.
    fn default() -> Self {
        Self { temperature: Some(0.0), seed: Some(0), repairs: 2, warm_up: WarmUp::Auto }
    }
}

/// A judge that puts criteria to a model and takes only what the model plainly said.
///
/// Each criterion ends decided or ungraded: a failed call, a refusal, a reply that stays unusable after the repairs,
/// never becomes a number.
pub struct ModelJudge {
    ask: Arc<dyn ChatModel>,
    identity: JudgeIdentity,
    /// The length from which the model caches the beginning of a request, where that has to be marked, in bytes.
    marked: Option<usize>,
    fences: Arc<dyn FenceSource>,
    in_flight: Arc<Semaphore>,
    options: JudgeOptions,
}

/// The text of a reply that is whole and meant as an answer, or why there is none.
pub(crate) fn usable(reply: &assize_llm::ChatReply) -> Result<&str, String> {
    answer::usable(reply).map_err(|failure| failure.message)
}

impl ModelJudge {
    /// A judge over `ask`, called `name` in results. At most as many calls are in flight as `in_flight` has permits;
    /// share it between judges that share an account. Closing it makes every further criterion ungraded (cancelled).
    pub fn new(
        ask: Arc<dyn ChatModel>,
        name: impl Into<Arc<str>>,
        fences: Arc<dyn FenceSource>,
        in_flight: Arc<Semaphore>,
        options: JudgeOptions,
    ) -> Self {
        let identity = JudgeIdentity {
            name: name.into(),
            model: None,
            version: Some(PROMPT_VERSION.into()),
            prompt_hash: Some(prompt_hash().into()),
        };
        let asked = ask.describe();
        let marked = cached_prefix_bytes(&asked.provider, &asked.model);
        Self { ask, identity, marked, fences, in_flight, options }
    }

    /// What all calls that show this have in common. The fence is that of the whole material, so that it occurs in no
    /// part of it.
    fn scene<'a>(&'a self, task: &RubricTask, shown: &Shown, fence: &str) -> Scene<'a> {
        let mut shared = shared_part(&shown.material, fence);
        if let Some(note) = &shown.note {
            shared.push_str(note);
            shared.push('\n');
        }
        Scene {
            judge: self,
            shared: shared.into(),
            fence: fence.to_owned(),
            index: EvidenceIndex::new(&shown.material),
            policy: task.evidence,
            draw: draw(task.repeat, task.asking.repeat),
            seed: self.seed(task.asking.repeat),
            temperature: task.asking.temperature.or(self.options.temperature),
            probabilities: task.asking.probabilities,
            card: self.ask.card(),
            truncate: task.truncate,
        }
    }

    /// The seed of the given repeat: the first one's is the judge's own.
    fn seed(&self, repeat: u32) -> Option<u64> {
        self.options.seed.map(|seed| seed.saturating_add(u64::from(repeat.saturating_sub(1))))
    }

    /// Whether to await the first of several calls that begin with this much text.
    fn warms_up(&self, shared_bytes: usize) -> bool {
        match self.options.warm_up {
            WarmUp::Never => false,
            WarmUp::Auto => self.marked.is_some_and(|least| shared_bytes >= least),
            WarmUp::Always => shared_bytes >= self.marked.unwrap_or(USUAL_CACHED_BYTES),
        }
    }

    /// The scenes that a task is judged in: one with all of the material, unless the model can't read that and the task
    /// says what to do then.
    fn scenes<'a>(&'a self, task: &RubricTask) -> Vec<(Scene<'a>, Option<Truncated>)> {
        let fence = fence_for_material(&*self.fences, &task.material);
        let whole = self.scene(task, &Shown::whole(&task.material), &fence);
        let Some(shown) = Self::fitted(task, &whole, &fence) else { return vec![(whole, None)] };
        shown.iter().map(|shown| (self.scene(task, shown, &fence), shown.truncated)).collect()
    }

    /// What is shown of material that is too long as a whole; `None` where it is shown whole, or can't be made to fit.
    fn fitted(task: &RubricTask, whole: &Scene<'_>, fence: &str) -> Option<Vec<Shown>> {
        let limit = whole.card.context_tokens.filter(|_| task.truncate != Truncate::Never)?;
        let estimator = whole.card.estimator;
        let needs =
            |request: &ChatRequest| estimator.request(request) + window::reply_tokens(whole.card, request);
        let batch = groups(whole, task).map(|group| needs(&group.whole_request())).max()?;
        if batch <= limit {
            return None;
        }
        // A batch is divided before anything is left out.
        let singles = groups(whole, task)
            .filter_map(|group| group.single_requests().map(|request| needs(&request)).max());
        let single = singles.max().filter(|need| *need > limit)?;
        let produced = [
            Some(&task.material.answer),
            task.material.file_changes.as_ref(),
            task.material.tool_calls.as_ref(),
        ];
        let produced: u64 = produced.into_iter().flatten().map(|text| estimator.text(text)).sum();
        let room = |need: u64| limit.checked_sub(need.saturating_sub(produced) + REPAIR + fit::MARKS);
        // It stays whole as long as it takes no more than half of the room there is for what is judged.
        let most = room(single)?;
        let room = room(batch).filter(|room| *room >= most / 2).unwrap_or(most);
        fit::fit(&task.material, task.truncate, estimator.room(room), fence)
    }

    /// A call that decides on so many criteria, or scores.
    fn forecast_call(&self, request: &ChatRequest, decisions: usize) -> Forecast {
        Forecast::of(request, decisions as u64, &self.ask.describe().model, self.ask.card())
    }

    async fn judge_tasks(&self, tasks: &[RubricTask]) -> Vec<Vec<Judgement>> {
        let scenes: Vec<_> = tasks.iter().map(|task| self.scenes(task)).collect();
        let calls: usize =
            tasks.iter().zip(&scenes).map(|(task, scenes)| calls_of(task) * scenes.len()).sum();
        let shared = scenes.first().and_then(|scenes| scenes.first());
        let shared = shared.map_or(0, |(scene, _)| SYSTEM_BYTES + scene.shared.len());
        let warm = calls > 1 && self.warms_up(shared);
        let mut kinds = Kinds::default();
        let mut asked = Vec::with_capacity(calls);
        for (at, (scenes, task)) in scenes.iter().zip(tasks).enumerate() {
            for (part, (scene, truncated)) in scenes.iter().enumerate() {
                for group in groups(scene, task) {
                    let kind = if warm { kinds.add(&scene.shared, group.schema()) } else { 0 };
                    asked.push((group, kind, (at, part, asked.len()), *truncated));
                }
            }
        }
        // Of each kind that others are of, the first is awaited; one that nobody shares anything with waits for nobody.
        let (first, rest) = (FuturesUnordered::new(), FuturesUnordered::new());
        for (group, kind, place, truncated) in asked {
            let shared = kinds.is_shared(kind);
            let is_first = shared && kinds.is_first(kind);
            let judged = group.run(shared).map(move |mut decided| {
                for judgement in &mut decided {
                    judgement.truncated = truncated;
                }
                (place, decided)
            });
            if is_first { first.push(judged) } else { rest.push(judged) }
        }
        // Each is looked at again only when it can go on.
        let mut done: Vec<Placed> = first.collect().await;
        done.extend(rest.collect::<Vec<_>>().await);
        // In the order of the criteria, whoever was first.
        done.sort_by_key(|(place, _)| *place);
        let mut parts: Vec<Vec<Vec<Judgement>>> =
            scenes.iter().map(|scenes| scenes.iter().map(|_| Vec::new()).collect()).collect();
        for ((at, part, _), decided) in done {
            parts[at][part].extend(decided);
        }
        parts.into_iter().zip(tasks).map(|(parts, task)| merged(parts, task)).collect()
    }
}

impl RubricJudge for ModelJudge {
    fn identity(&self) -> JudgeIdentity {
        self.identity.clone()
    }

    fn forecast(&self, task: &RubricTask) -> Forecast {
        let scenes = self.scenes(task);
        let mut sum = Forecast { criteria: task.rubric.criteria().len() as u64, ..Forecast::default() };
        for (scene, _) in &scenes {
            // What all requests begin with can be cached by the provider once the first of them is read.
            let shared = scene.card.estimator.text(&scene.shared);
            let shared = if shared < CACHEABLE { 0 } else { shared };
            let mut kinds = Kinds::default();
            for group in groups(scene, task) {
                let kind = kinds.add(&scene.shared, group.schema());
                for (request, criteria) in group.first_requests() {
                    if window::check(scene.card, Some(scene.truncate), &request).is_err() {
                        sum.too_long += criteria as u64;
                        continue;
                    }
                    sum += Forecast {
                        repeated_tokens: if kinds.is_first(kind) { 0 } else { shared },
                        ..self.forecast_call(&request, criteria)
                    };
                }
            }
        }
        sum
    }

    fn forecast_whole(&self, task: &WholeTask) -> Forecast {
        let request = self.whole_request(task, None);
        match window::check(self.ask.card(), None, &request) {
            Err(_) => Forecast { scores: 1, too_long: 1, ..Forecast::default() },
            Ok(()) => Forecast { scores: 1, ..self.forecast_call(&request, 1) },
        }
    }

    fn judge<'a>(&'a self, task: &'a RubricTask) -> BoxFuture<'a, Vec<Judgement>> {
        self.judge_tasks(std::slice::from_ref(task))
            .map(|all| all.into_iter().next().unwrap_or_default())
            .boxed()
    }

    fn judge_all<'a>(&'a self, tasks: &'a [RubricTask]) -> BoxFuture<'a, Vec<Vec<Judgement>>> {
        self.judge_tasks(tasks).boxed()
    }

    fn refuses_probabilities(&self) -> Option<&'static str> {
        (!offers_logprobs(&self.ask.describe().provider)).then_some("its provider gives no log-probabilities")
    }

    fn judge_whole<'a>(&'a self, task: &'a WholeTask) -> BoxFuture<'a, WholeJudgement> {
        Self::judge_whole(self, task).boxed()
    }

    fn forecast_behaviour(&self, task: &BehaviourTask) -> Forecast {
        let request = self.behaviour_request(task, None);
        match window::check(self.ask.card(), None, &request) {
            Err(_) => Forecast { criteria: 1, too_long: 1, ..Forecast::default() },
            Ok(()) => Forecast { criteria: 1, ..self.forecast_call(&request, 1) },
        }
    }

    fn forecast_pair(&self, task: &PairTask) -> Forecast {
        let request = self.pair_request(task, None);
        match window::check(self.ask.card(), None, &request) {
            Err(_) => Forecast { scores: 1, too_long: 1, ..Forecast::default() },
            Ok(()) => Forecast { scores: 1, ..self.forecast_call(&request, 1) },
        }
    }

    fn judge_pair<'a>(&'a self, task: &'a PairTask) -> BoxFuture<'a, PairJudgement> {
        Self::judge_pair(self, task).boxed()
    }

    fn judge_behaviour<'a>(&'a self, task: &'a BehaviourTask) -> BoxFuture<'a, BehaviourJudgement> {
        Self::judge_behaviour(self, task).boxed()
    }
}

/// The judgements on each criterion, made one where the material was shown in parts.
fn merged(parts: Vec<Vec<Judgement>>, task: &RubricTask) -> Vec<Judgement> {
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    if let [only] = parts.as_mut_slice() {
        return only.collect();
    }
    let criteria = task.rubric.criteria().iter();
    criteria
        .filter_map(|criterion| merge(criterion, parts.iter_mut().filter_map(Iterator::next).collect()))
        .collect()
}

/// Judgements with the place of their task, that of what was shown of its material, and that of their call.
type Placed = ((usize, usize, usize), Vec<Judgement>);

/// Calls that the criteria of a task go into.
fn calls_of(task: &RubricTask) -> usize {
    let criteria = task.rubric.criteria().len();
    match task.judging {
        Judging::PerCriterion => criteria,
        Judging::Batched(None) => criteria.min(1),
        Judging::Batched(Some(size)) => criteria.div_ceil(size.get()),
    }
}

/// The criteria of a task as they go into calls.
fn groups<'a>(scene: &'a Scene<'a>, task: &'a RubricTask) -> impl Iterator<Item = Group<'a>> {
    let criteria = task.rubric.criteria();
    let (size, batched) = match task.judging {
        Judging::PerCriterion => (1, false),
        Judging::Batched(None) => (criteria.len().max(1), true),
        Judging::Batched(Some(size)) => (size.get(), true),
    };
    criteria.chunks(size).map(move |chunk| Group::new(scene, chunk, batched))
}

/// What all calls of a task have in common.
struct Scene<'a> {
    judge: &'a ModelJudge,
    shared: Arc<str>,
    fence: String,
    index: EvidenceIndex,
    policy: assize_rubric::EvidencePolicy,
    /// The number under which replies are remembered.
    draw: u32,
    seed: Option<u64>,
    temperature: Option<f64>,
    /// Whether probabilities make the decisions.
    probabilities: bool,
    card: ModelCard,
    truncate: Truncate,
}

/// Letters of the fence in the handles of criteria: few enough to be cheap, enough not to be guessed.
const MARK: usize = 4;

impl Scene<'_> {
    /// What handles end in.
    fn handle_mark(&self) -> &str {
        self.fence.get(..MARK).unwrap_or(&self.fence)
    }

    fn request(
        &self,
        question: String,
        repair: Option<String>,
        schema: JsonSchemaFormat,
        criteria: usize,
        cached: bool,
    ) -> ChatRequest {
        let mut request = ChatRequest::new(messages(&self.shared, question, repair));
        request.schema = Some(schema);
        request.temperature = self.temperature;
        request.seed = self.seed;
        request.logprobs = self.probabilities.then_some(ALTERNATIVES);
        request.cache_prefix = cached;
        request.expected_output = Some(window::long_reply(criteria));
        request
    }
}
