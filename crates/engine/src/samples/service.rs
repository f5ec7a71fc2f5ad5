//! Graders of samples, and what they share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_evalfile::{
    Case, CaseId, CaseMessage, GivenAnswer, GivenOutput, Grader, GraderKind, LlmGrader, LoadedRubric,
    MessageRole, PairwiseBaseline, PairwiseGrader, PanelSpec, ProjectConfig, suite_from_answer,
};
use assize_grade::Judge;
use assize_llm::ChatModel;
use assize_rubric::{GraderWeighting, IdentityWriter};
use assize_run::{
    ItemSource, JudgeError, JudgeProvider, JudgeSelector, WorkItem, fingerprint, panel_selectors, run_item,
};
use assize_store::CaseRecord;
use assize_targets::TargetAnswer;

use super::pair::ComparedPair;
use super::{GradingStop, StoppableModel};
use crate::dependencies::CaseDependencies;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::gateway::ModelGateway;
use crate::judges::JudgeRegistry;
use crate::options::RunOptions;
use crate::plan::{PreflightReport, RunDeps, RunPlanner, given};
use crate::wiring::{ModelAccess, WiringRequest, wire};

/// Common part of all graders of a process: the limiter, the budget, the reply cache, the prices, the configuration.
///
/// A model server that fails is not given up for good, as a run does: it is tried again after half a minute.
pub struct SampleService {
    engine: Engine,
    options: RunOptions,
    /// Folder near which targets files are looked for.
    folder: PathBuf,
    config: ProjectConfig,
    gateway: Arc<ModelGateway>,
}

/// Judges that grade samples for one client: its part of the reply cache is its own.
pub struct SampleGrader {
    options: RunOptions,
    config: ProjectConfig,
    gateway: Arc<ModelGateway>,
    deps: Arc<RunDeps>,
}

/// Rubric with its judges, ready to be applied to any number of samples.
#[derive(Clone)]
pub struct PreparedRubric {
    /// Item of a sample that says nothing.
    template: WorkItem,
    config_hash: String,
    judges: Vec<String>,
    warnings: Vec<String>,
}

/// One answer to be graded, with what the judge may see beside it.
#[derive(Debug, Clone)]
pub struct GradingSample {
    /// Id, for the record.
    pub id: String,
    /// Messages that the answer replies to.
    pub input: Vec<CaseMessage>,
    /// An answer known to be good.
    pub reference: Option<String>,
    /// Description of a good answer.
    pub expected_outcome: Option<String>,
    answer: TargetAnswer,
}

impl GradingSample {
    /// Sample with this answer and nothing else.
    ///
    /// # Errors
    /// When the output holds no answer: messages without one of the assistant, or null.
    pub fn new(id: impl Into<String>, output: &GivenOutput) -> Result<Self, EngineError> {
        let answer = given(output).map_err(|error| EngineError::usage(error.message))?;
        Ok(Self { id: id.into(), input: Vec::new(), reference: None, expected_outcome: None, answer })
    }

    /// Text of the answer.
    pub fn answer(&self) -> &str {
        &self.answer.text
    }

    fn into_case(self, graders: Vec<Arc<Grader>>, template: &Case) -> (Case, TargetAnswer) {
        let reference = self.reference.into_iter();
        let case = Case {
            input: self.input,
            expected_outcome: self.expected_outcome,
            expected_output: reference.map(|text| CaseMessage::text(MessageRole::Assistant, text)).collect(),
            ..Case::new(CaseId::new(self.id), template.place.clone(), graders)
        };

        (case, self.answer)
    }
}

impl PreparedRubric {
    /// Hash of everything that decides about a result beside the sample: judges with their models and prompts, criteria,
    /// weights, thresholds, mode of judging. A judge that changes in the middle of something changes it.
    pub fn config_hash(&self) -> &str {
        &self.config_hash
    }

    /// Names of the judges.
    pub fn judges(&self) -> &[String] {
        &self.judges
    }

    /// Warnings about the rubric with these judges.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Number of criteria.
    pub fn criteria(&self) -> usize {
        self.template.case.graders.iter().map(|grader| criteria_of(grader)).sum()
    }
}

