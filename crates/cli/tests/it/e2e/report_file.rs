//! `--out`: the report file of a command.

use std::fmt::Write as _;

use crate::e2e::bench::{cli, object};

const SUITE: &str = "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: apples\n  assertions: [{type: contains, value: pears}]\n";

#[test]
fn the_file_holds_what_json_prints() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    let args = ["eval", "s.yaml", "--run-dir", "run", "--out", "reports/today.json"];
    let output = cli.run(&[&args[..], &["--json"]].concat()).expect_code(1);
    let written = || -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(cli.path("reports/today.json")).expect("a file"))
            .expect("JSON")
    };
    let mut file = written();
    let mark = file.as_object_mut().expect("a map").remove("generator");
    assert_eq!((file, mark), (object(&output), Some("assize".into())));

    // Without `--json`, stdout still gets tables; an old report is replaced.
    cli.file("reports/today.json", "old");
    let refused = cli.run(&["score", "run", "--threshold", "0", "-o", "reports/today.json"]).expect_code(2);
    assert!(
        refused.stderr.contains("`--force`") && cli.read("reports/today.json") == "old",
        "{}",
        refused.stderr
    );
    cli.run(&["score", "run", "--threshold", "0", "-o", "reports/today.json", "--force"]);
    let output = cli.run(&["score", "run", "--threshold", "0", "-o", "reports/today.json"]);
    assert!(output.stdout.contains("Summary"), "{}", output.stdout);
    assert_eq!(written()["run_dir"], "run");
    assert_eq!(
        std::fs::read_dir(cli.path("reports")).expect("a folder").count(),
        1,
        "no file is left beside it"
    );

    cli.run(&["eval", "s.yaml", "--dry-run", "--out", "plan.json"]).expect_code(0);
    assert!(cli.path("plan.json").is_file());
}

#[test]
fn a_report_replaces_reports_of_every_format_and_no_other_file() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(1);
    for format in
        ["html", "markdown", "junit", "csv", "csv-cases", "sarif", "gitlab", "inspect", "otlp", "skills"]
    {
        for _ in 0..2 {
            cli.run(&["report", "run", "--format", format, "-o", "mine"]).expect_code(0);
        }
        std::fs::remove_file(cli.path("mine")).expect("written");
    }
    for _ in 0..2 {
        cli.run(&["score", "run", "-o", "mine.json"]).expect_code(1);
    }

    for (name, content) in [
        ("a.json", r#"{"run_id": "mine", "calls": 2, "exit_code": 0}"#),
        ("b.json", r#"{"name": "assize", "packages": {"assize": "1"}}"#),
        ("c.json", r#"[{"check_name": "mine", "executor_model": "m"}]"#),
        ("d.csv", "run,suite,case,mine\n1,2,3,4\n"),
        ("e.csv", "question,possible labels,mine\n1,2,3\n"),
        ("f.html", "<!doctype html>\n<html lang=\"en\">\n<head>\n<title>Mine</title>"),
        ("g.md", "# Notes about assize\n"),
        ("h.xml", "<testsuites name=\"mine\"/>"),
        ("i.log", "::error file=mine.js::broken\n"),
    ] {
        cli.file(name, content);
        let command = ["report", "run", "--format", "markdown", "-o", name];
        let refused = cli.run(&command).expect_code(2);
        assert!(
            refused.stderr.contains("`--force`") && cli.read(name) == content,
            "{name}: {}",
            refused.stderr
        );
        cli.run(&[&command[..], &["--force"]].concat()).expect_code(0);
    }
}

#[test]
fn report_is_another_name_of_out() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml", "--run-dir", "a", "--report", "a.md", "--out", "a.json"]).expect_code(1);
    assert!(cli.path("a.md").is_file() && cli.path("a.json").is_file());

    cli.run(&["compare", "a", "a", "--report", "both.json"]).expect_code(0);
    assert!(cli.path("both.json").is_file());
    for command in [&["eval"][..], &["grade"], &["score"], &["compare"], &["merge"], &["scorecard", "run"]] {
        let help = cli.run(&[command, &["--help"]].concat()).expect_code(0).stdout;
        assert!(help.contains("--report"), "{command:?}: {help}");
    }
}

#[test]
fn other_endings_are_refused_before_anything_is_run() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    for name in ["report.pdf", "runs/today", "table.xlsx"] {
        let output = cli.run(&["eval", "s.yaml", "--out", name]).expect_code(2);
        assert!(
            output.stderr.contains("FILE.json") && output.stderr.contains("--run-dir"),
            "{}",
            output.stderr
        );
        assert!(!cli.path(name).exists() && !cli.path(".assize/runs").exists(), "{name}");
    }
}

