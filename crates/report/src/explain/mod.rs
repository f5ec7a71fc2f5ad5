//! Calculation behind one case, recomputed from its stored decisions.

mod build;
mod check;
mod equations;
mod grader;
mod model;
mod parts;
mod text;
mod verdict_reason;

pub use build::explain_case;
pub use equations::formula_text;
pub use model::{
    CaseExplanation, CriterionPart, GatePart, GraderPart, PanelPart, ScoreEquation, ScoreRange, VotePart,
    WholePart,
};
pub use text::{explanation_json, render_explanation};
