//! Every diagnostic about scorecards, as rendered. Each file of `tests/scorecards` holds a small scorecard, whose files
//! are separated by `=== PATH` lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{LoadedScorecard, is_scorecard, load_card_results, load_scorecard};
use assize_diagnostic::render;
use assize_document::codes;
use assize_evalfile::LoadOptions;
use assize_model::{BenchmarkApplicability, EvaluatorType, RubricChildren, ScorecardOutcome};
use assize_rubric::{ScorecardAggregation, UnitInterval};

fn unpack(text: &str, folder: &Path) -> PathBuf {
    let mut single = None;
    let mut files = 0;
    for part in text.split("=== ").skip(1) {
        let (name, body) = part.split_once('\n').expect("a name and a text");
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        std::fs::write(&path, body).expect("written");
        single = Some(path);
        files += 1;
    }
    match single {
        Some(path) if files == 1 && path.parent() == Some(folder) => path,
        _ => folder.to_path_buf(),
    }
}

fn load(text: &str) -> (tempfile::TempDir, PathBuf, LoadedScorecard) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = unpack(text, folder.path());
    let options = LoadOptions::new(folder.path());
    let loaded = load_scorecard(&path, &options);
    (folder, path, loaded)
}

fn drawn(text: &str) -> String {
    let (folder, _, loaded) = load(text);
    let options = render::TextOptions { color: false, width: 100, wrap: false };
    let text = render::to_text(&loaded.diagnostics, &loaded.sources, options);
    let text = text.replace(&folder.path().display().to_string(), "SCORECARD");
    if text.is_empty() { "no problems\n".to_owned() } else { text }
}

fn goldens() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scorecards")
}

#[test]
fn complaints_are_drawn_as_expected() {
    assize_testkit::golden::run(goldens(), "card", |case| drawn(&case.text()));
}

#[test]
fn every_code_of_scorecards_has_an_example() {
    let mut met = BTreeSet::new();
    for entry in std::fs::read_dir(goldens()).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "card") {
            let (_folder, _, loaded) = load(&std::fs::read_to_string(path).expect("readable"));
            met.extend(loaded.diagnostics.iter().map(|found| found.code.as_str()));
            assert_eq!(
                loaded.scorecard.is_none(),
                loaded.diagnostics.iter().any(|d| d.code.as_str().starts_with('E'))
            );
        }
    }
    let of_scorecards =
        codes::ALL.iter().map(|page| page.code.as_str()).filter(|code| code[1..].starts_with("07"));
    let unmet: Vec<&str> = of_scorecards.filter(|code| !met.contains(code)).collect();
    // Results are in separate files; their tests are below. Records of other tools are in `tests/answers.rs`.
    assert_eq!(unmet, ["E0720", "E0722", "E0723", "E0750", "W0750"]);
}

fn sound() -> (tempfile::TempDir, PathBuf, LoadedScorecard) {
    load(&std::fs::read_to_string(goldens().join("sound-folder.card")).expect("readable"))
}

#[test]
fn a_folder_becomes_one_checked_model() {
    let (_folder, path, loaded) = sound();
    assert!(is_scorecard(&path) && loaded.files == 8, "{}", loaded.files);
    let card = loaded.scorecard.expect("sound");
    assert_eq!(card.name, "I");
    let codes: Vec<&str> = card.rubrics.iter().map(|rubric| &*rubric.code).collect();
    assert_eq!(codes, ["A-X", "A-Y", "A"]);
    assert_eq!(card.tops, [2]);
    assert_eq!(card.rubrics[2].parts, RubricChildren::Rubrics(vec![0, 1]));
    assert_eq!(card.rubrics[0].guidelines.as_ref().expect("given").focus_areas, ["doses"]);
    assert!(card.rubrics[0].hard_gate && card.rubrics[0].parent == Some(2));
    assert_eq!(card.rubrics[0].aggregation, ScorecardAggregation::WeightedAverage);
    let judged = card.benchmarks.iter().find(|benchmark| &*benchmark.code == "A-X1").expect("there");
    assert_eq!(judged.evaluator, EvaluatorType::LlmJudge);
    let prompt = &card.prompts[judged.prompt.expect("found")];
    assert_eq!(
        (prompt.path.as_str(), prompt.behaviour.as_deref()),
        ("prompts/A-X1_prompt.md", Some("dose-documented"))
    );
    assert_eq!((prompt.pass_conditions.len(), prompt.has_inputs), (1, false));
    assert_eq!(card.cases[0].benchmarks, Some(vec![0, 1]));
    assert_eq!(card.labels[0].outcome, assize_rubric::LabelOutcome::Unmet);
}