#[test]
fn labels_that_can_not_be_read_are_named_without_the_folder_that_somebody_works_in() {
    let cli = cli();
    let file = cli.path("s.yaml");
    cli.file("s.yaml", SUITE.replace("{type: contains, value: pears}", "\"Names the apples\""));
    let label = "{\"case\": \"a\", \"criterion\": \"rubric-1\", \"label\": \"met\"}\n";
    cli.file("labels/ann.jsonl", label.repeat(2));
    let whole = file.to_string_lossy();
    cli.run(&["eval", &*whole, "--judge", "offline", "--run-dir", "run"]);

    let said = cli.run(&["report", "run", "-o", "run.html"]).expect_code(0).stderr;
    assert!(said.contains("labels: labels/ann.jsonl:2:"), "{said}");
    assert!(!said.contains(&*cli.dir().to_string_lossy()), "{said}");
}

#[test]
fn a_page_shows_the_judge_beside_people_and_what_an_audit_measured() {
    let cli = cli();
    let judged = SUITE.replace("{type: contains, value: pears}", "\"Names the apples\", \"Names a pear\"");
    cli.file("s.yaml", &judged);
    cli.file(
        "labels/ann.jsonl",
        "{\"case\": \"a\", \"criterion\": \"rubric-1\", \"label\": \"met\"}\n\
         {\"case\": \"a\", \"criterion\": \"rubric-2\", \"label\": \"unmet\"}\n",
    );
    cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", "run"]).expect_code(1);
    cli.run(&["report", "run", "-o", "run.html"]).expect_code(0);
    let page = cli.read("run.html");
    assert!(
        page.contains("Judge against people") && page.contains("<svg class=\"chart confusion\""),
        "{page}"
    );
    let printed = object(&cli.run(&["calibrate", "run", "--labels", "labels", "--json"]).expect_code(0));
    let accuracy = printed["sections"][0]["metrics"]["accuracy"]["value"].as_f64().expect("a share");
    assert!(page.contains("raw agreement <small class=\"wide\">"), "{page}");
    assert!(page.contains(&format!("<b>{accuracy:.3}</b>")), "the page has the number of the command");

    cli.run(&["audit", "length", "s.yaml", "--judge", "offline", "--run-dir", "audit"]).expect_code(0);
    cli.run(&["report", "audit", "-o", "audit.html"]).expect_code(0);
    let page = cli.read("audit.html");
    assert!(
        page.contains("<section class=\"measurement\">") && !page.contains("Judge against people"),
        "{page}"
    );

    cli.file("labels/ann.jsonl", "{\"case\": \"other\", \"criterion\": \"x\", \"label\": \"met\"}\n");
    let output = cli.run(&["report", "run", "-o", "run.html"]).expect_code(0);
    assert!(output.stderr.contains("the judge is not compared with labels"), "{}", output.stderr);
}

