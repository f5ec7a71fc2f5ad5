//! `assize lint`: finds the files, applies the rules, and makes safe changes.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, DiagnosticCode, Severity, SourceMap, did_you_mean};
use assize_document::codes;
use assize_engine::{CritiqueFile, CritiqueOptions, CritiqueReport, ExitStatus, replace_file};
use assize_evalfile::{LoadOptions, is_rubric_in_place_of_suite, load_rubric};
use assize_lint::{LintFix, ModelLint, RULES, apply_fixes, collect_fixes, lint_scorecard};
use assize_load::{find_suites, load_suite};
use assize_scorecard::{LoadedScorecard, is_scorecard, load_scorecard};

use super::linted_file::LintedFile;
use super::print::{print, print_rules};
use crate::args::{FormatChoice, LintArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

/// Most rounds of changes. A change can enable others; more rounds than this would mean a cycle.
const MAX_ROUNDS: usize = 5;

pub(crate) fn execute(args: &LintArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let format = if args.json { FormatChoice::Json } else { args.format };
    if args.list {
        print_rules(format, context);
        return Ok(ExitStatus::Passed);
    }

    let choice = RuleFilter::read(args)?;
    let options = context.process.load_options(&args.root);
    let mut found = find_suites(&args.paths);
    let rubrics = found.take_rubrics(&options);
    if let Some(message) = found.problem_message() {
        return Err(message.into());
    }
    if let Some(message) = found.skipped_message() {
        output::print_warning(&message, context);
    }

    let mut files: Vec<LintedFile> = Vec::new();
    let mut fixed = 0;
    for path in found.files.into_iter().chain(found.scorecards).chain(rubrics.iter().cloned()) {
        // Rubrics that an eval file reads are linted as part of it.
        if rubrics.contains(&path) && files.iter().any(|file| file.has_read(&path)) {
            continue;
        }

        let mut looked = look(path, &choice, &options)?;
        if args.fix && !looked.broken() {
            let (after, count) = repair(looked, &choice, &options, context)?;
            looked = after;
            fixed += count;
        }

        files.push(looked);
    }

    let broken = files.iter().any(LintedFile::broken);
    let judged = match &args.judge {
        Some(_) if broken => {
            output::print_warning(
                "a file does not load; the model was not called and nothing was spent",
                context,
            );
            None
        }
        Some(name) => Some(review(name, &mut files, args, &choice, &options, context)?),
        None => None,
    };

    print(&files, format, args.fix.then_some(fixed), judged.as_ref(), context)?;
    let any = files.iter().any(|file| !file.linted.diagnostics.is_empty());
    let mut exits = vec![ExitStatus::Passed];
    exits.extend(broken.then_some(ExitStatus::Invalid));
    exits.extend((any && args.strict).then_some(ExitStatus::Failed));
    exits.extend(judged.map(|judged| judged.exit()));

    Ok(ExitStatus::strongest(exits))
}

/// Has a model apply its rules to the rubrics of all files, and adds its findings.
fn review(
    name: &str,
    files: &mut [LintedFile],
    args: &LintArgs,
    choice: &RuleFilter,
    options: &LoadOptions,
    context: &CliContext,
) -> Result<CritiqueReport, CommandFailure> {
    let mut reviewed = Vec::new();
    for looked in &*files {
        let linting =
            if looked.is_scorecard { None } else { Some(open_file(&looked.path, options)?.linting) };
        reviewed.push(CritiqueFile { path: looked.path.clone(), linting });
    }

    let critique = CritiqueOptions {
        model: name.to_owned(),
        targets_file: args.targets.clone(),
        roots: args.root.clone(),
        workers: args.workers,
        spending: args.spending.options(),
        dry_run: args.dry_run,
    };

    let engine = context.engine(false);
    let (report, linted) = block_on(engine.critique(reviewed, &critique, &|code| choice.takes(code)))?;

    for (looked, linted) in files.iter_mut().zip(linted) {
        if let Some(linted) = linted {
            looked.linted = linted;
            looked.linted.diagnostics.retain(|finding| choice.takes(finding.code));
        }
    }

    Ok(report)
}

/// Which rules are applied.
pub(super) struct RuleFilter {
    codes: Vec<DiagnosticCode>,
    /// True if `codes` are skipped, false if only `codes` are applied.
    skips: bool,
}

impl RuleFilter {
    fn read(args: &LintArgs) -> Result<Self, CommandFailure> {
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

        let codes: Vec<DiagnosticCode> = words.iter().map(code).collect::<Result<_, _>>()?;
        let asks = |code: &&DiagnosticCode| {
            RULES.iter().any(|rule| rule.code == **code && rule.question().is_some())
        };
        if let Some(code) = codes.iter().find(asks).filter(|_| !skips && args.judge.is_none()) {
            return Err(format!("only a model can apply {code}; name one with `--judge MODEL`").into());
        }

        Ok(Self { codes, skips })
    }

    pub(super) fn takes(&self, code: DiagnosticCode) -> bool {
        self.codes.contains(&code) != self.skips
    }
}

/// Loads and lints a scorecard, an eval file, or a rubric file.
fn look(path: PathBuf, choice: &RuleFilter, options: &LoadOptions) -> Result<LintedFile, CommandFailure> {
    if is_scorecard(&path) {
        return Ok(look_at_card(path, choice, options));
    }

    let OpenedForLint { linting, cases, errors, error_sources } = open_file(&path, options)?;
    let mut linted = linting.finish(&[]);
    linted.diagnostics.retain(|finding| choice.takes(finding.code));

    Ok(LintedFile { path, cases, linted, errors, error_sources, is_scorecard: false })
}

/// Loads and lints a scorecard.
fn look_at_card(path: PathBuf, choice: &RuleFilter, options: &LoadOptions) -> LintedFile {
    let loaded = load_scorecard(&path, options);
    let mut linted = lint_scorecard(&loaded);
    linted.diagnostics.retain(|finding| choice.takes(finding.code));

    let LoadedScorecard { cases, sources, diagnostics, .. } = loaded;
    let errors = diagnostics.into_iter().filter(|found| found.severity == Severity::Error).collect();
    LintedFile { path, cases, linted, errors, error_sources: sources, is_scorecard: true }
}

/// A file to which the rules without a model were applied.
pub(super) struct OpenedForLint {
    pub(super) linting: ModelLint,
    cases: usize,
    errors: Vec<Diagnostic>,
    error_sources: SourceMap,
}

pub(super) fn open_file(path: &Path, options: &LoadOptions) -> Result<OpenedForLint, CommandFailure> {
    let loaded = load_suite(path, options);
    let (mut errors, mut error_sources, mut cases) = (loaded.diagnostics, loaded.sources, 0);
    let linting = if let Some(suite) = &loaded.suite {
        cases = loaded.cases.len();
        ModelLint::for_suite(suite, &loaded.cases).map_err(|error| error.to_string())?
    } else {
        // A rubric file has criteria but no cases.
        let rubric = load_rubric(path, options);
        let linting = ModelLint::for_rubric(&rubric);
        let is_valid = !rubric.has_errors() && rubric.rubric.is_some();
        if is_valid || is_rubric_in_place_of_suite(&errors) {
            (errors, error_sources) = (rubric.diagnostics, rubric.sources);
        }

        linting
    };
    errors.retain(|found| found.severity == Severity::Error || found.code == codes::LIMIT_WITHOUT_MEASURE);

    Ok(OpenedForLint { linting, cases, errors, error_sources })
}

/// Applies safe changes, round by round. A change after which the file no longer loads is undone.
fn repair(
    mut looked: LintedFile,
    choice: &RuleFilter,
    options: &LoadOptions,
    context: &CliContext,
) -> Result<(LintedFile, usize), CommandFailure> {
    let mut made = 0;
    for _ in 0..MAX_ROUNDS {
        let changes = collect_fixes(&looked.linted.diagnostics, &looked.linted.sources);
        if changes.is_empty() {
            break;
        }

        let mut originals: Vec<(PathBuf, String)> = Vec::new();
        let mut count = 0;
        for (path, changes) in &changes {
            let text = assize_files::read_text(path)
                .map_err(|error| format!("{}: can't be read: {error}", path.display()))?;
            let Some(new) = apply_fixes(&text, changes) else {
                return Err(format!("{}: changed while the command ran; run it again", path.display()).into());
            };
            replace_file(path, &new)?;
            originals.push((path.clone(), text));

            count += changes.len();
        }

        let again = look(looked.path.clone(), choice, options)?;
        let better = open(&again) < open(&looked);
        if again.broken() || again.cases != looked.cases || !better {
            for (path, text) in &originals {
                replace_file(path, text)?;
            }

            let patch: String = changes.iter().map(|(path, changes)| patch(path, changes)).collect();
            output::print_warning(
                &format!("these fixes would break the file and were not applied:\n{patch}"),
                context,
            );

            break;
        }

        made += count;
        looked = again;
    }

    Ok((looked, made))
}

/// Counts the findings with a suggested change.
fn open(looked: &LintedFile) -> usize {
    looked.linted.diagnostics.iter().filter(|diagnostic| diagnostic.suggestion.is_some()).count()
}

fn patch(path: &Path, changes: &[LintFix]) -> String {
    let line = |change: &LintFix| {
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
