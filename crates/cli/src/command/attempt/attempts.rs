//! Parameters shared by all attempts of `assize try`.

use assize_engine::{AttemptJudge, AttemptSubject, Engine};
use tokio_util::sync::CancellationToken;

use crate::args::TryArgs;
use crate::context::CliContext;

/// Parameters shared by all attempts.
pub(super) struct Attempts<'a> {
    pub(super) subject: AttemptSubject,
    pub(super) judge: AttemptJudge<'a>,
    pub(super) engine: &'a Engine,
    pub(super) args: &'a TryArgs,
    pub(super) cancel: CancellationToken,
    pub(super) context: &'a CliContext,
}