#[test]
fn a_run_is_written_in_every_format_that_has_an_ending() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    let names = ["r.html", "r.md", "r.xml", "r.csv", "r-cases.csv", "r.sarif"];
    let outs: Vec<&str> = names.iter().flat_map(|name| ["-o", name]).collect();
    cli.run(&[&["eval", "s.yaml", "--run-dir", "run"], &outs[..]].concat()).expect_code(1);
    let read = |name: &str| std::fs::read_to_string(cli.path(name)).expect("a report");
    let first: Vec<String> = names.iter().map(|name| read(name)).collect();
    assert!(first[0].starts_with("<!doctype html>") && first[0].contains("Cases that did not pass"));
    assert!(first[1].contains("1 of 1 case did not pass"), "{}", first[1]);
    assert!(first[2].contains("<testcase name=\"a\" classname=\"s\""), "{}", first[2]);
    assert!(first[5].contains("\"uri\": \"s.yaml\""), "{}", first[5]);

    // The stored run gives the same files; only the page names the run differently.
    let output = cli.run(&[&["report", "run"], &outs[..]].concat()).expect_code(0);
    assert!(output.stderr.contains("wrote r.xml"), "{}", output.stderr);
    assert!(names.iter().zip(&first).all(|(name, first)| read(name) == *first));
}

#[test]
fn formats_without_an_ending_are_named() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml"]).expect_code(1);

    let output = cli.run(&["report", "last", "--format", "gitlab"]).expect_code(0);
    let entries: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(entries[0]["location"]["path"], "s.yaml");
    assert_eq!(entries[0]["location"]["lines"]["begin"], 7);

    let output = cli.run(&["report", "last", "--format", "github"]).expect_code(0);
    assert!(output.stdout.starts_with("::warning file=s.yaml,line=7,"), "{}", output.stdout);
    let output = cli.run(&["report", "last"]).expect_code(0);
    assert!(output.stdout.starts_with("<!-- assize: s -->"), "{}", output.stdout);
    cli.run(&["report", "last", "--format", "junit", "-o", "results"]).expect_code(0);
    assert!(cli.path("results").is_file());

    for (args, said) in [
        (&["report", "last", "-o", "a.pdf"][..], "--format"),
        (&["report", "last", "--format", "pdf"], "junit"),
        (&["report", "last", "--format", "otlp", "-o", "a", "-o", "b"], "one file"),
        (&["report", "lost", "-o", "a.md"], "no run `lost`"),
    ] {
        let output = cli.run(args).expect_code(2);
        assert!(output.stderr.contains(said), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn paths_begin_at_the_root_of_the_repository_wherever_the_report_is_written() {
    let cli = cli();
    cli.file(".git/HEAD", "ref: refs/heads/main\n");
    cli.file("apps/bot/s.yaml", SUITE);
    cli.command(&["eval", "s.yaml"]).current_dir(cli.path("apps/bot")).output().expect("it starts");
    let run = cli.path("apps/bot/.assize/runs");
    let run = std::fs::read_dir(run).expect("runs").flatten().find(|entry| entry.file_name() != "last");
    let run = run.expect("a run").path().display().to_string();
    std::fs::create_dir(cli.path("elsewhere")).expect("a folder can be made");
    for folder in ["apps/bot", "", "elsewhere"] {
        let report = ["report", run.as_str(), "--format"];
        let write = |format| {
            let output =
                cli.command(&[&report[..], &[format]].concat()).current_dir(cli.path(folder)).output();
            String::from_utf8(output.expect("it starts").stdout).expect("UTF-8")
        };
        let github = write("github");
        assert!(github.starts_with("::warning file=apps/bot/s.yaml,line=7,"), "{folder}: {github}");
        let sarif = write("sarif");
        assert!(sarif.contains("\"uri\": \"apps/bot/s.yaml\""), "{folder}: {sarif}");
        assert!(write("gitlab").contains("\"apps/bot/s.yaml\""), "{folder}");
    }
}

#[test]
fn a_log_of_inspect_in_a_folder_has_the_name_that_inspect_lists() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(1);
    std::fs::create_dir(cli.path("there")).expect("a folder can be made");
    for folder in ["logs/", "there"] {
        let output = cli.run(&["report", "run", "--format", "inspect", "-o", folder]).expect_code(0);
        let path = output.stderr.trim().strip_prefix("wrote ").expect("the path is told").to_owned();
        let name = path.strip_prefix(folder).expect("a file in the folder").trim_start_matches('/');
        // The file name follows `log_file_pattern` of Inspect: time, task, id.
        let (time, rest) = name.split_once('_').expect("a time");
        let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00T00-00-00+00-00", "{name}");
        let id =
            rest.strip_prefix("s_").and_then(|rest| rest.strip_suffix(".json")).expect("the id of the task");
        assert!(!id.is_empty() && !id.contains('_'), "{name}");
        assert!(cli.path(&path).is_file(), "{path}");
    }
    let output = cli.run(&["report", "run", "--format", "otlp", "-o", "there"]).expect_code(2);
    assert!(output.stderr.contains("`there` is a folder"), "{}", output.stderr);
}

#[test]
fn a_changed_eval_file_has_no_lines_any_more() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml"]).expect_code(1);
    cli.file("s.yaml", format!("# moved\n{SUITE}"));
    let output = cli.run(&["report", "last", "--format", "github"]).expect_code(0);
    assert!(output.stdout.starts_with("::warning file=s.yaml,line=1,"), "{}", output.stdout);
}

