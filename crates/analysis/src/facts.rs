//! Reduced facts of a run for comparisons: a few hundred bytes per case, without answers, reasons or replies.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::sync::Arc;

use assize_rubric::{
    CaseDecision, DecidedBy, GraderFinding, GraderWeighting, Identify, IdentityWriter, JudgeIdentity,
    MemberAggregator, Outcome, OutcomeKind, Verdict, VoteValue,
};
use assize_store::{CaseRecord, CriterionRow, ResultRow, criterion_texts};

/// String interner. Runs that are compared share one, so that equal names have equal numbers.
#[derive(Debug, Default)]
pub struct NameTable {
    /// All strings, one after the other.
    texts: String,
    /// End of each string.
    ends: Vec<usize>,
    /// Numbers by the hash of the string, or by the next free one if another string has that hash.
    numbers: HashMap<u64, u32>,
}

impl NameTable {
    /// Returns the number of a string, adding it if it is new.
    pub fn intern(&mut self, text: &str) -> u32 {
        self.find(text).unwrap_or_else(|free| {
            let number = self.ends.len() as u32;
            self.texts.push_str(text);
            self.ends.push(self.texts.len());
            self.numbers.insert(free, number);
            number
        })
    }

    /// Returns the number of a string, or the key for it in `numbers`.
    fn find(&self, text: &str) -> Result<u32, u64> {
        let mut key = hash_in_process(&text);
        while let Some(number) = self.numbers.get(&key) {
            if self.text(*number) == text {
                return Ok(*number);
            }
            key = key.wrapping_add(1);
        }
        Err(key)
    }

    /// Returns the number of strings; numbers run from 0 to one less than this.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of a string that was added.
    pub fn number(&self, text: &str) -> Option<u32> {
        self.find(text).ok()
    }

    /// Adds the strings of another table. Returns the number in this table for each number of the other.
    pub fn absorb(&mut self, other: &Self) -> Vec<u32> {
        (0..other.count() as u32).map(|number| self.intern(other.text(number))).collect()
    }

    /// Returns the string of a number; empty for an unknown number.
    pub fn text(&self, number: u32) -> &str {
        let at = number as usize;
        let begin = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).and_then(|end| self.texts.get(begin..*end)).unwrap_or_default()
    }
}

/// A criterion of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriterionFact {
    /// Name of the grader.
    pub grader: u32,
    /// Id of the criterion, as shown in results.
    pub id: u32,
    /// Its text; empty if none is stored.
    pub text: u32,
    /// Its value; missing if there was no decision.
    pub decision: VoteValue,
    /// True if it was decided on a scale, so that values of 0 and 1 are scores and not unmet and met.
    pub is_scored: bool,
    /// True if a higher value is worse: a penalty, or a criterion of a negated grader.
    pub is_fault: bool,
    /// True if it does not depend on the answer: a criterion of a rubric, or a text check. Points that judges
    /// and programs find, and statements extracted from an answer, do depend on it.
    pub is_fixed: bool,
    /// Hash of its text, scale and operator.
    pub wording: u64,
    /// Hash of its weight.
    pub weight: u64,
    /// Hash of its gate.
    pub gate: u64,
    /// Name and model of each judge.
    pub judge: u32,
    /// Version and prompt hash of each judge.
    pub prompt: u32,
    /// Number of criteria in one call.
    pub judging: u32,
}

/// A grader of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraderFact {
    /// Name of the grader.
    pub name: u32,
    /// Its score, if it is known.
    pub score: Option<f64>,
    /// Weight and gate in the case; `None` for graders of the turns of a conversation, which may end early.
    pub weighting: Option<GraderWeightingHash>,
    /// Hash of the settings that affect its result, if the run stored it.
    pub settings: Option<u32>,
}

/// Weight and gate of a grader in its case, as hashes for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GraderWeightingHash {
    /// Hash of its weight.
    pub weight: u64,
    /// Hash of its gate: `required` and `min_score`.
    pub gate: u64,
    /// Hash of its negation and, for a composite, of its members.
    pub composition: u64,
    /// True if its score depends on the verdicts of its members, and so on their gates and thresholds.
    pub counts_verdicts: bool,
}

