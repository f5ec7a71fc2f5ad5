//! The judge that calls a model.

mod answer;
mod answer_relevance;
mod group;
mod labels;
mod model_judge;
mod options;
mod parts;
mod prefix_groups;
mod repair;
mod similarity;
mod single;
mod tally;
mod template;
mod truncate;
mod window;

use std::sync::Arc;

use assize_llm::{
    BoxFuture, ChatModel, ChatRequest, USUAL_CACHED_BYTES, cached_prefix_bytes, offers_logprobs,
};
use assize_rubric::{Decision, JudgeIdentity, JudgingMode, TruncationMode, TruncationRecord};
use futures_util::future::{join, join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::Semaphore;

use crate::evidence::EvidenceIndex;
use crate::fence::draw_material_fence;
use crate::prompt::{PROMPT_VERSION, SYSTEM_BYTES, format_instructed, prompt_hash};
use crate::single_question::SingleQuestion;
use crate::task::repeat_index;
use crate::{CallForecast, FenceSource, Judge, JudgeQuestion, RubricTask};

pub use answer_relevance::{answer_relevance_forecast, decide_answer_relevance, questions_task};
pub use labels::{decide_labels, label_forecast};
pub use model_judge::ModelJudge;
pub use options::{JudgeOptions, WarmUp};
pub use similarity::{decide_similarity, similarity_forecast};

use group::CriterionGroup;
use parts::merge_parts;
use prefix_groups::PrefixGroups;
use template::CallTemplate;
use truncate::VisibleMaterial;

/// Tokens reserved for the text that a repair adds to a request.
const REPAIR_TOKENS: u64 = 600;
/// Shortest prefix that providers cache, in tokens.
const MIN_CACHEABLE_TOKENS: u64 = 1024;

/// The text of a reply that is complete and meant as an answer, or why there is none.
pub(crate) fn reply_text(reply: &assize_llm::ChatReply) -> Result<&str, String> {
    answer::reply_text(reply).map_err(|failure| failure.message)
}

impl ModelJudge {
    /// A judge over `ask`, named `name` in results. At most as many calls are in flight as `in_flight` has
    /// permits; judges with the same account should share it. Closing it makes every further criterion ungraded
    /// (cancelled).
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

        let model = ask.describe();
        let marked = cached_prefix_bytes(&model.provider, &model.model);
        Self { ask, identity, marked, fences, in_flight, options }
    }

    /// The common part of all calls that show this material. The fence is the fence of the whole material, so
    /// it occurs in no part of it.
    fn template<'a>(&'a self, task: &RubricTask, shown: &VisibleMaterial, fence: &str) -> CallTemplate<'a> {
        let mut shared = format_instructed(task, &shown.material, fence);
        if let Some(note) = &shown.note {
            shared.push_str(note);
            shared.push('\n');
        }

        CallTemplate {
            judge: self,
            shared: shared.into(),
            fence: fence.to_owned(),
            index: EvidenceIndex::new(&shown.material),
            policy: task.evidence,
            repeat_number: repeat_index(task.trial, task.sampling.repeat),
            seed: self.seed(task.sampling.repeat),
            temperature: task.sampling.temperature.or(self.options.temperature),
            probabilities: task.sampling.probabilities,
            card: self.ask.card(),
            truncate: task.truncate,
        }
    }

    /// The seed of a repeat; the first repeat has the judge's own seed.
    fn seed(&self, repeat: u32) -> Option<u64> {
        self.options.seed.map(|seed| seed.saturating_add(u64::from(repeat.saturating_sub(1))))
    }

    /// Returns true if the first of several calls with this much text in common should be awaited before the
    /// others.
    fn warms_up(&self, shared_bytes: usize) -> bool {
        match self.options.warm_up {
            WarmUp::Never => false,
            WarmUp::Auto => self.marked.is_some_and(|least| shared_bytes >= least),
            WarmUp::Always => shared_bytes >= self.marked.unwrap_or(USUAL_CACHED_BYTES),
        }
    }

    /// The templates for judging a task: one with all of the material, unless the model can't read that and the
    /// task says how to truncate it.
    fn templates<'a>(&'a self, task: &RubricTask) -> Vec<(CallTemplate<'a>, Option<TruncationRecord>)> {
        let fence = draw_material_fence(&*self.fences, &task.material);
        let whole = self.template(task, &VisibleMaterial::whole(&task.material), &fence);
        let Some(shown) = Self::fit_material(task, &whole, &fence) else { return vec![(whole, None)] };
        shown.iter().map(|shown| (self.template(task, shown, &fence), shown.truncated)).collect()
    }

    /// Excerpts of material that is too long; `None` if it is shown whole, or can't be made to fit.
    fn fit_material(
        task: &RubricTask,
        whole: &CallTemplate<'_>,
        fence: &str,
    ) -> Option<Vec<VisibleMaterial>> {
        let limit = whole.card.context_tokens.filter(|_| task.truncate != TruncationMode::Never)?;
        let estimator = whole.card.estimator;
        let needs =
            |request: &ChatRequest| estimator.request(request) + window::reply_tokens(whole.card, request);
        let batch = group_criteria(whole, task).map(|group| needs(&group.combined_request())).max()?;
        if batch <= limit {
            return None;
        }

        // Batches are divided before texts are cut, so the limit is a call about one criterion.
        let singles = group_criteria(whole, task)
            .filter_map(|group| group.single_requests().map(|request| needs(&request)).max());
        let single = singles.max().filter(|need| *need > limit)?;
        let produced = [
            Some(&task.material.answer),
            task.material.file_changes.as_ref(),
            task.material.tool_calls.as_ref(),
        ];
        let produced: u64 = produced.into_iter().flatten().map(|text| estimator.text(text)).sum();
        let room = |need: u64| {
            limit.checked_sub(need.saturating_sub(produced) + REPAIR_TOKENS + truncate::CUT_MARK_TOKENS)
        };

        // Batches stay together if that leaves at least half of the room for the judged text.
        let most = room(single)?;
        let room = room(batch).filter(|room| *room >= most / 2).unwrap_or(most);
        truncate::fit_to_window(&task.material, task.truncate, estimator.room(room), fence)
    }

    /// Forecast of a call with this many decisions or scores.
    fn forecast_call(&self, request: &ChatRequest, decisions: usize) -> CallForecast {
        CallForecast::from_request(request, decisions as u64, &self.ask.describe().model, self.ask.card())
    }

    async fn decide_rubrics(&self, tasks: &[&RubricTask]) -> Vec<Vec<Decision>> {
        let templates: Vec<_> = tasks.iter().map(|task| self.templates(task)).collect();
        let calls: usize =
            tasks.iter().zip(&templates).map(|(task, templates)| count_calls(task) * templates.len()).sum();
        let shared = templates.first().and_then(|templates| templates.first());
        let shared = shared.map_or(0, |(template, _)| SYSTEM_BYTES + template.shared.len());
        let warm = calls > 1 && self.warms_up(shared);
        let mut kinds = PrefixGroups::default();
        let mut pending = Vec::with_capacity(calls);
        for (at, (templates, task)) in templates.iter().zip(tasks).enumerate() {
            for (part, (template, truncated)) in templates.iter().enumerate() {
                for group in group_criteria(template, task) {
                    let kind = if warm { kinds.add_call(&template.shared, group.schema()) } else { 0 };
                    pending.push((group, kind, (at, part, pending.len()), *truncated));
                }
            }
        }

        // The first of several calls with the same prefix is awaited, so that the others find the prefix in
        // the provider's cache. A call with a prefix of its own is sent at once.
        let (first, rest) = (FuturesUnordered::new(), FuturesUnordered::new());
        for (group, kind, place, truncated) in pending {
            let shared = kinds.is_shared(kind);
            let is_first = shared && kinds.is_first(kind);
            let judged = group.decide(shared).map(move |mut decided| {
                for judgement in &mut decided {
                    judgement.truncated = truncated;
                }
                (place, decided)
            });
            if is_first { first.push(judged) } else { rest.push(judged) }
        }

        // Each future is polled only when it can make progress.
        let mut done: Vec<PlacedDecisions> = first.collect().await;
        done.extend(rest.collect::<Vec<_>>().await);

        // In the order of the criteria, whichever call ended first.
        done.sort_by_key(|(place, _)| *place);
        let mut parts: Vec<Vec<Vec<Decision>>> =
            templates.iter().map(|templates| templates.iter().map(|_| Vec::new()).collect()).collect();
        for ((at, part, _), decided) in done {
            parts[at][part].extend(decided);
        }

        parts.into_iter().zip(tasks).map(|(parts, task)| merge_decisions(parts, task)).collect()
    }
}