#[test]
fn a_baseline_comes_first_and_a_target_is_reported_alone() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml", "--run-dir", "new"]).expect_code(1);
    cli.file("s.yaml", SUITE.replace("pears", "apples"));
    cli.run(&["eval", "s.yaml", "--run-dir", "old"]).expect_code(0);

    let output = cli.run(&["report", "new", "--baseline", "old", "-o", "c.md"]).expect_code(0);
    assert!(output.stderr.contains("not measured in the same way"), "{}", output.stderr);
    let text = std::fs::read_to_string(cli.path("c.md")).expect("a report");
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words} in {text}"));
    assert!(place("**Not comparable (rubric):**") < place("#### Cases that did not pass"));
    assert!(
        !text.contains("Regressions"),
        "what another grader says of the same answer is no regression: {text}"
    );

    cli.run(&["report", "new@nobody"]).expect_code(2);
    cli.run(&["compare", "old", "new", "--allow", "all", "-o", "c.html", "-o", "c.json"]).expect_code(0);
    assert!(std::fs::read_to_string(cli.path("c.html")).expect("a page").contains("Compared with base old"));
    assert!(cli.path("c.json").is_file());
}

#[test]
fn a_score_without_a_folder_and_a_plan_have_no_rows_to_report() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(1);
    let output = cli.run(&["score", "run", "-o", "r.html"]).expect_code(2);
    assert!(output.stderr.contains("--run-dir"), "{}", output.stderr);
    cli.run(&["score", "run", "--run-dir", "again", "-o", "r.html"]).expect_code(1);
    assert!(cli.path("r.html").is_file());
    let output = cli.run(&["eval", "s.yaml", "--dry-run", "-o", "plan.md"]).expect_code(2);
    assert!(output.stderr.contains("a plan has no results"), "{}", output.stderr);
}

/// A file with two prompts, whose answers are what the prompts say.
const PROMPTS: &str = "description: two prompts\nproviders: [echo]\nprompts:\n- {label: short, raw: 'Say {{q}}'}\n- {label: long, raw: 'Explain {{q}} step by step'}\ntests:\n- vars: {q: tea}\n  assert: [{type: contains, value: step}]\n- vars: {q: 'a | b'}\n  assert: [{type: contains, value: step}]\n";

