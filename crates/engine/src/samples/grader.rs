//! Graders of samples.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use assize_evalfile::{GivenAnswer, LoadedRubric, read_rubric, suite_from_answer};
use assize_grade::Judge;
use assize_llm::{ChatModel, ModelCard, ModelId};
use assize_model::{
    Case, GivenPrompt, Grader, GraderKind, GraderPrompt, LlmGrader, PairwiseBaseline, PairwiseGrader,
    PanelSpec, ProjectConfig, Scorecard, Suite, ThresholdOverrides,
};
use assize_rubric::{GraderWeighting, IdentityWriter};
use assize_run::{
    ItemSource, JudgeError, JudgeProvider, JudgeSelector, WorkItem, fingerprint, panel_selectors, run_item,
};
use assize_store::{CaseErrorKind, CaseRecord};

use super::batch::{GradedSamples, GradingBatch};
use super::card::SampleCard;
use super::pair::ComparedPair;
use super::rubric::PreparedRubric;
use super::sample::GradingSample;
use super::stop::{FailureLog, GradingStop, StoppableModel};
use crate::consent::ConsentGate;
use crate::dependencies::CaseDependencies;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::forecast::{ModelCards, RunPlan};
use crate::gateway::ModelGateway;
use crate::graders::{JudgeDemand, judge_demand, measuring_model, visit_graders};
use crate::judges::{JudgeRegistry, OFFLINE};
use crate::options::{DeniedFindings, RunOptions};
use crate::plan::RunPlanner;
use crate::preflight_report::PreflightReport;
use crate::run_deps::RunDeps;
use crate::run_outcome::PlannedRun;
use crate::scorecard::suite_of;

/// Grades samples for one client, with a separate part of the reply cache.
pub struct SampleGrader {
    pub(super) engine: Engine,
    pub(super) options: RunOptions,
    pub(super) config: ProjectConfig,
    pub(super) gateway: Arc<ModelGateway>,
    pub(super) deps: Arc<RunDeps>,
    pub(super) gate: ConsentGate,
    pub(super) failures: Option<FailureLog>,
}

impl SampleGrader {
    /// Creates the judge for rubrics that name none, so that a missing key is found before the first sample, and warns
    /// about exposed keys. Returns a rubric with that judge, and a warning if no judge was chosen.
    ///
    /// # Errors
    /// If a judge that the options name can't be used.
    pub fn check(&self) -> Result<PreparedRubric, EngineError> {
        let prepared = self.prepare(&any_rubric())?;
        for warning in self.gateway.exposed_keys() {
            self.engine.warn(warning);
        }
        if let Some(few) = self.gateway.few_files() {
            self.engine.warn(few);
        }

        Ok(prepared)
    }

    /// Creates the judges of a rubric and checks that they can judge it.
    ///
    /// # Errors
    /// When the rubric has errors, or a judge can't be used.
    pub fn prepare(&self, rubric: &LoadedRubric) -> Result<PreparedRubric, EngineError> {
        let Some((suite, case)) = suite_from_answer(rubric, "sample", &GivenAnswer::default()) else {
            return Err(EngineError::invalid_file("the rubric has errors"));
        };

        let planner = RunPlanner::new(&self.config, &self.options)?;
        let (template, warnings) = self.template(&planner, &suite, case)?;
        Ok(PreparedRubric {
            config_hash: fingerprint(&template),
            judges: self.judges_of(&template),
            warnings,
            template,
            card: None,
        })
    }

