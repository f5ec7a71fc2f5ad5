//! Graders of OpenAI's reinforcement fine-tuning: `POST /v1/fine_tuning/alpha/graders/run`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assize_engine::{EngineError, GradingSample, GradingStop, SamplePlace, content_text};
use assize_model::{GivenOutput, GivenPrompt};
use assize_rubric::{
    CaseMessage, Finding, FormulaError, MessageRole, Tokens, UngradedKind, ValueRange, evaluate_formula,
    formula_names,
};
use assize_store::CaseRecord;
use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::shared::read;
use super::similarity::{METRICS, similarity};
use super::template::TemplateValues;
use crate::api::{GradeStatus, OnUngraded, RewardKind, SampleResult, UngradedPolicy};
use crate::body::beside_connections;
use crate::decode::{ObjectReader, ProblemList, child};
use crate::job::DEADLINE_REASON;
use crate::problem::{ApiError, RequestProblem};
use crate::service::Service;
use crate::telemetry::TraceParent;
use crate::tenant::Tenant;

/// Maximum number of graders of a `multi` grader.
const MAX_GRADERS: usize = 64;

/// Texts up to this many bytes together are compared in less than a millisecond.
const SHORT_TEXTS: usize = 1_000;
/// Largest absolute value of a bound of `range`.
const MAX_SCORE: f64 = assize_limits::GRADER_SCORE as f64;

/// Operations of `string_check`.
const OPERATIONS: &[(&str, TextOperation)] = &[
    ("eq", TextOperation::Equal),
    ("ne", TextOperation::NotEqual),
    ("like", TextOperation::Contains),
    ("ilike", TextOperation::ContainsIgnoringCase),
];

/// Operation of a `string_check` grader.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TextOperation {
    Equal,
    NotEqual,
    Contains,
    ContainsIgnoringCase,
}

/// A grader of a request.
pub(crate) enum RequestGrader {
    StringCheck {
        input: String,
        reference: String,
        operation: TextOperation,
    },
    TextSimilarity {
        input: String,
        reference: String,
        metric: String,
    },
    /// The judge gives a score, which is scaled to the range.
    ScoreModel {
        instructions: String,
        given: GivenPrompt,
    },
    /// The judge decides whether one of the passing labels fits.
    LabelModel {
        instructions: String,
        labels: Vec<String>,
        passing: Vec<String>,
    },
    Multi {
        graders: BTreeMap<String, RequestGrader>,
        formula: String,
    },
}

/// Service, client and values for the graders of a request.
struct RunContext {
    service: Arc<Service>,
    tenant: Arc<Tenant>,
    values: TemplateValues,
    stop: GradingStop,
    trace: Option<TraceParent>,
}

/// Result of a grader.
#[derive(Default)]
struct GraderRun {
    reward: Option<f64>,
    /// Lowest and highest reward, if the reward is unknown and these differ from the grader's range.
    range: Option<ValueRange>,
    /// Tokens by judge.
    tokens: BTreeMap<Arc<str>, Tokens>,
    /// True if the judge was not called because it failed before.
    is_unavailable: bool,
    /// Errors that happened, by their names in the protocol.
    errors: BTreeMap<&'static str, String>,
    sub_rewards: Map<String, Value>,
}

/// Answers with the reward of a grader. If the judge failed, the request fails unless the address has
/// `on_ungraded`, because the protocol has no missing reward.
pub(crate) async fn run(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let begun = Instant::now();
    let (body, query, memory) = read(&service, &tenant, request).await?;
    let on_ungraded = query.on_ungraded;
    let mut problems = ProblemList::default();
    let decoded = read_run(body, service.judges(), &mut problems);
    problems.check()?;
    let Some((name, kind, grader, values)) = decoded else {
        return Err(ApiError::invalid_at("", "the request can't be read"));
    };

    let places = (tenant.take_samples(1)?, service.queue.accept(1)?, memory);
    let stop = service.stop.child_of(tenant.new_source());
    let deadline = query.deadline_ms();
    let context = RunContext {
        service: Arc::clone(&service),
        tenant: Arc::clone(&tenant),
        values,
        stop: stop.clone(),
        trace: query.trace,
    };
    // When the client disconnects, calls in flight are stopped, but the task runs until their cost is booked.
    let _guard = RequestGuard(stop);
    let task = service.tasks.spawn(async move {
        let run = run_until(&grader, &context, deadline).await;
        context.service.metrics.count_sample(&context.tenant.name, run.status());
        drop(places);
        (run, grader)
    });
    let (run, grader) = task.await.map_err(|error| {
        let message = format!("the grader could not be run: {error}");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    })?;

    let reward = final_reward(&run, &grader, on_ungraded)
        .map_err(|error| if run.is_unavailable { service.unavailable(error) } else { error })?;
    Ok(Json(reply(&name, &kind, run, reward, begun)))
}