impl ModelJudge {
    /// Forecast of the calls for a rubric.
    fn forecast_rubric(&self, task: &RubricTask) -> CallForecast {
        let templates = self.templates(task);
        let mut sum =
            CallForecast { criteria: task.rubric.criteria().len() as u64, ..CallForecast::default() };
        for (template, _) in &templates {
            // The provider can cache the common prefix once it has read the first request.
            let shared = template.card.estimator.text(&template.shared);
            let shared = if shared < MIN_CACHEABLE_TOKENS { 0 } else { shared };
            let mut prefixes = PrefixGroups::default();
            for group in group_criteria(template, task) {
                let prefix = prefixes.add_call(&template.shared, group.schema());
                for (request, criteria) in group.first_requests() {
                    if window::check_window(template.card, Some(template.truncate), &request).is_err() {
                        sum.too_long += criteria as u64;
                        continue;
                    }
                    sum += CallForecast {
                        repeated_tokens: if prefixes.is_first(prefix) { 0 } else { shared },
                        ..self.forecast_call(&request, criteria)
                    };
                }
            }
        }

        sum
    }

    /// Forecast of the call for a question with one decision; `least` is its forecast without a call.
    fn forecast_single(&self, question: &dyn SingleQuestion, least: CallForecast) -> CallForecast {
        let request = self.single_request(question);
        let CallForecast { criteria, scores, .. } = least;
        match window::check_window(self.ask.card(), None, &request) {
            Err(_) => CallForecast { too_long: 1, ..least },
            Ok(()) => CallForecast { criteria, scores, ..self.forecast_call(&request, 1) },
        }
    }
}

