//! Quality of a judge against known answers: verdicts, scores and probabilities.

mod alternative_annotator;
mod confusion;
mod correlation;
mod distance;
mod grouped;
mod isotonic;
mod posterior;
mod probability;
mod rescaling;
mod slope;

pub use alternative_annotator::{
    Alignment, AnnotatedItem, AnnotatorComparison, MIN_ANNOTATED, MIN_ANNOTATORS, compare_with_annotators,
};
pub use confusion::ConfusionTable;
pub use correlation::{
    bonett_wright, fisher_z, kendall_tau_b, kendall_tau_c, partial_correlation, pearson, spearman,
};
pub use distance::{mean_absolute_error, root_mean_square_error};
pub use grouped::{PairwiseAccuracy, correlations_within, pairwise_accuracy};
pub use isotonic::IsotonicFit;
pub use posterior::DrawnTables;
pub use probability::{
    LOG_LOSS_CLIP, ReliabilityBin, ReliabilityTable, RocArea, area_interval, area_under_curve,
    average_precision, brier, log_loss, reliability_bin, reliability_table,
};
pub use rescaling::{PlattFit, ThresholdChoice, choose_threshold, conformal_radius};
pub use slope::{LineFit, fit_line};
