//! A run as one HTML file that needs no network and no script.
//!
//! The parts can be used in other pages too: [`STYLE`] is the style sheet, [`mark_answer`] finds quotes in an
//! answer, [`case_fragment`] shows one case, [`calibration_fragment`] and [`audit_fragment`] show
//! measurements of a judge, and [`crate::chart`] draws charts. Templates escape every text; only SVG made by
//! this crate is written without escaping.

mod audit_part;
mod calibration_part;
mod case_page;
mod comparison_part;
mod highlight;
mod marked_answer;
mod measurement;
mod page;
mod scorecard_part;
mod summary_part;

pub use audit_part::audit_fragment;
pub use calibration_part::calibration_fragment;
pub use case_page::case_fragment;
pub use highlight::TextPiece;
pub use marked_answer::{AnswerQuote, MarkedAnswer, MarkedTurn, mark_answer};
pub use page::comparison_page;
pub(crate) use page::{page_of, write_page};

use crate::chart::ChartTone;
use crate::style::ReportTone;

/// Style sheet of reports, in both themes and for print.
pub const STYLE: &str = include_str!("style.css");

/// Hash of [`STYLE`] in the form of a Content-Security-Policy, so that a page can forbid all other styles.
pub const STYLE_HASH: &str = "sha256-H821OW9vfgCBOeFxedtxCsTPUV7Njra/WfTKI6T9taw=";

fn tone(tone: ReportTone) -> ChartTone {
    match tone {
        ReportTone::Good => ChartTone::Good,
        ReportTone::Middling => ChartTone::Middling,
        ReportTone::Bad => ChartTone::Bad,
        ReportTone::Open => ChartTone::Open,
        _ => ChartTone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn the_policy_allows_the_style_sheet_and_no_other() {
        let hash = ring::digest::digest(&ring::digest::SHA256, STYLE.as_bytes());
        assert_eq!(STYLE_HASH, format!("sha256-{}", STANDARD.encode(hash)), "update STYLE_HASH");
    }
}
