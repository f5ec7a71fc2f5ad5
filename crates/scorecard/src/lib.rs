//! Decoders of scorecards: a folder of rubrics, benchmarks, prompts, cases and labels, or one file.

#![warn(missing_docs)]

mod applicability;
mod benchmark;
mod cases;
mod checks;
mod criteria;
mod draft;
mod folder;
mod index;
mod labels;
mod link;
mod load;
mod prompt;
mod prompt_checks;
mod prompts;
mod results;
mod rubric;
mod scale;
mod shared;
mod weights;

pub use folder::{is_scorecard, looks_like_scorecard};
pub use load::{
    LoadedScorecard, load_scorecard, load_scorecard_with_labels, read_scorecard, read_scorecard_text,
};
pub use results::{LoadedCardResults, load_card_results};

#[cfg(test)]
mod tests;
