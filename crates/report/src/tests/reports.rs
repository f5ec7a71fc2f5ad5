//! Reports in other formats, from a stored run with hostile texts. `ASSIZE_BLESS=1` rewrites the expected files.

use std::collections::BTreeSet;

use crate::html::STYLE;
use crate::{
    ComparisonMaterial, CriterionName, CriterionPosition, ExportFormat, ReportError, RunReport, write_report,
    write_skill_files,
};
use assize_analysis::compare::{AllowedAspects, ComparisonOptions, compare_many};
use assize_analysis::{CaseFact, NameTable, RunFacts};
use assize_rubric::{Gate, Outcome};
use assize_store::{AnswerPart, CaseRecord, CriterionRate, QuestionRow, RunFolder, RunInfo};
use tempfile::TempDir;

use crate::tests::golden::golden;
use crate::tests::support::{self, Decided, Grader, record, thresholds};

/// Everything that some reader of a report would interpret as more than text.
const HOSTILE: &str = "<script>alert(1)</script> ]]> \u{0}\u{7}\u{1b}[31mred\u{1b}]0;t\u{7} \u{202e}txt.exe @all #1 \
                       ![x](http://evil.example/x)\n::error::stop\n##[error]stop </style> | `a` {{ 7 }} &lt; \u{ffff}";

/// A stored run.
struct StoredRun {
    folder: RunFolder,
    info: RunInfo,
    _kept: TempDir,
}

fn hostile_case() -> CaseRecord {
    let mut case = record(
        "=cmd()<b>",
        thresholds(),
        &[Grader::new(
            "<i>honesty",
            vec![
                Decided::new("+cause", HOSTILE, 2.0, Outcome::Unmet)
                    .gate(Gate::Met)
                    .reason(HOSTILE)
                    .quote("@all #1", true)
                    .quote("never said <u>", false),
                Decided::new("tone", "Stays friendly", 1.0, Outcome::Met)
                    .quote("alert(1)</script> ]]>", true),
                Decided::new("open", "Is true", 1.0, Outcome::Ungraded).reason("refusal: \u{1b}[2J declined"),
            ],
        )],
    );
    case.result.answer = Some(HOSTILE.to_owned());
    case.result.case_hash = Some("hash".to_owned());
    case.result.tags = vec!["-tag".to_owned()];
    case
}

fn cases() -> Vec<CaseRecord> {
    vec![hostile_case(), support::gated(), support::incomplete(), support::passed(), support::broken()]
}

/// Stores cases in the reverse order of their files, as they may have finished.
fn store(cases: Vec<CaseRecord>) -> StoredRun {
    let kept = tempfile::tempdir().unwrap();
    let folder = RunFolder::new(kept.path().join("run"));
    let mut info = support::run();
    info.summary.as_mut().unwrap().criterion_rates = vec![CriterionRate {
        suite: "support".to_owned(),
        grader: "<i>honesty".to_owned(),
        criterion: "+cause".to_owned(),
        text: HOSTILE.to_owned(),
        weight: 2.0,
        gate: Some(true),
        scored: false,
        rate: info.summary.as_ref().unwrap().figures.as_ref().unwrap().pass_rate.clone(),
        ungraded: 1,
        not_applicable: 0,
    }];

    let mut writer = folder.create(&info).unwrap();
    for (at, mut case) in cases.into_iter().enumerate().rev() {
        case.result.place = Some(at as u64 + 1);
        writer.record(&case.decisions, &case.result).unwrap();
    }
    let question = QuestionRow {
        case_hash: "hash".to_owned(),
        question: Some(format!("=1+1 {HOSTILE}")),
        expected_outcome: Some("An <b>honest</b> answer".to_owned()),
        reference: Some(HOSTILE.to_owned()),
    };
    writer.record_question(&question).unwrap();
    writer.finish(&mut info).unwrap();

    StoredRun { folder, info, _kept: kept }
}

fn line_of(name: &CriterionName) -> Option<CriterionPosition> {
    (&*name.criterion == "+cause")
        .then(|| CriterionPosition { path: "./evals/a b,c:d.yaml".to_owned(), line: 12 })
}

static WHOLE: AnswerPart = AnswerPart { target: None, prompt: None };

fn report<'a>(run: &'a StoredRun, comparison: Option<ComparisonMaterial<'a>>) -> RunReport<'a> {
    RunReport {
        name: "last",
        folder: &run.folder,
        info: &run.info,
        part: &WHOLE,
        prepare: &|_| {},
        position: &line_of,
        scorecard: None,
        comparison,
        calibration: None,
        audit: None,
    }
}

