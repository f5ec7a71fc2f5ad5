//! Agreement of raters: judges with people, people with people, or a judge with itself.

mod alpha;
mod coefficient;
mod drawn;
mod icc;
mod kappa;
mod latent_class;
mod latent_draws;
mod perfect;
mod ratings;
mod scale;
mod table;

pub use alpha::{AlphaMetric, KrippendorffAlpha, alpha};
pub use coefficient::{AgreementCoefficient, ChanceAgreement, coefficient};
pub use drawn::{alpha_interval, gwet_interval};
pub use icc::{IntraclassCorrelations, icc};
pub use kappa::{CohenKappa, kappa, quadratic_kappa};
pub use latent_class::{LatentClasses, RaterDependence, RaterErrorRates, RaterVote, latent_classes};
pub use latent_draws::{DrawnClasses, drawn_interval};
pub use perfect::{chance_of_same, perfect_agreement};
pub use ratings::UnitRatings;
pub use scale::{AgreementWeights, RatingScale};
pub use table::AgreementTable;