/// A case of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseFact {
    /// Name of the suite.
    pub suite: u32,
    /// Id of the test. A case has the same id unless its test has several prompts.
    pub case: u32,
    /// Name of the prompt, if the eval file has several.
    pub prompt: Option<u32>,
    /// Number of the trial.
    pub trial: u32,
    /// Name of the target; `None` if the answer was given in the file.
    pub target: Option<u32>,
    /// Hash of its cluster: the case's shared origin if it has one, else its test. Equal in all runs.
    pub cluster: u64,
    /// Tags of the case.
    pub tags: Box<[u32]>,
    /// Hash of the input, if the run stored it.
    pub question: Option<u64>,
    /// Thresholds of its verdict as text; `None` if nothing was judged.
    pub thresholds: Option<u32>,
    /// The verdict.
    pub verdict: Verdict,
    /// The score, if it is known.
    pub score: Option<f64>,
    /// Lowest possible score.
    pub low: f64,
    /// Highest possible score.
    pub high: f64,
    /// The graders.
    pub graders: Box<[GraderFact]>,
    /// The criteria.
    pub criteria: Box<[CriterionFact]>,
}

impl CaseFact {
    /// Reduces a record to its facts.
    pub fn from_record(record: &CaseRecord, names: &mut NameTable) -> Self {
        let row = &record.result;
        let mut notes = JudgementNotes::from_rows(&record.decisions);
        let mut criteria = Vec::new();
        for grader in &row.graders {
            let name = names.intern(&grader.name);
            let is_fixed = FIXED_TYPES.contains(&grader.type_name.as_str());
            let follows_answer = ANSWER_TYPES.contains(&grader.type_name.as_str());
            for criterion in &grader.criteria {
                let mut note = notes.take(&grader.name, &criterion.id);
                note.is_fixed = (note.is_fixed || is_fixed) && !follows_answer;
                criteria.push(criterion_fact(name, criterion, note, names));
            }
        }

        let standings = grader_weightings(&record.decisions);

        Self {
            suite: names.intern(&row.suite),
            case: names.intern(row.test_id()),
            prompt: row.prompt.as_deref().map(|prompt| names.intern(prompt)),
            trial: row.trial,
            target: row.target.as_deref().map(|target| names.intern(target)),
            cluster: hash_in_process(&row.cluster_key()),
            tags: row.tags.iter().map(|tag| names.intern(tag)).collect::<BTreeSet<_>>().into_iter().collect(),
            question: row.planned_hash().map(|hash| hash_in_process(&hash)),
            thresholds: record.decisions.first().map(|decided| {
                let thresholds = decided.thresholds;
                let borderline = thresholds.borderline().map(|line| format!(", borderline {}", line.get()));
                names.intern(&format!("pass {}{}", thresholds.pass().get(), borderline.unwrap_or_default()))
            }),
            verdict: row.verdict,
            score: row.score,
            low: row.score.or(row.score_low).unwrap_or(0.0),
            high: row.score.or(row.score_high).unwrap_or(1.0),
            graders: row
                .graders
                .iter()
                .map(|grader| GraderFact {
                    name: names.intern(&grader.name),
                    score: grader.score,
                    weighting: standings.get(grader.name.as_str()).copied().flatten(),
                    settings: grader.settings.as_deref().map(|hash| names.intern(hash)),
                })
                .collect(),
            criteria: criteria.into(),
        }
    }

    /// Replaces the numbers of its names. `numbers` comes from [`NameTable::absorb`] of the table that they
    /// are from.
    pub fn renumber(&mut self, numbers: &[u32]) {
        let renumber = |number: &mut u32| *number = numbers[*number as usize];
        let Self { suite, case, prompt, trial: _, target, tags, thresholds, graders, criteria, .. } = self;
        [suite, case].into_iter().for_each(renumber);
        [prompt, target, thresholds].into_iter().flatten().for_each(renumber);

        tags.iter_mut().for_each(renumber);
        tags.sort_unstable();
        for GraderFact { name, settings, score: _, weighting: _ } in graders {
            renumber(name);
            settings.iter_mut().for_each(renumber);
        }
        for criterion in criteria {
            let CriterionFact { grader, id, text, judge, prompt, judging, .. } = criterion;
            [grader, id, text, judge, prompt, judging].into_iter().for_each(renumber);
        }
    }