fn written(format: ExportFormat, run: &StoredRun) -> (String, Vec<String>) {
    let mut out = Vec::new();
    let remarks = write_report(&mut out, format, &[report(run, None)]).unwrap();

    (String::from_utf8(out).unwrap(), remarks)
}

fn file_name(format: ExportFormat) -> String {
    let ending = match format {
        ExportFormat::Html => "html",
        ExportFormat::Markdown => "markdown",
        ExportFormat::Junit => "xml",
        ExportFormat::Csv | ExportFormat::CsvCases => "csv",
        ExportFormat::Sarif | ExportFormat::Gitlab | ExportFormat::Inspect | ExportFormat::Skills => "json",
        ExportFormat::Github => "txt",
        ExportFormat::Otlp => "jsonl",
    };
    format!("report-{}.{ending}", format.name())
}

#[test]
fn every_format_is_as_expected() {
    let run = store(cases());
    for format in ExportFormat::ALL {
        let (text, remarks) = written(format, &run);
        if format != ExportFormat::Skills {
            assert_eq!(remarks, [""; 0], "{}", format.name());
        }
        golden(&file_name(format), &text.replace(STYLE, "(the style sheet)"));
    }
}

#[test]
fn no_format_holds_a_character_that_controls() {
    let run = store(cases());
    for format in ExportFormat::ALL {
        let (text, _) = written(format, &run);
        let is_bad = |c: &char| (c.is_control() && !"\n\r\t".contains(*c)) || "\u{202e}\u{200b}".contains(*c);
        assert_eq!(text.chars().find(is_bad), None, "{}", format.name());
    }
}

#[test]
fn junit_is_well_formed_and_counts_what_it_holds() {
    let (text, _) = written(ExportFormat::Junit, &store(cases()));
    let document = roxmltree::Document::parse(&text).unwrap();
    let named = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));

    let root = document.root_element();
    for (attribute, element) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error")] {
        assert_eq!(root.attribute(attribute).unwrap(), named(element).count().to_string(), "{attribute}");
    }
    let names: BTreeSet<_> = named("testcase").map(|node| node.attribute("name")).collect();
    assert_eq!(names.len(), 5);
    assert!(named("failure").all(|node| node.text().is_some_and(|text| !text.trim().is_empty())));

    let shown = named("failure").next().unwrap();
    assert_eq!(shown.attribute("type"), Some("gate"));
    assert!(shown.text().unwrap().contains("<script>alert(1)</script> ]]> \\u{0}\\u{7}"));
    assert!(named("error").all(|node| node.attribute("type") == Some("ungraded")));
}

#[test]
fn a_page_has_no_markup_of_others() {
    let (text, _) = written(ExportFormat::Html, &store(cases()));
    let body = text.replace(STYLE, "");
    for markup in
        ["<script", "<b>honest", "<i>honesty", "<u>", " style=", "javascript:", "src=", "href=\"http"]
    {
        assert!(!body.contains(markup), "{markup}");
    }
    let quote = "&#60;u&#62;";
    assert!(
        body.contains(&format!("never said {quote} <em>not found in what the judge was shown</em>")),
        "{body}"
    );
    assert_eq!(body.matches("<style>").count(), 1);
}

#[test]
fn quotes_are_marked_in_the_answer_with_the_numbers_of_their_criteria() {
    let (text, _) = written(ExportFormat::Html, &store(vec![hostile_case()]));
    assert!(text.contains("@all #1<sup><a href=\"#r0c1-1\">1</a></sup></mark>"), "{text}");
    assert!(text.contains("id=\"r0c1-1\""));
}

#[test]
fn no_cell_begins_a_formula() {
    for format in [ExportFormat::Csv, ExportFormat::CsvCases] {
        let (text, _) = written(format, &store(cases()));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let mut rows = 0;
        for row in reader.records() {
            let row = row.unwrap();
            rows += 1;
            for cell in &row {
                let is_formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
                assert!(!is_formula, "{cell:?}");
            }
        }
        assert!(rows >= 5, "{rows} rows");
    }
}