#[test]
fn labels_are_read_under_the_names_of_labels_files_too() {
    let text = std::fs::read_to_string(goldens().join("sound-folder.card")).expect("readable");
    let renamed =
        text.replace("\"trace_id\"", "\"case\"").replace("\"benchmark_code\"", "\"criterion\"").replace(
            "\"severity\"",
            "\"sampled\": \"random\", \"split\": \"test\", \"label\": \"unmet\", \"severity\"",
        );
    assert_ne!(text, renamed);
    let (_folder, _, loaded) = load(&renamed);
    let (ours, theirs) = (loaded.scorecard.expect("sound"), sound().2.scorecard.expect("sound"));
    let read = |card: &assize_model::Scorecard| {
        let label = &card.labels[0];
        (label.trace_id.clone(), label.benchmark, label.outcome)
    };
    assert_eq!(read(&ours), read(&theirs));
}

#[test]
fn the_inventory_counts_benchmarks_and_cases() {
    let (_folder, _, loaded) = sound();
    let card = loaded.scorecard.expect("sound");
    let rows = card.inventory(None);
    let lines: Vec<(usize, &str, usize, usize)> =
        rows.iter().map(|row| (row.depth, &*row.code, row.benchmarks, row.cases)).collect();
    assert_eq!(
        lines,
        [
            (0, "I", 2, 1),
            (1, "A", 2, 1),
            (2, "A-X", 1, 1),
            (3, "A-X1", 1, 1),
            (2, "A-Y", 1, 1),
            (3, "A-Y1", 1, 1)
        ]
    );
}

