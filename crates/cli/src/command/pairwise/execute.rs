//! Execution of `assize pairwise`: a new comparison, or the report of a stored one.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use assize_evalfile::{LoadedSuite, load_answers, load_rubric};
use assize_store::{RunFolder, RunInfo};

use super::system::{Named, told_apart};
use super::versus::{COMMAND, Found, Versus, conclusion, figures, print};
use crate::args::{EvalArgs, PairwiseArgs, ShowChoice};
use crate::command::eval::{Loaded, LoadedFile, execute_loaded, load, load_options};
use crate::context::Context;
use crate::exit::{Ending, Exit};

pub(crate) fn execute(args: &PairwiseArgs, context: &Context) -> Result<Exit, String> {
    let options = load_options(&args.root, context);
    let mut systems = Vec::new();
    let (mut recorded, mut lists) = (Vec::new(), Vec::new());
    for written in &args.systems {
        match Named::find(written, &options, context)? {
            Named::Run(found, folder, info) => {
                if info.command == COMMAND {
                    if args.systems.len() > 1 {
                        return Err(format!(
                            "`{written}` is a comparison itself; alone it is printed again, and it is no system"
                        ));
                    }
                    return again(args, &folder, *info, context);
                }
                let source = Recorded::of(&info);
                if !recorded.contains(&source) {
                    recorded.push(source);
                }
                systems.extend(found);
            }
            Named::File(system, loaded, path) => {
                systems.push(*system);
                lists.push((loaded, path));
            }
        }
    }
    if systems.len() < 2 {
        return Err(format!(
            "`{}` is one system; name at least two, such as `assize pairwise RUN_A RUN_B`",
            args.systems.join(" ")
        ));
    }
    told_apart(&systems)?;
    refuse(args)?;
    let versus = Versus {
        systems,
        criteria: args
            .criteria
            .iter()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
            .collect(),
        ties: args.rank_ties,
        markdown: args.markdown,
        selective: !args.filter.is_empty() || !args.tag.is_empty(),
        found: RefCell::new(Found::default()),
    };
    let eval = EvalArgs {
        paths: args.suite.clone(),
        target: Vec::new(),
        targets: args.targets.clone(),
        filter: args.filter.clone(),
        tag: args.tag.clone(),
        keep_going: false,
        root: args.root.clone(),
        deny: Vec::new(),
        keep_workspaces: false,
        dry_run: args.dry_run,
        run: args.run.clone(),
    };
    let loaded = if !args.suite.is_empty() {
        load(&args.suite, &args.root, context)?
    } else if !recorded.is_empty() {
        recorded_cases(&recorded, args, context)?
    } else {
        let Some((first, path)) = lists.into_iter().next() else {
            return Err("there are no cases to compare on".to_owned());
        };
        // The diagnostics were printed when the answers were read.
        one_file(LoadedSuite { diagnostics: Vec::new(), ..*first }, path)
    };
    execute_loaded(&versus, &loaded, &eval, context)
}

/// Source of a run's cases.
#[derive(Debug, PartialEq, Eq)]
enum Recorded {
    /// Eval files.
    Suites(Vec<PathBuf>),
    /// A file of answers that were graded by a rubric.
    Answers { rubric: PathBuf, answers: PathBuf },
}

impl Recorded {
    fn of(info: &RunInfo) -> Self {
        let suites: Vec<PathBuf> = info.suites.iter().map(|suite| PathBuf::from(&suite.path)).collect();
        let other =
            info.inputs.iter().map(|input| PathBuf::from(&input.path)).find(|path| !suites.contains(path));
        match (suites.as_slice(), other) {
            ([rubric], Some(answers)) if info.command == "grade" => {
                Self::Answers { rubric: rubric.clone(), answers }
            }
            _ => Self::Suites(suites),
        }
    }

    fn paths(&self) -> Vec<&PathBuf> {
        match self {
            Self::Suites(paths) => paths.iter().collect(),
            Self::Answers { rubric, answers } => vec![rubric, answers],
        }
    }

    /// Reads the cases. Those of one run are read together, so that suites get the names that they had in the
    /// run.
    fn load(&self, args: &PairwiseArgs, context: &Context) -> Result<Loaded, String> {
        let (rubric, answers) = match self {
            Self::Suites(paths) => return load(paths, &args.root, context),
            Self::Answers { rubric, answers } => (rubric, answers),
        };
        let options = load_options(&args.root, context);
        let loaded = load_answers(answers, &load_rubric(rubric, &options), &options);
        Ok(one_file(loaded, answers.clone()))
    }
}

/// Wraps a file of answers as eval files.
fn one_file(loaded: LoadedSuite, path: PathBuf) -> Loaded {
    let LoadedSuite { suite, cases, sources, diagnostics, .. } = loaded;
    Loaded { files: vec![LoadedFile { path, suite, cases, sources, diagnostics }], scorecards: Vec::new() }
}

/// Reads the cases of the runs; of a suite that several runs share, the first one is used.
fn recorded_cases(recorded: &[Recorded], args: &PairwiseArgs, context: &Context) -> Result<Loaded, String> {
    let gone: BTreeSet<String> = recorded
        .iter()
        .flat_map(Recorded::paths)
        .filter(|path| !context.working_folder.join(path).is_file())
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if !gone.is_empty() {
        let gone: Vec<String> = gone.into_iter().collect();
        return Err(format!(
            "the files that the runs have their cases from are not here ({}): say where the cases are with `--suite PATH`",
            gone.join(", ")
        ));
    }
    let mut all = Loaded { files: Vec::new(), scorecards: Vec::new() };
    for source in recorded {
        let found = source.load(args, context)?;
        all.scorecards.extend(found.scorecards);
        for file in found.files {
            let name = |file: &LoadedFile| file.suite.as_ref().map(|suite| suite.name.clone());
            if !all.files.iter().any(|known| name(known).is_some() && name(known) == name(&file)) {
                all.files.push(file);
            }
        }
    }
    Ok(all)
}

/// Rejects options of runs that have no effect on a comparison.
fn refuse(args: &PairwiseArgs) -> Result<(), String> {
    let run = &args.run;
    let no_use = [
        (run.show != ShowChoice::Auto, "--show"),
        (run.threshold.is_some(), "--threshold"),
        (run.borderline.is_some(), "--borderline"),
        (run.judging.is_some(), "--judging"),
        (run.truncate.is_some(), "--truncate"),
    ];
    match no_use.iter().find(|(given, _)| *given) {
        Some((_, flag)) => Err(format!("`{flag}` has no effect on a comparison of answers: leave it out")),
        None => Ok(()),
    }
}

/// Prints a stored comparison again.
fn again(
    args: &PairwiseArgs,
    folder: &RunFolder,
    mut info: RunInfo,
    context: &Context,
) -> Result<Exit, String> {
    let (report, missing) = figures(folder, &info)?;
    let (exit, reason) = conclusion(&report, &missing, Ending::default());
    if let Some(summary) = &mut info.summary {
        summary.exit_code = exit.code();
        summary.exit_reason = reason;
    }
    print(&report, &missing, &info, folder, args.run.json, args.markdown, context);
    Ok(exit)
}
