//! `assize explain RUN NODE`: the arithmetic of a scorecard node.

use assize_analysis::{ScorecardRun, ScorecardTree};
use assize_report::{ScorecardNodeJson, render_scorecard_node};
use assize_rubric::MissingPolicy;

use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Explains the node with this code. Returns false if the run has no scorecard with this node.
pub(in crate::command) fn explain_node(
    run: &ScorecardRun,
    code: &str,
    as_json: bool,
    context: &CliContext,
) -> Result<bool, CommandFailure> {
    for tree in ScorecardTree::build_all(&run.info, None).map_err(|error| error.to_string())? {
        let Some(place) = run.index_of(code) else { continue };
        let Some(id) = tree.node(place) else { continue };
        let distinct = run.distinct_cases();
        let policy = MissingPolicy::Incomplete;
        let scores = tree
            .scores(|place| run.tally(place), policy)
            .with_distinct_cases(policy, |id| distinct.get(*tree.places.get(id.index())?).copied());
        output::print_either(
            as_json,
            || serde_json::json!(ScorecardNodeJson::explain(run, &tree, &scores, id)),
            || render_scorecard_node(run, &tree, &scores, id, context.stdout),
        );

        return Ok(true);
    }

    Ok(false)
}
