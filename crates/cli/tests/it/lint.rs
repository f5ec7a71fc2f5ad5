//! `assize lint` through the binary: findings, formats, exit codes, comments, fixes.

use assize_testkit::cli::CliTest;

const BINARY: &str = env!("CARGO_BIN_EXE_assize");

const FOUND: &str = "\
# Support answers.
tests:
  - id: late-parcel          # from a real ticket
    input: \"Where is my parcel?\"
    assertions:
      - type: rubrics
        criteria:
          - outcome: 'Does not fail to name the carrier'
            weight: 2
          - Does the answer mention Thursday?

          - id: voucher
            outcome: Offers a refund and/or a voucher
";

fn project(text: &str) -> CliTest {
    let test = CliTest::new(BINARY);
    test.file("a.eval.yaml", text);
    test
}

#[test]
fn findings_are_drawn_and_only_strict_fails() {
    let test = project(FOUND);
    let output = test.run(&["lint", "a.eval.yaml"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    for words in
        ["L0104", "L0105", "L0111", "a.eval.yaml:8", "\"and/or\" can be read both ways", "1 file: 3 findings"]
    {
        assert!(output.stdout.contains(words), "{words}: {}", output.stdout);
    }
    assert_eq!(test.run(&["lint", "a.eval.yaml", "--strict"]).code, Some(1));
    let clean = project("tests:\n  - {id: late-parcel, input: a, assertions: [Names the carrier]}\n");
    let output = clean.run(&["lint", "a.eval.yaml", "--strict"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "1 file: no findings\n"));
}

#[test]
fn rules_are_chosen_by_code_or_name() {
    let test = project(FOUND);
    let only = test.run(&["lint", "a.eval.yaml", "--only", "double-negative", "--strict"]).expect_code(1);
    assert!(only.stdout.contains("L0104") && only.stdout.ends_with("1 file: 1 finding\n"), "{}", only.stdout);
    let skip = test.run(&["lint", "a.eval.yaml", "--skip", "L0104", "--skip", "l0105"]).expect_code(0);
    assert!(skip.stdout.contains("L0111") && skip.stdout.ends_with("1 file: 1 finding\n"), "{}", skip.stdout);
    let wrong = test.run(&["lint", "a.eval.yaml", "--skip", "double-negatives"]).expect_code(2);
    assert!(wrong.stderr.contains("did you mean `double-negative`?"), "{}", wrong.stderr);
    test.run(&["lint", "a.eval.yaml", "--only", "L0105", "--fix"]).expect_code(0);
    assert!(test.read("a.eval.yaml").contains("Does not fail to name"), "only the chosen rule is put right");
}

#[test]
fn fixes_change_nothing_else() {
    let test = project(FOUND);
    let output = test.run(&["lint", "a.eval.yaml", "--fix"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(output.stdout.ends_with("1 file: 1 finding, 2 changes made\n"), "{}", output.stdout);
    let expected = FOUND
        .replace("Does not fail to name", "Names")
        .replace("Does the answer mention Thursday?", "Mentions Thursday");
    assert_eq!(test.read("a.eval.yaml"), expected);
    let names: Vec<_> = std::fs::read_dir(test.dir()).expect("readable").collect();
    assert_eq!(names.len(), 1, "nothing is left beside the file");
}

#[test]
fn line_ends_and_marks_survive_a_fix() {
    let text = format!("\u{feff}{}", FOUND.replace('\n', "\r\n"));
    let test = project(&text);
    assert_eq!(test.run(&["lint", "a.eval.yaml", "--fix"]).code, Some(0));
    let expected = text
        .replace("Does not fail to name", "Names")
        .replace("Does the answer mention Thursday?", "Mentions Thursday");
    assert_eq!(test.read("a.eval.yaml"), expected);
}

#[test]
fn a_dataset_is_fixed_in_its_line() {
    let line = |text: &str| format!("{{\"id\": \"x\", \"input\": \"ä\", \"assertions\": [\"{text}\"]}}\n");
    let text =
        line("Names the carrier") + &line("Does the answer mention Thursday?").replace("\"x\"", "\"y\"");
    let test = CliTest::new(BINARY);
    test.file("b.eval.jsonl", &text);
    let output = test.run(&["lint", "b.eval.jsonl", "--fix"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(
        test.read("b.eval.jsonl"),
        text.replace("Does the answer mention Thursday?", "Mentions Thursday")
    );
}

#[test]
fn a_change_that_would_break_the_file_is_taken_back() {
    // The line that would be removed contains the anchor of another value.
    let text = "tests:\n  - id: late-parcel\n    input: a\n    assertions:\n      - type: rubrics\n        criteria:\n          \
                - id: tone\n            min_score: &zero 0\n            score_ranges: {0: Names nothing, 5: Names all}\n          \
                - outcome: Names the depot\n            weight: *zero\n          - Names the street\n";
    let test = project(text);
    let output = test.run(&["lint", "a.eval.yaml", "--fix"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(output.stderr.contains("-             min_score: &zero 0"), "{}", output.stderr);
    assert!(
        output.stdout.contains("L0205") && output.stdout.ends_with("0 changes made\n"),
        "{}",
        output.stdout
    );
    assert_eq!(test.read("a.eval.yaml"), text);
}

#[test]
fn comments_allow_with_a_reason() {
    let allowed = FOUND.replace(
        "          - id: voucher",
        "          # allow: L0111 because support hands out both\n          - id: voucher",
    );
    let output = project(&allowed).run(&["lint", "a.eval.yaml"]);
    assert!(output.stdout.ends_with("1 file: 2 findings, 1 allowed\n"), "{}", output.stdout);
    let silent = allowed.replace(" because support hands out both", "");
    let output = project(&silent).run(&["lint", "a.eval.yaml"]);
    assert!(output.stdout.contains("L0001") && output.stdout.contains("L0111"), "{}", output.stdout);
}

#[test]
fn machines_get_json_sarif_and_workflow_commands() {
    let test = project(FOUND);
    let json: serde_json::Value =
        serde_json::from_str(&test.run(&["lint", "a.eval.yaml", "--json"]).stdout).expect("JSON");
    assert_eq!((json["warnings"].as_u64(), json["errors"].as_u64()), (Some(3), Some(0)));
    assert_eq!(json["diagnostics"][0]["code"], "L0104");
    assert_eq!(json["diagnostics"][0]["suggestion"]["replacement"], "Names");
    let sarif = test.run(&["lint", "a.eval.yaml", "--format", "sarif"]).stdout;
    let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("JSON");
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules").len();
    assert_eq!((sarif["version"].as_str(), rules), (Some("2.1.0"), 3));
    let github = test.run(&["lint", "a.eval.yaml", "--format", "github"]).stdout;
    assert_eq!(
        github.lines().filter(|line| line.starts_with("::warning file=a.eval.yaml,line=")).count(),
        3,
        "{github}"
    );
}

#[test]
fn files_that_do_not_load_end_with_two_and_are_looked_at_all_the_same() {
    let broken = format!("{FOUND}  - id: second\n    input: a\n    asertions: [Names it]\n");
    let test = project(&broken);
    let output = test.run(&["lint", "a.eval.yaml", "--fix"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stdout.contains("E0103") && output.stdout.contains("L0111"), "{}", output.stdout);
    assert_eq!(test.read("a.eval.yaml"), broken, "a file that does not load is not changed");
    assert_eq!(test.run(&["lint", "no/such.yaml"]).code, Some(2));
}

#[test]
fn rubric_files_are_read_and_rules_listed() {
    let test = CliTest::new(BINARY);
    test.file("rubric.yaml", "criteria:\n  - Names a and/or b\n");
    let output = test.run(&["lint", "rubric.yaml"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(output.stdout.contains("L0111"), "{}", output.stdout);

    for criteria in ["criteria:\n  - {outcome: Names a, wieght: 2}\n", "- {outcome: Names a, wieght: 2}\n"] {
        test.file("broken.yaml", criteria);
        for command in ["lint", "validate", "convert"] {
            let output = test.run(&[command, "broken.yaml"]);
            let told = format!("{}{}", output.stdout, output.stderr);
            assert_eq!(output.code, Some(2), "{command}: {told}");
            assert!(told.contains("did you mean `weight`?") && !told.contains("not an eval file"), "{told}");
        }
    }

    let list = test.run(&["lint", "--list"]).stdout;
    // A rule can find more than it can fix.
    assert!(list.contains("The criterion is a question. (--fix where certain)"), "{list}");
    assert!(list.lines().count() >= 30 && list.contains("L0101  vague-criterion"), "{list}");
    let json: serde_json::Value =
        serde_json::from_str(&test.run(&["lint", "--list", "--json"]).stdout).expect("JSON");
    assert!(
        json["rules"].as_array().is_some_and(|rules| rules.iter().all(|rule| rule["source"].is_string()))
    );
}

const CARD: &str = "code: A-DLV\nlabel: Delivery\nweight: 1.0\naggregation_method: WEIGHTED_AVERAGE\npassing_threshold: 0.8\nbenchmarks:\n";

fn benchmark(code: &str, weight: &str) -> String {
    format!(
        "code: {code}\nconcept: Share of answers that name the day.\nweight: {weight}\nthreshold: 0.9\nevaluator_type: llm_judge\nllm_prompt_file: benchmarks/p_prompt.md\ninclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n"
    )
}

#[test]
fn scorecards_are_looked_at_with_their_prompts() {
    let test = CliTest::new(BINARY);
    let prompt = "BEHAVIOR: day-named\nAutomatic fail if any of the following are true:\n- The answer fails to name a day\nPass conditions (all must be satisfied):\n1. Does the answer mention Thursday?\n2. Good quality\n";
    test.file("card/rubrics/A-DLV.yaml", format!("{CARD}  - A-DLV1\n  - A-DLV2 # the rest\n"));
    test.file("card/benchmarks/A-DLV1.yaml", benchmark("A-DLV1", "1.0"));
    test.file(
        "card/benchmarks/A-DLV2.yaml",
        format!("# allow: L0704 because it is tried out\n{}", benchmark("A-DLV2", "0")),
    );
    test.file("card/benchmarks/p_prompt.md", prompt);
    let output = test.run(&["lint", "card"]).expect_code(0);
    for words in
        ["L0101", "L0105", "card/benchmarks/p_prompt.md:5", "L0704", "card/benchmarks/A-DLV2.yaml:4", "L0002"]
    {
        assert!(output.stdout.contains(words), "{words}: {}", output.stdout);
    }
    test.file(
        "card/benchmarks/A-DLV2.yaml",
        benchmark("A-DLV2", "0  # allow: L0704 because it is tried out"),
    );
    test.run(&["lint", "card", "--fix"]).expect_code(0);
    assert_eq!(
        test.read("card/benchmarks/p_prompt.md"),
        prompt.replace("Does the answer mention Thursday?", "Mentions Thursday")
    );
    let left = test.run(&["lint", "card", "--strict"]).expect_code(1);
    assert!(left.stdout.ends_with("1 file: 1 finding, 1 allowed\n"), "{}", left.stdout);
    test.file("card/rubrics/A-DLV.yaml", CARD);
    test.run(&["lint", "card"]).expect_code(2);
}
