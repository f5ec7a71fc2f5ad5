//! Quality of a judge against known answers: verdicts, scores and probabilities.

mod confusion;
mod correlation;
mod distance;
mod isotonic;
mod probability;
mod slope;

pub use confusion::Confusion;
pub use correlation::{
    bonett_wright, fisher_z, kendall_tau_b, kendall_tau_c, partial_correlation, pearson, spearman,
};
pub use distance::{mean_absolute_error, root_mean_square_error};
pub use isotonic::Isotonic;
pub use probability::{
    Area, Bin, LOG_LOSS_CLIP, Reliability, area_under_curve, average_precision, brier, log_loss, reliability,
};
pub use slope::{Slope, slope};
