//! Applies the rules to loaded files.

use std::collections::HashSet;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, DiagnosticCode, SourceMap, Span};
use assize_evalfile::{LoadedRubric, LoadedSuite, SuiteCases};
use assize_model::{Case, CaseLoadError, Grader, GraderKind, RubricGrader, Suite, TextVariable};
use assize_scorecard::LoadedScorecard;

use crate::allow_comment;
use crate::finding::{FindingCollector, LintFinding};
use crate::inquiry::{InquiryCollector, LintInquiry, ModelFinding};
use crate::prompt_conditions::{PromptConditions, condition_lists};
use crate::rule::RuleCheck;
use crate::rules::RULES;
use crate::sources::LintSources;
use crate::view::{CaseView, RubricView};

/// Result of linting a file.
#[derive(Debug)]
pub struct LintReport {
    /// Source files of the findings.
    pub sources: SourceMap,
    /// Findings, sorted; all are warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of findings that comments allow.
    pub allowed: usize,
}

/// Applies every rule to a suite and its cases.
///
/// # Errors
/// If a dataset can't be read again.
pub fn lint_suite(suite: &Suite, cases: &SuiteCases) -> Result<LintReport, CaseLoadError> {
    let mut linter = LintRunner::default();
    linter.check_suite(suite, cases)?;
    Ok(linter.finish(&[]))
}

/// A lint that includes the model rules. The other rules are applied immediately, and the inquiries for the
/// model are collected.
pub struct ModelLint {
    linter: LintRunner,
    variables: Vec<TextVariable>,
}

impl ModelLint {
    /// Lints a suite and its cases.
    ///
    /// # Errors
    /// If a dataset can't be read again.
    pub fn for_suite(suite: &Suite, cases: &SuiteCases) -> Result<Self, CaseLoadError> {
        let mut linter = LintRunner { inquiries: Some(InquiryCollector::default()), ..LintRunner::default() };
        linter.check_suite(suite, cases)?;
        Ok(Self { linter, variables: suite.variables.clone() })
    }

    /// Lints a rubric file.
    pub fn for_rubric(rubric: &LoadedRubric) -> Self {
        let mut linter = LintRunner { inquiries: Some(InquiryCollector::default()), ..LintRunner::default() };
        linter.check_rubric_file(rubric, None);
        Self { linter, variables: rubric.variables.clone() }
    }

    /// Returns the variables of the environment whose values are part of the texts that a model would read.
    pub fn variables(&self) -> &[TextVariable] {
        &self.variables
    }

    /// Returns the inquiries for a model. Each rubric occurs once; a rubric of the suite has no case.
    pub fn inquiries(&self) -> &[LintInquiry] {
        self.linter.inquiries.as_ref().map_or(&[], |inquiries| &inquiries.list)
    }

    /// Adds a finding about the inquiry at this index. A finding with an unknown rule, or about a criterion
    /// that does not exist, is ignored.
    pub fn add_finding(&mut self, inquiry: usize, finding: &ModelFinding) {
        let Some(inquiry) = self.inquiries().get(inquiry).cloned() else { return };
        let head = inquiry.head_mark(finding).and_then(|mark| self.linter.sources.span(mark));
        self.linter.collect_findings(head, |report| inquiry.report_finding(finding, report));
    }

    /// Returns the result. `asked` are the rules that the model applied to all inquiries; unused comments for
    /// these are findings.
    pub fn finish(self, asked: &[DiagnosticCode]) -> LintReport {
        self.linter.finish(asked)
    }
}

/// Applies the rules to a loaded suite. Findings point into the loaded texts, whether they are saved or not. An
/// invalid file has no findings.
///
/// # Errors
/// If a dataset can't be read again.
pub fn lint_loaded(loaded: &LoadedSuite) -> Result<LintReport, CaseLoadError> {
    let mut linter = LintRunner::default();
    linter.sources.add_loaded(&loaded.sources);

    if let Some(suite) = &loaded.suite {
        linter.check_suite(suite, &loaded.cases)?;
    }

    Ok(linter.finish(&[]))
}

/// Applies the rules to a rubric file.
pub fn lint_rubric(rubric: &LoadedRubric) -> LintReport {
    lint_rubric_for(rubric, None)
}

/// Applies the rules to a rubric file, as if the rubric belonged to this case.
pub fn lint_rubric_for(rubric: &LoadedRubric, case: Option<&Case>) -> LintReport {
    let mut linter = LintRunner::default();
    linter.check_rubric_file(rubric, case);
    linter.finish(&[])
}

/// Applies the rules to a scorecard: rules about trees, and rules about wording for the conditions of its
/// prompts.
pub fn lint_scorecard(loaded: &LoadedScorecard) -> LintReport {
    let mut linter = LintRunner::default();
    linter.sources.add_loaded(&loaded.sources);

    if let Some(card) = &loaded.scorecard {
        linter.collect_findings(None, |report| {
            for rule in RULES {
                if let RuleCheck::Scorecard(check) = rule.check {
                    check(card, report);
                }
            }
        });
        for conditions in card.prompts.iter().flat_map(condition_lists) {
            linter.check_conditions(&conditions);
        }
    }

    linter.finish(&[])
}

