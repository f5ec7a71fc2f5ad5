//! Items to review, read from a run or from the folder of a scorecard.

use std::path::{Path, PathBuf};

use assize_engine::{LabelOptions, runs};
use assize_review::{ReviewMaterial, ReviewOptions, scorecard_items, scorecard_run_items, suite_run_items};

use crate::args::ReviewArgs;
use crate::command::scorecard::load_valid;
use crate::context::CliContext;
use crate::failure::CommandFailure;

/// Reads the items and names the folder of their labels.
pub(super) fn load_material(
    args: &ReviewArgs,
    options: &ReviewOptions,
    context: &CliContext,
) -> Result<(ReviewMaterial, PathBuf), CommandFailure> {
    let path = Path::new(&args.what);
    let (material, labels) = if path.exists() && !path.join("run.json").is_file() {
        let scorecard = load_valid(path, &LabelOptions::default(), &args.root, context)?.scorecard;
        (scorecard_items(&scorecard, options), labels_beside(path))
    } else {
        load_from_run(args, options, context)?
    };

    let labels = options.labels.clone().or(labels);
    let labels =
        labels.ok_or("a scorecard in one file has no labels folder; name one with `--labels DIR`")?;
    Ok((material, labels))
}

fn load_from_run(
    args: &ReviewArgs,
    options: &ReviewOptions,
    context: &CliContext,
) -> Result<(ReviewMaterial, Option<PathBuf>), CommandFailure> {
    let folder = runs::find_run(&args.what, &context.process)?;
    let info = folder.info()?;
    let path = info.suites.first().map(|suite| PathBuf::from(&suite.path)).unwrap_or_default();

    if info.scorecard.is_none() {
        if args.traces {
            return Err(
                "`--traces` needs a scorecard, whose benchmarks are the failures to choose from".into()
            );
        }
        if args.adjudicate {
            return Err("`--adjudicate` needs a scorecard".into());
        }

        let material = suite_run_items(&folder, &info, options, &context.process)?;
        return Ok((material, Some(path.with_file_name("labels"))));
    }

    if !path.exists() {
        return Err(format!(
            "the scorecard `{}` of the run was not found; run this command in the folder the run was started in",
            path.display()
        )
        .into());
    }

    let labels = LabelOptions { folder: options.labels.clone(), ..LabelOptions::default() }.or_stored(&info);
    let scorecard = load_valid(&path, &labels, &args.root, context)?.scorecard;
    let material = scorecard_run_items(&folder, &info, &scorecard, options)?;

    Ok((material, labels.folder.or_else(|| labels_beside(&path))))
}

fn labels_beside(path: &Path) -> Option<PathBuf> {
    path.is_dir().then(|| path.join("labels"))
}
