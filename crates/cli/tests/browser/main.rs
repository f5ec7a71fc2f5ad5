//! `assize view` in a real browser, where there is one: Chromium, Node and two of its packages.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use assize_testkit::cli::CliTest;

/// Variable that names the folder with `node_modules`, in which playwright-core and axe-core are installed.
const MODULES: &str = "ASSIZE_BROWSER_MODULES";

/// A case whose texts would be scripts, if they were taken for markup.
const HOSTILE: &str = r#"name: "hostile <b>suite</b>"
tests:
- id: "<script>document.title='owned'</script>"
  tags: ["<i>tag</i>"]
  criteria: shows as text
  input: "<img src=x onerror=alert(1)> \e[31mred"
  output: "</script><script>fetch('/stolen')</script>\n<img src=http://stolen.example/x onerror=\"document.title='owned'\">\n\e[31mred"
  assertions: [{type: contains, value: "<b>"}, "Has a <script> tag"]
"#;

/// The server, ended when the test is.
struct RunningServer(Child);

impl Drop for RunningServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn pages_work_in_a_browser() {
    let (modules, chromium) = match find_browser() {
        Ok(found) => found,
        Err(missing) => {
            // Past the capture of the test harness, so that whoever counts what was skipped sees it.
            let line = format!("\nSKIPPED 1 browser test of `assize view`: {missing}\n");
            std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            return;
        }
    };

    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    test.copy_folder(&root.join("examples"), "examples");
    test.file("hostile.yaml", HOSTILE);
    test.file("generated.eval.yaml", generated(1_000));
    let rubric = "examples/compare/rubric.yaml";
    for (arguments, code) in [
        (vec!["eval", "examples/quickstart"], 0),
        (vec!["eval", "hostile.yaml"], 1),
        (vec!["eval", "generated.eval.yaml", "--show", "none"], 1),
        (vec!["eval", "examples/workspace"], 0),
        (vec!["scorecard", "run", "examples/scorecard"], 1),
        (vec!["eval", "examples/gate.eval.yaml", "--judge-repeats", "3", "--combine", "majority"], 1),
        (vec!["grade", rubric, "--answers", "examples/compare/before.jsonl"], 1),
        (vec!["grade", rubric, "--answers", "examples/compare/after.jsonl"], 1),
    ] {
        test.run(&arguments).expect_code(code);
    }

    let mut server = test.command(&["view", "--no-open"]);
    let mut server = RunningServer(server.stdout(Stdio::piped()).spawn().expect("the server starts"));
    let mut url = String::new();
    let stdout = server.0.stdout.take().expect("its output is read");
    BufReader::new(stdout).read_line(&mut url).expect("it prints its address");

    let walked = Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/walk.mjs"))
        .arg(url.trim())
        .env(MODULES, modules)
        .env("CHROMIUM", chromium)
        .output()
        .expect("node starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&walked.stdout), String::from_utf8_lossy(&walked.stderr));
    assert!(walked.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains(" 0 problems"), "{stdout}");
}

/// The packages and the browser, or what is missing.
#[expect(clippy::disallowed_methods, reason = "the test asks for what is installed beside it")]
fn find_browser() -> Result<(OsString, PathBuf), String> {
    let modules = std::env::var_os(MODULES)
        .ok_or_else(|| format!("{MODULES} does not name a folder with playwright-core and axe-core"))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find =
        |name: &str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());

    find("node").ok_or("there is no `node`")?;
    let chromium = find("chromium").ok_or("there is no `chromium`")?;
    Ok((modules, chromium))
}

/// A suite that is longer than a screen.
fn generated(cases: usize) -> String {
    let case = |number: usize| {
        let answer =
            if number.is_multiple_of(3) { "We are sorry." } else { "You get a refund within 30 days." };
        format!(
            "- id: case-{number}\n  tags: [t{}]\n  criteria: x\n  input: question {number}\n  output: {answer}\n  assertions: \
             [{{type: contains, value: refund}}, {{type: icontains, value: SORRY, weight: 2}}]\n",
            number % 4
        )
    };
    format!("name: generated\ntests:\n{}", (1..=cases).map(case).collect::<String>())
}
