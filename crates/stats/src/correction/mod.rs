//! Pass rates and means of a judge, corrected by human labels.

mod difference;
mod prediction_powered;
mod rogan_gladen;
mod selection;
mod unequal;

pub use difference::{PoweredDifference, SideItem, prediction_powered_difference};
pub use prediction_powered::{
    CorrectedMean, FEW_LABELS, PredictionPowered, prediction_powered, prediction_powered_clustered,
    prediction_powered_half_width, prediction_powered_within,
};
pub use rogan_gladen::{JudgeRates, RoganGladen, rogan_gladen};
pub use selection::{SelectionStratum, selection_bounds, selection_to_reach};
pub use unequal::{DrawnLabel, prediction_powered_drawn};
