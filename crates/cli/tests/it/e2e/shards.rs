//! Shards on the command line, and the recipes of `docs/shards.md` with the variables that CI systems set.

use std::path::Path;

use assize_testkit::cli::CliTest;
use serde_json::Value;

use crate::e2e::bench::cli;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_merged_scorecard_is_that_of_one_run() {
    let cli = cli();
    cli.copy_folder(&root().join("examples/scorecard"), "card");
    let whole =
        cli.run(&["scorecard", "run", "card", "--run-dir", "whole", "--min-coverage", "0.1", "--json"]);

    for shard in ["1/3", "2/3", "3/3"] {
        let folder = format!("shards/{}", &shard[..1]);
        let args = [
            "scorecard", "run", "card", "--shard", shard, "--run-dir", &folder, "--min-coverage", "0.1",
            "--json",
        ];
        let output = json(&cli.run(&args).expect_code(0).stdout);
        assert!(
            output["exit_reason"].as_str().expect("a reason").contains("when shards are merged"),
            "{output}"
        );
    }

    let merged = cli.run(&["merge", "shards/1", "shards/2", "shards/3", "--run-dir", "merged", "--json"]);
    assert_eq!(merged.code, whole.code, "{}", merged.stderr);
    let (whole, merged) = (json(&whole.stdout), json(&merged.stdout));
    for key in ["scorecard", "counts", "metrics", "exit_reason", "criterion_rates"] {
        assert_eq!(whole[key], merged[key], "{key}");
    }
    assert_eq!(cli.read("whole/review.jsonl"), cli.read("merged/review.jsonl"));
}

#[test]
fn shards_are_runs_that_say_what_they_are_a_part_of() {
    let cli = cli();
    cli.copy_folder(&root().join("examples/quickstart"), "evals");
    for shard in ["1/2", "2/2"] {
        cli.run(&["eval", "evals", "--shard", shard]).expect_code(0);
    }

    let listed = cli.run(&["list"]).expect_code(0).stdout;
    assert!(listed.contains("passed, shard 1 of 2") && listed.contains("passed, shard 2 of 2"), "{listed}");
    let shown = cli.run(&["eval", "evals", "--shard", "2/2", "--resume"]).expect_code(0).stdout;
    assert!(shown.contains("Shard 2 of 2, 3 of 6 results"), "{shown}");

    cli.run(&["explain", "last"]).expect_code(0);
    cli.run(&["report", "last", "-o", "shard.html"]).expect_code(0);
    let merged =
        cli.run(&["merge", "last", "last~1", "--run-dir", "merged", "-o", "all.html"]).expect_code(0);
    for text in [merged.stdout, cli.read("all.html")] {
        assert!(text.contains(", sum of the shards"), "{text}");
    }
    cli.run(&["explain", "merged", "quicksort"]).expect_code(0);
    cli.run(&["compare", "last", "merged"]).expect_code(0);
    assert!(cli.read("shard.html").contains("Shard 2 of 2"));

    let refused = cli.run(&["eval", "evals", "--shard", "0/4"]).expect_code(2).stderr;
    assert!(refused.contains("write `--shard $((INDEX + 1))/4`"), "{refused}");
    let refused = cli.run(&["merge", "last", "last"]).expect_code(2).stderr;
    assert!(refused.contains("are both shard 2 of 2; name each shard once"), "{refused}");
}

#[test]
fn graded_answers_are_split_and_merged() {
    let cli = cli();
    cli.file("rubric.yaml", "criteria: [Names the version, Says what is new]\n");
    let answers: Vec<String> =
        (0..7).map(|at| format!("{{\"answer\": \"version {at} is new\"}}\n")).collect();
    cli.file("answers.jsonl", answers.concat());
    let grade = ["grade", "rubric.yaml", "--answers", "answers.jsonl", "--json", "--run-dir"];

    let whole = cli.run(&[&grade[..], &["whole"]].concat());
    for shard in ["1/2", "2/2"] {
        cli.run(&[&grade[..], &[&shard[..1], "--shard", shard]].concat());
    }
    let merged = cli.run(&["merge", "1", "2", "--json"]);

    assert_eq!(whole.code, merged.code);
    let (whole, merged) = (json(&whole.stdout), json(&merged.stdout));
    assert_eq!((&whole["metrics"], &whole["counts"]), (&merged["metrics"], &merged["counts"]));

    cli.drop_checksums("2");
    let mut info = json(&cli.read("2/run.json"));
    info["shard"]["number"] = u32::MAX.into();
    cli.file("2/run.json", info.to_string());
    let refused = cli.run(&["merge", "1", "2", "--run-dir", "damaged"]).expect_code(2).stderr;
    assert!(refused.contains("there is no shard 4294967295 of 2"), "{refused}");
}

