//! Criteria that cases failed, for formats that point at lines of files.
//!
//! Findings are counted per criterion and not per case: a criterion that a thousand cases failed is one entry
//! in a code review, with the first cases named.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use assize_rubric::{OutcomeKind, Verdict};
use assize_store::{CriterionRow, GraderRow, ResultRow};

use super::case_index::{CaseIndex, CaseState, ReportedCase};
use super::run_conclusion::{ProblemLevel, ReportedConclusion};
use super::{CriterionName, CriterionPosition, ReportError, RunReport};
use crate::case_block::{has_failed_gate, stored_texts};
use crate::criterion::NEGATION_PREFIX;

/// Maximum number of findings that are kept. GitHub shows this many of a SARIF report.
const MAX_FINDINGS: usize = 5_000;
/// Maximum number of cases that a finding names.
const MAX_CASES: usize = 20;

/// Severity of a finding, the most serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingLevel {
    /// A gate failed.
    Gate,
    /// A criterion was not met, or a grader scores below its threshold.
    Failure,
    /// No judge could decide.
    Ungraded,
    /// It counts against no case: all cases it is about passed, or their verdicts don't count for the run.
    Remark,
}

/// A criterion and the cases that failed it.
#[derive(Debug, Clone)]
pub(crate) struct CriterionFinding {
    pub(crate) name: CriterionName,
    pub(crate) level: FindingLevel,
    /// Number of cases that have the criterion.
    pub(crate) asked: usize,
    pub(crate) failed: usize,
    pub(crate) ungraded: usize,
    /// First cases that failed, or the first ungraded ones if none failed.
    pub(crate) cases: Vec<String>,
    /// Reason given for the first of them.
    pub(crate) reason: String,
    /// True if its grader is negated.
    pub(crate) negated: bool,
    pub(crate) position: CriterionPosition,
    /// Sentence about the run as a whole; the finding is then not about a criterion.
    pub(crate) about_run: Option<String>,
}

/// Findings of a run, the most serious first.
#[derive(Debug, Default)]
pub(crate) struct FindingList {
    pub(crate) found: Vec<CriterionFinding>,
    /// Number of findings that were not kept.
    pub(crate) more: usize,
}

/// Counts the cases of a criterion by result.
#[derive(Debug, Default)]
struct CriterionCount {
    asked: usize,
    failed: usize,
    ungraded: usize,
    gate_failed: bool,
    negated: bool,
    /// True if at least one of the failed and ungraded cases counts against the run.
    counted: bool,
    failed_cases: Vec<String>,
    ungraded_cases: Vec<String>,
    failed_reason: Option<String>,
    ungraded_reason: Option<String>,
}

/// Collects findings, one record at a time.
#[derive(Debug, Default)]
struct CriterionFindings {
    counts: HashMap<CriterionName, CriterionCount>,
    /// Number of times a failed or ungraded criterion was not counted, because there were too many criteria.
    more: usize,
}

/// Decisions on a criterion in one case.
#[derive(Debug, Default)]
struct CaseFinding {
    against: bool,
    ungraded: bool,
    gate_failed: bool,
    negated: bool,
    reason: String,
}

impl CaseFinding {
    /// Merges the result of another trial of the case; the worst one wins.
    fn merge(&mut self, other: Self) {
        let is_worse =
            (other.against && !self.against) || (other.ungraded && !self.against && !self.ungraded);
        if is_worse {
            self.reason = other.reason;
        }

        self.against |= other.against;
        self.ungraded |= other.ungraded;
        self.gate_failed |= other.gate_failed;
        self.negated |= other.negated;
    }
}

/// Returns true if a decision speaks against the answer, or its gate failed.
pub(crate) fn is_against(grader: &GraderRow, row: &CriterionRow, gate_failed: bool) -> bool {
    gate_failed || row.counts_against(grader.negate)
}

impl CriterionFindings {
    /// Counts the decisions on a case. A criterion that several trials decide counts once, by the worst of them.
    fn add(&mut self, reported: &ReportedCase<'_>) {
        let state = reported.case.state;
        if state == CaseState::Skipped {
            return;
        }

        let mut found: BTreeMap<CriterionName, CaseFinding> = BTreeMap::new();
        for record in &reported.records {
            let row = &record.result;
            let texts = stored_texts(&record.decisions);
            for grader in &row.graders {
                for criterion in &grader.criteria {
                    let name = CriterionName {
                        suite: row.suite.clone(),
                        grader: grader.name.clone(),
                        criterion: criterion.id.clone(),
                        text: texts(&grader.name, &criterion.id).unwrap_or_default(),
                    };
                    let gate_failed = has_failed_gate(row, &grader.name, &criterion.id);
                    found.entry(name).or_default().merge(CaseFinding {
                        against: is_against(grader, criterion, gate_failed),
                        ungraded: criterion.outcome == OutcomeKind::Ungraded,
                        gate_failed,
                        negated: grader.negate,
                        reason: criterion.reason.clone(),
                    });
                }
            }
        }

        let explained = found.values().any(|one| one.against || one.ungraded);
        for (name, finding) in found {
            self.count(name, reported, &finding);
        }
        if !explained && state.is_counted() {
            self.add_unexplained(reported);
        }
    }