    /// Returns the numbers that tell it from the other cases of its run: suite, test, prompt, trial.
    pub const fn numbers(&self) -> (u32, u32, Option<u32>, u32) {
        (self.suite, self.case, self.prompt, self.trial)
    }

    /// Returns true if it passed; `None` if it is incomplete.
    pub fn passed(&self) -> Option<bool> {
        self.verdict.passed()
    }
}

/// Name of the cluster of a row, the same in all runs. The suite is part of it, because conversation 1 of one suite is
/// unrelated to conversation 1 of another.
pub(crate) fn cluster_name(row: &ResultRow) -> String {
    let (suite, kind, name) = row.cluster_key();
    format!("{suite}\u{1f}{kind}\u{1f}{name}")
}

/// Types of graders whose criteria are written in the eval file.
const FIXED_TYPES: [&str; 11] = [
    "rubrics", "contains", "contains-any", "contains-all", "icontains", "icontains-any", "icontains-all",
    "starts-with", "ends-with", "equals", "regex",
];

/// Types of graders whose criteria are made from the answer, or from a program's output for it.
const ANSWER_TYPES: [&str; 2] = ["context-faithfulness", "context-relevance"];

/// Weight and gate of each grader, by name; `None` for graders of turns.
fn grader_weightings(decisions: &[CaseDecision]) -> HashMap<&str, Option<GraderWeightingHash>> {
    let counts_verdicts = |decided: &&CaseDecision| {
        let composition = decided.finding().and_then(GraderFinding::composition);
        composition
            .is_some_and(|composition| matches!(composition.aggregator, MemberAggregator::Threshold(_)))
    };
    let counting: BTreeSet<&str> =
        decisions.iter().filter(counts_verdicts).map(|decided| &*decided.grader).collect();

    let mut found: HashMap<&str, Option<GraderWeightingHash>> = HashMap::new();
    for decided in decisions.iter().filter(|decided| !decided.is_vote() && decided.member.is_empty()) {
        found.entry(&decided.grader).or_insert_with(|| {
            let GraderWeighting { weight, required, min_score, negate } = decided.weighting;

            let composition = decided.finding().and_then(GraderFinding::composition);
            let members = composition.and_then(|composition| serde_json::to_string(composition).ok());

            decided.turn.is_none().then(|| GraderWeightingHash {
                weight: hash_weight(weight.get()),
                gate: hash_in_process(&(required, min_score.map(|score| score.get().to_bits()))),
                composition: hash_in_process(&(negate, members)),
                counts_verdicts: counting.contains(&*decided.grader),
            })
        });
    }

    found
}

/// Facts about the criteria of a case from its decisions, by (grader, id).
struct JudgementNotes<'r>(HashMap<(&'r str, Arc<str>), JudgementNote>);

#[derive(Default)]
struct JudgementNote {
    text: String,
    is_fixed: bool,
    wording: u64,
    weight: u64,
    gate: u64,
    negated: bool,
    judges: BTreeSet<String>,
    prompts: BTreeSet<String>,
    judging: Option<Arc<str>>,
}

impl<'r> JudgementNotes<'r> {
    fn from_rows(rows: &'r [CaseDecision]) -> Self {
        let mut notes: HashMap<(&str, Arc<str>), JudgementNote> = HashMap::new();
        for row in rows {
            for (id, text) in criterion_texts(row) {
                let note = notes.entry((&*row.grader, id)).or_default();
                if let Some(criterion) = row.criterion() {
                    note.is_fixed = true;
                    let mut scale = IdentityWriter::default();
                    scale.field(&criterion.scale);
                    scale.field(&criterion.operator);
                    scale.field(&criterion.may_not_apply);
                    note.wording = hash_in_process(&(&text, scale.as_bytes()));

                    note.weight = hash_weight(criterion.weight.get());
                    note.gate = hash_field(&criterion.gate);
                } else {
                    note.wording = hash_in_process(&text);
                }

                if names_judge(row) {
                    note.judges.insert(describe_judge(&row.decision.judge));
                    note.prompts.extend(describe_prompt(&row.decision.judge));
                }

                note.text = text;
                note.negated = row.weighting.negate;
                note.judging.clone_from(&row.judging);
            }
        }

        Self(notes)
    }

