//! Pages and data, by address.

pub(crate) mod case;
mod case_work;
pub(crate) mod cases;
pub(crate) mod compare;
pub(crate) mod compare_case;
mod compare_choice;
mod compare_form;
mod compared_run;
pub(crate) mod criteria;
pub(crate) mod mark;
pub(crate) mod matrix;
pub(crate) mod measurement;
pub(crate) mod review;
pub(crate) mod review_start;
pub(crate) mod run;
mod run_header;
pub(crate) mod runs;
pub(crate) mod scorecard;
pub(crate) mod scorecard_part;
pub(crate) mod trend;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::assets::find_asset;
use crate::page_reply::PageError;

/// A script or style.
pub(crate) async fn asset(Path((version, name)): Path<(String, String)>) -> Response {
    match find_asset(&version, &name) {
        Some(asset) => {
            let headers =
                [(CONTENT_TYPE, asset.content_type), (CACHE_CONTROL, "private, max-age=31536000, immutable")];
            (headers, asset.bytes).into_response()
        }
        None => PageError::missing("There is no such file.").into_response(),
    }
}

/// The reply for any other address.
pub(crate) async fn not_found() -> PageError {
    PageError::missing("There is no such page.")
}
