//! Pages in a real browser: Chromium, driven by scripts beside this file.

mod tools;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::json;

use tools::BrowserTools;

/// A case whose texts would run as scripts if they were inserted as markup.
const HOSTILE: &str = r#"name: "hostile <b>suite</b>"
tests:
- id: "<script>document.title='owned'</script>"
  tags: ["<i>tag</i>"]
  criteria: shows as text
  input: "<img src=x onerror=alert(1)> \e[31mred LONG"
  output: "</script><script>fetch('/stolen')</script>\n<img src=http://stolen.example/x onerror=\"document.title='owned'\">\n\e[31mred LONG"
  assertions: [{type: contains, value: "<b>"}, "Has a <script> tag"]
"#;

/// Cases with long names, texts and tags, a penalty and a gate, for a panel of three whose judges differ.
const PANEL: &str = r#"name: a-suite-with-a-name-that-is-longer-than-a-phone-is-wide-for-answers-of-support
tests:
- id: a-case-whose-name-is-as-long-as-people-make-them-when-they-describe-the-situation-in-it-1
  tags: [refunds, a-tag-that-is-longer-than-most-tags-are-and-does-not-break, priority-2]
  criteria: helps
  input: Where is my parcel?
  output: It is your own fault. The parcel left on Monday, and you get a refund within 30 days.
  assertions: &asked
  - type: rubrics
    name: helpfulness-of-the-answer-to-the-customer
    panel: {judges: [openai:a-judge-with-a-long-name, openai:b, openai:c]}
    criteria:
    - {id: names-the-cause-of-the-delay-in-words-a-customer-understands, outcome: "Names the cause of the delay in words that a customer without any knowledge of logistics understands, and says what happens next with the parcel, in that order", weight: 3}
    - {id: refund, outcome: Says whether the customer gets the money back, required: true}
    - {id: blames, outcome: Blames the customer, weight: -2}
- id: case-2
  criteria: helps
  input: Where is it?
  output: We are sorry. It arrives tomorrow.
  assertions: *asked
"#;

/// Two prompts for two targets, with a check whose gate fails.
const PROMPTS: &str = "description: prompts beside each other
prompts: ['Short: {{ q }}', 'Long: {{ q }} Answer in detail.']
providers: [{id: echo, label: one}, {id: echo, label: two}]
defaultTest: {assert: [{type: contains, value: detail, metric: detailed}, {type: not-icontains, value: parcel}]}
tests: [{vars: {q: Where is my parcel?}}, {vars: {q: Can I return it?}}]
";

/// Tests with recorded answers of several trials, and the targets that give them.
const TRIALS: &str = "name: trials-of-recordings
execution: {targets: [one, two], trials: 3}
tests: [{id: refund, input: Can I return it?, criteria: x, assertions: [{type: contains, value: refund}]}]
";
const RECORDINGS: &str = "targets:
- {name: one, provider: replay, path: ../answers.jsonl}
- {name: two, provider: replay, path: ../answers.jsonl}
";

/// The votes of the judges: the first judge finds every criterion met, the others none.
fn vote(incoming: &MockRequest) -> MockReply {
    let model = incoming.body["model"].as_str().unwrap_or_default();
    let outcome = if model.starts_with('a') { "met" } else { "unmet" };
    MockReply::Json(json!({
        "evidence": ["The parcel left on Monday"],
        "reason": format!("{model} says {outcome}, because of Wortzusammensetzungen, which are long and do not break"),
        "outcome": outcome,
    }))
}

/// The server; killed when this is dropped.
struct RunningServer(Child);