fn criteria_of(grader: &Grader) -> usize {
    match &grader.kind {
        GraderKind::Rubric(rubric) => rubric.rubric.criteria().len(),
        _ => 1,
    }
}

impl SampleService {
    /// Service with these options: judges, limits, cache, budget. A targets file is looked for near `folder`.
    ///
    /// # Errors
    /// When options contradict each other, files have problems, or a judge that is named can't be used.
    pub fn new(engine: &Engine, options: RunOptions, folder: &Path) -> Result<Self, EngineError> {
        options.panel_spec()?;
        let request = request(&options);
        let wiring = wire(engine, &request)?;

        wiring.gateway.begin_alone("serve");
        Ok(Self {
            engine: engine.clone(),
            folder: engine.process().resolve(folder),
            config: wiring.config.clone(),
            gateway: Arc::clone(&wiring.gateway),
            options,
        })
    }

    /// Grader whose replies are cached where only graders of the same namespace find them; without one, in the common cache
    /// of the working folder.
    ///
    /// # Errors
    /// When the targets file has problems, or a judge that the options name can't be used.
    pub fn grader(&self, namespace: Option<&str>) -> Result<SampleGrader, EngineError> {
        let gateway = match namespace {
            None => Arc::clone(&self.gateway),
            Some(name) => {
                let namespace =
                    blake3::derive_key("assize 2026-11 namespace of the reply cache", name.as_bytes());
                Arc::new(self.gateway.in_namespace(namespace))
            }
        };

        // The budget, the limits and the cache are those of the service; all of it hangs on the gateway.
        let wiring = wire(&self.engine, &request(&self.options))?;
        let deps = wiring.deps_through(&self.folder, &gateway)?;
        let grader =
            SampleGrader { options: self.options.clone(), config: self.config.clone(), gateway, deps };

        // Judges without a key are found now rather than by the first request.
        let probe = assize_evalfile::read_rubric(Path::new("rubric.json"), PROBE);
        grader.prepare(&probe)?;
        for warning in grader.gateway.exposed_keys() {
            self.engine.warn(warning);
        }
        if let Some(few) = grader.gateway.few_files() {
            self.engine.warn(few);
        }

        Ok(grader)
    }

    /// Names of the judges of a rubric that names none.
    ///
    /// # Errors
    /// When a judge can't be used.
    pub fn default_judges(&self) -> Result<Vec<String>, EngineError> {
        let probe = assize_evalfile::read_rubric(Path::new("rubric.json"), PROBE);
        Ok(self.grader(None)?.prepare(&probe)?.judges)
    }

    /// Number of samples that keep every permitted request to models in flight.
    pub fn samples_at_once(&self) -> usize {
        self.gateway.ceiling()
    }

    /// Reason for which the budget refused a call, if it did.
    pub fn refusal(&self) -> Option<String> {
        self.gateway.refusal().map(ToString::to_string)
    }

    /// Waits until every kept reply is written.
    ///
    /// # Errors
    /// When replies were lost.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.gateway.flush()
    }
}

/// Rubric that makes the judges of the options.
const PROBE: &str = r#"["anything"]"#;

fn request(options: &RunOptions) -> WiringRequest<'_> {
    WiringRequest {
        access: ModelAccess::Service(options),
        roots: &[],
        targets_file: None,
        consequence: "nothing was graded",
        keep_workspaces: false,
    }
}

impl SampleGrader {
    /// Makes the judges of a rubric and checks that they can judge it.
    ///
    /// # Errors
    /// When the rubric has errors, or a judge can't be used.
    pub fn prepare(&self, rubric: &LoadedRubric) -> Result<PreparedRubric, EngineError> {
        let Some((suite, case)) = suite_from_answer(rubric, "sample", &GivenAnswer::default()) else {
            return Err(EngineError::invalid_file("the rubric has errors"));
        };

        let case = Arc::new(case);
        let planner = RunPlanner::new(&self.config, &self.options)?;
        let planned = planner.suite(&suite);
        let mut found = PreflightReport::default();
        planner.check(&planned, &case, &self.deps, &mut found);

        let warnings = found.conclude(false)?;
        self.gateway.check()?;

        let mut items = planner.items(&planned, &case, &self.deps, &CaseDependencies::default());
        let item = items.pop().ok_or_else(|| EngineError::unrunnable("the rubric makes no item"))??;
        let template = WorkItem { format: None, ..item };

        Ok(PreparedRubric {
            config_hash: fingerprint(&template),
            judges: self.judges_of(&template),
            warnings,
            template,
        })
    }

