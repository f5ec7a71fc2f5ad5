//! A small scorecard, and a model server that judges by the text of the candidate output.

use std::fmt::Write as _;

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

/// An index over a component over a rubric with one benchmark for each kind of evaluator. `C1` is a hard gate.
const CARD: &str = "\
index: {code: TOP, passing_threshold: 0.5, components: [C], weight_sets: {pilot: {C: 1.0}, late: {C: 1.0}}}
rubrics:
  - code: C
    label: component
    weight: 1.0
    aggregation_method: WEIGHTED_AVERAGE
    passing_threshold: 0.5
    evaluation_guidelines: {special_instructions: Guideline of the component.}
    sub_rubrics: [R]
  - code: R
    label: rubric
    weight: 1.0
    aggregation_method: WEIGHTED_AVERAGE
    passing_threshold: 0.5
    evaluation_guidelines: {critical_requirements: [Guideline of the rubric.]}
    benchmarks: [C1, C2, C3, C4]
benchmarks:
  - code: C1
    concept: a judge decides
    weight: 0.4
    threshold: 1.0
    criticality: hard_gate
    evaluator_type: llm_judge
    llm_prompt_file: C1_prompt.md
    inclusion_criteria: Apply when asked. Flag if wrong.
    exclusion_criteria: Do not apply when silent.
    tags: [judged]
  - code: C2
    concept: a check, then a judge
    weight: 0.3
    threshold: 0.5
    evaluator_type: hybrid
    llm_prompt_file: C2_prompt.md
    evaluator_config: {deterministic: [{type: contains, value: dose}], aggregation: all_must_pass}
    inclusion_criteria: Apply when asked. Flag if wrong.
    exclusion_criteria: Do not apply when silent.
    tags: [hybrid]
  - code: C3
    concept: a check alone
    weight: 0.2
    threshold: 0.5
    evaluator_type: code
    evaluator_config: {deterministic: [{type: contains, value: dose}, {type: contains, value: mg}]}
    inclusion_criteria: Apply when asked. Flag if wrong.
    exclusion_criteria: Do not apply when silent.
    tags: [coded]
  - code: C4
    concept: a person decides
    weight: 0.1
    threshold: 0.5
    evaluator_type: manual_sme
    inclusion_criteria: Apply when asked. Flag if wrong.
    exclusion_criteria: Do not apply when silent.
    tags: [read]
";

const PROMPT: &str = "\
SYSTEM:
You check one behaviour.
---
BEHAVIOR: one-thing
DESCRIPTION:
The one thing is there.

EVALUATION SCOPE:
Include:
- The thing
Ignore:
- The rest

RUBRIC
Automatic fail if any of the following are true:
- It is not there.

Pass conditions (all must be satisfied):
1. It is there.

Acceptable variations (still treated as pass):
- Other words

Uncertainty policy:
- If unclear, set uncertain to true and pass to false.
---
Answer with compact JSON only.
";

/// Judges by words in the candidate output: `broken`, `unsure`, `not-for-me`, `bad`; otherwise it passes.
pub(crate) fn judge(incoming: &MockRequest) -> MockReply {
    let user = &incoming.last_user_text;
    let candidate = user.rsplit("[[BEGIN CANDIDATE_OUTPUT").next().unwrap_or_default();
    // The fence is hexadecimal and may contain "bad".
    let candidate = candidate.split_once("]]\n").map_or("", |(_, text)| text);
    let candidate = candidate.split("[[END").next().unwrap_or_default();
    let says = |word: &str| candidate.contains(word);
    if says("broken") {
        return MockReply::text("I would rather not say.");
    }
    let mut reply = json!({ "evidence": [], "reason": "by rule", "pass": !says("bad"), "confidence": "high",
                            "uncertain": says("unsure") });
    if user.contains("\"applies\"") {
        reply["applies"] = (!says("not-for-me")).into();
    }
    if user.contains("\"critical_met\"") {
        reply["critical_met"] = (!says("bad")).into();
    }
    if user.contains("Give a score from 1 to 5.") {
        reply["score"] = if says("four") { 4 } else { 5 }.into();
    }
    MockReply::Json(reply)
}

/// A fixture with the scorecard in `card.yaml`, its prompts and these cases: id, tags, candidate output.
pub(crate) fn fixture(server: &MockServer, cases: &[(&str, &str, &str)]) -> CliTest {
    fixture_of(server, CARD, cases)
}