    fn take(&mut self, grader: &'r str, id: &Arc<str>) -> JudgementNote {
        self.0.remove(&(grader, Arc::clone(id))).unwrap_or_default()
    }
}

/// Returns true if a row names a judge that decides independently of the answer. These do not: a judge that
/// failed to answer, checks that settled a case before its judge was called, the stronger judge that only
/// sees some cases, and the combination of votes, which have rows of their own.
fn names_judge(row: &CaseDecision) -> bool {
    if row.panel.is_some() || row.is_escalation() {
        return false;
    }

    match row.finding() {
        None => row.decision.outcome() != Outcome::Ungraded,
        Some(finding) => {
            let decided_by = finding.benchmark().map(|benchmark| benchmark.decided_by);
            finding.error().is_none() && decided_by.is_none_or(|by| by == Some(DecidedBy::Judge))
        }
    }
}

/// Judges and prompts behind the decisions of each grader of a case, by grader name.
pub(crate) fn judge_descriptions(decisions: &[CaseDecision]) -> HashMap<&str, (String, String)> {
    let mut found: HashMap<&str, (BTreeSet<String>, BTreeSet<String>)> = HashMap::new();
    for row in decisions.iter().filter(|row| names_judge(row)) {
        let (judges, prompts) = found.entry(&*row.grader).or_default();
        judges.insert(describe_judge(&row.decision.judge));
        prompts.extend(describe_prompt(&row.decision.judge));
    }

    let joined = found.into_iter().map(|(name, (judges, prompts))| (name, (join(judges), join(prompts))));
    joined.collect()
}

fn join(set: BTreeSet<String>) -> String {
    set.into_iter().collect::<Vec<_>>().join(" + ")
}

fn describe_judge(judge: &JudgeIdentity) -> String {
    match &judge.model {
        Some(model) if !judge.name.ends_with(&**model) => format!("{} ({model})", judge.name),
        _ => judge.name.to_string(),
    }
}

fn describe_prompt(judge: &JudgeIdentity) -> Option<String> {
    let version = judge.version.as_deref().map(|version| format!("version {version}"));
    let hash = judge
        .prompt_hash
        .as_deref()
        .map(|hash| format!("prompt {}", hash.chars().take(12).collect::<String>()));
    let parts: Vec<String> = [version, hash].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn criterion_fact(
    grader: u32,
    row: &CriterionRow,
    note: JudgementNote,
    names: &mut NameTable,
) -> CriterionFact {
    CriterionFact {
        grader,
        id: names.intern(&row.id),
        text: names.intern(&note.text),
        decision: match (row.outcome, row.value) {
            (_, Some(value)) if value.is_finite() => VoteValue::Value(value),
            (OutcomeKind::NotApplicable, _) => VoteValue::NotApplicable,
            _ => VoteValue::Missing,
        },
        is_scored: row.outcome == OutcomeKind::Scored,
        // In a negated grader, a penalty counts for the answer.
        is_fault: (row.weight < 0.0) != note.negated,
        is_fixed: note.is_fixed,
        wording: note.wording,
        weight: note.weight,
        gate: note.gate,
        judge: names.intern(&join(note.judges)),
        prompt: names.intern(&join(note.prompts)),
        judging: names.intern(note.judging.as_deref().unwrap_or_default()),
    }
}

/// Hash for comparisons within one process. It must never be stored, because it may change between versions
/// of Rust.
pub(crate) fn hash_in_process(value: &impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

fn hash_field(value: &(impl Identify + ?Sized)) -> u64 {
    let mut identity = IdentityWriter::default();
    identity.field(value);
    hash_in_process(&identity.as_bytes())
}

/// Hash of a weight rounded to 12 digits, because weights that are sums or shares differ between runs by
/// rounding.
fn hash_weight(weight: f64) -> u64 {
    hash_in_process(&format!("{weight:.11e}"))
}

/// Reduced facts of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFacts {
    /// Label of the run in output.
    pub label: String,
    /// Cases, sorted by suite, id and trial.
    pub cases: Vec<CaseFact>,
    /// True if the run stopped before its last case because its result was clear. Intervals and tests that assume a fixed number of
    /// cases claim too much for such a run.
    pub ended_by_result: bool,
    /// True if judges decided on criteria. Unlike checks, judges make mistakes.
    pub has_judges: bool,
    /// The result of the run in one line.
    pub result: String,
}

/// Error: a run has a case more than once, so it can't be paired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousRun {
    /// Label of the run.
    pub label: String,
    /// Id of the first such case.
    pub case_id: String,
    /// Targets whose answers the run has; if there are several, the user can name one of them.
    pub targets: BTreeSet<String>,
    /// Prompts of the run, likewise.
    pub prompts: BTreeSet<String>,
}

