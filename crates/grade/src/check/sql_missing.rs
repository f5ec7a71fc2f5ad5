//! `is-sql` and `contains-sql` in a build without the SQL parser.

use assize_model::SqlCheck;

use super::result::CheckResult;

/// Fails, because this build has no SQL parser.
pub(super) fn check_sql(_: &SqlCheck, _: &str) -> Result<CheckResult, String> {
    Err("this build of Assize has no SQL parser; build it with `--features full`, as released programs are"
        .to_owned())
}