impl Drop for RunningServer {
    fn drop(&mut self) {
        // The server may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The browser. If there is none, prints a notice that the test harness does not capture, and returns `None`.
fn browser_for(what: &str) -> Option<BrowserTools> {
    let missing = match BrowserTools::find() {
        Ok(tools) => return Some(tools),
        Err(missing) => missing,
    };
    let line = format!("\nSKIPPED 1 browser test of {what}: {missing}\n");
    std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
    None
}

/// A folder with all kinds of runs.
fn with_runs() -> CliTest {
    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    test.copy_folder(&root.join("examples"), "examples");
    // Longer than the boxes in which texts are shown.
    let long = "a line of a long text\\n".repeat(120);
    test.file("hostile.yaml", HOSTILE.replace("LONG", &long));
    test.file("generated.eval.yaml", generated(1_000));
    test
}

/// Runs a script to its end; it must report no problem.
#[expect(clippy::print_stdout, reason = "the script prints times, for who asks for the output of the test")]
fn run_script(command: &mut Command) {
    let walked = command.output().expect("node starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&walked.stdout), String::from_utf8_lossy(&walked.stderr));
    assert!(walked.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains(" 0 problems"), "{stdout}");
    // Printed for `--nocapture`.
    println!("{stdout}");
}

#[test]
fn pages_work_in_a_browser() {
    let Some(tools) = browser_for("pages of results") else { return };
    let mut test = with_runs();
    let judges = MockServer::start(vote);
    test.env("OPENAI_BASE_URL", judges.base_url()).env("OPENAI_API_KEY", "key");
    test.file("panel.eval.yaml", PANEL);
    test.file("prompts.yaml", PROMPTS);
    test.file("trials.yaml", TRIALS);
    test.file(".assize/targets.yaml", RECORDINGS);
    let recorded = [(1, "You get a refund."), (2, "Ask the shop, which decides."), (3, "You get a refund.")];
    let recorded = recorded.map(|(trial, text)| json!({ "id": "refund", "repeat": trial, "output": text }));
    test.file("answers.jsonl", recorded.map(|line| line.to_string()).join("\n"));
    let rubric = "examples/compare/rubric.yaml";
    for (arguments, code) in [
        (vec!["eval", "panel.eval.yaml"], 1),
        (vec!["eval", "examples/quickstart"], 0),
        (vec!["eval", "hostile.yaml"], 1),
        (vec!["eval", "generated.eval.yaml", "--show", "none"], 1),
        (vec!["eval", "examples/workspace"], 0),
        (vec!["eval", "prompts.yaml"], 1),
        (vec!["eval", "trials.yaml"], 0),
        (vec!["scorecard", "run", "examples/scorecard", "--run-dir", ".assize/runs/card"], 1),
        (vec!["eval", "examples/gate.eval.yaml", "--judge-repeats", "3", "--combine", "majority"], 1),
        (vec!["grade", rubric, "--answers", "examples/compare/before.jsonl"], 1),
        (vec!["grade", rubric, "--answers", "examples/compare/after.jsonl"], 1),
        (vec!["audit", "injection", "examples/quickstart", "--judge", "offline"], 0),
        (vec!["audit", "length", "examples/quickstart", "--judge", "offline"], 0),
    ] {
        test.run(&arguments).expect_code(code);
    }
    test.copy_folder(&test.dir().join("examples/calibration/labels"), "examples/quickstart/labels");
    let note = "not sure what the criterion asks for, so this is as long as notes of people become";
    for (who, decision) in [("ann", "pass"), ("ben", "fail")] {
        let arguments = ["review", "card", "--who", who, "--criterion", "S-DOC2", "--raters", "2"];
        test.run_with_input(&arguments, &format!("{decision} -- {note}\n")).expect_code(0);
    }

    let (_server, url) = serve(&test, &["view"]);
    run_script(tools.script("walk.mjs").arg(url));
}

#[test]
fn html_reports_work_in_a_browser() {
    let Some(tools) = browser_for("HTML reports") else { return };
    let test = with_runs();
    let rubric = "examples/compare/rubric.yaml";
    for answers in ["before", "after"] {
        let file = format!("examples/compare/{answers}.jsonl");
        test.run(&["grade", rubric, "--answers", &file, "--run-dir", answers]).expect_code(1);
    }
    test.run(&["scorecard", "run", "examples/scorecard", "--run-dir", "card"]).expect_code(1);
    test.run(&["eval", "hostile.yaml", "--run-dir", "hostile"]).expect_code(1);
    test.run(&["compare", "before", "after", "-o", "compare.html"]);
    for (run, more) in
        [("before", &[][..]), ("after", &["--baseline", "before"][..]), ("card", &[]), ("hostile", &[])]
    {
        let file = format!("{run}.html");
        test.run(&[&["report", run, "-o", &file], more].concat()).expect_code(0);
    }

    let files = ["compare.html", "before.html", "after.html", "card.html", "hostile.html"];
    run_script(tools.script("reports.mjs").args(files.map(|file| test.path(file))));
}

#[test]
fn people_review_in_a_browser() {
    let Some(tools) = browser_for("reviews") else { return };
    let test = with_runs();
    test.run(&["eval", "hostile.yaml", "--run-dir", ".assize/runs/hostile"]).expect_code(1);
    let large = ["eval", "generated.eval.yaml", "--show", "none", "--run-dir", ".assize/runs/large"];
    test.run(&large).expect_code(1);
    test.run(&["scorecard", "run", "examples/scorecard", "--run-dir", "runs/card"]).expect_code(1);
    test.copy_folder(&test.dir().join("examples/scorecard"), "waiting");
    test.run(&["scorecard", "run", "waiting", "--run-dir", "runs/waiting"]).expect_code(1);
    for (who, decision) in [("ann", "pass\n"), ("ben", "fail\n")] {
        let arguments = ["review", "runs/card", "--who", who, "--criterion", "S-DOC2", "--raters", "2"];
        test.run_with_input(&arguments, decision).expect_code(0);
    }

    let program = env!("CARGO_BIN_EXE_assize");
    run_script(tools.script("review.mjs").args([program, "hostile", "large"]).current_dir(test.dir()));
}

/// Run by hand, because it takes some minutes and prints times:
/// `cargo test -p assize --test browser -- --ignored --nocapture hundred_thousand`.
#[test]
#[ignore = "takes minutes"]
fn pages_of_a_hundred_thousand_cases_work_in_a_browser() {
    let Some(tools) = browser_for("100,000 cases") else { return };
    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    test.file("generated.eval.yaml", generated(100_000));
    let arguments = ["eval", "generated.eval.yaml", "--show", "none", "--run-dir", ".assize/runs/large"];
    // Without optimisation this takes longer than the time limit of a command in a test.
    let mut eval = test.command(&arguments);
    let status = eval.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the program starts");
    assert_eq!(status.code(), Some(1));
    let (_server, url) = serve(&test, &["view", "large"]);
    run_script(tools.script("large.mjs").args([url.as_str(), "100000"]));
}

/// Run by hand when pages have changed: `cargo test -p assize --test browser -- --ignored pictures`.
#[test]
#[ignore = "writes docs/pictures"]
fn pictures_of_the_documentation_are_made() {
    let Some(tools) = browser_for("pictures") else { return };
    let test = with_runs();
    for answers in ["before", "after"] {
        let (file, folder) = (format!("examples/tutorial/{answers}.csv"), format!(".assize/runs/{answers}"));
        let arguments = ["grade", "examples/tutorial/rubric.yaml", "--answers", &file, "--run-dir", &folder];
        test.run(&arguments);
    }
    test.run(&["scorecard", "run", "examples/scorecard", "--run-dir", "intake"]).expect_code(1);
    let card = ["scorecard", "run", "examples/scorecard", "--run-dir", ".assize/runs/intake"];
    test.run(&card).expect_code(1);
    test.run(&["eval", "examples/quickstart", "--run-dir", ".assize/runs/quickstart"]).expect_code(0);
    test.copy_folder(&test.dir().join("examples/calibration/labels"), "examples/quickstart/labels");

    let (_results, results) = serve(&test, &["view"]);
    let order = ["--order", "random:1", "--criterion", "A-MED2"];
    let (_review, review) =
        serve(&test, &[&["review", "intake", "--browser", "--who", "ann"], &order[..]].concat());
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    std::fs::create_dir_all(&pictures).expect("the folder can be made");
    run_script(
        tools.script("pictures.mjs").args([&results, &review, "before", "before", "after"]).arg(pictures),
    );
}

/// Starts a server of pages and reads its address.
fn serve(test: &CliTest, arguments: &[&str]) -> (RunningServer, String) {
    let mut command = test.command(&[arguments, &["--no-open", "--port", "0"]].concat());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = RunningServer(command.spawn().expect("the server starts"));
    let mut url = String::new();
    let stdout = server.0.stdout.take().expect("its output is read");
    BufReader::new(stdout).read_line(&mut url).expect("it prints its address");
    (server, url.trim().to_owned())
}

/// A suite longer than a screen.
fn generated(cases: usize) -> String {
    let case = |number: usize| {
        let answer =
            if number.is_multiple_of(3) { "We are sorry." } else { "You get a refund within 30 days." };
        format!(
            "- id: case-{number}\n  tags: [t{}]\n  criteria: x\n  input: question {number}\n  output: {answer}\n  assertions: \
             [{{type: contains, value: refund}}, {{type: icontains, value: SORRY, weight: 2}}, Names a refund]\n",
            number % 4
        )
    };
    format!("name: generated\ntests:\n{}", (1..=cases).map(case).collect::<String>())
}
