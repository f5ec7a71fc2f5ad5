//! The recipes of `docs/ci.md`, run like a CI system: on the main branch, for a change without a regression,
//! and for one with a regression.

use crate::e2e::shards::{Recipe, blocks};

const PAGE: &str = "docs/ci.md";

/// Script of a step of a GitHub workflow, with the options of its shell.
fn step(yaml: &str, name: &str) -> String {
    let lines: Vec<&str> = yaml.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let start = lines.iter().position(|line| line.trim() == format!("- name: {name}")).expect(name);
    let run = (start..lines.len()).find(|at| lines[*at].trim_start().starts_with("run: ")).expect(name);
    let depth = indent(lines[run]);
    let script = match lines[run].trim_start().strip_prefix("run: ").expect(name) {
        "|" => {
            let body = lines[run + 1..].iter().take_while(|line| indent(line) > depth);
            body.map(|line| line.trim_start()).collect::<Vec<_>>().join("\n")
        }
        line => line.to_owned(),
    };

    format!("set -e\n{script}\n")
}

/// Script of a GitLab job: the items of `script:`, one after the other.
fn gitlab_script(yaml: &str) -> String {
    let body = yaml.lines().skip_while(|line| *line != "  script:").skip(1);
    let body = body.take_while(|line| line.starts_with("    "));
    let lines: Vec<&str> = body.map(|line| line.trim_start_matches("    - ").trim()).collect();

    format!("set -e\n{}\n", lines.join("\n").replace("|\nif", "if"))
}

/// Makes an answer worse, as a change of a prompt might.
fn worsen(recipe: &Recipe) {
    let text = recipe.0.read("evals/lessons.yaml");
    let worse =
        text.replace("Quicksort is a divide-and-conquer algorithm. It picks a pivot element", "It sorts");
    assert_ne!(text, worse);
    recipe.0.file("evals/lessons.yaml", worse);
}

fn remove(recipe: &Recipe, folder: &str) {
    std::fs::remove_dir_all(recipe.0.path(folder)).expect("removed");
}

#[test]
fn the_recipe_for_github_gates_a_change() {
    let recipe = Recipe::new();
    let yaml = blocks(PAGE, "GitHub Actions").remove(1);
    let summary = recipe.0.path("summary.md").display().to_string();
    let run = |name: &str| recipe.run(&step(&yaml, name), &[("GITHUB_STEP_SUMMARY", &summary)]);

    // On the main branch there is no baseline yet.
    for name in ["Check the files", "Run", "Compare with main", "Report", "Keep the run of main"] {
        assert_eq!(run(name), 0, "{name}");
    }
    assert!(recipe.0.path("runs/base/run.json").is_file() && !recipe.0.path("runs/change").exists());

    // A pull request without changes.
    for name in ["Check the files", "Run", "Compare with main", "Report"] {
        assert_eq!(run(name), 0, "{name}");
    }
    assert!(
        recipe.0.read("report.html").contains("<html") && recipe.0.read("junit.xml").contains("<testsuite")
    );
    assert!(recipe.0.read("comment.md").starts_with("<!-- assize:"));
    assert_eq!(recipe.0.read("summary.md").matches("<!-- assize:").count(), 2, "one of each job");
    remove(&recipe, "runs/change");

    // A pull request that makes an answer worse: the comparison fails because of the failed case, not the run.
    worsen(&recipe);
    assert_eq!((run("Run"), run("Compare with main"), run("Report")), (0, 1, 0));
    remove(&recipe, "runs/change");

    // An invalid file stops the job.
    recipe.0.file("evals/lessons.yaml", "evalcases: 1\n");
    assert_eq!((run("Check the files"), run("Run")), (2, 1));
}

#[test]
fn the_recipe_for_gitlab_gates_a_change() {
    let recipe = Recipe::new();
    let script = gitlab_script(&blocks(PAGE, "GitLab CI").remove(1));
    let run =
        |branch: &str| recipe.run(&script, &[("CI_COMMIT_BRANCH", branch), ("CI_DEFAULT_BRANCH", "main")]);

    assert_eq!(run("main"), 0, "{script}");
    assert!(recipe.0.path("runs/base/run.json").is_file());
    assert_eq!(run("change"), 0, "{script}");
    assert!(recipe.0.read("gl-code-quality-report.json").starts_with('['));
    remove(&recipe, "runs/change");

    worsen(&recipe);
    assert_eq!(run("change"), 1, "{script}");
}