    /// Counts a case that did not pass although no criterion explains it.
    fn add_unexplained(&mut self, reported: &ReportedCase<'_>) {
        let ungraded = reported.verdict() == Verdict::Incomplete;
        let name = |row: &ResultRow, grader: &str| CriterionName {
            suite: row.suite.clone(),
            grader: grader.to_owned(),
            criterion: "".into(),
            text: String::new(),
        };
        let finding = |gate_failed, reason: &str| CaseFinding {
            against: !ungraded,
            ungraded,
            gate_failed,
            negated: false,
            reason: reason.to_owned(),
        };

        let mut found: BTreeMap<CriterionName, CaseFinding> = BTreeMap::new();
        for record in &reported.records {
            let row = &record.result;
            let reason = crate::case_block::main_reason(row).unwrap_or_default();
            let failing = row.graders.iter().filter(|grader| {
                grader.verdict.is_some_and(|verdict| verdict != Verdict::Pass) || grader.error.is_some()
            });
            for grader in failing {
                let gate = row.gates_failed.iter().any(|gate| gate.grader == grader.name);
                let why = grader.error.as_deref().unwrap_or(&reason);
                found.entry(name(row, &grader.name)).or_default().merge(finding(gate, why));
            }
        }

        if found.is_empty() {
            let row = reported.row();
            let trials = reported.case.trials.as_ref().map(|trials| trials.describe());
            let reason = trials.or_else(|| crate::case_block::main_reason(row)).unwrap_or_default();
            found.insert(name(row, ""), finding(false, &reason));
        }
        for (name, finding) in found {
            self.count(name, reported, &finding);
        }
    }

    fn count(&mut self, name: CriterionName, reported: &ReportedCase<'_>, finding: &CaseFinding) {
        // Without a limit, cases that each have their own criteria would fill the memory.
        const MAX_COUNTED: usize = 20 * MAX_FINDINGS;
        if self.counts.len() >= MAX_COUNTED && !self.counts.contains_key(&name) {
            self.more += usize::from(finding.against || finding.ungraded);
            return;
        }

        let (row, reason) = (reported.row(), &finding.reason);
        let count = self.counts.entry(name).or_default();
        count.asked += 1;
        count.negated |= finding.negated;
        if finding.against || finding.ungraded {
            count.counted |= reported.case.state.is_counted();
        }
        if finding.against {
            count.failed += 1;
            count.gate_failed |= finding.gate_failed;
            note_case(&mut count.failed_cases, &mut count.failed_reason, row, reason);
        } else if finding.ungraded {
            count.ungraded += 1;
            note_case(&mut count.ungraded_cases, &mut count.ungraded_reason, row, reason);
        }
    }

    /// The findings, the most serious first.
    fn finish(self, run: &RunReport<'_>) -> FindingList {
        let counts = self.counts.into_iter().filter(|(_, count)| count.failed + count.ungraded > 0);
        let mut ordered: Vec<(CriterionName, CriterionCount)> = counts.collect();
        let level = |count: &CriterionCount| match count {
            CriterionCount { counted: false, .. } => FindingLevel::Remark,
            CriterionCount { gate_failed: true, .. } => FindingLevel::Gate,
            CriterionCount { failed: 1.., .. } => FindingLevel::Failure,
            _ => FindingLevel::Ungraded,
        };
        ordered.sort_by(|(a_name, a), (b_name, b)| {
            let key = |count: &CriterionCount| {
                (level(count), std::cmp::Reverse(count.failed), std::cmp::Reverse(count.ungraded))
            };
            key(a).cmp(&key(b)).then_with(|| a_name.cmp(b_name))
        });

        let more = self.more + ordered.len().saturating_sub(MAX_FINDINGS);
        ordered.truncate(MAX_FINDINGS);

        let found = ordered.into_iter().map(|(name, count)| {
            let position = (run.position)(&name).unwrap_or_else(|| CriterionPosition {
                path: run.suite_path(&name.suite).to_owned(),
                line: 1,
            });
            let failed = count.failed > 0;
            CriterionFinding {
                level: level(&count),
                asked: count.asked,
                failed: count.failed,
                ungraded: count.ungraded,
                negated: count.negated,
                cases: if failed { count.failed_cases } else { count.ungraded_cases },
                reason: if failed { count.failed_reason } else { count.ungraded_reason }.unwrap_or_default(),
                position,
                name,
                about_run: None,
            }
        });
        FindingList { found: found.collect(), more }
    }
}

fn note_case(cases: &mut Vec<String>, first_reason: &mut Option<String>, row: &ResultRow, reason: &str) {
    if cases.len() < MAX_CASES {
        cases.push(row.name().into_owned());
    }
    first_reason.get_or_insert_with(|| reason.to_owned());
}

