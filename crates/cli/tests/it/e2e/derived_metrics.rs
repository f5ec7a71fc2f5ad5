//! `derivedMetrics`: computed from stored scores for each target and prompt.

use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Value, json};

use crate::e2e::bench::{cli, info, rows, with_server};

const CONFIG: &str = "
prompts: ['{{text}}', {label: loud, raw: 'X{{text}}'}]
providers: [echo]
derivedMetrics:
  - {name: precision, value: tp / (tp + fp)}
  - {name: recall, value: tp / (tp + fn)}
  - {name: f1, value: 2 * precision * recall / (precision + recall)}
  - {name: length, value: len / __count}
  - {name: none, value: 'absent > 0 ? 1 : 2'}
  - {name: after, value: none + 1}
  - {name: zero, value: tp / (tp - tp)}
defaultTest:
  assert:
    - {type: javascript, value: \"output.includes('a')\", metric: tp, weight: 0}
    - {type: javascript, value: \"output.startsWith('X')\", metric: fp}
    - {type: contains, value: z, metric: fn}
    - type: assert-set
      threshold: 0.1
      weight: 2
      assert:
        - {type: javascript, value: output.length / 10, metric: len, weight: 0.5}
        - {type: contains, value: b}
tests: [{vars: {text: abc}}, {vars: {text: za}}, {vars: {text: qqq}}]
";

fn derived(info: &Value) -> Vec<(String, String, Value)> {
    let all = info["summary"]["metrics"]["derived"].as_array().expect("derived metrics");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter().map(|one| (text(&one["prompt"]), text(&one["name"]), one["value"].clone())).collect()
}

#[test]
fn metrics_are_derived_for_each_prompt_from_what_is_stored() {
    let cli = cli();
    cli.file("c.yaml", CONFIG);
    let output = cli.run(&["eval", "c.yaml", "--run-dir", "run"]).expect_code(1);
    assert!(output.stderr.contains("scores of weight 0 count in derived metrics: `tp`"), "{}", output.stderr);
    assert!(output.stderr.contains("no assertion has the metric `absent`"), "{}", output.stderr);

    // By hand: `loud` has fp 3, tp 2, fn 1, len 0.4 + 0.3 + 0.4; the other one 0, 2, 1, 0.8. The set has half
    // the weight, doubled.
    let found = derived(&info(&cli, "run"));
    let value = |prompt: &str, name: &str| {
        found.iter().find(|one| one.0 == prompt && one.1 == name).expect("derived").2.clone()
    };
    let near = |prompt: &str, name: &str, expected: f64| {
        let found = value(prompt, name).as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-12, "{prompt} {name}: {found}");
    };
    near("loud", "precision", 2.0 / 5.0);
    near("loud", "f1", 0.5);
    near("loud", "length", 1.1 / 3.0);
    near("prompt 1", "precision", 1.0);
    near("prompt 1", "f1", 0.8);
    near("prompt 1", "length", 0.8 / 3.0);
    for name in ["none", "after", "zero"] {
        assert_eq!(value("loud", name), Value::Null, "{name} is undefined, and no number");
    }
    for (name, reason) in [
        ("none", "no result has the metric `absent`"),
        ("after", "`none` is undefined"),
        ("zero", "divides by zero"),
    ] {
        let line = output.stdout.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
        assert!(line.contains("undefined") && line.contains(reason), "{line}");
    }

    // A report computes them again, from all rows or from the rows of one target.
    let report = cli.run(&["report", "run"]);
    assert!(report.stdout.contains("f1") && report.stdout.contains("echo · loud"), "{}", report.stdout);
    cli.run(&["report", "run", "--out", "run.html"]);
    let page = cli.read("run.html");
    assert!(page.contains("Derived metrics") && page.contains("2 * precision * recall"), "{page}");
    cli.run(&["report", "run", "--out", "run.json"]);
    let json: Value = serde_json::from_str(&cli.read("run.json")).expect("JSON");
    assert_eq!(json["metrics"]["derived"], info(&cli, "run")["summary"]["metrics"]["derived"]);

    // Resumed runs use the formulas in the current file.
    cli.file("c.yaml", CONFIG.replace("tp / (tp + fp)", "10 * tp / (tp + fp)"));
    let resumed = cli.run(&["eval", "c.yaml", "--resume", "run"]).expect_code(1);
    assert!(!resumed.stderr.contains("rerun"), "{}", resumed.stderr);
    let again = derived(&info(&cli, "run"));
    assert_eq!(
        again.iter().find(|one| one.0 == "loud" && one.1 == "precision").expect("derived").2,
        json!(4.0)
    );
}

#[test]
fn an_ungraded_score_leaves_bounds_and_no_value() {
    let (cli, _server) = with_server(|request: &MockRequest| {
        if request.last_user_text.contains("kaputt") {
            MockReply::status(400, "no")
        } else {
            MockReply::Json(json!({"evidence": [], "reason": "by rule", "outcome": "met"}))
        }
    });
    cli.file(
        "c.yaml",
        "prompts: ['{{text}}']
providers: [echo]
derivedMetrics: [{name: share, value: polite / __count}, {name: inverse, value: 1 / (polite - 1)}]
defaultTest: {assert: [{type: llm-rubric, value: Is polite, metric: polite}]}
tests: [{vars: {text: hello}}, {vars: {text: kaputt}}]
",
    );
    cli.run(&["eval", "c.yaml", "--judge", "openai:gpt-5-mini", "--run-dir", "run"]);
    let scores: Vec<Value> = rows(&cli, "run").into_iter().map(|row| row["metrics"][0].clone()).collect();
    assert!(scores.iter().any(|score| score["score"] == json!(1.0)), "{scores:?}");
    assert!(scores.iter().any(|score| score["score"].is_null() && score["bounds"] == json!([0.0, 1.0])));

    let info = info(&cli, "run");
    let [share, inverse] = [0, 1].map(|at| &info["summary"]["metrics"]["derived"][at]);
    assert_eq!((&share["value"], &share["bounds"]), (&Value::Null, &json!([0.5, 1.0])));
    assert_eq!(share["undefined"], "1 of 2 scores of `polite` is ungraded");
    assert_eq!(
        (&inverse["value"], &inverse["bounds"]),
        (&Value::Null, &Value::Null),
        "a division by what may be 0"
    );
}

#[test]
fn mistakes_in_derived_metrics_are_located() {
    let cli = cli();
    let config = CONFIG
        .replace("tp / (tp + fp)", "tp / (tp + ")
        .replace("len / __count", "'file://mean.js'")
        .replace("'absent > 0 ? 1 : 2'", "std(tp)")
        .replace("{name: after, value: none + 1}", "{value: 1}")
        .replace(", value: tp / (tp - tp)}", "}");
    cli.file("c.yaml", config);
    let output = cli.run(&["validate", "c.yaml"]).expect_code(2);
    for (place, words) in [
        ("c.yaml:5:30", "it ends too early"),
        ("c.yaml:8:27", "a derived metric can't come from a file"),
        ("c.yaml:9:25", "`std` is not a known function"),
        ("c.yaml:10:6", "a derived metric has no name"),
        ("c.yaml:11:6", "a derived metric has no `value`"),
    ] {
        assert!(output.stdout.contains(place) && output.stdout.contains(words), "{place}: {}", output.stdout);
    }
}