impl std::error::Error for AmbiguousRun {}

impl fmt::Display for AmbiguousRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, case_id, targets, prompts } = self;
        let (what, names) = match (targets.len(), prompts.len()) {
            (2.., _) => ("of several targets", targets),
            (_, 2..) => ("to several prompts", prompts),
            _ => return write!(f, "`{label}` has the case `{case_id}` more than once"),
        };

        let names: Vec<String> = names.iter().map(|name| format!("`{label}@{name}`")).collect();
        write!(f, "`{label}` has answers {what}; name one of them: {}", names.join(", "))
    }
}

impl RunFacts {
    /// Sorts the cases of a run and checks that each occurs once.
    pub fn new(label: String, mut cases: Vec<CaseFact>, names: &NameTable) -> Result<Self, AmbiguousRun> {
        cases.sort_by(|a, b| case_key(a, names).cmp(&case_key(b, names)));
        let twice = cases.windows(2).find(|pair| case_key(&pair[0], names) == case_key(&pair[1], names));
        if let Some(pair) = twice {
            let case_id = names.text(pair[0].case).to_owned();
            let texts = |part: fn(&CaseFact) -> Option<u32>| {
                cases.iter().filter_map(|case| Some(names.text(part(case)?).to_owned())).collect()
            };
            let (targets, prompts) = (texts(|case| case.target), texts(|case| case.prompt));
            return Err(AmbiguousRun { label, case_id, targets, prompts });
        }

        Ok(Self { label, cases, ..Self::default() })
    }

    /// Pairs the cases by their tests and ignores the prompt, to compare the run with answers to another prompt. The
    /// questions then differ on purpose.
    ///
    /// # Errors
    /// If the run has answers to several prompts.
    pub fn by_test(mut self, names: &NameTable) -> Result<Self, AmbiguousRun> {
        let prompts =
            self.cases.iter().filter_map(|case| Some(names.text(case.prompt?).to_owned())).collect();
        for case in &mut self.cases {
            (case.prompt, case.question) = (None, None);
        }
        let cases = std::mem::take(&mut self.cases);
        match Self::new(self.label.clone(), cases, names) {
            Ok(Self { cases, .. }) => Ok(Self { cases, ..self }),
            Err(error) => Err(AmbiguousRun { prompts, ..error }),
        }
    }

    /// Replaces the numbers of names in all cases, as [`CaseFact::renumber`] does.
    pub fn renumber(&mut self, numbers: &[u32]) {
        self.cases.iter_mut().for_each(|case| case.renumber(numbers));
    }
}

/// Returns the key that cases are paired by.
pub(crate) fn case_key<'n>(
    case: &CaseFact,
    names: &'n NameTable,
) -> (&'n str, &'n str, Option<&'n str>, u32) {
    let prompt = case.prompt.map(|prompt| names.text(prompt));
    (names.text(case.suite), names.text(case.case), prompt, case.trial)
}