const PAGE: &str = "docs/shards.md";

/// Code blocks below a heading of a page.
pub(crate) fn blocks(page: &str, heading: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join(page)).expect("the page");
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).expect("the section");

    section
        .split("\n```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').expect("lines").1.to_owned())
        .collect()
}

/// Scripts of a YAML block: the lines below each line that ends in `|` with a deeper indent.
fn scripts(yaml: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = yaml.lines().collect();
    let starts = (0..lines.len()).filter(|at| lines[*at].ends_with(" |"));

    starts
        .map(|start| {
            let depth = indent(lines[start + 1]);
            let body = lines[start + 1..].iter().take_while(|line| indent(line) >= depth);
            let body: Vec<&str> = body.map(|line| &line[depth..]).collect();
            body.join("\n") + "\n"
        })
        .collect()
}

/// A folder with eval files in which scripts find the program; each script runs in its own environment.
pub(crate) struct Recipe(pub(crate) CliTest);

impl Recipe {
    pub(crate) fn new() -> Self {
        let cli = cli();
        cli.copy_folder(&root().join("examples/quickstart"), "evals");
        Self(cli)
    }

    /// Runs a script like a CI system; returns its exit code.
    #[expect(clippy::disallowed_methods, reason = "the script finds its tools by PATH")]
    pub(crate) fn run(&self, script: &str, variables: &[(&str, &str)]) -> i32 {
        let bin = Path::new(env!("CARGO_BIN_EXE_assize")).parent().expect("a folder").display().to_string();
        let path = format!("{bin}:{}", std::env::var("PATH").expect("a path"));
        // The recipes name a placeholder model; the tests use the default judge.
        let script = script.replace(" --judge openai:MODEL", "");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(self.0.dir())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.0.dir())
            .env("ASSIZE_ALLOW_CODE", "1")
            .envs(variables.iter().copied())
            .output()
            .expect("a shell");

        output.status.code().expect("an exit code")
    }

    /// Counts of the merged run.
    fn merged(&self) -> Value {
        json(&self.0.read("merged/run.json"))["summary"]["counts"].clone()
    }
}

#[test]
fn the_recipe_for_github_works() {
    let recipe = Recipe::new();
    let yaml = blocks(PAGE, "GitHub Actions").remove(0);
    let [shard, merge] = scripts(&yaml).try_into().expect("two scripts");
    assert!(
        yaml.contains("SHARD: ${{ matrix.shard }}") && yaml.contains("SHARDS: ${{ strategy.job-total }}")
    );

    for number in ["1", "2", "3", "4"] {
        assert_eq!(recipe.run(&shard, &[("SHARD", number), ("SHARDS", "4")]), 0);
        // Each downloaded artifact is a folder of its own.
        recipe.0.copy_folder(&recipe.0.path("shard"), format!("shards/shard-{number}"));
        std::fs::remove_dir_all(recipe.0.path("shard")).expect("removed");
    }
    assert_eq!(recipe.run(&merge, &[]), 0);
    assert_eq!(recipe.merged()["pass"], 6);
}

#[test]
fn the_recipe_for_gitlab_works() {
    let recipe = Recipe::new();
    let [shard, merge] = scripts(&blocks(PAGE, "GitLab CI").remove(0)).try_into().expect("two scripts");

    for number in ["1", "2", "3", "4"] {
        assert_eq!(recipe.run(&shard, &[("CI_NODE_INDEX", number), ("CI_NODE_TOTAL", "4")]), 0);
    }
    assert_eq!(recipe.run(&merge, &[]), 0);
    assert_eq!(recipe.merged()["pass"], 6);
}

#[test]
fn the_recipe_for_kubernetes_works_and_keeps_failed_cases_from_being_tried_again() {
    let recipe = Recipe::new();
    let mut all = blocks(PAGE, "Kubernetes");
    let (yaml, merge) = (all.remove(0), all.remove(0));
    let [shard] = scripts(&yaml).try_into().expect("a script");
    let results = recipe.0.path("results").display().to_string();

    for index in 0..8 {
        let index = index.to_string();
        let variables = [("JOB_COMPLETION_INDEX", &*index), ("SHARDS", "8"), ("RESULTS", &results)];
        assert_eq!(recipe.run(&shard, &variables), 0, "{index}");
        // A pod may be restarted for the same index.
        assert_eq!(recipe.run(&shard, &variables), 0, "{index}");
    }
    assert_eq!(recipe.run(&merge.replace("/results", &results), &[]), 0);
    recipe.0.copy_folder(&recipe.0.path("results/merged"), "merged");
    assert_eq!(recipe.merged()["pass"], 6);

    assert!(yaml.contains("values: [1, 2, 4]"));
    let hard = shard.replace("--shard", "--threshold 1 --shard").replace("/shard-", "/hard-");
    let codes: Vec<i32> = (0..8)
        .map(|index| {
            let index = index.to_string();
            recipe.run(&hard, &[("JOB_COMPLETION_INDEX", &index), ("SHARDS", "8"), ("RESULTS", &results)])
        })
        .collect();
    assert_eq!(codes.iter().filter(|code| **code == 1).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 7, "{codes:?}");
}

