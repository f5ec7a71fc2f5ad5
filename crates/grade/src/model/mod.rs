//! The judge that asks a model.

mod answer;
mod behaviour;
mod fit;
mod group;
mod parts;
mod tally;
mod whole;
mod window;

use std::sync::Arc;

use assize_llm::{Ask, BoxFuture, ChatRequest, JsonSchemaFormat, ModelCard, Part};
use assize_rubric::{JudgeIdentity, Judgement, Judging, Truncate, Truncated};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use tokio::sync::Semaphore;

use crate::evidence::EvidenceIndex;
use crate::fence::fence_for_material;
use crate::prompt::{PROMPT_VERSION, messages, prompt_hash, shared_part};
use crate::{
    BehaviourJudgement, BehaviourTask, FenceSource, Forecast, RubricJudge, RubricTask, WholeJudgement,
    WholeTask,
};

use fit::Shown;
use group::Group;
use parts::merge;

/// Tokens left for what a repair adds to a request.
const REPAIR: u64 = 600;
/// The shortest beginning that providers cache, in tokens.
const CACHEABLE: u64 = 1024;

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
}

impl Default for JudgeOptions {
    /// Temperature 0, seed 0, no token limit, two repairs.
    fn default() -> Self {
        Self { temperature: Some(0.0), seed: Some(0), max_output_tokens: None, repairs: 2 }
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
            shared,
            fence: fence.to_owned(),
            index: EvidenceIndex::new(&shown.material),
            policy: task.evidence,
            repeat: task.repeat,
            card: self.ask.card(),
            truncate: task.truncate,
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
        let needs = groups(whole, task).map(|group| {
            let request = group.first_request();
            estimator.request(&request) + window::reply_tokens(&request, group.criteria())
        });
        let need = needs.max().filter(|need| *need > limit)?;
        let produced = [
            Some(&task.material.answer),
            task.material.file_changes.as_ref(),
            task.material.tool_calls.as_ref(),
        ];
        let produced: u64 = produced.into_iter().flatten().map(|text| estimator.text(text)).sum();
        let rest = need.saturating_sub(produced) + REPAIR + fit::MARKS;
        fit::fit(&task.material, task.truncate, estimator.room(limit.checked_sub(rest)?), fence)
    }

    fn request_forecast(&self, request: &ChatRequest) -> Forecast {
        Forecast {
            input_bytes: bytes_of(request),
            input_tokens: self.ask.card().estimator.request(request),
            max_output_tokens: request.max_output_tokens.map(u64::from),
            ..Forecast::default()
        }
    }

    async fn judge_task(&self, task: &RubricTask) -> Vec<Judgement> {
        let scenes = self.scenes(task);
        let rounds = scenes.iter().map(|(scene, truncated)| async {
            let groups = groups(scene, task).map(|group| group.run().boxed());
            let mut judgements: Vec<Judgement> = join_all(groups).await.into_iter().flatten().collect();
            for judgement in &mut judgements {
                judgement.truncated = *truncated;
            }
            judgements
        });
        let mut rounds: Vec<_> = join_all(rounds).await.into_iter().map(Vec::into_iter).collect();
        if let [only] = rounds.as_mut_slice() {
            return only.collect();
        }
        let criteria = task.rubric.criteria().iter();
        criteria
            .filter_map(|criterion| merge(criterion, rounds.iter_mut().filter_map(Iterator::next).collect()))
            .collect()
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
            for (index, group) in groups(scene, task).enumerate() {
                let request = group.first_request();
                if window::check(scene.card, scene.truncate, &request, group.criteria()).is_err() {
                    sum.too_long += group.criteria() as u64;
                    continue;
                }
                sum += Forecast {
                    calls: 1,
                    decisions: group.criteria() as u64,
                    repeated_tokens: if index == 0 { 0 } else { shared },
                    ..self.request_forecast(&request)
                };
            }
        }
        sum
    }

    fn forecast_whole(&self, task: &WholeTask) -> Forecast {
        let request = self.whole_request(task, None);
        match window::check(self.ask.card(), Truncate::Never, &request, 1) {
            Err(_) => Forecast { scores: 1, too_long: 1, ..Forecast::default() },
            Ok(()) => Forecast { calls: 1, scores: 1, decisions: 1, ..self.request_forecast(&request) },
        }
    }

    fn judge<'a>(&'a self, task: &'a RubricTask) -> BoxFuture<'a, Vec<Judgement>> {
        self.judge_task(task).boxed()
    }

    fn judge_whole<'a>(&'a self, task: &'a WholeTask) -> BoxFuture<'a, WholeJudgement> {
        Self::judge_whole(self, task).boxed()
    }

    fn forecast_behaviour(&self, task: &BehaviourTask) -> Forecast {
        let request = self.behaviour_request(task, None);
        match window::check(self.ask.card(), Truncate::Never, &request, 1) {
            Err(_) => Forecast { criteria: 1, too_long: 1, ..Forecast::default() },
            Ok(()) => Forecast { calls: 1, criteria: 1, decisions: 1, ..self.request_forecast(&request) },
        }
    }

    fn judge_behaviour<'a>(&'a self, task: &'a BehaviourTask) -> BoxFuture<'a, BehaviourJudgement> {
        Self::judge_behaviour(self, task).boxed()
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
    repeat: u32,
    card: ModelCard,
    truncate: Truncate,
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
        request.temperature = options.temperature;
        request.seed = options.seed;
        request.max_output_tokens = options
            .max_output_tokens
            .map(|limit| limit.saturating_mul(u32::try_from(criteria).unwrap_or(u32::MAX)));
        request
    }
}