#[test]
fn annotations_are_commands_of_one_line_and_few() {
    let many = (0..30).map(|at| {
        let id = format!("criterion-{at}");
        let decided =
            vec![Decided::new(&id, "Says so", 1.0, Outcome::Unmet).gate(Gate::Met).reason("a\n::b")];
        record(&format!("case-{at}"), thresholds(), &[Grader::new("rubrics", decided)])
    });
    let (text, _) = written(ExportFormat::Github, &store(many.collect()));
    assert!(text.lines().all(|line| line.starts_with("::error ")), "{text}");
    assert_eq!(text.lines().count(), 10);
    assert!(text.contains("::and 21 more; a report file has them all\n"), "{text}");

    let (text, _) = written(ExportFormat::Github, &store(vec![hostile_case()]));
    assert!(text.starts_with("::error file=evals/a b%2Cc%3Ad.yaml,line=12,title="), "{text}");
}

#[test]
fn results_of_sarif_have_the_line_of_their_criterion() {
    let (text, _) = written(ExportFormat::Sarif, &store(cases()));
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let place = |result: &serde_json::Value| result["locations"][0]["physicalLocation"].clone();
    let found = results.iter().find(|result| result["ruleId"] == "support/<i>honesty/+cause").unwrap();
    assert_eq!(place(found)["region"]["startLine"], 12);
    assert_eq!(place(found)["artifactLocation"]["uri"], "evals/a%20b%2Cc%3Ad.yaml");
    assert_eq!(found["level"], "error");

    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
}

#[test]
fn markdown_fits_a_comment_and_says_what_it_leaves_out() {
    let failing = |at: usize| {
        let decided =
            vec![Decided::new("c", &"word ".repeat(60), 1.0, Outcome::Unmet).reason(&"why ".repeat(70))];
        record(&format!("case-{at}"), thresholds(), &[Grader::new("rubrics", decided)])
    };
    let (text, _) = written(ExportFormat::Markdown, &store((0..500).map(failing).collect()));
    let characters = text.chars().count();
    assert!((60_000..=65_536).contains(&characters), "{characters}");
    assert!(text.starts_with("<!-- assize: support -->\n"), "{text}");

    let rows = text.lines().filter(|line| line.starts_with("| case-")).count();
    assert!(text.contains(&format!("{} cases", 500 - rows)), "{rows} rows are shown");
    assert!(text.trim_end().ends_with("</sub>") || text.contains("Omitted: "), "{text}");
}

#[test]
fn a_page_is_bounded_and_counts_what_it_leaves_out() {
    let long = |at: usize| {
        let mut case = support::passed();
        case.result.case_id = format!("case-{at}").into();
        case.result.answer = Some("word ".repeat(6_000));
        case
    };
    let (text, remarks) = written(ExportFormat::Html, &store((0..320).map(long).collect()));
    let shown = text.matches("<details class=\"case").count();
    assert!(text.len() < 6_500_000 && shown < 320, "{} bytes, {shown} cases", text.len());
    assert!(text.contains("cut: the answer has 30,000 characters"));
    assert_eq!(text.matches("<td class=\"good\">✓ pass</td>").count(), 320 - shown);
    assert_eq!(
        remarks,
        [format!("the page holds {shown} cases in full; {} without details, 0 not at all", 320 - shown)]
    );
}

