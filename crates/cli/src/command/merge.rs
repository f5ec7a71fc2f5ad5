//! `assize merge`: shards as one run.

use assize_engine::{ExitStatus, LabelOptions, labelled_run};
use assize_rubric::MissingPolicy;

use super::present;
use super::scorecard::{CardOutput, print_run};
use crate::args::MergeArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::ResultOutput;

pub(crate) fn execute(args: &MergeArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let engine = context.run_engine(true, args.json);
    let finished = engine.merge(&args.options())?;
    let delivery = ResultOutput { json: args.json, quiet: false, out: &args.out };

    let Some(conclusion) = finished.scorecard_conclusion() else {
        present::finished_run(&finished, delivery, args.show, context)?;
        return Ok(finished.exit);
    };

    let labels = LabelOptions::default();
    let counted = labelled_run(&finished.folder, &labels, &context.process)?.labels.unwrap_or_default();
    let card = CardOutput {
        policy: MissingPolicy::from_name(&conclusion.treat_missing).unwrap_or_default(),
        min_coverage: conclusion.min_coverage,
        depth: None,
        labels: &labels,
        delivery,
        show: args.show,
    };
    print_run(&finished, &counted, &card, context)?;

    Ok(finished.exit)
}
