//! A promptfoo configuration, with a test for each case, and an assertion for each criterion and check.

use assize_model::{
    AnswerCheck, AuthorCode, Case, CodeLanguage, Grader, GraderKind, ScriptCheck, SimilarityMeasure, Suite,
    TextCheck, TextRule,
};
use assize_rubric::{Criterion, CriterionOperator, CriterionScale};
use serde_json::{Map, Value, json};

use super::criteria::{can_fail, note_borderline, note_judge_settings, note_other_content, pass_threshold};
use super::settings::{KeptSettings, is_provider, note_case_settings, note_suite_settings};
use crate::note::ConversionNotes;
use crate::promptfoo::escape_template;

const KEPT_SETTINGS: KeptSettings = KeptSettings { description: true, models: true, tags: false };

/// Writes the cases that have assertions. Returns the configuration and the number of tests in it.
pub(crate) fn write(suite: &Suite, cases: &[Case], notes: &mut ConversionNotes) -> (Value, usize) {
    note_suite_settings(suite, KEPT_SETTINGS, notes);

    let mut config = Map::new();
    config.insert("description".to_owned(), json!(suite.description.as_ref().unwrap_or(&suite.name)));
    config.insert("prompts".to_owned(), json!(["{{input}}"]));

    let providers: Vec<&str> = suite
        .settings
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .filter(|name| is_provider(name))
        .collect();
    if providers.is_empty() {
        notes.add_remark(None, "providers", "the file does not name a model to call; add `providers`");
    } else {
        config.insert("providers".to_owned(), json!(providers));
    }

    let tests: Vec<Value> = cases.iter().filter_map(|case| test_value(suite, case, notes)).collect();
    let written = tests.len();

    config.insert("tests".to_owned(), Value::Array(tests));
    (Value::Object(config), written)
}

fn test_value(suite: &Suite, case: &Case, notes: &mut ConversionNotes) -> Option<Value> {
    let made: Vec<PromptfooAssertion> =
        case.graders.iter().flat_map(|grader| grader_assertions(grader, case, notes)).collect();
    if made.is_empty() {
        notes.add_case_loss(case, "skipped: no assertion of it is converted");
        return None;
    }

    note_case_settings(case, KEPT_SETTINGS, notes);
    note_other_content(case, false, false, notes);
    note_borderline(suite, case, notes);

    if case.input.len() > 1 {
        notes.add_case_loss(case, "its messages became one text");
    }

    // Without a threshold, a test passes if each assertion does. With a threshold, only the score counts.
    let all = made.iter().all(|assertion| assertion.required);
    for assertion in made.iter().filter(|assertion| assertion.required && !all) {
        notes.add_loss(
            assertion.line,
            format!("{} of `{}`", assertion.name, case.id),
            "`required` is not converted: other assertions of the test are optional, so the test passes by its score alone",
        );
    }

    let mut test = Map::new();
    test.insert("description".to_owned(), json!(case.id.to_string()));
    test.insert("vars".to_owned(), json!({"input": escape_template(&case.question())}));

    if !all {
        test.insert("threshold".to_owned(), json!(pass_threshold(suite, case)));
    }

    test.insert("assert".to_owned(), made.into_iter().map(|assertion| assertion.value).collect());
    Some(Value::Object(test))
}

struct PromptfooAssertion {
    value: Value,
    name: String,
    required: bool,
    line: Option<usize>,
}

fn grader_assertions(grader: &Grader, case: &Case, notes: &mut ConversionNotes) -> Vec<PromptfooAssertion> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => {
            note_judge_settings(grader, rubric, case, notes);
            let criteria = rubric.rubric.criteria();
            let alone = criteria.len() == 1;
            note_own_threshold(grader, alone, case, notes);

            if grader.weighting.negate && !alone {
                notes.add_grader_loss(grader, case, "its `negate` is not converted");
            }

            let earned: f64 = criteria.iter().map(|c| c.weight.get().max(0.0)).sum();
            // If there is a single grader, its weights can stay as written.
            let share = match case.graders.len() {
                1 => 1.0,
                _ if earned > 0.0 => grader.weighting.weight.get() / earned,
                _ => 0.0,
            };

            let mut list = Vec::new();
            for (index, criterion) in criteria.iter().enumerate() {
                let line = rubric.places.get(index).map(|place| place.line);
                let name = format!("criterion `{}`", criterion.id);
                if let Some(reason) = assertion_obstacle(criterion) {
                    notes.add_loss(line, format!("{name} of `{}`", case.id), reason);
                    continue;
                }

                let kind = match criterion.operator {
                    CriterionOperator::Contradiction => "factuality",
                    CriterionOperator::Correctness => "llm-rubric",
                };
                let negated = if alone && grader.weighting.negate { "not-" } else { "" };
                let weight = criterion.weight.get() * share;
                let required = criterion.gate.is_some_and(can_fail) || (alone && grader.weighting.required);
                let value = json!({
                    "type": format!("{negated}{kind}"), "value": escape_template(&criterion.text), "weight": weight,
                    "metric": criterion.id.to_string(),
                });

                list.push(PromptfooAssertion { value, name, required: required && weight > 0.0, line });
            }

            list
        }
        _ => check_assertion(grader, case, notes).into_iter().collect(),
    }
}