#[test]
fn the_matrix_has_prompts_or_runs_as_columns() {
    let cli = cli();
    cli.file("promptfooconfig.yaml", PROMPTS);
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "both", "--label", "first try"]).expect_code(1);
    let text = cli.run(&["report", "both", "--format", "matrix"]).expect_code(0).stdout;
    assert!(text.contains("|  | short | long |") && text.contains("Best first: long 100.0%"), "{text}");
    assert!(
        text.contains("**Compared with short**") && text.contains("No difference of two is certain"),
        "{text}"
    );
    let test = text.lines().find(|line| line.contains("Explain tea")).expect("a row");
    assert!(test.starts_with("| test-1<br>") && test.contains("Say tea"), "one row for both prompts: {test}");
    assert!(text.contains("| **Latency** | 0 ms | 0 ms |"), "{text}");
    assert!(text.contains("Say a \\| b"), "a cell stays in its column: {text}");

    for (file, texts) in [
        ("m.csv", ["short result,short answer,short criteria,long result", "metric,,Pass rate"]),
        ("m.html", ["<th>short</th><th>long</th>", "Explain tea step by step"]),
        ("m.md", ["|  | short | long |", "Best first"]),
    ] {
        for _ in ["made", "replaced"] {
            cli.run(&["report", "both", "--format", "matrix", "-o", file]).expect_code(0);
        }
        let written = cli.read(file);
        assert!(texts.iter().all(|text| written.contains(text)), "{file}: {written}");
    }
    let refused = cli.run(&["report", "both", "--format", "matrix", "-o", "m.xml"]).expect_code(2);
    assert!(refused.stderr.contains("FILE.csv"), "{}", refused.stderr);

    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml", "--run-dir", "a"]).expect_code(1);
    cli.run(&["eval", "s.yaml", "--run-dir", "b"]).expect_code(1);
    let text = cli.run(&["report", "a", "b", "a", "--format", "matrix"]).expect_code(0).stdout;
    assert!(text.contains("|  | a | b | a |") && text.contains("The best of several"), "{text}");
    let single = cli.run(&["report", "a", "--format", "matrix"]).expect_code(0).stdout;
    assert!(single.contains("| **Latency** | undefined |"), "of given answers: {single}");
    assert!(single.contains("Pass rate") && !single.contains("Best first"), "{single}");
}

#[test]
fn a_matrix_that_is_too_long_for_a_comment_says_what_it_omits() {
    let cli = cli();
    let mut suite = "name: s\ntests:\n".to_owned();
    for at in 0..1_500 {
        let _ = writeln!(
            suite,
            "- {{id: t{at}, input: a question, output: an answer with words, criteria: c, assertions: [{{type: contains, value: words}}]}}"
        );
    }
    cli.file("s.yaml", suite);
    cli.run(&["eval", "s.yaml", "--run-dir", "many"]).expect_code(0);
    let output = cli.run(&["report", "many", "--format", "matrix", "-o", "m.md"]).expect_code(0);
    let written = cli.read("m.md");
    let shown = written.matches("| t").count();
    assert!(shown > 300 && written.chars().count() <= 65_536, "{shown}");
    let digits: String =
        written.rsplit("Omitted: ").next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits, (1_500 - shown).to_string());
    assert!(output.stderr.contains("Markdown is cut"), "{}", output.stderr);
    let output = cli.run(&["report", "many", "--format", "matrix", "-o", "m.csv"]).expect_code(0);
    assert!(!output.stderr.contains("cut") && cli.read("m.csv").matches("\ntest,").count() == 1_500);
}

#[test]
fn a_label_names_a_run_wherever_it_is_listed() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml", "--label", " warmer <tone> "]).expect_code(1);
    assert!(cli.run(&["list"]).expect_code(0).stdout.contains("s · warmer <tone>"));
    let listed: serde_json::Value =
        serde_json::from_str(&cli.run(&["list", "--json"]).expect_code(0).stdout).expect("JSON");
    assert_eq!(listed[0]["label"], "warmer <tone>");
    let report = cli.run(&["report"]).expect_code(0).stdout;
    assert!(report.contains("warmer &lt;tone&gt;"), "{report}");
    cli.run(&["eval", "s.yaml", "--label", " "]).expect_code(2);
    cli.run(&["eval", "s.yaml", "--label", "a\nb"]).expect_code(2);
}
