//! Parts that all audits share: refusing options, and the JSON.

use assize_engine::audit::check_options;
use assize_engine::summary_json;
use assize_store::{RunFolder, RunInfo};
use serde_json::Value;

use crate::args::{RunArgs, ShowChoice};
use crate::failure::CommandFailure;

/// Refuses options of runs that have no meaning for audits, instead of ignoring them.
pub(super) fn refuse(run: &RunArgs) -> Result<(), CommandFailure> {
    check_options(&run.options())?;

    if run.output.show() != ShowChoice::Auto {
        return Err("`--show` has no effect on an audit; use `assize explain RUN CASE`".into());
    }

    Ok(())
}

/// The metrics of an audit and the summary of its run, without the keys in `unrelated`: scores of manipulated
/// answers are meaningless.
pub(super) fn audit_json(info: &RunInfo, folder: &RunFolder, unrelated: &[&str], audit: Value) -> Value {
    let mut value = summary_json(info, folder.path());
    if let Value::Object(members) = &mut value {
        for key in unrelated {
            members.remove(*key);
        }
        members.insert("audit".to_owned(), audit);
    }

    value
}
