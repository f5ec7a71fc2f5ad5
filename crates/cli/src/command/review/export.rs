//! Writes items as a table for a spreadsheet.

use std::path::Path;

use assize_engine::write_report_file;
use assize_report::escape_unsafe;
use assize_review::{ReviewItem, write_spreadsheet};

use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Writes the items of a reviewer.
pub(super) fn write_items(
    path: &Path,
    items: &[ReviewItem],
    who: &str,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
        return Err("`--export` writes CSV: give the file the ending `.csv`".into());
    }

    let count = write_report_file(path, |file| {
        write_spreadsheet(file, items, who)
            .map_err(|error| CommandFailure::from(format!("{}: {error}", path.display())))
    })?;
    if count.too_long > 0 {
        let text = format!(
            "{} items are excluded: a cell of a spreadsheet can't hold their texts; review them with `--browser` or in a terminal",
            count.too_long
        );
        output::print_warning(&text, context);
    }

    let text = format!(
        "{} items in {}; fill in `label`, then read it with `--decisions {}`",
        count.written,
        path.display(),
        path.display()
    );
    output::print_notice(&format!("{}\n", escape_unsafe(&text)), context);
    Ok(())
}