/// Stops the work when the request is dropped.
struct RequestGuard(GradingStop);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.stop("the client went away");
    }
}

/// Runs a grader. Criteria that the judge has not decided by the deadline, in milliseconds, stay ungraded.
async fn run_until(grader: &RequestGrader, context: &RunContext, deadline: Option<u64>) -> GraderRun {
    let end = async {
        let Some(millis) = deadline else { return std::future::pending().await };
        tokio::time::sleep(Duration::from_millis(millis)).await;
        context.stop.stop(format!("{DEADLINE_REASON} of {millis} ms passed"));
        std::future::pending().await
    };
    tokio::select! { run = grader.run(context) => run, run = end => run }
}

fn final_reward(
    run: &GraderRun,
    grader: &RequestGrader,
    on_ungraded: Option<OnUngraded>,
) -> Result<Option<f64>, ApiError> {
    if run.reward.is_some() {
        return Ok(run.reward);
    }

    let failed = |message: &str| {
        let problems =
            run.errors.iter().map(|(name, why)| RequestProblem::new("/grader", format!("{name}: {why}")));
        let error = ApiError::new(StatusCode::BAD_GATEWAY, "ungraded", message);
        let body = crate::problem::ErrorBody { problems: problems.collect(), ..error.body };
        Err(ApiError { body, ..error })
    };
    let range = run.range.or_else(|| grader.range()).filter(ValueRange::is_bounded);
    match (on_ungraded.unwrap_or(OnUngraded::Named(UngradedPolicy::Error)), range) {
        (OnUngraded::Value { value }, _) => Ok(Some(value)),
        (OnUngraded::Named(UngradedPolicy::Low), Some(range)) => Ok(Some(range.low)),
        (OnUngraded::Named(UngradedPolicy::High), Some(range)) => Ok(Some(range.high)),
        (OnUngraded::Named(UngradedPolicy::Low | UngradedPolicy::High), None) => failed(
            "the grader has no result, and its formula no lowest and highest value; use a number for `on_ungraded`",
        ),
        (OnUngraded::Null | OnUngraded::Named(UngradedPolicy::Drop), _) => Ok(None),
        (OnUngraded::Named(UngradedPolicy::Error), _) => failed("the grader has no result"),
    }
}

fn reply(name: &str, kind: &str, run: GraderRun, reward: Option<f64>, begun: Instant) -> Value {
    const FLAGS: [&str; 11] = [
        "formula_parse_error", "sample_parse_error", "truncated_observation_error",
        "unresponsive_reward_error", "invalid_variable_error", "other_error", "python_grader_server_error",
        "python_grader_runtime_error", "model_grader_server_error", "model_grader_refusal_error",
        "model_grader_parse_error",
    ];

    let mut errors: Map<String, Value> =
        FLAGS.iter().map(|flag| ((*flag).to_owned(), json!(run.errors.contains_key(flag)))).collect();
    errors.insert("python_grader_server_error_type".into(), Value::Null);
    errors.insert("python_grader_runtime_error_details".into(), Value::Null);
    errors.insert(
        "model_grader_server_error_details".into(),
        json!(run.errors.get("model_grader_server_error")),
    );

    let usage: Map<String, Value> = run
        .tokens
        .iter()
        .filter(|(_, tokens)| total(tokens) > 0)
        .map(|(judge, tokens)| {
            let counts = json!({
                "prompt_tokens": tokens.input, "completion_tokens": tokens.output, "total_tokens": total(tokens),
            });
            (judge.to_string(), counts)
        })
        .collect();
    json!({
        "reward": reward,
        "sub_rewards": run.sub_rewards,
        "metadata": {
            "name": name,
            "type": kind,
            "errors": errors,
            "execution_time": begun.elapsed().as_secs_f64(),
            "scores": run.sub_rewards,
            "token_usage": run.tokens.values().map(total).sum::<u64>(),
            "sampled_model_name": Value::Null,
        },
        "model_grader_token_usage_per_model": usage,
    })
}