#[derive(Default)]
struct LintRunner {
    sources: LintSources,
    found: Vec<LintFinding>,
    /// Code and span of each finding so far. The suite's rubrics are visited with every case, which would repeat their
    /// findings.
    seen: HashSet<(DiagnosticCode, Span)>,
    /// Inquiries for a model; `None` if no model will be asked.
    inquiries: Option<InquiryCollector>,
}

impl LintRunner {
    fn check_suite(&mut self, suite: &Suite, cases: &SuiteCases) -> Result<(), CaseLoadError> {
        for case in cases {
            let case = case?;
            self.check_case(suite, &case);
        }
        Ok(())
    }

    fn check_rubric_file(&mut self, rubric: &LoadedRubric, case: Option<&Case>) {
        self.sources.add_loaded(&rubric.sources);
        if let Some(grader) = &rubric.rubric {
            self.check_rubric(&RubricView { grader, case, suite: None, shared: case.is_none(), alone: true });
        }
    }

    fn check_case(&mut self, suite: &Suite, case: &Case) {
        let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
        let lists = std::iter::once(&case.graders).chain(turns.map(|turn| &turn.graders));
        let graders: Vec<&Arc<Grader>> = lists.flatten().collect();
        let alone = graders.len() == 1;
        for grader in graders {
            visit_rubrics(grader, &mut |rubric| {
                let shared = suite.graders.iter().any(|of_suite| contains_rubric(of_suite, rubric));
                self.check_rubric(&RubricView {
                    grader: rubric,
                    case: Some(case),
                    suite: Some(suite),
                    shared,
                    alone,
                });
            });
        }

        let view = CaseView { case, suite, path: &suite.path };
        let head = case.marks.id.as_ref().and_then(|mark| self.sources.span(mark));
        self.collect_findings(head, |report| {
            for rule in RULES {
                if let RuleCheck::Case(check) = rule.check {
                    check(&view, report);
                }
            }
        });
    }

    fn check_rubric(&mut self, view: &RubricView<'_>) {
        if let Some(inquiries) = &mut self.inquiries {
            inquiries.add_rubric(view);
        }

        let head = view.grader.marks.first().and_then(|marks| self.sources.span(marks.head.as_ref()?));
        self.collect_findings(head, |report| {
            for rule in RULES {
                if let RuleCheck::Rubric(check) = rule.check {
                    check(view, report);
                }
            }
        });

        for criterion in view.criteria() {
            let head = criterion.head().and_then(|mark| self.sources.span(mark));
            self.collect_findings(head, |report| {
                for rule in RULES {
                    if let RuleCheck::Criterion(check) = rule.check {
                        check(&criterion, report);
                    }
                }
            });
        }
    }

    /// Applies the rules about wording to the conditions of a judge prompt.
    fn check_conditions(&mut self, conditions: &PromptConditions) {
        let grader = &conditions.grader;
        let view = RubricView { grader, case: None, suite: None, shared: true, alone: true };
        for criterion in view.criteria() {
            self.collect_findings(None, |report| {
                for rule in RULES.iter().filter(|rule| conditions.accepts_rule(rule.code)) {
                    if let RuleCheck::Criterion(check) = rule.check {
                        check(&criterion, report);
                    }
                }
            });
        }

        self.collect_findings(None, |report| {
            for rule in RULES.iter().filter(|rule| conditions.accepts_rule(rule.code)) {
                if let RuleCheck::Rubric(check) = rule.check {
                    check(&view, report);
                }
            }
        });
    }

    fn collect_findings(&mut self, head: Option<Span>, run_checks: impl FnOnce(&mut FindingCollector<'_>)) {
        let mut report = FindingCollector { sources: &mut self.sources, found: Vec::new(), head };
        run_checks(&mut report);

        for finding in report.found {
            if self.seen.insert((finding.diagnostic.code, finding.diagnostic.primary.span)) {
                self.found.push(finding);
            }
        }
    }

    fn finish(self, asked: &[DiagnosticCode]) -> LintReport {
        let (mut diagnostics, allowed) = allow_comment::remove_allowed(self.found, &self.sources.map, asked);
        assize_diagnostic::sort_diagnostics(&mut diagnostics);
        LintReport { sources: self.sources.map, diagnostics, allowed }
    }
}

/// Calls `visit` with the rubrics of a grader and of its members.
fn visit_rubrics<'g>(grader: &'g Grader, visit: &mut impl FnMut(&'g RubricGrader)) {
    match &grader.kind {
        GraderKind::Rubric(rubric) => visit(rubric),
        GraderKind::Composite(composite) => {
            composite.members.iter().for_each(|member| visit_rubrics(member, visit));
        }
        _ => {}
    }
}

fn contains_rubric(grader: &Grader, wanted: &RubricGrader) -> bool {
    let mut found = false;
    visit_rubrics(grader, &mut |rubric| found |= Arc::ptr_eq(&rubric.rubric, &wanted.rubric));
    found
}