#[test]
fn the_recipe_for_slurm_works() {
    let recipe = Recipe::new();
    let mut all = blocks(PAGE, "Slurm");
    let (task, submit) = (all.remove(0), all.remove(0));

    for number in 1..=8 {
        let number = number.to_string();
        // Slurm counts only tasks that were submitted together.
        assert_eq!(
            recipe.run(&task, &[("SLURM_ARRAY_TASK_ID", &number), ("SLURM_ARRAY_TASK_COUNT", "1")]),
            0
        );
    }
    let merge = submit.split('"').nth(3).expect("the wrapped command");
    assert_eq!(recipe.run(merge, &[]), 0, "{merge}");
    assert_eq!(recipe.merged()["pass"], 6);
}

/// Files with a passing case, a failing one, and one whose target fails until the file `ready` exists.
fn unready(recipe: &Recipe) -> std::path::PathBuf {
    let ready = recipe.0.path("ready");
    std::fs::remove_dir_all(recipe.0.path("evals")).expect("removed");
    let case = |at: usize, wanted: &str| {
        format!(
            "  - id: case-{at}\n    criteria: be right\n    input: \"{at}\"\n    assertions: [{{type: contains, value: {wanted}}}]\n"
        )
    };
    let cases = [case(0, "ok"), case(1, "never"), case(2, "ok")].concat();
    recipe.0.file("evals/suite.yaml", format!("name: unready\nexecution: {{target: sh}}\ntests:\n{cases}"));
    let script = format!(
        "case $(cat {{PROMPT_FILE}}) in 2) test -e {} || exit 7;; esac; echo ok > {{OUTPUT_FILE}}",
        ready.display()
    );
    let target = format!("targets:\n  - name: sh\n    provider: cli\n    command: \"{script}\"\n");
    recipe.0.file(".assize/targets.yaml", target);
    ready
}

#[test]
fn recipes_try_again_what_is_incomplete_until_the_verdict_is_final() {
    let recipe = Recipe::new();
    let ready = unready(&recipe);
    let results = recipe.0.path("results").display().to_string();
    let [kubernetes] = scripts(&blocks(PAGE, "Kubernetes").remove(0)).try_into().expect("a script");
    let slurm = blocks(PAGE, "Slurm").remove(0).replace("SHARDS=8", "SHARDS=1");
    let kubernetes_sets = [("JOB_COMPLETION_INDEX", "0"), ("SHARDS", "1"), ("RESULTS", &*results)];
    let slurm_sets = [("SLURM_ARRAY_TASK_ID", "1")];

    for (script, variables) in [(kubernetes, &kubernetes_sets[..]), (slurm, &slurm_sets[..])] {
        // One failed and one incomplete: a retry can still improve the result.
        assert_eq!(recipe.run(&script, variables), 3, "{script}");
        std::fs::write(&ready, "").expect("written");
        assert_eq!(recipe.run(&script, variables), 1, "{script}");
        assert_eq!(recipe.run(&script, variables), 1, "{script}");
        std::fs::remove_file(&ready).expect("removed");
    }

    // The whole has the verdict of a run of all cases, and so does a part.
    assert_eq!(recipe.run("assize merge shards/1 --run-dir merged", &[]), 1);
    assert_eq!((&recipe.merged()["fail"], &recipe.merged()["incomplete"]), (&1.into(), &0.into()));
    let half =
        "assize eval evals --shard 2/2 --run-dir half; assize merge half --allow-missing --run-dir part";
    assert_eq!(recipe.run(half, &[]), 1);
    let other =
        "assize eval evals --shard 1/2 --run-dir other; assize merge other --allow-missing --run-dir rest";
    assert_eq!(recipe.run(other, &[]), 3);
}

#[test]
fn the_recipe_for_two_machines_works() {
    let recipe = Recipe::new();
    let mut all = blocks(PAGE, "Two machines and a shell");
    let (shard, merge) = (all.remove(0), all.remove(0));

    for number in ["1", "2"] {
        assert_eq!(recipe.run(&shard, &[("SHARD", number)]), 0);
    }
    assert_eq!(recipe.run(&merge, &[]), 0);
    assert_eq!(recipe.merged()["pass"], 6);
}