fn total(tokens: &Tokens) -> u64 {
    tokens.input.unwrap_or(0) + tokens.output.unwrap_or(0)
}

/// Name, type, grader and values of a run.
pub(crate) type DecodedRun = (String, String, RequestGrader, TemplateValues);

/// Decodes a run from a body. Its models must be among `judges`.
pub(crate) fn read_run(body: Value, judges: &[String], problems: &mut ProblemList) -> Option<DecodedRun> {
    let mut object = ObjectReader::new(body, "", problems)?;
    let sample = object.text("model_sample");
    if sample.is_none() {
        object.problem("model_sample", "missing: the answer, a text");
    }
    let item = object.take("item").unwrap_or_else(|| json!({}));
    let values = TemplateValues::new(item, sample.unwrap_or_default());
    let Some(grader) = object.take("grader") else {
        object.problem("grader", "missing: the grader");
        return None;
    };
    let (name, kind) = (text_of(&grader, "name"), text_of(&grader, "type"));
    let grader = read_grader(grader, "/grader".to_owned(), judges, &values, true, object.problems());
    object.finish();

    Some((name, kind, grader?, values))
}

fn text_of(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn read_grader(
    grader: Value,
    path: String,
    judges: &[String],
    values: &TemplateValues,
    may_combine: bool,
    problems: &mut ProblemList,
) -> Option<RequestGrader> {
    let mut object = ObjectReader::new(grader, path.clone(), problems)?;
    let kind = object.text("type").unwrap_or_default();
    object.take("name");
    let read = match kind.as_str() {
        "string_check" => {
            let operation = object.word("operation", OPERATIONS);
            let (input, reference) =
                (filled("input", values, &mut object), filled("reference", values, &mut object));
            RequestGrader::StringCheck { input: input?, reference: reference?, operation: operation? }
        }
        "text_similarity" => {
            let metric = object.text("evaluation_metric");
            let (input, reference) =
                (filled("input", values, &mut object), filled("reference", values, &mut object));
            let metric = metric.unwrap_or_default();
            if !METRICS.contains(&metric.as_str()) {
                object.problem("evaluation_metric", format!("expected one of {}", METRICS.join(", ")));
                return None;
            }
            RequestGrader::TextSimilarity { input: input?, reference: reference?, metric }
        }
        "score_model" => read_score_model(&mut object, judges, values)?,
        "label_model" => read_label_model(&mut object, judges, values)?,
        "multi" if may_combine => {
            let formula = object.text("calculate_output");
            if formula.is_none() {
                object.problem("calculate_output", "missing: a formula over the names of the graders");
            }
            let graders = match object.take("graders") {
                // OpenAI's types have one grader in this place, its documentation several by name.
                Some(Value::Object(one)) if one.get("type").is_some_and(Value::is_string) => {
                    let one = Value::Object(one);
                    Map::from_iter([(text_of(&one, "name"), one)])
                }
                Some(Value::Object(graders)) if graders.len() <= MAX_GRADERS => graders,
                _ => {
                    object.problem(
                        "graders",
                        format!("expected an object with up to {MAX_GRADERS} graders by name"),
                    );
                    return None;
                }
            };
            let path = child(&path, "graders");
            let read: Vec<_> = graders
                .into_iter()
                .map(|(name, grader)| {
                    let grader =
                        read_grader(grader, child(&path, &name), judges, values, false, object.problems());
                    Some((name, grader?))
                })
                .collect();
            let graders = read.into_iter().collect::<Option<BTreeMap<_, _>>>()?;
            let formula = formula?;
            if let Some(problem) = formula_problem(&formula, graders.keys()) {
                object.problem("calculate_output", problem);
            }
            RequestGrader::Multi { graders, formula }
        }
        "python" | "endpoint" => {
            let message =
                format!("`{kind}` graders are not run: nothing in a request is executed or fetched");
            object.problem("type", message);
            return None;
        }
        _ => {
            let known = "string_check, text_similarity, score_model, label_model, multi";
            object.problem("type", format!("expected one of {known}"));
            return None;
        }
    };
    object.finish();

    Some(read)
}

fn read_score_model(
    object: &mut ObjectReader<'_>,
    judges: &[String],
    values: &TemplateValues,
) -> Option<RequestGrader> {
    check_model(object, judges);
    let range = read_range(object);
    let instructions = read_instructions(object);
    let variables = instructions.as_ref().map(|text| values.named_values(text));
    if let Some(Err(error)) = &variables {
        object.problem("input", error.as_str());
    }

    let given = GivenPrompt { variables: variables?.ok()?, range: range? };
    Some(RequestGrader::ScoreModel { instructions: instructions?, given })
}

fn read_label_model(
    object: &mut ObjectReader<'_>,
    judges: &[String],
    values: &TemplateValues,
) -> Option<RequestGrader> {
    check_model(object, judges);
    let (labels, passing) = (texts("labels", object), texts("passing_labels", object));
    // Criteria are not templates: references are replaced by names, and their values are shown next to the
    // criteria.
    let instructions = read_instructions(object);
    let instructions = instructions.map(|text| values.name(&text)).transpose();
    let instructions = instructions.map_err(|error| object.problem("input", error)).ok().flatten();
    let (labels, passing) = (labels?, passing?);
    if let Some(other) = passing.iter().find(|label| !labels.contains(label)) {
        object.problem("passing_labels", format!("`{other}` is not one of `labels`"));
    }

    Some(RequestGrader::LabelModel { instructions: instructions?, labels, passing })
}

/// The error of a formula that is invalid for all values: it can't be parsed, or uses a name that none of these graders
/// has.
pub(crate) fn formula_problem<'n>(
    formula: &str,
    graders: impl Iterator<Item = &'n String>,
) -> Option<String> {
    let names = match formula_names(formula) {
        Ok(names) => names,
        Err(why) => return Some(format!("the formula can't be read: {why}")),
    };
    let known: BTreeSet<&String> = graders.collect();
    let other = names.into_iter().find(|name| !known.contains(name))?;
    Some(format!("`{other}` is not one of the graders"))
}