    /// Makes the judges of a scorecard and checks that they can judge it. Its own cases and labels are not used: each
    /// sample is a case. Benchmarks that people decide stay ungraded. `weights` names a weight set other than the
    /// index's default.
    ///
    /// # Errors
    /// If it has no single top or no such weight set, a judge can't be used, or a check would start a program.
    pub fn prepare_scorecard(
        &self,
        scorecard: Arc<Scorecard>,
        weights: Option<&str>,
    ) -> Result<PreparedRubric, EngineError> {
        let suite = suite_of(&scorecard, &scorecard.root);
        let card = SampleCard::new(scorecard, weights)?;
        let planner = RunPlanner {
            thresholds: ThresholdOverrides::default(),
            judging: None,
            truncate: None,
            ..RunPlanner::new(&self.config, &self.options)?
        };

        let (template, mut warnings) = self.template(&planner, &suite, card.widest_case())?;
        if card.needs_people() {
            warnings.push("people decide a part of the scorecard, which stays open here".to_owned());
        }

        // The fingerprint covers the benchmarks, but not the tree above them.
        let mut hash = blake3::Hasher::new_derive_key("assize 2026-11 scorecard of samples");
        hash.update(fingerprint(&template).as_bytes());
        hash.update(&serde_json::to_vec(&card.info).unwrap_or_default());

        Ok(PreparedRubric {
            config_hash: hash.finalize().to_hex().to_string(),
            judges: self.judges_of(&template),
            warnings,
            template,
            card: Some(Arc::new(card)),
        })
    }

    /// The only item of a case with an answer, after checking it, with warnings.
    fn template(
        &self,
        planner: &RunPlanner<'_>,
        suite: &Suite,
        case: Case,
    ) -> Result<(WorkItem, Vec<String>), EngineError> {
        let case = Arc::new(case);
        let planned = planner.suite(suite);
        let mut found = PreflightReport::default();
        planner.check(&planned, &case, &self.deps, &mut found);

        let warnings = found.conclude(DeniedFindings::default(), &self.gate, &self.gateway, false)?;
        self.gateway.check_settings()?;

        let mut items = planner.items(&planned, &case, &self.deps, &CaseDependencies::default());
        let item = items.pop().ok_or_else(|| EngineError::unrunnable("the rubric makes no item"))??;
        // A rubric that was refused may have set up models of unknown price, so only this item's models are
        // checked.
        if self.gateway.all_priced {
            self.gateway.check_prices(Some(&self.models_of(&item)))?;
        }

        Ok((WorkItem { format: None, ..item }, warnings))
    }

    /// Refuses keys of the judges created so far that would be sent unencrypted, and values of the environment that
    /// would be sent to an address that a file names.
    ///
    /// # Errors
    /// When there is such a key or value.
    pub fn refuse_exposed_keys(&self) -> Result<(), EngineError> {
        self.gateway.deny_exposed(&self.gateway.capabilities(&BTreeSet::new()))
    }

    /// Plans the grading of samples: calls, tokens, money. Sends no requests.
    ///
    /// # Errors
    /// When a judge can't plan its calls.
    pub fn plan(
        &self,
        rubric: &PreparedRubric,
        samples: Vec<GradingSample>,
    ) -> Result<PlannedRun, EngineError> {
        let (cases, stop) = (samples.len(), GradingStop::new());
        let items = samples.into_iter().map(|sample| Ok(self.graded_item(rubric, sample, &stop)));
        let budget = self.options.spending.budget_with(self.options.spending.budget.usd);
        let plan = RunPlan::new(items, budget, self)?;
        let warnings = rubric.warnings.iter().cloned().chain(self.gateway.missing_keys()).collect();

        let capabilities = self.gateway.capabilities(&BTreeSet::new());
        Ok(PlannedRun { plan, cases, capabilities, in_order: Vec::new(), warnings })
    }

