//! From the arguments of `assize pairwise` to a run, or to the figures of one that is stored.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

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
                let paths: Vec<PathBuf> =
                    info.suites.iter().map(|suite| PathBuf::from(&suite.path)).collect();
                if !recorded.contains(&paths) {
                    recorded.push(paths);
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
        let first = *first;
        Loaded {
            files: vec![LoadedFile {
                path,
                suite: first.suite,
                cases: first.cases,
                sources: first.sources,
                // They were said when the answers were read.
                diagnostics: Vec::new(),
            }],
            scorecards: Vec::new(),
        }
    };
    execute_loaded(&versus, &loaded, &eval, context)
}

/// The cases of the eval files that the runs name. Those of one run are read together, so that suites are called what
/// the run called them; of a suite that several runs hold, the first is taken.
fn recorded_cases(
    recorded: &[Vec<PathBuf>],
    args: &PairwiseArgs,
    context: &Context,
) -> Result<Loaded, String> {
    let gone: BTreeSet<String> = recorded
        .iter()
        .flatten()
        .filter(|path| !context.working_folder.join(path).is_file())
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if !gone.is_empty() {
        let gone: Vec<String> = gone.into_iter().collect();
        return Err(format!(
            "the eval files of the runs are not here ({}): say where the cases are with `--suite PATH`",
            gone.join(", ")
        ));
    }
    let mut all = Loaded { files: Vec::new(), scorecards: Vec::new() };
    for paths in recorded {
        let found = load(paths, &args.root, context)?;
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

/// Options of runs that a comparison has no use for are not swallowed.
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
    folder: &assize_store::RunFolder,
    mut info: assize_store::RunInfo,
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
