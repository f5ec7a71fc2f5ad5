//! The judge that asks a model.

mod answer;
mod behaviour;
mod group;
mod tally;
mod whole;

use std::sync::Arc;

use assize_llm::{Ask, BoxFuture, ChatRequest, JsonSchemaFormat, Part};
use assize_rubric::{JudgeIdentity, Judgement, Judging};
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

use group::Group;

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

    fn scene<'a>(&'a self, task: &RubricTask) -> Scene<'a> {
        let fence = fence_for_material(&*self.fences, &task.material);
        Scene {
            judge: self,
            shared: shared_part(&task.material, &fence),
            fence,
            index: EvidenceIndex::new(&task.material),
            policy: task.evidence,
            repeat: task.repeat,
        }
    }

    async fn judge_task(&self, task: &RubricTask) -> Vec<Judgement> {
        let scene = self.scene(task);
        let groups = groups(&scene, task).map(|group| group.run().boxed());
        join_all(groups).await.into_iter().flatten().collect()
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
                scores: 0,
            };
            sum
        })
    }

    fn forecast_whole(&self, task: &WholeTask) -> Forecast {
        let input_bytes = bytes_of(&self.whole_request(task, None));
        Forecast { calls: 1, input_bytes, criteria: 0, scores: 1 }
    }

    fn judge<'a>(&'a self, task: &'a RubricTask) -> BoxFuture<'a, Vec<Judgement>> {
        self.judge_task(task).boxed()
    }

    fn judge_whole<'a>(&'a self, task: &'a WholeTask) -> BoxFuture<'a, WholeJudgement> {
        Self::judge_whole(self, task).boxed()
    }

    fn forecast_behaviour(&self, task: &BehaviourTask) -> Forecast {
        let input_bytes = bytes_of(&self.behaviour_request(task, None));
        Forecast { calls: 1, input_bytes, criteria: 1, scores: 0 }
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