/// Text of a key with its references filled in.
fn filled(key: &'static str, values: &TemplateValues, object: &mut ObjectReader<'_>) -> Option<String> {
    let Some(text) = object.text(key) else {
        object.problem(key, "missing: a text");
        return None;
    };

    values.fill(&text).map_err(|error| object.problem(key, error)).ok()
}

fn texts(key: &'static str, object: &mut ObjectReader<'_>) -> Option<Vec<String>> {
    let list = object.list(key).unwrap_or_default();
    let texts: Option<Vec<String>> = list.iter().map(|text| text.as_str().map(str::to_owned)).collect();
    let texts = texts.filter(|texts| !texts.is_empty());
    if texts.is_none() {
        object.problem(key, "expected a list of texts, at least one");
    }

    texts
}

fn read_range(object: &mut ObjectReader<'_>) -> Option<ValueRange> {
    let Some(list) = object.list("range") else { return Some(ValueRange { low: 0.0, high: 1.0 }) };
    match list.iter().map(Value::as_f64).collect::<Option<Vec<_>>>().as_deref() {
        Some([low, high]) if -MAX_SCORE <= *low && low < high && *high <= MAX_SCORE => {
            Some(ValueRange { low: *low, high: *high })
        }
        _ => {
            object.problem("range", "expected two numbers from -1e9 to 1e9, the lower one first");
            None
        }
    }
}

/// Checks that the model is a judge that the operator named.
fn check_model(object: &mut ObjectReader<'_>, judges: &[String]) {
    // Judges have their own settings.
    object.take("sampling_params");
    let model = object.text("model").unwrap_or_default();
    let is_known =
        |judge: &String| *judge == model || judge.split_once(':').is_some_and(|(_, name)| name == model);
    if !judges.iter().any(is_known) {
        let judges = judges.join(", ");
        object.problem("model", format!("expected a judge of this server: {judges}"));
    }
}

/// Instructions in `input`: the texts of its messages with any role.
fn read_instructions(object: &mut ObjectReader<'_>) -> Option<String> {
    let texts: Vec<String> = match object.take("input") {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(messages)) => {
            messages.iter().map(|message| content_text(message.get("content"))).collect()
        }
        _ => Vec::new(),
    };
    let text = texts.join("\n\n");
    if text.trim().is_empty() {
        object.problem("input", "missing: messages with `role` and `content`");
        return None;
    }

    Some(text)
}

impl RequestGrader {
    /// Lowest and highest reward; `None` for a formula, whose bounds depend on which parts are known.
    fn range(&self) -> Option<ValueRange> {
        match self {
            Self::ScoreModel { given, .. } => Some(given.range),
            Self::Multi { .. } => None,
            _ => Some(ValueRange { low: 0.0, high: 1.0 }),
        }
    }

