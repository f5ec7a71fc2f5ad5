//! Tests that a list names by their file and name: they have to exist, and to run.

use std::path::Path;

/// Checks that a file, below `crates/`, has a test of this name. `what` says who names it.
#[track_caller]
pub(crate) fn expect_test(file: &str, name: &str, what: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let code = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{what}: {file}: {error}"));
    if let Err(problem) = find_test(&code, name) {
        panic!("{what}: {file}: `{name}` {problem}");
    }
}

/// Finds a function that a test runner calls: of Rust, one with the attribute of a test and without `ignore`; of Python, one
/// whose name begins with `test_`, and that no decorator skips.
fn find_test(code: &str, name: &str) -> Result<(), &'static str> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let is_function = |line: &&str, word: &str| {
        let line =
            line.trim_start_matches("pub ").trim_start_matches("pub(crate) ").trim_start_matches("async ");
        line.strip_prefix(word)
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with('('))
    };
    let rust = lines.iter().position(|line| is_function(line, "fn "));
    let python = lines.iter().position(|line| is_function(line, "def "));
    let at = rust.or(python).ok_or("is not there")?;
    // What stands above the function, up to the end of another item.
    let above = lines[..at].iter().rev();
    let above: Vec<&str> =
        above.take_while(|line| !line.is_empty() && !line.ends_with(['}', ';', '{'])).copied().collect();
    let has = |words: &[&str]| above.iter().any(|line| words.iter().any(|word| line.starts_with(word)));

    let is_test = match rust {
        Some(_) => has(&["#[test]", "#[tokio::test"]),
        None => name.starts_with("test_"),
    };
    if !is_test {
        Err("is no test")
    } else if has(&["#[ignore", "@pytest.mark.skip", "@unittest.skip"]) {
        Err("is not run")
    } else {
        Ok(())
    }
}

#[test]
fn only_tests_that_run_are_tests() {
    let rust = "\
#[test]
fn plain() {}

/// Words.
#[tokio::test(
    flavor = \"multi_thread\",
)]
async fn of_tokio() {}
    #[test]
    // A reason.
    fn inside() {
    }

fn helper() {}
#[test]
fn plain_and_more() {}
#[test]
#[ignore = \"slow\"]
fn ignored() {}
// #[test]
fn without() {}
// #[test] fn in_a_comment() {}
";
    let python = "def test_it():\n    pass\n\n@pytest.mark.skip\ndef test_skipped():\n    pass\n\ndef helper():\n    pass\n";
    for (code, name, expected) in [
        (rust, "plain", Ok(())),
        (rust, "of_tokio", Ok(())),
        (rust, "inside", Ok(())),
        (rust, "plain_and_more", Ok(())),
        (rust, "helper", Err("is no test")),
        (rust, "ignored", Err("is not run")),
        (rust, "without", Err("is no test")),
        (rust, "in_a_comment", Err("is not there")),
        (rust, "plai", Err("is not there")),
        (python, "test_it", Ok(())),
        (python, "test_skipped", Err("is not run")),
        (python, "helper", Err("is no test")),
    ] {
        assert_eq!(find_test(code, name), expected, "{name}");
    }
}