/// Returns the reason why a criterion can't be an assertion, if there is one.
fn assertion_obstacle(criterion: &Criterion) -> Option<&'static str> {
    if matches!(criterion.scale, CriterionScale::Bands(_)) {
        Some("skipped: a judged assertion can't have score ranges")
    } else if criterion.weight.is_penalty() {
        Some("skipped: an assertion can't have a negative weight")
    } else if criterion.text.trim().is_empty() {
        Some("skipped: it has no text")
    } else {
        None
    }
}

/// Adds a note about the loss of a grader's own threshold and gate, unless its only assertion gets them.
fn note_own_threshold(grader: &Grader, alone: bool, case: &Case, notes: &mut ConversionNotes) {
    let lost = match (grader.weighting.required, grader.weighting.min_score.is_some()) {
        (true, _) if alone => return,
        (false, false) => return,
        (true, _) => {
            "its `required` is not converted: a promptfoo test with optional assertions passes by its score alone"
        }
        (false, true) => "its `min_score` is not converted",
    };
    notes.add_grader_loss(grader, case, lost);
}

/// Converts a check that needs no judge to an assertion.
fn check_assertion(grader: &Grader, case: &Case, notes: &mut ConversionNotes) -> Option<PromptfooAssertion> {
    let body = match &grader.kind {
        GraderKind::Check(AnswerCheck::Text(check)) => text_assertion(check),
        GraderKind::Check(AnswerCheck::IsJson(check)) => {
            let kind = if check.embedded { "contains-json" } else { "is-json" };
            Some(match &check.schema {
                Some(schema) => json!({"type": kind, "value": schema}),
                None => json!({"type": kind}),
            })
        }
        GraderKind::Check(AnswerCheck::Latency { threshold }) => {
            Some(json!({"type": "latency", "threshold": threshold.as_secs_f64() * 1000.0}))
        }
        GraderKind::Check(AnswerCheck::Cost { budget_usd }) => {
            Some(json!({"type": "cost", "threshold": budget_usd}))
        }
        GraderKind::Similar(check) => {
            if check.model.is_some() {
                notes.add_grader_loss(grader, case, "its model is not carried over");
            }
            let kind = match check.measure {
                SimilarityMeasure::Cosine => "similar".to_owned(),
                measure => format!("similar:{}", measure.name()),
            };
            let texts: Vec<String> = check.texts.iter().map(|text| escape_template(text)).collect();
            let value = if let [only] = &texts[..] { json!(only) } else { json!(texts) };
            Some(json!({"type": kind, "value": value, "threshold": check.threshold}))
        }
        GraderKind::Check(AnswerCheck::Script(check)) => script_assertion(check, grader, case, notes),
        _ => None,
    };

    let Some(mut value) = body else {
        notes.add_grader_loss(
            grader,
            case,
            format!("not converted: there is no assertion for this `{}`", grader.type_name),
        );
        return None;
    };
    if grader.weighting.negate
        && let Some(kind) = value["type"].as_str().map(|kind| format!("not-{kind}"))
    {
        value["type"] = json!(kind);
    }

    value["weight"] = json!(grader.weighting.weight.get());
    Some(PromptfooAssertion {
        value,
        name: format!("grader `{}`", grader.name),
        required: grader.weighting.required,
        line: Some(grader.place.line),
    })
}

/// Converts code that is in the eval file itself.
fn script_assertion(
    check: &ScriptCheck,
    grader: &Grader,
    case: &Case,
    notes: &mut ConversionNotes,
) -> Option<Value> {
    let (kind, code) = match &check.code {
        AuthorCode::Script(script) if script.is_file() => return None,
        // promptfoo reads a single line as an expression, and several lines as the body of a function.
        AuthorCode::Script(script) => (
            "javascript",
            match script.text().strip_prefix("return ") {
                Some(expression) if !expression.contains('\n') => expression.to_owned(),
                _ => format!("{}\n", script.text()),
            },
        ),
        AuthorCode::Program(program)
            if program.path.is_none() && program.language == CodeLanguage::Python =>
        {
            ("python", program.text.to_string())
        }
        AuthorCode::Program(_) => return None,
    };
    if !case.vars.is_empty() && code.contains("vars") {
        notes.add_grader_loss(grader, case, "its code reads variables, which are not carried over");
    }

    let mut value = json!({"type": kind, "value": escape_template(&code)});
    if let Some(threshold) = check.threshold {
        value["threshold"] = json!(threshold);
    }
    if !check.config.is_null() {
        value["config"] = check.config.clone();
    }
    Some(value)
}

fn text_assertion(check: &TextCheck) -> Option<Value> {
    let (kind, several) = match &check.rule {
        TextRule::Contains { ignore_case: false } => ("contains", false),
        TextRule::Contains { ignore_case: true } => ("icontains", false),
        TextRule::ContainsAny { ignore_case: false } => ("contains-any", true),
        TextRule::ContainsAny { ignore_case: true } => ("icontains-any", true),
        TextRule::ContainsAll { ignore_case: false } => ("contains-all", true),
        TextRule::ContainsAll { ignore_case: true } => ("icontains-all", true),
        TextRule::StartsWith => ("starts-with", false),
        TextRule::Equals => ("equals", false),
        TextRule::Regex(regex) if regex.flags.is_empty() => ("regex", false),
        TextRule::EndsWith | TextRule::Regex(_) => return None,
    };

    let values: Vec<String> = check.values.iter().map(|value| escape_template(value)).collect();
    Some(if several {
        json!({"type": kind, "value": values})
    } else {
        json!({"type": kind, "value": values[0]})
    })
}