/// The same with another scorecard.
pub(crate) fn fixture_of(server: &MockServer, card: &str, cases: &[(&str, &str, &str)]) -> CliTest {
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_API_KEY", "sk-test-0123456789abcdef").env("OPENAI_BASE_URL", server.base_url());
    cli.file("C1_prompt.md", PROMPT).file("C2_prompt.md", PROMPT.replace("one-thing", "other-thing"));
    write_card(&cli, card, cases, &[]);
    cli
}

fn case_json((id, tags, output): &(&str, &str, &str)) -> Value {
    json!({
        "id": id,
        "tags": tags.split_whitespace().collect::<Vec<_>>(),
        "source_narrative": "the narrative",
        "ground_truth": "the truth",
        "candidate_output": output,
    })
}

/// Writes `card.yaml` with these cases and labels: trace, benchmark, outcome, reviewer.
pub(crate) fn write_card(
    cli: &CliTest,
    card: &str,
    cases: &[(&str, &str, &str)],
    labels: &[(&str, &str, &str, &str)],
) {
    let mut text = format!("{card}cases:\n");
    for case in cases {
        let _ = writeln!(text, "  - {}", case_json(case));
    }
    if !labels.is_empty() {
        text.push_str("labels:\n");
    }
    for (trace, benchmark, outcome, reviewer) in labels {
        let label = json!({ "trace_id": trace, "benchmark_code": benchmark, "outcome": outcome, "reviewer": reviewer });
        let _ = writeln!(text, "  - {label}");
    }
    cli.file("card.yaml", text);
}

/// The same scorecard and cases as a folder; returns its path.
pub(crate) fn as_folder(cli: &CliTest, cases: &[(&str, &str, &str)]) -> String {
    let (index, rest) = CARD.split_once("rubrics:\n").expect("there");
    let (rubrics, benchmarks) = rest.split_once("benchmarks:\n  - code").expect("there");
    cli.file("card/index.yaml", index.trim_start_matches("index: "));
    for (folder, list) in [("rubrics", rubrics.to_owned()), ("benchmarks", format!("  - code{benchmarks}"))] {
        for item in list.split("  - ").filter(|item| !item.trim().is_empty()) {
            let item = item.replace("\n    ", "\n");
            let code = item.lines().next().and_then(|line| line.strip_prefix("code: ")).expect("a code");
            cli.file(format!("card/{folder}/{code}.yaml"), &item);
        }
    }
    cli.file("card/C1_prompt.md", PROMPT)
        .file("card/C2_prompt.md", PROMPT.replace("one-thing", "other-thing"));
    let mut lines = String::new();
    for case in cases {
        let _ = writeln!(lines, "{}", case_json(case));
    }
    cli.file("card/cases/all.jsonl", lines);
    "card".to_owned()
}

/// The card with labels.
pub(crate) fn relabel(cli: &CliTest, cases: &[(&str, &str, &str)], labels: &[(&str, &str, &str, &str)]) {
    write_card(cli, CARD, cases, labels);
}

/// Runs `assize scorecard run card.yaml` with a judge on the server and additional arguments.
pub(crate) fn run(cli: &CliTest, more: &[&str]) -> CliOutput {
    let mut args = vec!["scorecard", "run", "card.yaml", "--judge", "openai:judge-1", "-q"];
    args.extend(more);
    cli.run(&args)
}

/// What `--json` printed.
pub(crate) fn printed(output: &CliOutput) -> Value {
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", output.stdout, output.stderr))
}

/// A node of the tree that `--json` printed.
pub(crate) fn node(printed: &Value, code: &str) -> Value {
    let nodes = printed.get("scorecard").unwrap_or(printed)["nodes"].as_array().expect("a list");
    nodes.iter().find(|node| node["code"] == code).expect("there").clone()
}

/// The rows of a JSONL file in the fixture.
pub(crate) fn rows(cli: &CliTest, file: &str) -> Vec<Value> {
    cli.read(file).lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// One case that only a person decides, and one for the hard gate, which is incomplete without any.
pub(crate) const READ: [(&str, &str, &str); 2] =
    [("p", "read", "Gave azithromycin."), ("g", "judged", "fine")];

/// A folder with a scorecard and these cases.
pub(crate) fn folder(server: &MockServer, cases: &[(&str, &str, &str)]) -> CliTest {
    let cli = fixture(server, cases);
    as_folder(&cli, cases);
    cli
}

/// Runs the scorecard into a folder of this name.
pub(crate) fn run_into(cli: &CliTest, out: &str) -> Value {
    printed(
        &cli.run(&[
            "scorecard", "run", "card", "--judge", "openai:judge-1", "-q", "--json", "--run-dir", out,
        ]),
    )
}
