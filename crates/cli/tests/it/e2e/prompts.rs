//! Files with several prompts: ids of rows, comparisons of prompts, and counts of tests.

use assize_testkit::cli::CliTest;
use serde_json::{Value, json};

use crate::e2e::bench::{cli, info, object, rows};

const FILE: &str = "promptfooconfig.yaml";

/// Two prompts for three tests; `polite` passes one more. Two tests have the same description.
fn prompts() -> CliTest {
    let cli = cli();
    cli.file(
        FILE,
        "prompts:\n\
         - {label: terse, raw: 'Say {{ q }}'}\n\
         - {label: polite, raw: 'Please say {{ q }}'}\n\
         providers: [echo]\n\
         tests:\n\
         - {description: greets, vars: {q: hello}, assert: [{type: contains, value: hello}]}\n\
         - {description: greets, vars: {q: bye}, assert: [{type: icontains, value: please}]}\n\
         - {description: asks, vars: {q: [one, two]}, assert: [{type: icontains, value: please}]}\n",
    );
    cli
}

fn names(rows: &[Value]) -> Vec<[&str; 3]> {
    rows.iter().map(|row| ["case_id", "test", "prompt"].map(|key| row[key].as_str().unwrap_or("-"))).collect()
}

#[test]
fn a_row_names_its_test_and_its_prompt() {
    let cli = prompts();
    let run = cli.run(&["eval", FILE, "--run-dir", "run"]).expect_code(1);
    let stored = rows(&cli, "run");
    assert_eq!(
        names(&stored),
        [
            ["asks/vars-1/prompt-1", "asks/vars-1", "terse"],
            ["asks/vars-1/prompt-2", "asks/vars-1", "polite"],
            ["asks/vars-2/prompt-1", "asks/vars-2", "terse"],
            ["asks/vars-2/prompt-2", "asks/vars-2", "polite"],
            ["greets-2/prompt-1", "greets-2", "terse"],
            ["greets-2/prompt-2", "greets-2", "polite"],
            ["greets/prompt-1", "greets", "terse"],
            ["greets/prompt-2", "greets", "polite"],
        ]
    );

    assert!(run.stdout.contains("✗ fail   0.000  greets-2     terse "), "{}", run.stdout);
    let table: Vec<&str> =
        run.stdout.lines().skip_while(|line| !line.starts_with("  prompt ")).take(3).collect();
    assert!(table[1].starts_with("  polite       4") && table[1].contains("100.0%"), "{table:?}");
    assert!(table[2].starts_with("  terse        1") && table[2].ends_with("$0"), "{table:?}");

    cli.run(&["report", "run", "--out", "r.csv", "--out", "r.md", "--out", "r.html", "--out", "r.xml"])
        .expect_code(0);
    let csv = cli.read("r.csv");
    assert!(csv.starts_with("run,suite,case,prompt,target,"), "{csv}");
    assert!(csv.contains(",promptfooconfig,greets-2,terse,echo,1,fail,"), "{csv}");
    let markdown = cli.read("r.md");
    assert!(markdown.contains("| greets-2 → echo | terse | ✗ fail |"), "{markdown}");
    assert!(markdown.contains("| polite | **100.0%** |"), "{markdown}");
    let page = cli.read("r.html");
    assert!(page.contains("<h2>By prompt</h2>") && page.contains("prompt terse"), "{page}");
    assert!(cli.read("r.xml").contains("name=\"greets-2 [terse]\""));

    let figures = info(&cli, "run")["summary"]["metrics"].clone();
    let by_prompt = figures["prompts"].as_array().expect("a list");
    assert_eq!(by_prompt.len(), 2, "{figures}");
    assert_eq!((&by_prompt[0]["prompt"], &by_prompt[0]["cost_usd"]), (&json!("polite"), &json!(0.0)));

    let explained = cli.run(&["explain", "run", "greets-2"]).expect_code(0).stdout;
    assert!(explained.contains("greets-2 [terse]") && explained.contains("greets-2 [polite]"), "{explained}");
}