impl FindingList {
    /// Reads the run and collects its findings.
    pub(crate) fn read(run: &RunReport<'_>) -> Result<Self, ReportError> {
        let mut findings = CriterionFindings::default();
        // In the order of the files, so that the cases named do not depend on which of them finished first.
        let index = CaseIndex::read(run)?;
        for read in index.cases(run, |_| true)? {
            findings.add(&read?);
        }

        let mut list = findings.finish(run);
        list.found.splice(0..0, ReportedConclusion::new(run, &index).findings(run));

        Ok(list)
    }

    /// Remark for the user about findings that were not kept.
    pub(crate) fn remark(&self) -> Option<String> {
        let kept = crate::number::grouped(MAX_FINDINGS as u64);
        (self.more > 0)
            .then(|| format!("only the first {kept} findings are shown; {} more were omitted", self.more))
    }
}

impl CriterionFinding {
    /// Path of its file with forward slashes; empty if it is not known.
    pub(crate) fn relative_path(&self) -> String {
        let path = &self.position.path;
        let path = if cfg!(windows) { path.replace('\\', "/") } else { path.clone() };
        path.strip_prefix("./").unwrap_or(&path).to_owned()
    }

    /// Text of the criterion, or a substitute if it has none.
    pub(crate) fn title(&self) -> String {
        if self.about_run.is_some() {
            return "the run as a whole".to_owned();
        }

        let CriterionName { grader, criterion, text, .. } = &self.name;
        match (text.trim(), &**criterion, grader.as_str()) {
            ("", "", "") if self.failed > 0 => "cases that did not pass".to_owned(),
            ("", "", "") => "cases that were not graded".to_owned(),
            ("", "", grader) => format!("grader {grader}"),
            ("", criterion, grader) => format!("{grader}/{criterion}"),
            (text, ..) if self.negated => format!("{NEGATION_PREFIX}{text}"),
            (text, ..) => text.to_owned(),
        }
    }

    /// Id of the criterion with its suite and grader, such as `support/honesty/cause`.
    pub(crate) fn rule_id(&self) -> String {
        let CriterionName { suite, grader, criterion, .. } = &self.name;
        let parts: Vec<&str> =
            [&**suite, grader.as_str(), &**criterion].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("/")
    }

    /// Counts the cases in one sentence and names the first of them.
    pub(crate) fn describe(&self) -> String {
        if let Some(sentence) = &self.about_run {
            return sentence.clone();
        }

        let cases = |number: usize| crate::number::format_count(number as u64, "case", "cases");
        // A grader is only counted where it failed without a criterion that explains it, so a total would be
        // wrong.
        let share = |number: usize| {
            if self.name.criterion.is_empty() {
                cases(number)
            } else {
                format!("{number} of {}", cases(self.asked))
            }
        };
        let verb = if self.level == FindingLevel::Gate { "gate failed in" } else { "failed in" };
        let mut text = match (self.failed, self.ungraded) {
            (0, ungraded) => format!("ungraded in {}", share(ungraded)),
            (failed, 0) => format!("{verb} {}", share(failed)),
            (failed, ungraded) => format!("{verb} {}, ungraded in {ungraded}", share(failed)),
        };

        let all = if self.failed > 0 { self.failed } else { self.ungraded };
        let names: Vec<String> = self.cases.iter().map(|id| crate::sanitize::sanitize_name(id)).collect();
        text.push_str(": ");
        text.push_str(&names.join(", "));
        if all > names.len() {
            let _ = write!(text, " and {} more", all - names.len());
        }

        text
    }

    /// Fingerprint of the criterion. It is the same in every run and does not depend on the criterion's position in its
    /// file.
    pub(crate) fn fingerprint(&self) -> String {
        let CriterionName { suite, grader, criterion, text } = &self.name;
        let mut hasher = blake3::Hasher::new();
        for part in [&**suite, grader.as_str(), &**criterion, text.as_str()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }

        hasher.finalize().to_hex()[..32].to_owned()
    }
}

impl ReportedConclusion {
    /// Converts the problems to findings at the first file of the run.
    pub(crate) fn findings(&self, run: &RunReport<'_>) -> Vec<CriterionFinding> {
        let position = run.info.suites.first().map(|suite| {
            let file = CriterionName {
                suite: suite.name.as_str().into(),
                grader: String::new(),
                criterion: "".into(),
                text: String::new(),
            };
            let path = (run.position)(&file).map_or_else(|| suite.path.clone(), |place| place.path);
            CriterionPosition { path, line: 1 }
        });
        let position = position.unwrap_or_else(|| CriterionPosition { path: String::new(), line: 1 });
        let findings = self.problems.iter().map(|problem| CriterionFinding {
            name: CriterionName {
                suite: run.suite_names().into(),
                grader: "run".to_owned(),
                criterion: problem.id.into(),
                text: String::new(),
            },
            level: match problem.level {
                ProblemLevel::Failed | ProblemLevel::Missing => FindingLevel::Gate,
                ProblemLevel::Note => FindingLevel::Remark,
            },
            asked: 0,
            failed: 0,
            ungraded: 0,
            cases: Vec::new(),
            reason: problem.reason.clone(),
            negated: false,
            position: position.clone(),
            about_run: Some(problem.title.clone()),
        });

        findings.collect()
    }
}