#[test]
fn cases_apply_by_list_then_by_tag_then_by_asking() {
    let bench = |code: &str, more: &str| {
        format!(
            "  - {{code: {code}, weight: 0.5, threshold: 0.9, evaluator_type: manual_sme, concept: c, inclusion_criteria: Apply when a. Flag if b.{more}}}\n"
        )
    };
    let text = format!(
        "=== card.yaml\ncode: A\nlabel: A\nweight: 1\naggregation_method: MINIMUM\npassing_threshold: 0.5\nbenchmarks:\n{}{}",
        bench("A1", ", tags: [drug]"),
        bench("A2", "")
    );
    let (_folder, path, loaded) = load(&text);
    assert!(is_scorecard(&path));
    let card = loaded.scorecard.expect("sound");
    let case = |tags: &[&str], benchmarks: Option<Vec<usize>>| assize_model::ScorecardCase {
        id: "c".into(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        benchmarks,
        ground_truth: None,
        source_narrative: None,
        candidate_output: None,
        place: card.rubrics[0].place.clone(),
    };
    assert_eq!(card.applies(0, &case(&["drug"], None)), BenchmarkApplicability::Yes);
    assert_eq!(card.applies(0, &case(&["fall"], None)), BenchmarkApplicability::No);
    assert_eq!(card.applies(1, &case(&["drug"], None)), BenchmarkApplicability::AskJudge);
    assert_eq!(card.applies(0, &case(&["drug"], Some(vec![1]))), BenchmarkApplicability::No);
    assert_eq!(card.applies(1, &case(&[], Some(vec![1]))), BenchmarkApplicability::Yes);
}

#[test]
fn results_are_read_on_the_scale_of_their_benchmark() {
    let text = "=== card.yaml\nrubrics:\n  - code: A\n    label: A\n    weight: 1\n    aggregation_method: MINIMUM\n    passing_threshold: 0.5\n    benchmarks:\n      - {code: A1, weight: 1, threshold: 0.9, evaluator_type: manual_sme, concept: c, inclusion_criteria: Apply when a. Flag if b., scoring_scale: {min_value: 1, max_value: 5}}\ncases: [{id: c1}, {id: c2}, {id: c3}, {id: c4}, {id: c5}]\n";
    let (folder, _, loaded) = load(text);
    let card = loaded.scorecard.expect("sound");
    let read = |lines: &str| {
        let path = folder.path().join("results.jsonl");
        std::fs::write(&path, lines).expect("written");
        let options = LoadOptions::new(folder.path());
        load_card_results(&path, &card, &options)
    };
    let sound = read(
        "{\"case\": \"c1\", \"benchmark\": \"A1\", \"pass\": true, \"score\": 4}\n\
         {\"case\": \"c2\", \"benchmark\": \"A1\", \"pass\": false}\n\
         {\"case\": \"c3\", \"benchmark\": \"A1\", \"pass\": true, \"uncertain\": true}\n\
         {\"case\": \"c4\", \"benchmark\": \"A1\", \"applies\": false, \"reason\": \"r\"}\n",
    );
    assert!(!sound.has_errors(), "{:?}", sound.diagnostics);
    let outcomes: Vec<ScorecardOutcome> = sound.results.iter().map(|result| result.outcome).collect();
    let unit = |value| UnitInterval::new(value).expect("in range");
    assert_eq!(
        outcomes,
        [
            ScorecardOutcome::Scored(unit(0.75)),
            ScorecardOutcome::Scored(unit(0.0)),
            ScorecardOutcome::Uncertain,
            ScorecardOutcome::NotApplicable
        ]
    );
    let broken = read(
        "{\"case\": \"c1\", \"benchmark\": \"A1\", \"pass\": true, \"score\": 6}\n\
         {\"case\": \"c1\", \"benchmark\": \"A1\", \"pass\": true}\n\
         {\"case\": \"c9\", \"benchmark\": \"A2\", \"pass\": true}\n\
         {\"case\": \"c5\", \"benchmark\": \"A1\"}\n",
    );
    let found: Vec<&str> = broken.diagnostics.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(found, ["E0106", "E0720", "E0702", "E0702", "E0304"]);
    assert!(broken.results.is_empty());
}

#[test]
fn results_that_contradict_themselves_or_the_scorecard_are_refused() {
    let bench = |code: &str, more: &str| {
        format!(
            "  - {{code: {code}, weight: 0.5, threshold: 0.9, evaluator_type: manual_sme, concept: c, inclusion_criteria: Apply when a. Flag if b.{more}}}\n"
        )
    };
    let text = format!(
        "=== card.yaml\nrubrics:\n- code: A\n  label: A\n  weight: 1\n  aggregation_method: MINIMUM\n  passing_threshold: 0.5\n  benchmarks:\n{}{}{}{}cases: [{{id: c1, benchmarks: [A1]}}, {{id: c2, tags: [drug]}}, {{id: c3}}]\n",
        bench("A1", ", criticality: hard_gate"),
        bench("A2", ", tags: [drug]"),
        bench("A3", ", scoring_scale: {min_value: 0, max_value: 4, normalization_formula: x / max}"),
        bench(
            "A4",
            ", criticality: hard_gate, scoring_scale: {min_value: 0, max_value: 20, normalization_formula: x / max}"
        ),
    );
    let (folder, _, loaded) = load(&text);
    let card = loaded.scorecard.expect("sound");
    let options = LoadOptions::new(folder.path());
    let codes_of = |line: &str| -> Vec<String> {
        let path = folder.path().join("results.jsonl");
        std::fs::write(&path, line).expect("written");
        let read = load_card_results(&path, &card, &options);
        assert_eq!(read.results.is_empty(), read.has_errors(), "{line}");
        read.diagnostics.iter().map(|found| found.code.as_str().to_owned()).collect()
    };

    for (line, code) in [
        // A failed case has no full score, and at a gate none that would open it.
        (r#"{"case": "c1", "benchmark": "A1", "pass": false, "score": 1.0}"#, Some("E0722")),
        (r#"{"case": "c1", "benchmark": "A1", "pass": false, "score": 0.95}"#, Some("E0722")),
        (r#"{"case": "c1", "benchmark": "A1", "pass": false, "score": 0.85}"#, None),
        (r#"{"case": "c2", "benchmark": "A2", "pass": false, "score": 0.95}"#, Some("E0722")),
        (r#"{"case": "c2", "benchmark": "A2", "pass": true, "score": 0.1}"#, Some("E0722")),
        (r#"{"case": "c2", "benchmark": "A2", "pass": true, "score": 0}"#, Some("E0722")),
        (r#"{"case": "c3", "benchmark": "A3", "pass": false, "score": 4}"#, Some("E0722")),
        (r#"{"case": "c3", "benchmark": "A3", "pass": false, "score": 3}"#, None),
        (r#"{"case": "c3", "benchmark": "A3", "pass": true, "reason": "r"}"#, None),
        (r#"{"case": "c3", "benchmark": "A4", "pass": false, "score": 19}"#, Some("E0722")),
        (r#"{"case": "c3", "benchmark": "A4", "pass": false, "score": 17}"#, None),
        // A score alone has no verdict to compare it with.
        (r#"{"case": "c3", "benchmark": "A4", "score": 19}"#, Some("E0304")),
        (r#"{"case": "c3", "benchmark": "A3", "pass": null, "score": 3}"#, Some("E0304")),
        // The list and the tags of a case determine which benchmarks apply, not the result.
        (r#"{"case": "c1", "benchmark": "A2", "pass": false}"#, Some("E0723")),
        (r#"{"case": "c3", "benchmark": "A2", "pass": true}"#, Some("E0723")),
        (r#"{"case": "c1", "benchmark": "A1", "applies": false}"#, Some("E0723")),
        (r#"{"case": "c2", "benchmark": "A2", "applies": false}"#, Some("E0723")),
        (r#"{"case": "c3", "benchmark": "A1", "applies": false}"#, None),
        (r#"{"case": "c3", "benchmark": "A1", "applies": false, "pass": false}"#, Some("E0723")),
        (r#"{"case": "c1", "benchmark": "A3", "applies": false}"#, None),
    ] {
        assert_eq!(codes_of(line), code.into_iter().collect::<Vec<_>>(), "{line}");
    }
}

#[test]
fn the_layout_of_files_changes_nothing() {
    let folder = "=== rubrics/A.yaml\ncode: A\nlabel: A\nweight: 1\naggregation_method: minimum\npassing_threshold: 0.5\nbenchmarks: [A1]\n=== benchmarks/deep/A1.yaml\ncode: A1\nweight: 1\nthreshold: 0.9\nevaluator_type: manual_sme\nconcept: c\ninclusion_criteria: Apply when a. Flag if b.\n";
    let inline = "=== card.json\n{\"code\": \"A\", \"label\": \"A\", \"weight\": 1, \"aggregation_method\": \"Minimum\", \"passing_threshold\": 0.5, \"benchmarks\": [{\"code\": \"A1\", \"weight\": 1, \"threshold\": 0.9, \"evaluator_type\": \"Manual_SME\", \"concept\": \"c\", \"inclusion_criteria\": \"Apply when a. Flag if b.\"}]}\n";
    let trees = [folder, inline].map(|text| {
        let (_folder, _, loaded) = load(text);
        assert_eq!(loaded.diagnostics, Vec::new());
        loaded.scorecard.expect("sound").inventory(None)
    });
    assert_eq!(trees[0], trees[1]);
}