    /// Grades a sample. It never fails: what could not be judged is ungraded in the record, with the reason.
    pub async fn grade(
        &self,
        rubric: &PreparedRubric,
        sample: GradingSample,
        stop: &GradingStop,
    ) -> CaseRecord {
        let graders = rubric.template.case.graders.clone();
        let item = self.item(rubric, sample, graders, stop);
        run_item(&item).await
    }

    /// Has the judge give one score for a sample as a whole, by what is said of a good answer in `expected_outcome`.
    ///
    /// # Errors
    /// When a judge can't be used.
    pub async fn score(&self, sample: GradingSample, stop: &GradingStop) -> Result<CaseRecord, EngineError> {
        let rubric = self.prepare(&assize_evalfile::read_rubric(Path::new("rubric.json"), PROBE))?;
        let kind = GraderKind::Llm(LlmGrader {
            prompt: None,
            judge: None,
            panel: PanelSpec::default(),
            temperature: None,
            max_steps: None,
            config: serde_json::Map::new(),
        });
        let grader = Arc::new(single_grader("llm-grader", kind, &rubric.template.case));
        let item = self.item(&rubric, sample, vec![grader], stop);

        Ok(run_item(&item).await)
    }

    /// Compares the answer of a sample with another answer to the same input, in both orders. The criteria of the rubric say
    /// what makes an answer the better one; the score is that of the first answer.
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
                criteria.extend(rubric.rubric.criteria().iter().map(|criterion| criterion.text.clone()));
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

    fn item(
        &self,
        rubric: &PreparedRubric,
        sample: GradingSample,
        graders: Vec<Arc<Grader>>,
        stop: &GradingStop,
    ) -> WorkItem {
        let (case, answer) = sample.into_case(graders, &rubric.template.case);
        WorkItem {
            case: Arc::new(case),
            source: ItemSource::Given(Arc::new(answer)),
            judges: Arc::new(StoppableJudges { registry: Arc::clone(&self.deps.judges), stop: stop.clone() }),
            ..rubric.template.clone()
        }
    }

    fn judges_of(&self, template: &WorkItem) -> Vec<String> {
        let mut names = Vec::new();
        for grader in &template.case.graders {
            let GraderKind::Rubric(rubric) = &grader.kind else { continue };
            let spec = template.panels.spec(&rubric.panel, rubric.judge.as_deref());
            for selector in panel_selectors(&spec, template.judge_selector(rubric.judge.as_deref())) {
                let name = self.deps.judges.name_of(selector);
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }

        names
    }
}

/// The only grader of a sample.
fn single_grader(name: &str, kind: GraderKind, template: &Case) -> Grader {
    Grader {
        name: name.to_owned(),
        type_name: name.to_owned(),
        standing: GraderWeighting::default(),
        place: template.place.clone(),
        kind,
    }
}

/// Judges of a request, which end with it.
struct StoppableJudges {
    registry: Arc<JudgeRegistry>,
    stop: GradingStop,
}

impl JudgeProvider for StoppableJudges {
    fn judge(&self, selector: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, JudgeError> {
        self.registry
            .judge_until(selector, &self.stop)
            .map_err(|error| JudgeError::Unavailable(error.message))
    }

    fn model(&self, selector: JudgeSelector<'_>) -> Result<(String, Arc<dyn ChatModel>), JudgeError> {
        self.registry.model(selector)
    }

    fn embeddings(&self, name: &str) -> Result<Arc<dyn ChatModel>, JudgeError> {
        let model = self.registry.embeddings(name)?;
        Ok(Arc::new(StoppableModel::new(model, self.stop.clone())))
    }

    fn write_settings(&self, selector: JudgeSelector<'_>, identity: &mut IdentityWriter) {
        self.registry.write_settings(selector, identity);
    }
}