    async fn run(&self, context: &RunContext) -> GraderRun {
        match self {
            Self::Multi { graders, formula } => {
                let runs = graders.values().map(|grader| grader.run_single(context));
                let runs = join_all(runs).await;
                combine(graders, runs, formula)
            }
            single => single.run_single(context).await,
        }
    }

    async fn run_single(&self, context: &RunContext) -> GraderRun {
        let counted = |reward: f64| GraderRun { reward: Some(reward), ..GraderRun::default() };
        match self {
            Self::StringCheck { input, reference, operation } => {
                let holds = match operation {
                    TextOperation::Equal => input == reference,
                    TextOperation::NotEqual => input != reference,
                    TextOperation::Contains => input.contains(reference.as_str()),
                    TextOperation::ContainsIgnoringCase => {
                        input.to_lowercase().contains(&reference.to_lowercase())
                    }
                };
                counted(f64::from(u8::from(holds)))
            }
            Self::TextSimilarity { input, reference, metric } => {
                let compared = tokio::select! {
                    biased;
                    compared = compare_texts(&context.service, metric, input, reference) => compared,
                    () = context.stop.stopped() => {
                        return GraderRun::failed("unresponsive_reward_error", "the comparison was not done in time");
                    }
                };
                match compared {
                    Ok(Some(value)) => counted(value),
                    Ok(None) => GraderRun::failed("other_error", "unknown metric"),
                    Err(error) => GraderRun::failed("other_error", error),
                }
            }
            Self::ScoreModel { instructions, given } => {
                let ValueRange { low, high } = given.range;
                let run = judge(context, JudgeTask::Score(instructions.clone(), given.clone())).await;
                // Removes the rounding error of scaling from the range to 0..1 and back.
                let in_range = |score: f64| ((low + score * (high - low)) * 1e9).round() / 1e9;
                GraderRun { reward: run.reward.map(in_range), ..run }
            }
            Self::LabelModel { instructions, labels, passing } => {
                let criterion = format!(
                    "{instructions}\n\nThe one label that fits best, of these: {}. This criterion is met if that label is one of: {}.",
                    labels.join(" | "),
                    passing.join(" | ")
                );
                judge(context, JudgeTask::Criterion(criterion)).await
            }
            Self::Multi { .. } => GraderRun::failed("other_error", "graders are combined only once"),
        }
    }
}

/// Similarity of two texts. Long texts are compared on another thread than connections use, since the time
/// grows with the product of their lengths.
async fn compare_texts(
    service: &Service,
    metric: &str,
    input: &str,
    reference: &str,
) -> Result<Option<f64>, String> {
    if input.len() + reference.len() <= SHORT_TEXTS {
        return similarity(metric, input, reference);
    }

    let [metric, input, reference] = [metric, input, reference].map(str::to_owned);
    beside_connections(&service.long_work, move || Ok(similarity(&metric, &input, &reference)))
        .await
        .unwrap_or_else(|error| Err(error.body.message))
}

impl GraderRun {
    /// How far the sample was graded: some graders of a formula may have results.
    fn status(&self) -> GradeStatus {
        if self.reward.is_some() {
            GradeStatus::Graded
        } else if self.sub_rewards.values().any(|reward| !reward.is_null()) {
            GradeStatus::Partial
        } else {
            GradeStatus::Ungraded
        }
    }

    fn failed(error: &'static str, why: impl Into<String>) -> Self {
        Self { errors: BTreeMap::from([(error, why.into())]), ..Self::default() }
    }
}

/// Combines the results of graders. A grader that failed counts with its lowest and its highest reward.
fn combine(graders: &BTreeMap<String, RequestGrader>, runs: Vec<GraderRun>, formula: &str) -> GraderRun {
    let mut all = GraderRun::default();
    let mut values = BTreeMap::new();
    for ((name, grader), run) in graders.iter().zip(runs) {
        let open = run.range.or_else(|| grader.range()).unwrap_or(ValueRange::known(f64::NAN));
        values.insert(name.clone(), run.reward.map_or(open, ValueRange::known));
        for (judge, tokens) in run.tokens {
            all.tokens.entry(judge).or_default().add(tokens);
        }
        all.is_unavailable |= run.is_unavailable;
        all.sub_rewards.insert(name.clone(), json!(run.reward));
        all.errors.extend(run.errors);
    }

    match evaluate_formula(formula, &values) {
        Ok(value) if value.is_known => all.reward = Some(value.range.low),
        Ok(value) => all.range = Some(value.range),
        Err(FormulaError::Syntax(why)) => drop(all.errors.insert("formula_parse_error", why)),
        Err(FormulaError::UnknownName(name)) => {
            all.errors.insert("invalid_variable_error", format!("`{name}` is not a grader"));
        }
        Err(FormulaError::Undefined) => {
            all.errors.insert("other_error", "the formula has no value".to_owned());
        }
    }

    all
}