#[test]
fn a_comparison_comes_before_the_run() {
    let run = store(cases());
    let mut names = NameTable::default();
    let mut facts = |label: &str, cases: &[CaseRecord]| {
        let cases = cases.iter().map(|case| CaseFact::from_record(case, &mut names)).collect();
        (label.to_owned(), cases)
    };
    let mut before = cases();
    let mut was = support::passed();
    was.result.case_id = before[0].result.case_id.clone();
    before[0] = was;
    let (base, now) = (facts("main", &before), facts("change", &cases()));
    let base = RunFacts::new(base.0, base.1, &names).unwrap();
    let now = RunFacts::new(now.0, now.1, &names).unwrap();
    let options = ComparisonOptions { allowed: AllowedAspects::ALL, ..ComparisonOptions::default() };
    let set = compare_many(&base, &[now], &names, &options);

    let comparison = ComparisonMaterial { set: &set, adjusted_by: Some("Holm") };
    for (format, first, then) in [
        (ExportFormat::Markdown, "Regressions (1)", "#### Cases that did not pass"),
        (ExportFormat::Html, "Regressions <small>1", "<h2>Cases that did not pass"),
    ] {
        let mut out = Vec::new();
        write_report(&mut out, format, &[report(&run, Some(comparison))]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (first, then) = (text.find(first).unwrap(), text.find(then).unwrap());
        assert!(first < then, "{}", format.name());
    }
}

#[test]
fn a_run_that_did_not_end_is_no_success() {
    let mut run = store(vec![support::passed()]);
    run.info.finished_at = None;
    run.info.summary.as_mut().unwrap().exit_code = 0;
    let (text, _) = written(ExportFormat::Markdown, &run);
    assert!(text.contains("### ❔ support: ") && text.contains("did not end"), "{text}");
    let (text, _) = written(ExportFormat::Html, &run);
    assert!(text.contains("<p class=\"verdict open\">the run did not end</p>"), "{text}");
}

#[test]
fn a_log_of_inspect_holds_one_run_and_one_target() {
    let mut other = support::passed();
    other.result.target = Some("b".into());
    let run = store(vec![support::passed(), other]);
    let mut out = Vec::new();
    let refused = write_report(&mut out, ExportFormat::Inspect, &[report(&run, None)]);
    assert!(
        matches!(&refused, Err(ReportError::Unsupported(message)) if message.contains("`last@")),
        "{refused:?}"
    );
    let refused = write_report(&mut out, ExportFormat::Inspect, &[report(&run, None), report(&run, None)]);
    assert!(matches!(refused, Err(ReportError::Unsupported(_))));
}

#[test]
fn the_files_of_a_skill_hold_only_what_was_decided() {
    let trial = |number: u32, passes: bool| {
        let mut case = if passes { support::passed() } else { support::gated() };
        case.result.case_id = "eval-7".into();
        case.result.trial = number;
        case
    };
    let mut open = support::incomplete();
    open.result.case_id = "Open question/..".into();
    let with = store(vec![trial(1, true), trial(2, true), open, support::broken()]);
    let without = store(vec![trial(1, false)]);

    let mut files = std::collections::BTreeMap::new();
    let reports = [report(&with, None), report(&without, None)];
    let remarks = write_skill_files(&reports, &mut |path, content| {
        let text = String::from_utf8_lossy(content).into_owned();
        let value = serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text));
        files.insert(path.display().to_string(), value);
        Ok(())
    })
    .expect("written");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let mut expected = vec!["eval-7/eval_metadata.json".to_owned()];
    for run in ["with_skill/run-1", "with_skill/run-2", "without_skill/run-1"] {
        for file in ["eval_metadata.json", "grading.json", "outputs/answer.md", "timing.json"] {
            expected.push(format!("eval-7/{run}/{file}"));
        }
    }
    let graded: Vec<&&str> = names.iter().filter(|name| name.contains("eval-7")).collect();
    assert!(graded.iter().map(|name| **name).eq(expected.iter().map(String::as_str)), "{graded:?}");
    assert!(names.iter().all(|name| !name.contains("..")), "{names:?}");

    let grading = &files["eval-7/without_skill/run-1/grading.json"];
    let expectations = grading["expectations"].as_array().expect("a list");
    let passed = expectations.iter().filter(|one| one["passed"] == true).count();
    assert_eq!(grading["summary"]["passed"], passed);
    assert_eq!(grading["summary"]["total"], expectations.len());
    assert!(passed < expectations.len(), "{grading}");

    let benchmark = &files["benchmark.json"];
    let summary = &benchmark["run_summary"];
    assert_eq!(summary["with_skill"]["pass_rate"]["max"], 1.0, "{summary}");
    assert!(summary["without_skill"]["pass_rate"]["stddev"].is_null(), "one run has no deviation: {summary}");
    assert!(summary["delta"]["pass_rate"].as_str().is_some_and(|text| text.starts_with('+')), "{summary}");
    let runs = benchmark["runs"].as_array().expect("a list");
    assert!(runs.iter().all(|run| run["result"]["total"] != 0), "{benchmark}");
    assert_eq!(benchmark["notes"].as_array().map(Vec::len), Some(remarks.len()));
    assert!(
        remarks.iter().any(|note| note.contains("not graded") || note.contains("not decided")),
        "{remarks:?}"
    );

    let three = [report(&with, None), report(&with, None), report(&with, None)];
    let refused = write_skill_files(&three, &mut |_, _| Ok(()));
    assert!(matches!(refused, Err(ReportError::Unsupported(_))), "{refused:?}");
}

#[test]
fn a_closed_pipe_is_an_error_to_write() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let run = store(vec![support::passed()]);
    for format in [ExportFormat::Junit, ExportFormat::Html, ExportFormat::Markdown] {
        let refused = write_report(&mut Closed, format, &[report(&run, None)]);
        assert!(matches!(refused, Err(ReportError::Write(_))), "{refused:?}");
    }
}
