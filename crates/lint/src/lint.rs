//! Application of the rules to loaded files.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Code, Diagnostic, SourceMap, Span};
use assize_evalfile::{
    Case, CaseLoadError, Cases, Grader, GraderKind, LoadedRubric, LoadedScorecard, LoadedSuite, RubricGrader,
    Suite,
};

use crate::allow;
use crate::conditions::{Conditions, conditions};
use crate::inquiry::{Inquiries, Inquiry, Remark};
use crate::report::{Finding, Report};
use crate::rule::Check;
use crate::rules::RULES;
use crate::sources::Sources;
use crate::view::{CaseView, RubricView};

/// Result of linting a file.
#[derive(Debug)]
pub struct Linted {
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
/// Fails if a dataset cannot be read again.
pub fn lint_suite(suite: &Suite, cases: &Cases) -> Result<Linted, CaseLoadError> {
    let mut linter = Linter::default();
    linter.suite(suite, cases)?;
    Ok(linter.finish(&[]))
}

/// A lint that involves a model: the other rules are applied at once, and the inquiries for the model are
/// collected.
pub struct Linting {
    linter: Linter,
}

impl Linting {
    /// Lints a suite and its cases.
    ///
    /// # Errors
    /// Fails if a dataset cannot be read again.
    pub fn of_suite(suite: &Suite, cases: &Cases) -> Result<Self, CaseLoadError> {
        let mut linter = Linter { inquiries: Some(Inquiries::default()), ..Linter::default() };
        linter.suite(suite, cases)?;
        Ok(Self { linter })
    }

    /// Lints a rubric in a file of its own.
    pub fn of_rubric(rubric: &LoadedRubric) -> Self {
        let mut linter = Linter { inquiries: Some(Inquiries::default()), ..Linter::default() };
        linter.rubric_file(rubric, None);
        Self { linter }
    }

    /// Returns the inquiries for a model: each rubric once, a rubric of the suite without a case.
    pub fn inquiries(&self) -> &[Inquiry] {
        self.linter.inquiries.as_ref().map_or(&[], |inquiries| &inquiries.list)
    }

    /// Adds a finding about the inquiry at this index. A remark with an unknown rule, or about a criterion
    /// that does not exist, is ignored.
    pub fn add(&mut self, inquiry: usize, remark: &Remark) {
        let Some(inquiry) = self.inquiries().get(inquiry).cloned() else { return };
        let head = inquiry.head(remark).and_then(|mark| self.linter.sources.span(mark));
        self.linter.with(head, |report| inquiry.report(remark, report));
    }

    /// Returns the result. `asked` are the rules that the model applied to all inquiries: for these, comments
    /// that allow nothing are findings.
    pub fn finish(self, asked: &[Code]) -> Linted {
        self.linter.finish(asked)
    }
}

/// Applies the rules to a loaded suite; findings point into the texts that were loaded, saved or not. A file
/// that is not valid has no findings.
///
/// # Errors
/// Fails if a dataset cannot be read again.
pub fn lint_loaded(loaded: &LoadedSuite) -> Result<Linted, CaseLoadError> {
    let mut linter = Linter::default();
    linter.sources.take(&loaded.sources);
    if let Some(suite) = &loaded.suite {
        linter.suite(suite, &loaded.cases)?;
    }
    Ok(linter.finish(&[]))
}

/// Applies the rules to a rubric in a file of its own.
pub fn lint_rubric(rubric: &LoadedRubric) -> Linted {
    lint_rubric_for(rubric, None)
}

/// Applies the rules to a rubric that is not part of a suite, as if it belonged to this case.
pub fn lint_rubric_for(rubric: &LoadedRubric, case: Option<&Case>) -> Linted {
    let mut linter = Linter::default();
    linter.rubric_file(rubric, case);
    linter.finish(&[])
}

/// Applies the rules to a scorecard: those about its tree, and those about wording to the conditions of its
/// prompts.
pub fn lint_scorecard(loaded: &LoadedScorecard) -> Linted {
    let mut linter = Linter::default();
    linter.sources.take(&loaded.sources);
    if let Some(card) = &loaded.scorecard {
        linter.with(None, |report| {
            for rule in RULES {
                if let Check::Scorecard(check) = rule.check {
                    check(card, report);
                }
            }
        });
        for conditions in card.prompts.iter().flat_map(conditions) {
            linter.conditions(&conditions);
        }
    }
    linter.finish(&[])
}

#[derive(Default)]
struct Linter {
    sources: Sources,
    found: Vec<Finding>,
    /// Code and span of each finding so far: a rubric of the suite is visited with every case.
    seen: HashSet<(Code, Span)>,
    /// Inquiries for a model, if one will be asked.
    inquiries: Option<Inquiries>,
}

impl Linter {
    fn suite(&mut self, suite: &Suite, cases: &Cases) -> Result<(), CaseLoadError> {
        for case in cases {
            let case = case?;
            self.case(suite, &case);
        }
        Ok(())
    }

