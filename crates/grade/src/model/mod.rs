//! The judge that asks a model.

mod answer;
mod group;
mod tally;
mod whole;

use std::sync::Arc;

use assize_llm::{
    Ask, BoxFuture, ChatRequest, JsonSchemaFormat, Part, USUAL_CACHED_BYTES, cached_prefix_bytes,
    offers_logprobs,
};
use assize_rubric::{JudgeIdentity, Judgement, Judging};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use tokio::sync::Semaphore;

use crate::evidence::EvidenceIndex;
use crate::fence::fence_for_material;
use crate::prompt::{PROMPT_VERSION, SYSTEM_BYTES, messages, prompt_hash, shared_part};
use crate::task::draw;
use crate::{FenceSource, Forecast, RubricJudge, RubricTask, WholeJudgement, WholeTask};

use group::Group;

/// Tokens that could have stood in place of each one, as many as any provider tells.
const ALTERNATIVES: u8 = 20;

/// How a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Sampling seed, the same for every call; `None` sends none.
    pub seed: Option<u64>,
    /// Upper limit for the tokens of a reply about one criterion; a reply about n criteria may have n times as many.
    /// `None` sends no limit, which is right for models that think before they reply.
    pub max_output_tokens: Option<u32>,
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
    /// Temperature 0, seed 0, no token limit, two repairs.
    fn default() -> Self {
        Self {
            temperature: Some(0.0),
            seed: Some(0),
            max_output_tokens: None,
            repairs: 2,
            warm_up: WarmUp::Auto,
        }
    }
}

/// A judge that puts criteria to a model and takes only what the model plainly said.
///
/// Each criterion ends decided or ungraded: a failed call, a refusal, a reply that stays unusable after the repairs,
/// never becomes a number.
pub struct ModelJudge {
    ask: Arc<dyn Ask>,
    identity: JudgeIdentity,
    fences: Arc<dyn FenceSource>,
    in_flight: Arc<Semaphore>,
    options: JudgeOptions,
}

impl ModelJudge {
    /// A judge over `ask`, called `name` in results. At most as many calls are in flight as `in_flight` has permits;
    /// share it between judges that share an account. Closing it makes every further criterion ungraded (cancelled).
    pub fn new(
        ask: Arc<dyn Ask>,
        name: impl Into<String>,
        fences: Arc<dyn FenceSource>,
        in_flight: Arc<Semaphore>,
        options: JudgeOptions,
    ) -> Self {
        let identity = JudgeIdentity {
            name: name.into(),
            model: None,
            version: Some(PROMPT_VERSION.to_owned()),
            prompt_hash: Some(prompt_hash().to_owned()),
        };
        Self { ask, identity, fences, in_flight, options }
    }

    fn scene<'a>(&'a self, task: &RubricTask) -> Scene<'a> {
        let fence = fence_for_material(&*self.fences, &task.material);
        Scene {
            judge: self,
            shared: shared_part(&task.material, &fence),
            fence,
            index: EvidenceIndex::new(&task.material),
            policy: task.evidence,
            draw: draw(task.repeat, task.asking.repeat),
            seed: self.seed(task.asking.repeat),
            temperature: task.asking.temperature.or(self.options.temperature),
            probabilities: task.asking.probabilities,
            cache_prefix: false,
        }
    }

    /// The seed of the given repeat: the first one's is the judge's own.
    fn seed(&self, repeat: u32) -> Option<u64> {
        self.options.seed.map(|seed| seed.saturating_add(u64::from(repeat.saturating_sub(1))))
    }

    /// Whether to await the first of several calls that begin with this much text.
    fn warms_up(&self, shared_bytes: usize) -> bool {
        let marked = cached_prefix_bytes(&self.ask.describe().provider);
        match self.options.warm_up {
            WarmUp::Never => false,
            WarmUp::Auto => marked.is_some_and(|least| shared_bytes >= least),
            WarmUp::Always => shared_bytes >= marked.unwrap_or(USUAL_CACHED_BYTES),
        }
    }

    async fn judge_tasks(&self, tasks: &[RubricTask]) -> Vec<Vec<Judgement>> {
        let mut scenes: Vec<Scene<'_>> = tasks.iter().map(|task| self.scene(task)).collect();
        let calls: usize = tasks.iter().map(calls_of).sum();
        let shared = scenes.first().map_or(0, |scene| SYSTEM_BYTES + scene.shared.len());
        let warm = calls > 1 && self.warms_up(shared);
        for scene in &mut scenes {
            scene.cache_prefix = warm;
        }
        let mut waiting: Vec<BoxFuture<'_, (usize, Vec<Judgement>)>> = Vec::with_capacity(calls);
        for (at, (scene, task)) in scenes.iter().zip(tasks).enumerate() {
            for group in groups(scene, task) {
                waiting.push(group.run().map(move |decided| (at, decided)).boxed());
            }
        }
        let mut judgements: Vec<Vec<Judgement>> = tasks.iter().map(|_| Vec::new()).collect();
        if warm && !waiting.is_empty() {
            let (at, decided) = waiting.remove(0).await;
            judgements[at].extend(decided);
        }
        for (at, decided) in join_all(waiting).await {
            judgements[at].extend(decided);
        }
        judgements
    }
}

impl RubricJudge for ModelJudge {
    fn identity(&self) -> JudgeIdentity {
        self.identity.clone()
    }

    fn forecast(&self, task: &RubricTask) -> Forecast {
        let scene = self.scene(task);
        groups(&scene, task).fold(Forecast::default(), |mut sum, group| {
            sum += Forecast {
                calls: 1,
                input_bytes: bytes_of(&group.first_request()),
                criteria: group.criteria() as u64,
                ..Forecast::default()
            };
            sum
        })
    }

    fn forecast_whole(&self, task: &WholeTask) -> Forecast {
        let input_bytes = bytes_of(&self.whole_request(task, None));
        Forecast { calls: 1, input_bytes, scores: 1, ..Forecast::default() }
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
}

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

/// Bytes of everything in a request that a model reads.
fn bytes_of(request: &ChatRequest) -> u64 {
    let parts = request.messages.iter().flat_map(|message| &message.content);
    let texts: usize = parts
        .map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Image { data, .. } => data.len(),
        })
        .sum();
    let schema = request.schema.as_ref().map_or(0, |schema| schema.schema.to_string().len());
    (texts + schema) as u64
}

/// What all calls of a task have in common.
struct Scene<'a> {
    judge: &'a ModelJudge,
    shared: String,
    fence: String,
    index: EvidenceIndex,
    policy: assize_rubric::EvidencePolicy,
    /// The number under which replies are remembered.
    draw: u32,
    seed: Option<u64>,
    temperature: Option<f64>,
    /// Whether probabilities make the decisions.
    probabilities: bool,
    /// Whether what is shared is to be cached.
    cache_prefix: bool,
}

impl Scene<'_> {
    fn request(
        &self,
        question: String,
        repair: Option<String>,
        schema: JsonSchemaFormat,
        criteria: usize,
    ) -> ChatRequest {
        let options = &self.judge.options;
        let mut request = ChatRequest::new(messages(&self.shared, question, repair));
        request.schema = Some(schema);
        request.temperature = self.temperature;
        request.seed = self.seed;
        request.logprobs = self.probabilities.then_some(ALTERNATIVES);
        request.cache_prefix = self.cache_prefix;
        request.max_output_tokens = options
            .max_output_tokens
            .map(|limit| limit.saturating_mul(u32::try_from(criteria).unwrap_or(u32::MAX)));
        request
    }
}
