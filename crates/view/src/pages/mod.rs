//! Pages as their templates see them: texts that are ready to be shown.

mod case;
mod comparison;
mod matrix;
mod measurement;
mod review;
mod run;
mod scorecard;

pub(crate) use case::*;
pub(crate) use comparison::*;
pub(crate) use matrix::*;
pub(crate) use measurement::*;
pub(crate) use review::*;
pub(crate) use run::*;
pub(crate) use scorecard::*;

use askama::Template;

/// The page of an error.
#[derive(Template)]
#[template(path = "error.html")]
pub(crate) struct ErrorPage {
    pub(crate) title: String,
    pub(crate) message: String,
}