impl Judge for ModelJudge {
    fn identity(&self) -> JudgeIdentity {
        self.identity.clone()
    }

    fn forecast(&self, question: &JudgeQuestion) -> CallForecast {
        match as_single_question(question) {
            Ok(single) => self.forecast_single(single, question.without_calls()),
            Err(rubric) => self.forecast_rubric(rubric),
        }
    }

    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        async move {
            let rubrics: Vec<&RubricTask> =
                questions.iter().filter_map(|question| as_single_question(question).err()).collect();
            let singles = questions.iter().filter_map(|question| as_single_question(question).ok());
            let singles = join_all(singles.map(|single| self.decide_single(single)));
            let (rubrics, singles) = join(self.decide_rubrics(&rubrics), singles).await;

            let (mut rubrics, mut singles) = (rubrics.into_iter(), singles.into_iter());
            let decided = questions.iter().map(|question| match as_single_question(question) {
                Ok(_) => singles.next().into_iter().collect(),
                Err(_) => rubrics.next().unwrap_or_default(),
            });
            decided.collect()
        }
        .boxed()
    }

    fn refuses_probabilities(&self) -> Option<&'static str> {
        (!offers_logprobs(&self.ask.describe().provider)).then_some("its provider gives no log-probabilities")
    }
}

/// The question, if it has one decision, or the rubric that it asks about.
fn as_single_question(question: &JudgeQuestion) -> Result<&dyn SingleQuestion, &RubricTask> {
    match question {
        JudgeQuestion::Rubric(task) => Err(task),
        JudgeQuestion::AnswerScore(task) => Ok(task),
        JudgeQuestion::Behaviour(task) => Ok(task),
        JudgeQuestion::Pair(task) => Ok(task),
        JudgeQuestion::Questions(task) => Ok(task),
    }
}

/// Merges the decisions on each criterion into one, for material that was shown in parts.
fn merge_decisions(parts: Vec<Vec<Decision>>, task: &RubricTask) -> Vec<Decision> {
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    if let [only] = parts.as_mut_slice() {
        return only.collect();
    }

    let criteria = task.rubric.criteria().iter();
    criteria
        .filter_map(|criterion| merge_parts(criterion, parts.iter_mut().filter_map(Iterator::next).collect()))
        .collect()
}

/// Decisions with the positions of their task, of the part of its material, and of their call.
type PlacedDecisions = ((usize, usize, usize), Vec<Decision>);

/// Number of calls for the criteria of a task.
fn count_calls(task: &RubricTask) -> usize {
    let criteria = task.rubric.criteria().len();
    match task.judging {
        JudgingMode::PerCriterion => criteria,
        JudgingMode::Batched(None) => criteria.min(1),
        JudgingMode::Batched(Some(size)) => criteria.div_ceil(size.get()),
    }
}

/// Divides the criteria of a task into calls.
fn group_criteria<'a>(
    template: &'a CallTemplate<'a>,
    task: &'a RubricTask,
) -> impl Iterator<Item = CriterionGroup<'a>> {
    let criteria = task.rubric.criteria();
    let (size, batched) = match task.judging {
        JudgingMode::PerCriterion => (1, false),
        JudgingMode::Batched(None) => (criteria.len().max(1), true),
        JudgingMode::Batched(Some(size)) => (size.get(), true),
    };
    criteria.chunks(size).map(move |chunk| CriterionGroup::new(template, chunk, batched))
}