#[test]
fn two_prompts_of_a_run_are_compared_test_by_test() {
    let cli = prompts();
    cli.run(&["eval", FILE, "--run-dir", "run"]).expect_code(1);
    let found = object(&cli.run(&["compare", "run@terse", "run@polite", "--json"]).expect_code(0));
    let found = &found["comparisons"][0];
    assert_eq!(found["common"], 4, "{found}");
    assert_eq!(found["mismatches"], json!([]), "another prompt is another question on purpose: {found}");
    let improved: Vec<&str> = found["improvements"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|flip| flip["case_id"].as_str().expect("a test"))
        .collect();
    assert_eq!(improved, ["asks/vars-1", "asks/vars-2", "greets-2"], "{found}");
    assert_eq!(found["improvements"][0]["criteria"][0]["base_reason"], "not found in the answer");

    // A file with only one of the prompts has the same tests.
    let only = cli.read(FILE).replace("- {label: terse, raw: 'Say {{ q }}'}\n", "");
    cli.file("one/promptfooconfig.yaml", only);
    cli.run(&["eval", "one/promptfooconfig.yaml", "--run-dir", "other"]).expect_code(0);
    let found = object(&cli.run(&["compare", "run@polite", "other", "--json"]).expect_code(0));
    assert_eq!(found["comparisons"][0]["common"], 4, "{found}");

    cli.run(&["report", "run@polite", "--baseline", "run@terse", "--out", "baseline.md"]).expect_code(0);
    assert!(cli.read("baseline.md").contains("greets-2"), "{}", cli.read("baseline.md"));

    for (runs, told) in [
        (
            ["run@tense", "run@polite"],
            "`run` has no answers from target or prompt `tense`; its only target is `echo`, its prompts are `polite`, `terse`",
        ),
        (["run", "other@polite"], "`other` has no answers from target `polite`; its only target is `echo`"),
        (
            ["run@terse", "run"],
            "`run` has answers to several prompts; name one of them: `run@polite`, `run@terse`",
        ),
    ] {
        let refused = cli.run(&["compare", runs[0], runs[1]]).expect_code(2).stderr;
        assert!(refused.contains(told), "{refused}");
    }
    let refused = cli.run(&["compare", "pairwise", "run@terse", "run@polite"]).expect_code(2).stderr;
    assert!(refused.contains("`run@terse` selects a prompt"), "{refused}");
}

#[test]
fn prompts_and_targets_are_selected_together() {
    let cli = prompts();
    let two = cli.read(FILE).replace("[echo]", "[echo, {id: echo, label: 'x@y'}]");
    cli.file(FILE, two);
    cli.run(&["eval", FILE, "--run-dir", "run"]).expect_code(1);
    for wanted in ["run@terse@x@y", "run@x@y@terse"] {
        let found = object(&cli.run(&["compare", wanted, "run@echo@polite", "--json"]).expect_code(0));
        assert_eq!(found["comparisons"][0]["common"], 4, "{wanted}: {found}");
    }
    let refused = cli.run(&["compare", "run@terse", "run@polite"]).expect_code(2).stderr;
    assert!(refused.contains("of several targets"), "{refused}");
}

/// Prompts, targets and trials of a test are one cluster, wherever cases are counted.
#[test]
fn a_test_is_one_cluster_whatever_it_is_run_with() {
    let cli = prompts();
    let two = cli.read(FILE).replace("[echo]", "[echo, {id: echo, label: other}]");
    cli.file(FILE, two);
    let run = cli.run(&["eval", FILE, "--trials", "2", "--run-dir", "run"]).expect_code(1).stdout;
    assert!(run.contains("over 4 clusters"), "{run}");
    let judged = object(&cli.run(&["eval", FILE, "--trials", "2", "--json"]).expect_code(1));
    assert_eq!(judged["metrics"]["pass_rate"]["clusters"], 4, "{judged}");

    // The same answers, as promptfoo writes them.
    let results: Vec<Value> = rows(&cli, "run")
        .iter()
        .filter(|row| row["repeat"] == 1)
        .map(|row| {
            json!({
                "provider": {"id": row["target"]}, "prompt": {"raw": "p", "label": row["prompt"]},
                "vars": {"q": row["test"]}, "testCase": {"description": row["test"], "vars": {"q": row["test"]}},
                "response": {"output": row["answer"]}, "success": true, "score": 1,
            })
        })
        .collect();
    let file =
        json!({"evalId": "e", "results": {"version": 3, "results": results, "stats": {}}, "config": {}});
    cli.file("out.json", file.to_string());
    cli.file("rubric.yaml", "criteria: ['Mentions \"please\"']\n");
    let graded = cli.run(&["grade", "rubric.yaml", "--answers", "out.json"]).expect_code(1).stdout;
    assert!(graded.contains("16 cases") && graded.contains("over 4 clusters"), "{graded}");
}
