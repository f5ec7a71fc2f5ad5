//! `completions` and `man`: output for shells and manuals.

use crate::e2e::bench::cli;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = cli().run(&["completions", shell]).expect_code(0).stdout;
        for word in ["scorecard", "explain", "budget-calls"] {
            assert!(script.contains(word), "{shell} knows no {word}");
        }
    }
    cli().run(&["completions", "tcsh"]).expect_code(2);
}

#[test]
fn man_pages_are_printed_or_written() {
    let cli = cli();
    let page = cli.run(&["man", "scorecard", "list"]).expect_code(0).stdout;
    assert!(page.contains(".TH assize-scorecard-list 1"), "{page}");
    let examples = cli.run(&["man", "eval"]).expect_code(0).stdout;
    assert!(examples.contains(".nf\nExamples:\n"), "examples keep their lines: {examples}");
    let unknown = cli.run(&["man", "evl"]).expect_code(2);
    assert!(
        unknown.stderr.contains("no command `evl`") && unknown.stderr.contains("eval"),
        "{}",
        unknown.stderr
    );
    cli.run(&["man", "--out", "pages"]).expect_code(0);
    let written = std::fs::read_to_string(cli.path("pages/assize-eval.1")).expect("a page");
    assert!(written.contains(".TH assize-eval 1"), "{written}");
    assert!(cli.path("pages/assize-cache-stats.1").is_file() && cli.path("pages/assize.1").is_file());
}