/// What to ask the judge.
enum JudgeTask {
    /// One score, by these instructions.
    Score(String, GivenPrompt),
    /// One criterion.
    Criterion(String),
}

/// Asks the judge about the sample. The item is shown to it as data.
async fn judge(context: &RunContext, task: JudgeTask) -> GraderRun {
    let RunContext { service, tenant, values, stop, trace } = context;
    let Ok(mut sample) = GradingSample::new("sample", &GivenOutput::Text(values.sample.clone())) else {
        return GraderRun::failed("sample_parse_error", "the sample is not text");
    };
    let item = serde_json::to_string_pretty(values.item()).unwrap_or_default();
    sample.input = vec![CaseMessage::text(MessageRole::User, format!("item:\n{item}"))];

    let _turn = tenant.turn(stop).await;
    let (record, config_hash) = match ask(context, task, sample, stop).await {
        Ok(asked) => asked,
        Err(error) => return GraderRun::failed("model_grader_server_error", error.message),
    };

    if let Some(telemetry) = &service.telemetry {
        telemetry.export(&tenant.name, &config_hash, trace.as_ref(), &record);
    }
    let run = read_record(&record);
    let place = SamplePlace { index: 0, id: "sample".to_owned(), group: None };
    let result = SampleResult::new(place, record, RewardKind::Score, OnUngraded::Null, &config_hash);
    service.metrics.count_work(&tenant.name, &result);

    run
}

/// The record of a task, and a hash of everything that affects it except the sample.
async fn ask(
    context: &RunContext,
    task: JudgeTask,
    sample: GradingSample,
    stop: &GradingStop,
) -> Result<(CaseRecord, String), EngineError> {
    let grader = &context.tenant.grader;
    match task {
        JudgeTask::Score(instructions, given) => {
            let (judges, range) = (context.service.judges().join(" "), given.range);
            let settings = format!("score_model {judges} {} {} {instructions}", range.low, range.high);
            let hash = blake3::hash(settings.as_bytes()).to_hex().to_string();
            Ok((grader.score(sample, (instructions, given), stop).await?, hash))
        }
        JudgeTask::Criterion(text) => {
            let rubric = json!([{ "outcome": text, "required": false }]).to_string();
            let loaded = assize_evalfile::read_rubric(std::path::Path::new("grader.json"), &rubric);
            let rubric = grader.prepare(&loaded)?;
            let hash = rubric.config_hash().to_owned();
            Ok((grader.grade(&rubric, sample, stop).await, hash))
        }
    }
}

fn read_record(record: &CaseRecord) -> GraderRun {
    let mut run = GraderRun { reward: record.result.score, ..GraderRun::default() };
    for row in &record.decisions {
        let judge = Arc::clone(&row.decision.judge.name);
        run.tokens.entry(judge).or_default().add(row.decision.spent.tokens);
        let broken = matches!(&row.decision.finding, Finding::Grader(finding) if finding.score.is_err());
        match &row.decision.ungraded {
            Some(reason) => {
                run.is_unavailable |= reason.kind == UngradedKind::Unavailable;
                run.errors.insert(error_name(reason.kind), reason.message.clone());
            }
            None if broken => {
                run.errors.insert("model_grader_parse_error", row.decision.reason.clone());
            }
            None => {}
        }
    }

    run
}

fn error_name(kind: UngradedKind) -> &'static str {
    match kind {
        UngradedKind::Refusal => "model_grader_refusal_error",
        UngradedKind::Malformed | UngradedKind::Evidence => "model_grader_parse_error",
        UngradedKind::Truncated | UngradedKind::ContextLength => "truncated_observation_error",
        UngradedKind::Cancelled => "unresponsive_reward_error",
        _ => "model_grader_server_error",
    }
}