    fn rubric_file(&mut self, rubric: &LoadedRubric, case: Option<&Case>) {
        self.sources.take(&rubric.sources);
        if let Some(grader) = &rubric.rubric {
            self.rubric(&RubricView { grader, case, suite: None, shared: case.is_none(), alone: true });
        }
    }

    fn case(&mut self, suite: &Suite, case: &Case) {
        let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
        let lists = std::iter::once(&case.graders).chain(turns.map(|turn| &turn.graders));
        let graders: Vec<&Arc<Grader>> = lists.flatten().collect();
        let alone = graders.len() == 1;
        for grader in graders {
            each_rubric(grader, &mut |rubric| {
                let shared = suite.graders.iter().any(|of_suite| holds(of_suite, rubric));
                self.rubric(&RubricView {
                    grader: rubric,
                    case: Some(case),
                    suite: Some(suite),
                    shared,
                    alone,
                });
            });
        }
        let view = CaseView { case, path: &suite.path };
        let head = case.marks.id.as_ref().and_then(|mark| self.sources.span(mark));
        self.with(head, |report| {
            for rule in RULES {
                if let Check::Case(check) = rule.check {
                    check(&view, report);
                }
            }
        });
    }

    fn rubric(&mut self, view: &RubricView<'_>) {
        if let Some(inquiries) = &mut self.inquiries {
            inquiries.take(view);
        }
        let head = view.grader.marks.first().and_then(|marks| self.sources.span(marks.head.as_ref()?));
        self.with(head, |report| {
            for rule in RULES {
                if let Check::Rubric(check) = rule.check {
                    check(view, report);
                }
            }
        });
        for criterion in view.criteria() {
            let head = criterion.head().and_then(|mark| self.sources.span(mark));
            self.with(head, |report| {
                for rule in RULES {
                    if let Check::Criterion(check) = rule.check {
                        check(&criterion, report);
                    }
                }
            });
        }
    }

    /// Applies the rules about wording to the conditions of a prompt.
    fn conditions(&mut self, conditions: &Conditions) {
        let grader = &conditions.grader;
        let view = RubricView { grader, case: None, suite: None, shared: true, alone: true };
        for criterion in view.criteria() {
            self.with(None, |report| {
                for rule in RULES.iter().filter(|rule| conditions.takes(rule.code)) {
                    if let Check::Criterion(check) = rule.check {
                        check(&criterion, report);
                    }
                }
            });
        }
        self.with(None, |report| {
            for rule in RULES.iter().filter(|rule| conditions.takes(rule.code)) {
                if let Check::Rubric(check) = rule.check {
                    check(&view, report);
                }
            }
        });
    }

    fn with(&mut self, head: Option<Span>, look: impl FnOnce(&mut Report<'_>)) {
        let mut report = Report { sources: &mut self.sources, found: Vec::new(), head };
        look(&mut report);
        for finding in report.found {
            if self.seen.insert((finding.diagnostic.code, finding.diagnostic.primary.span)) {
                self.found.push(finding);
            }
        }
    }

    fn finish(self, asked: &[Code]) -> Linted {
        let (mut diagnostics, allowed) = allow::apply(self.found, &self.sources.map, asked);
        assize_diagnostic::sort(&mut diagnostics);
        Linted { sources: self.sources.map, diagnostics, allowed }
    }
}

/// Visits the rubrics of a grader and of the graders in it.
fn each_rubric<'g>(grader: &'g Grader, look: &mut impl FnMut(&'g RubricGrader)) {
    match &grader.kind {
        GraderKind::Rubric(rubric) => look(rubric),
        GraderKind::Composite(composite) => {
            composite.members.iter().for_each(|member| each_rubric(member, look));
        }
        _ => {}
    }
}

fn holds(grader: &Grader, wanted: &RubricGrader) -> bool {
    let mut found = false;
    each_rubric(grader, &mut |rubric| found |= Arc::ptr_eq(&rubric.rubric, &wanted.rubric));
    found
}

/// Returns true if a path names a dataset.
pub(crate) fn is_dataset(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"))
}
