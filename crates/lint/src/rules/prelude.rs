//! What every rule is written with.

pub(in crate::rules) use assize_diagnostic::{Diagnostic, DiagnosticCode};

pub(in crate::rules) use super::cited;
pub(in crate::rules) use crate::finding::FindingCollector;
pub(in crate::rules) use crate::rule::{LintRule, QuestionScope, RuleCheck, RuleExample, RuleQuestion};
pub(in crate::rules) use crate::view::{CaseView, CriterionView, RubricView};
