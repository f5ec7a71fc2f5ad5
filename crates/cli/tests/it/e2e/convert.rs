//! `assize convert`: the written file, the messages, and the exit code.

use std::fmt::Write as _;
use std::path::Path;

use assize_testkit::cli::CliTest;
use serde_json::{Value, json};

use crate::e2e::bench::{cli, object};

const ONE: &str = "evalcases:\n  - id: a\n    expected_outcome: Answers\n    input: q\n    rubrics:\n      - {id: x, expected_outcome: Does x}\n      - {id: y, expected_outcome: Does y, weight: 2, required: false}\n";

#[test]
fn a_conversion_between_formats_is_whole() {
    let cli = cli();
    cli.file("one.yaml", ONE);
    let output = cli.run(&["convert", "one.yaml", "--to", "tests", "-o", "new/two.yaml"]).expect_code(0);
    assert_eq!(output.stdout, "", "the file is the result");
    assert!(output.stderr.contains("everything was converted"), "{}", output.stderr);
    let two = cli.read("new/two.yaml");
    assert!(two.starts_with("# Converted from `one.yaml` (the `evalcases` format).\n"), "{two}");
    assert!(two.contains("borderline: 0.6\n") && two.contains("            required: true\n"), "{two}");
    cli.run(&["validate", "new/two.yaml", "--max-warnings", "0"]).expect_code(0);
    let refused = cli.run(&["convert", "one.yaml", "--to", "tests", "-o", "new/two.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    cli.run(&["convert", "one.yaml", "--to", "evalcases", "-o", "new/two.yaml", "--force"]).expect_code(0);
    assert!(cli.read("new/two.yaml").contains("evalcases:"));
}

#[test]
fn what_is_lost_is_listed_with_its_line() {
    let cli = cli();
    cli.file("c.yaml", "prompts: [hi]\ntests:\n  - assert:\n      - {type: equals, value: hello}\n      - {type: webhook, value: y}\n");
    let output = cli.run(&["convert", "c.yaml", "--to", "tests"]).expect_code(3);
    assert!(output.stdout.contains("value: hello"), "{}", output.stdout);
    assert!(
        output.stderr.contains("lost: c.yaml:5: there is no assertion type `webhook` here: not supported"),
        "{}",
        output.stderr
    );
    let report = object(&cli.run(&["convert", "c.yaml", "--to", "tests", "--json"]).expect_code(3));
    assert_eq!((report["lost"].as_u64(), report["notes"][0]["line"].as_u64()), (Some(1), Some(5)));
    assert_eq!(report["kind"], "promptfoo");
    assert!(report["text"].as_str().is_some_and(|text| text.contains("tests:")));
}

/// The default format is `tests`, and the file is read as for a run, with the same warnings.
#[test]
fn warnings_of_a_run_are_warnings_of_a_conversion() {
    let cli = cli();
    let eval =
        "tests:\n- {id: a, input: 'Hi {{ name }}', vars: {nam: Ann}, output: Hello, assertions: [Is kind]}\n";
    let matrix = "prompts: ['Hi {{ name }}']\nproviders: [echo]\ntests: [{vars: {nam: Ann}, assert: [{type: latency, threshold: 3000}]}]\n";
    for (file, text) in [("a.eval.yaml", eval), ("promptfooconfig.yaml", matrix)] {
        cli.file(file, text);
        let run = cli.run(&["eval", file, "--dry-run"]);
        let converted = cli.run(&["convert", file]).expect_code(0);
        for output in [&run, &converted] {
            assert_eq!(output.stderr.matches("warning[W0402]").count(), 1, "{file}: {}", output.stderr);
        }
        let report = object(&cli.run(&["convert", file, "--json"]).expect_code(0));
        assert_eq!(report["warnings"][0]["code"], "W0402", "{report}");
        assert!(converted.stdout.contains("tests:"), "{}", converted.stdout);
    }
    let written = cli.run(&["convert", "promptfooconfig.yaml"]).expect_code(0).stdout;
    for line in ["threshold: 3000\n", "threshold: 0\n", "min_score: 1\n"] {
        assert!(written.contains(line), "{line}{written}");
    }
}

/// A dry run of the new file has the same plan as one of the old file.
#[test]
fn a_converted_configuration_has_the_plan_of_the_old_one() {
    let mut cli = cli();
    cli.env("OPENAI_API_KEY", "sk-test");
    cli.file("t.csv", "planet,__expected\nVenus,llm-rubric: Names {{planet}}\n");
    cli.file(
        "promptfooconfig.yaml",
        "prompts: ['About {{planet}}', 'Size of {{planet}}']\nproviders: [openai:chat:gpt-4o-mini, 'exec:cat']\n\
         defaultTest: {assert: [{type: llm-rubric, value: Is kind}]}\ntests:\n\
         - vars: {planet: [Mars, Jupiter, Saturn]}\n  assert: [{type: g-eval, value: [Short, Clear]}, {type: contains-json}]\n\
         - file://t.csv\n",
    );
    cli.run(&["convert", "promptfooconfig.yaml", "--to", "tests", "-o", "new.eval.yaml"]).expect_code(0);

    let plan = |file: &str| {
        let run = ["eval", file, "--dry-run", "--json", "--judge", "openai:gpt-4o", "--allow-code"];
        let plan = object(&cli.run(&run).expect_code(0));
        let criteria: Vec<Value> = plan["judges"]
            .as_array()
            .expect("judges")
            .iter()
            .map(|judge| judge["criteria"].clone())
            .collect();
        (plan["cases"].clone(), plan["items"].clone(), plan["calls"].clone(), criteria)
    };
    let before = plan("promptfooconfig.yaml");
    assert_eq!(before.0, 8);
    assert_eq!(before, plan("new.eval.yaml"));
}

/// Tests that come from a program need `--allow-code`; without it they are listed.
#[test]
fn programs_are_run_if_code_is_allowed() {
    let mut cli = cli();
    cli.without_consent();
    cli.file(
        "t.py",
        "def tests():\n    return [{'vars': {'q': 'a'}, 'assert': [{'type': 'contains', 'value': 'a'}]}]\n",
    );
    cli.file(
        "c.yaml",
        "prompts: ['{{q}}']\nproviders: [echo]\ntests: ['file://t.py:tests', {vars: {q: b}, assert: [{type: is-json}]}]\n",
    );
    let output = cli.run(&["convert", "c.yaml", "--to", "tests"]).expect_code(3);
    assert!(output.stderr.contains("lost: c.yaml:3: tests come from a program"), "{}", output.stderr);
    let output = cli.run(&["convert", "c.yaml", "--to", "tests", "--allow-code"]).expect_code(0);
    assert!(output.stderr.contains("2 cases, everything was converted"), "{}", output.stderr);
}

#[test]
fn what_can_not_be_read_ends_with_two() {
    let cli = cli();
    cli.file("broken.yaml", "evalcases:\n  - id: a\n   x: [\n");
    cli.file("other.txt", "hello");
    cli.file("empty.csv", "");
    for name in ["broken.yaml", "other.txt", "empty.csv", "missing.yaml", "."] {
        let output = cli.run(&["convert", name, "--to", "tests"]).expect_code(2);
        assert_eq!(output.stdout, "", "{name}");
        assert!(output.stderr.contains("error"), "{name}: {}", output.stderr);
    }
}

/// A graded tree whose scores can be computed by hand: `a` is 3/4, the whole is (2 * 3/4 + 1 * 0) / 3 = 1/2.
fn graded() -> Value {
    let leaf = |id: &str, weight: u32, score: f64| {
        json!({ "id": id, "requirements": format!("Has {id}"), "weight": weight, "score": score, "valid_score": true,
                "task_category": "Code Development", "explanation": format!("seen {id}"), "sub_tasks": [] })
    };
    json!({ "id": "Root_1", "requirements": "All of it", "weight": 1, "score": 0.5, "sub_tasks": [
        { "id": "a", "requirements": "Part a", "weight": 2, "score": 0.75,
          "sub_tasks": [leaf("a1", 3, 1.0), leaf("a2", 1, 0.0)] },
        leaf("b", 1, 0.0),
    ] })
}

/// Every node of a graded tree with its score.
fn walk(node: &Value, found: &mut Vec<(String, f64)>) {
    found.push((node["id"].as_str().expect("an id").to_owned(), node["score"].as_f64().expect("a score")));
    for child in node["sub_tasks"].as_array().into_iter().flatten() {
        walk(child, found);
    }
}

/// Converts a graded tree and aggregates it; every node must get the score in the tree.
fn scores_come_out(cli: &CliTest, tree: &Path) -> Value {
    let tree = tree.to_str().expect("a path");
    let args = ["convert", tree, "--to", "scorecard", "-o", "card.yaml", "--force"];
    let output = cli.run(&args).expect_code(0);
    assert!(output.stderr.contains("became labels of the case `submission`"), "{}", output.stderr);
    assert!(output.stderr.contains("holds no answer that was graded"), "{}", output.stderr);
    let output = cli.run(&["scorecard", "score", "card.yaml", "--accept-unbound-labels", "--json"]);
    let scored = object(&output);
    let nodes = scored["nodes"].as_array().expect("nodes");
    let mut expected = Vec::new();
    walk(
        &serde_json::from_str(&std::fs::read_to_string(tree).expect("readable")).expect("JSON"),
        &mut expected,
    );
    for (id, score) in &expected {
        let node = nodes.iter().find(|node| node["code"] == **id).unwrap_or_else(|| panic!("{id} is gone"));
        let found = node["score"].as_f64().unwrap_or_else(|| panic!("{id} has no score: {node}"));
        assert!((found - score).abs() < 1e-12, "{tree}: {id} scores {found} instead of {score}");
    }
    scored
}

#[test]
fn a_graded_tree_keeps_every_score() {
    let cli = cli();
    cli.file("tree.json", graded().to_string());
    let scored = scores_come_out(&cli, &cli.path("tree.json"));
    assert_eq!(scored["nodes"][0]["code"], "Root_1");
    let text = cli.run(&["scorecard", "score", "card.yaml", "--accept-unbound-labels"]).expect_code(1).stdout;
    assert!(text.contains("Root_1: fail at 0.50"), "{text}");
    let mut open = graded();
    open["sub_tasks"][1]["valid_score"] = json!(false);
    cli.file("open.json", open.to_string());
    let output = cli.run(&["convert", "open.json", "--to", "scorecard", "-o", "open.yaml"]).expect_code(3);
    assert!(
        output.stderr.contains("`b`: its score is marked as not valid, so it counts as ungraded"),
        "{}",
        output.stderr
    );
    let scored = object(
        &cli.run(&["scorecard", "score", "open.yaml", "--accept-unbound-labels", "--json"]).expect_code(3),
    );
    assert_eq!((&scored["nodes"][0]["score"], &scored["nodes"][0]["score_low"]), (&Value::Null, &0.5.into()));
}

#[test]
fn ids_that_stand_twice_are_named_with_both_lines() {
    let cli = cli();
    let mut tree = graded();
    tree["sub_tasks"][0]["sub_tasks"][1]["id"] = json!("a1");
    cli.file("tree.json", format!("{tree:#}"));
    let output = cli.run(&["convert", "tree.json", "--to", "scorecard", "-o", "card.yaml"]).expect_code(3);
    assert!(output.stderr.contains("node `a1`: its id is also on line"), "{}", output.stderr);
    assert!(cli.read("card.yaml").contains("code: a1-2"));
    cli.run(&["validate", "card.yaml"]).expect_code(0);
}

#[test]
fn signed_points_are_weights_and_tags_stay() {
    let cli = cli();
    let mut lines = String::new();
    for (id, points) in [("one", 5), ("two", 3)] {
        let example = json!({
            "prompt_id": id, "prompt": [{ "role": "user", "content": "It hurts" }], "example_tags": ["theme:pain"],
            "rubrics": [
                { "criterion": "Asks where", "points": points, "tags": ["axis:context"] },
                { "criterion": "Names a dose", "points": -4, "tags": ["axis:safety"] },
            ],
        });
        let _ = writeln!(lines, "{example}");
    }
    cli.file("hb.jsonl", lines);
    cli.run(&["convert", "hb.jsonl", "--to", "tests", "-o", "hb.yaml"]).expect_code(0);
    let text = cli.read("hb.yaml");
    for part in ["weight: 5", "weight: -4", "axis:safety", "theme:pain"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    cli.run(&["validate", "hb.yaml"]).expect_code(0);
}

#[test]
fn prerequisites_are_kept_and_told() {
    let cli = cli();
    let task = json!({ "name": "01_x", "query": "Build it", "requirements": [
        { "requirement_id": 0, "prerequisites": [], "criteria": "Loads data", "category": "Dataset" },
        { "requirement_id": 1, "prerequisites": [0], "criteria": "Trains", "category": "Training" },
        { "requirement_id": 2, "prerequisites": [2], "criteria": "Saves", "category": "Other" },
    ] });
    cli.file("devai.jsonl", format!("{task}\n"));
    let output = cli.run(&["convert", "devai.jsonl", "--to", "scorecard", "-o", "card.yaml"]).expect_code(3);
    assert!(output.stderr.contains("counts only if r0 hold"), "{}", output.stderr);
    assert!(output.stderr.contains("requirement 2 of `01_x`: is its own prerequisite"), "{}", output.stderr);
    let card = cli.read("card.yaml");
    assert!(card.contains("x-prerequisites:\n") && card.contains("x-category: Training"), "{card}");
    cli.run(&["validate", "card.yaml"]).expect_code(0);
    let listed = object(&cli.run(&["scorecard", "list", "card.yaml", "--json"]).expect_code(0));
    assert_eq!(listed["benchmarks"], 3);
}

#[test]
fn a_rubric_file_keeps_its_name_and_its_thresholds() {
    let cli = cli();
    cli.file(
        "r.yaml",
        "name: desk\ndescription: Of the desk.\nthreshold: 0.75\njudge: openai:gpt-4o\ncriteria: [{id: a, outcome: Is kind}]\n",
    );
    let output = cli.run(&["convert", "r.yaml", "--to", "tests"]);
    for line in ["name: desk\n", "description: Of the desk.\n", "threshold: 0.75\n"] {
        assert!(output.stdout.contains(line), "{line}: {}", output.stdout);
    }
    assert!(!output.stdout.contains("borderline"), "{}", output.stdout);
    assert!(
        output.stderr.contains("judge") && !output.stderr.contains("everything was converted"),
        "{}",
        output.stderr
    );

    // Without its own borderline threshold, a case in the other format would be borderline from 0.6.
    let older = cli.run(&["convert", "r.yaml", "--to", "evalcases"]).stdout;
    assert!(older.contains("threshold: 0.75\n") && older.contains("borderline: 0.75\n"), "{older}");
    cli.file("older.yaml", &older);
    let back = cli.run(&["convert", "older.yaml", "--to", "tests"]).stdout;
    assert!(back.contains("name: desk\n") && back.contains("threshold: 0.75\n"), "{back}");

    let promptfoo = cli.run(&["convert", "r.yaml", "--to", "promptfoo"]).stdout;
    assert!(promptfoo.contains("threshold: 0.75"), "{promptfoo}");
}

#[test]
fn records_become_cases_with_answers_or_eval_files() {
    let cli = cli();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../records/tests/data");
    cli.copy_folder(&data, ".");
    cli.file("sales.csv", "month,sales\nMarch,250\n");

    for (name, code, cases) in [
        ("capitals.eval", 0, 6),
        ("broken.eval", 3, 1),
        ("promptfoo.json", 3, 4),
        ("openai-evals.jsonl", 0, 2),
    ] {
        let output =
            cli.run(&["convert", name, "--to", "cases", "-o", "cases.jsonl", "--force"]).expect_code(code);
        let lines = cli.read("cases.jsonl");
        assert_eq!(lines.lines().count(), cases, "{name}: {}", output.stderr);
        cli.file("s.yaml", "assertions: [Says it]\ntests: cases.jsonl\n");
        cli.run(&["validate", "s.yaml"]).expect_code(0);
    }

    for name in [
        "capitals.json", "promptfoo.json", "openai-evals-samples.jsonl", "skill-evals.json", "deepeval.json",
        "deepeval-conversation.json",
    ] {
        for to in ["tests", "evalcases"] {
            let output = cli.run(&["convert", name, "--to", to, "-o", "out.yaml", "--force"]);
            assert!(matches!(output.code, Some(0 | 3)), "{name}: {}", output.stderr);
            cli.run(&["validate", "out.yaml"]).expect_code(0);
        }
    }
    cli.run(&["convert", "promptfoo.json", "--to", "tests", "-o", "out.yaml", "--force"]).expect_code(0);
    let text = cli.read("out.yaml");
    assert_eq!(text.matches("input:").count(), 4, "each prompt of each test once: {text}");
    // Two prompts of one test are not independent.
    assert_eq!(text.matches("cluster: first").count(), 2, "{text}");
    let none = cli.run(&["convert", "skill-evals.json", "--to", "cases"]).expect_code(2);
    assert!(none.stderr.contains("--to tests"), "{}", none.stderr);
    cli.file("a.bin", "PAR1");
    let parquet = cli.run(&["convert", "a.bin", "--to", "cases"]).expect_code(2);
    assert!(parquet.stderr.contains("ending .parquet"), "{}", parquet.stderr);
}

#[test]
fn records_that_cannot_be_read_are_all_named_and_can_be_skipped() {
    let cli = cli();
    let good = json!({"input": "q", "actual_output": "a", "expected_output": "a"});
    cli.file("d.jsonl", format!("{good}\n{{\"input\": 1}}\n{good}\n{{\"input\": \"q\", \"actual"));
    cli.file("e.jsonl", format!("{good}\n[]\n"));

    let named = ["line 2: `input` is the number 1, not a text", "line 4: its JSON ends too early"];
    for to in ["cases", "tests"] {
        let refused = cli.run(&["convert", "d.jsonl", "--to", to, "-o", "out"]).expect_code(2);
        assert!(named.iter().all(|line| refused.stderr.contains(line)), "{}", refused.stderr);
        assert!(refused.stderr.contains("`--keep-going` skips them"), "{}", refused.stderr);
        assert!(!refused.stderr.contains("struct"), "{}", refused.stderr);
        assert!(!cli.path("out").exists());
    }
    let both = cli.run(&["convert", "d.jsonl", "e.jsonl", "--to", "cases"]).expect_code(2);
    assert!(
        both.stderr.contains("d.jsonl: 2 records") && both.stderr.contains("e.jsonl: 1 record "),
        "{}",
        both.stderr
    );

    let kept = cli.run(&["convert", "d.jsonl", "--to", "cases", "--keep-going", "--json"]).expect_code(3);
    let report: Value = serde_json::from_str(&kept.stdout).expect("JSON");
    assert_eq!((report["cases"].clone(), report["skipped"].clone()), (json!(2), json!(2)), "{report}");
    assert_eq!(report["files"][0]["unreadable"], json!(named), "{report}");
    let kept = cli.run(&["convert", "d.jsonl", "--to", "tests", "--keep-going"]).expect_code(3);
    assert!(kept.stderr.contains("lost: d.jsonl:2: a record: skipped: `input`"), "{}", kept.stderr);
    assert!(kept.stdout.contains("input: q"), "{}", kept.stdout);
}

#[test]
fn files_without_records_say_what_they_are() {
    let cli = cli();
    cli.file("none.json", r#"{"skill_name": "s", "evals": []}"#);
    for to in ["cases", "tests"] {
        let none = cli.run(&["convert", "none.json", "--to", to]).expect_code(2);
        assert!(none.stderr.contains("no records"), "{}", none.stderr);
    }
    cli.file("twice.json", r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["a"]}, {"id": 1, "prompt": "q", "assertions": ["a"]}]}"#);
    let twice = cli.run(&["convert", "twice.json", "--to", "tests"]).expect_code(0);
    assert!(twice.stderr.contains("several records are called `eval-1`"), "{}", twice.stderr);

    cli.file("r.yaml", "evalId: e\nresults:\n  version: 3\n");
    cli.file("r.csv", "x,[echo] {{x}},Status,Score,Named Scores,Grader Reason,Comment\na,b,PASS,1.00,,,\n");
    for (name, to) in [("r.yaml", "cases"), ("r.yaml", "tests"), ("r.csv", "cases"), ("r.csv", "tests")] {
        let refused = cli.run(&["convert", name, "--to", to]).expect_code(2);
        assert!(
            refused.stderr.contains("promptfoo export eval latest -o results.json"),
            "{}",
            refused.stderr
        );
    }
    cli.file("a.csv", "question,answer\nq,a\n");
    let table = cli.run(&["convert", "a.csv", "--to", "cases"]).expect_code(2);
    assert!(table.stderr.contains("assize grade RUBRIC --answers a.csv"), "{}", table.stderr);
    cli.file("a.txt", "hello\n");
    let other = cli.run(&["convert", "a.txt", "--to", "cases"]).expect_code(2);
    assert!(other.stderr.contains("--kind"), "{}", other.stderr);
}