    /// Grades samples concurrently, and returns their records in the order of the samples. A sample never fails: if a
    /// criterion can't be judged, for example because the budget is spent, it is ungraded in the record. Replies are in
    /// the cache when this returns.
    pub async fn grade_all(
        &self,
        rubric: &PreparedRubric,
        samples: Vec<GradingSample>,
        stop: &GradingStop,
    ) -> GradedSamples {
        let begun = Instant::now();
        self.engine.emit(EngineEvent::RunStarted { cases: samples.len() });
        let mut records = BTreeMap::new();
        let mut batch = self.start(rubric, samples, stop);
        while let Some((place, record)) = batch.next().await {
            let row = Arc::new(record.result.clone());
            self.engine.emit(assize_run::RunEvent::CaseFinished { row });
            records.insert(place, record);
        }

        if let Err(error) = self.gateway.flush() {
            self.engine.warn(error.message);
        }

        GradedSamples::new(records.into_values().collect(), begun, stop, self.gateway.stop())
    }

    /// Starts grading samples concurrently. Records come in the order in which they finish. Dropping the batch
    /// cancels the unfinished ones.
    pub fn start(
        &self,
        rubric: &PreparedRubric,
        samples: Vec<GradingSample>,
        stop: &GradingStop,
    ) -> GradingBatch {
        let workers = self.options.workers.map(NonZeroUsize::get).or(self.config.workers);
        let at_once = workers.unwrap_or_else(|| self.gateway.ceiling());
        let items = samples.into_iter().map(|sample| self.graded_item(rubric, sample, stop)).collect();

        GradingBatch::new(items, at_once)
    }

    /// Grades a sample. This never fails: a criterion that could not be judged is ungraded in the record,
    /// with the reason.
    pub async fn grade(
        &self,
        rubric: &PreparedRubric,
        sample: GradingSample,
        stop: &GradingStop,
    ) -> CaseRecord {
        run_item(&self.graded_item(rubric, sample, stop)).await
    }

    /// Lets the judge give one score for a sample as a whole, by these instructions and within their range. The
    /// score of the record is mapped to 0 to 1. The offline judge can't follow instructions, and compares the
    /// answer with their text.
    ///
    /// # Errors
    /// If a judge can't be used.
    pub async fn score(
        &self,
        mut sample: GradingSample,
        (instructions, given): (String, GivenPrompt),
        stop: &GradingStop,
    ) -> Result<CaseRecord, EngineError> {
        let rubric = self.prepare(&any_rubric())?;
        let (prompt, given) = if rubric.judges == [OFFLINE] {
            sample.expected_outcome = Some(instructions);
            (None, None)
        } else {
            (Some(GraderPrompt::Text { text: instructions, path: None }), Some(given))
        };
        let kind = GraderKind::Llm(LlmGrader {
            prompt,
            judge: None,
            panel: PanelSpec::default(),
            temperature: None,
            max_steps: None,
            config: serde_json::Map::new(),
            preprocessors: Vec::new(),
            given,
        });
        let grader = Arc::new(single_grader("llm-grader", kind, &rubric.template.case));
        let item = self.item(&rubric, sample, vec![grader], stop);

        Ok(run_item(&item).await)
    }

    /// Compares the answer of a sample with another answer to the same input, in both orders. The criteria of
    /// the rubric, with their weights and gates, determine which answer is better. The score belongs to the
    /// first answer.
    pub async fn compare(
        &self,
        rubric: &PreparedRubric,
        sample: GradingSample,
        other: &str,
        stop: &GradingStop,
    ) -> ComparedPair {
        let template = &rubric.template.case;
        let mut criteria = Vec::new();
        let mut named = None;
        for grader in &template.graders {
            if let GraderKind::Rubric(rubric) = &grader.kind {
                criteria.extend_from_slice(rubric.rubric.criteria());
                named = named.or(Some((rubric.judge.clone(), rubric.panel.clone())));
            }
        }

        let (judge, panel) = named.unwrap_or_default();
        let kind = GraderKind::Pairwise(PairwiseGrader {
            baseline: PairwiseBaseline::Text(other.into()),
            criteria,
            judge,
            panel,
            scores: assize_rubric::PairScores::default(),
        });
        let grader = single_grader("pairwise", kind, template);
        let item = self.item(rubric, sample, vec![Arc::new(grader)], stop);
        ComparedPair::from_record(run_item(&item).await)
    }

