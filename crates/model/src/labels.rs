//! Models of graders that look at the labels of an answer.

/// A check of the labels that a moderation or classification model assigns to an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelCheck {
    /// Rule for the labels.
    pub rule: LabelRule,
    /// Model that labels texts: a target's or model's name; [`LabelCheck::MODERATION_MODEL`] if absent. A check of a class
    /// always names one.
    pub model: Option<String>,
}

impl LabelCheck {
    /// Default moderation model.
    pub const MODERATION_MODEL: &'static str = "openai-moderation:omni-moderation-latest";

    /// Returns the name of the model.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(Self::MODERATION_MODEL)
    }
}

/// Rule for the labels of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelRule {
    /// The model flags none of the categories.
    Moderation {
        /// Categories that count; all if empty.
        categories: Vec<String>,
    },
    /// The score of a class reaches a threshold.
    Classifier {
        /// Class; the one with the highest score if absent.
        class: Option<String>,
        /// Minimum score.
        threshold: f64,
    },
}

impl LabelRule {
    /// Default minimum score of a class.
    pub const THRESHOLD: f64 = 1.0;
}
