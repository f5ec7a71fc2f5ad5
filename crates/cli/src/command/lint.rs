//! `assize lint`.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Code, Diagnostic, Severity, SourceMap, did_you_mean, render};
use assize_lint::{Fix, Linted, RULES, fixed, fixes, lint_rubric, lint_suite};
use assize_spec::{LoadOptions, codes, find_suites, load_rubric, load_suite};

use super::eval::load_options;
use crate::args::{FormatChoice, LintArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::files::replace;
use crate::output;

/// Changes can make room for others; after this many rounds something goes in a circle.
const MAX_ROUNDS: usize = 5;

/// A file that was looked at.
struct Looked {
    path: PathBuf,
    cases: usize,
    linted: Linted,
    /// Why the file does not load; its sound cases are looked at all the same.
    errors: Vec<Diagnostic>,
    error_sources: SourceMap,
}

impl Looked {
    fn broken(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Errors and findings, each with the texts they point into.
    fn parts(&self) -> [(&[Diagnostic], &SourceMap); 2] {
        [(&self.errors, &self.error_sources), (&self.linted.diagnostics, &self.linted.sources)]
    }
}

pub(crate) fn execute(args: &LintArgs, context: &Context) -> Result<Exit, String> {
    let format = if args.json { FormatChoice::Json } else { args.format };
    if args.list {
        list(format);
        return Ok(Exit::Passed);
    }
    let choice = Choice::read(args)?;
    let found = find_suites(&args.paths);
    if !found.problems.is_empty() {
        let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        return Err(problems.join("\n"));
    }
    let options = load_options(&args.root, context);
    let mut files = Vec::new();
    let mut fixed = 0;
    for path in found.files {
        let mut looked = look(path, &choice, &options)?;
        if args.fix && !looked.broken() {
            let (after, count) = repair(looked, &choice, &options, context)?;
            looked = after;
            fixed += count;
        }
        files.push(looked);
    }
    print(&files, format, args.fix.then_some(fixed), context)?;
    let broken = files.iter().any(Looked::broken);
    let any = files.iter().any(|file| !file.linted.diagnostics.is_empty());
    Ok(if broken {
        Exit::Invalid
    } else if any && args.strict {
        Exit::Failed
    } else {
        Exit::Passed
    })
}

/// The rules that are applied.
struct Choice {
    codes: Vec<Code>,
    /// Whether `codes` are left out rather than the only ones.
    skips: bool,
}

impl Choice {
    fn read(args: &LintArgs) -> Result<Self, String> {
        let skips = args.only.is_empty();
        let (flag, words) = if skips { ("--skip", &args.skip) } else { ("--only", &args.only) };
        let code = |word: &String| {
            let known =
                RULES.iter().find(|rule| rule.code.as_str().eq_ignore_ascii_case(word) || rule.name == word);
            known.map(|rule| rule.code).ok_or_else(|| {
                let names = RULES.iter().flat_map(|rule| [rule.name, rule.code.as_str()]);
                let help = match did_you_mean(word, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`assize lint --list` shows the rules".to_owned(),
                };
                format!("`{flag} {word}`: there is no such rule; {help}")
            })
        };
        Ok(Self { codes: words.iter().map(code).collect::<Result<_, _>>()?, skips })
    }

    fn takes(&self, code: Code) -> bool {
        self.codes.contains(&code) != self.skips
    }
}

/// Loads and lints an eval file, or a rubric in a file of its own.
fn look(path: PathBuf, choice: &Choice, options: &LoadOptions) -> Result<Looked, String> {
    let loaded = load_suite(&path, options);
    let mut errors = loaded.diagnostics;
    errors.retain(|diagnostic| diagnostic.severity == Severity::Error);
    let (mut error_sources, mut cases) = (loaded.sources, 0);
    let mut linted = if let Some(suite) = &loaded.suite {
        cases = loaded.cases.len();
        lint_suite(suite, &loaded.cases).map_err(|error| error.to_string())?
    } else {
        // A rubric in a file of its own has criteria and no cases.
        let rubric = load_rubric(&path, options);
        if !rubric.has_errors() && rubric.rubric.is_some() {
            errors.clear();
            error_sources = SourceMap::new();
        }
        lint_rubric(&rubric)
    };
    linted.diagnostics.retain(|finding| choice.takes(finding.code));
    Ok(Looked { path, cases, linted, errors, error_sources })
}

/// Makes the sure changes, round by round. A change after which the file no longer loads is taken back.
fn repair(
    mut looked: Looked,
    choice: &Choice,
    options: &LoadOptions,
    context: &Context,
) -> Result<(Looked, usize), String> {
    let mut made = 0;
    for _ in 0..MAX_ROUNDS {
        let changes = fixes(&looked.linted.diagnostics, &looked.linted.sources);
        if changes.is_empty() {
            break;
        }
        let mut originals: Vec<(PathBuf, String)> = Vec::new();
        let mut count = 0;
        for (path, changes) in &changes {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("{}: can't be read: {error}", path.display()))?;
            let Some(new) = fixed(&text, changes) else {
                return Err(format!("{}: was changed meanwhile; start again", path.display()));
            };
            replace(path, &new)?;
            originals.push((path.clone(), text));
            count += changes.len();
        }
        let again = look(looked.path.clone(), choice, options)?;
        let better = open(&again) < open(&looked);
        if again.broken() || again.cases != looked.cases || !better {
            for (path, text) in &originals {
                replace(path, text)?;
            }
            let patch: String = changes.iter().map(|(path, changes)| patch(path, changes)).collect();
            output::warn(&format!("these changes would break the file and were not made:\n{patch}"), context);
            break;
        }
        made += count;
        looked = again;
    }
    Ok((looked, made))
}

/// How many findings come with a change.
fn open(looked: &Looked) -> usize {
    looked.linted.diagnostics.iter().filter(|diagnostic| diagnostic.suggestion.is_some()).count()
}

fn patch(path: &Path, changes: &[Fix]) -> String {
    let line = |change: &Fix| {
        format!(
            "{}:{}\n- {}\n+ {}\n",
            path.display(),
            change.line,
            change.old.trim_end(),
            change.new.trim_end()
        )
    };
    changes.iter().map(line).collect()
}

fn print(
    files: &[Looked],
    format: FormatChoice,
    fixed: Option<usize>,
    context: &Context,
) -> Result<(), String> {
    let (errors, warnings) = tally(files);
    let allowed: usize = files.iter().map(|file| file.linted.allowed).sum();
    match format {
        FormatChoice::Text => {
            for (diagnostics, sources) in
                files.iter().flat_map(Looked::parts).filter(|part| !part.0.is_empty())
            {
                output::print(&format!("{}\n", output::draw(diagnostics, sources, context.stdout)));
            }
            output::print(&summary(files.len(), errors, warnings, allowed, fixed));
        }
        FormatChoice::Json => {
            let mut diagnostics = Vec::new();
            let mut listed = Vec::new();
            for file in files {
                let found: Vec<_> = file
                    .parts()
                    .into_iter()
                    .flat_map(|(diagnostics, sources)| render::json_report(diagnostics, sources).diagnostics)
                    .collect();
                listed.push(serde_json::json!({
                    "path": file.path.display().to_string(),
                    "cases": file.cases,
                    "problems": found.len(),
                }));
                diagnostics.extend(found);
            }
            let diagnostics = serde_json::to_value(diagnostics).map_err(|error| error.to_string())?;
            output::print_json(&serde_json::json!({
                "files": listed,
                "diagnostics": diagnostics,
                "errors": errors,
                "warnings": warnings,
                "allowed": allowed,
                "fixed": fixed.unwrap_or(0),
            }));
        }
        FormatChoice::Github => {
            for (diagnostics, sources) in files.iter().flat_map(Looked::parts) {
                output::print(&render::to_github(diagnostics, sources));
            }
        }
        FormatChoice::Sarif => {
            let describe = |code| {
                let rule = RULES.iter().find(|rule| rule.code == code).map(|rule| rule.title);
                rule.or_else(|| codes::ALL.iter().find(|page| page.code == code).map(|page| page.title))
            };
            let tool = render::ToolInfo {
                name: "assize",
                version: env!("CARGO_PKG_VERSION"),
                information_uri: None,
                describe: &describe,
            };
            let parts: Vec<_> = files
                .iter()
                .flat_map(Looked::parts)
                .filter(|(diagnostics, _)| !diagnostics.is_empty())
                .collect();
            output::print(&render::to_sarif(&parts, tool));
        }
    }
    Ok(())
}

fn tally(files: &[Looked]) -> (usize, usize) {
    files
        .iter()
        .flat_map(Looked::parts)
        .map(|(diagnostics, _)| render::tally(diagnostics))
        .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
}

fn summary(files: usize, errors: usize, warnings: usize, allowed: usize, fixed: Option<usize>) -> String {
    let count = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    parts.push(if warnings == 0 { "no findings".to_owned() } else { count(warnings, "finding") });
    if allowed > 0 {
        parts.push(format!("{allowed} allowed"));
    }
    if let Some(fixed) = fixed {
        parts.push(format!("{} made", count(fixed, "change")));
    }
    format!("{}: {}\n", count(files, "file"), parts.join(", "))
}

fn list(format: FormatChoice) {
    if format == FormatChoice::Json {
        let rules: Vec<_> = RULES
            .iter()
            .map(|rule| {
                serde_json::json!({
                    "code": rule.code.as_str(), "name": rule.name, "title": rule.title, "reason": rule.reason,
                    "source": rule.source, "bad": rule.bad.text(), "good": rule.good.text(), "fixes": rule.fixes,
                })
            })
            .collect();
        output::print_json(&serde_json::json!({ "rules": rules }));
        return;
    }
    for rule in RULES {
        let fix = if rule.fixes { "  (--fix)" } else { "" };
        output::print(&format!("{}  {:<26}  {}{fix}\n", rule.code, rule.name, rule.title));
    }
}