    /// The item of a sample that is graded with the rubric itself.
    fn graded_item(&self, rubric: &PreparedRubric, sample: GradingSample, stop: &GradingStop) -> WorkItem {
        let graders = match &rubric.card {
            Some(card) => card.graders(&sample),
            None => rubric.template.case.graders.clone(),
        };

        self.item(rubric, sample, graders, stop)
    }

    fn item(
        &self,
        rubric: &PreparedRubric,
        mut sample: GradingSample,
        graders: Vec<Arc<Grader>>,
        stop: &GradingStop,
    ) -> WorkItem {
        let problem = sample.problem.take();
        let (case, answer) = sample.into_case(graders, &rubric.template.case);
        let source = match problem {
            None => ItemSource::Given(Arc::new(answer)),
            Some(message) => ItemSource::Missing { kind: CaseErrorKind::BadOutput, message, target: None },
        };
        WorkItem {
            case: Arc::new(case),
            source,
            judges: Arc::new(StoppableJudges {
                registry: Arc::clone(&self.deps.judges),
                stop: stop.clone(),
                failures: self.failures.clone(),
            }),
            ..rubric.template.clone()
        }
    }

    /// The models that the graders of an item use.
    fn models_of(&self, template: &WorkItem) -> Vec<ModelId> {
        let mut names = self.judges_of(template);
        for grader in &template.case.graders {
            visit_graders(grader, &mut |part| names.extend(measuring_model(part).map(str::to_owned)));
        }

        self.deps.judges.models_named(&names)
    }

    fn judges_of(&self, template: &WorkItem) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut add_judges = |grader: &Grader| {
            let Some(JudgeDemand { named, panel }) = judge_demand(grader) else { return };
            let spec = panel.map(|own| template.panels.spec(own, named)).unwrap_or_default();
            for selector in panel_selectors(&spec, template.judge_selector(named)) {
                let name = self.deps.judges.name_of(selector);
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        };
        for grader in &template.case.graders {
            visit_graders(grader, &mut add_judges);
        }

        names
    }
}

impl ModelCards for SampleGrader {
    fn judge(&self, name: &str) -> ModelCard {
        self.deps.judges.card(name).unwrap_or_default()
    }

    fn model(&self, name: &str) -> ModelCard {
        self.gateway.card(name)
    }
}

/// A rubric that names no judge.
pub(crate) fn any_rubric() -> LoadedRubric {
    read_rubric(Path::new("rubric.json"), r#"["anything"]"#)
}

/// The only grader of a sample.
fn single_grader(name: &str, kind: GraderKind, template: &Case) -> Grader {
    Grader {
        name: name.to_owned(),
        type_name: name.to_owned(),
        weighting: GraderWeighting::default(),
        place: template.place.clone(),
        kind,
    }
}

/// The judges of a request. They stop when the request ends.
struct StoppableJudges {
    registry: Arc<JudgeRegistry>,
    stop: GradingStop,
    failures: Option<FailureLog>,
}

impl JudgeProvider for StoppableJudges {
    fn judge(&self, selector: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, JudgeError> {
        self.registry
            .judge_until(selector, &self.stop, self.failures.as_ref())
            .map_err(|error| JudgeError::Unavailable(error.message))
    }

    fn model(&self, selector: JudgeSelector<'_>) -> Result<(String, Arc<dyn ChatModel>), JudgeError> {
        self.registry.model(selector)
    }

    fn measuring_model(&self, name: &str) -> Result<Arc<dyn ChatModel>, JudgeError> {
        let model = self.registry.measuring_model(name)?;
        Ok(Arc::new(StoppableModel::new(model, self.stop.clone(), self.failures.clone())))
    }

    fn write_settings(&self, selector: JudgeSelector<'_>, identity: &mut IdentityWriter) {
        self.registry.write_settings(selector, identity);
    }
}
