//! A run boiled down to what comparing it takes: some hundred bytes a case, without answers, reasons or replies.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use assize_rubric::{CaseDecision, JudgeIdentity, Outcome, OutcomeKind, Verdict, VoteValue};
use assize_store::{CaseRecord, CriterionRow, criterion_texts};

/// Strings by number. Runs that are compared share one, so that equal names have equal numbers.
#[derive(Debug, Default)]
pub struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of a string; a new one if it was never seen.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The string of a number; empty for one that was never given out.
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }
}

/// A criterion of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriterionFact {
    /// Name of the grader.
    pub grader: u32,
    /// Its id, as results show it.
    pub id: u32,
    /// Its value, missing where nothing was decided.
    pub decision: VoteValue,
    /// Whether a higher value is worse: a penalty, or a criterion of a negated grader.
    pub is_fault: bool,
    /// Hash of its words, scale and operator.
    pub wording: u64,
    /// Hash of its weight and gate.
    pub standing: u64,
    /// Who decided: name and model of each judge.
    pub judge: u32,
    /// Version and hash of the judges' instructions.
    pub prompt: u32,
    /// How many criteria went into a call.
    pub judging: u32,
}

/// A case of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseFact {
    /// Name of the suite.
    pub suite: u32,
    /// Id of the case.
    pub case: u32,
    /// Number of the repeat.
    pub repeat: u32,
    /// Name of the target; `None` when the answer was given.
    pub target: Option<u32>,
    /// What it shares its origin with: its cluster, else the case itself.
    pub cluster: u32,
    /// Its tags.
    pub tags: Box<[u32]>,
    /// Hash of what it asks, if the run kept it.
    pub question: Option<u32>,
    /// The lines of its verdict, in words; `None` when nothing was judged.
    pub lines: Option<u32>,
    /// The verdict.
    pub verdict: Verdict,
    /// The score, if it is known.
    pub score: Option<f64>,
    /// Lowest possible score.
    pub low: f64,
    /// Highest possible score.
    pub high: f64,
    /// Name and score of each grader.
    pub graders: Box<[(u32, Option<f64>)]>,
    /// The criteria.
    pub criteria: Box<[CriterionFact]>,
}

impl CaseFact {
    /// Boils a record down.
    pub fn of(record: &CaseRecord, names: &mut Names) -> Self {
        let row = &record.result;
        let mut notes = Notes::of(&record.decisions);
        let mut criteria = Vec::new();
        for grader in &row.graders {
            let name = names.number(&grader.name);
            for criterion in &grader.criteria {
                let note = notes.take(&grader.name, &criterion.id);
                criteria.push(fact(name, criterion, note, names));
            }
        }
        // The suite is part of the name: conversation 1 of one suite has nothing to do with that of another.
        let cluster = match &row.cluster {
            Some(cluster) => format!("{}\u{1f}cluster\u{1f}{cluster}", row.suite),
            None => format!("{}\u{1f}case\u{1f}{}", row.suite, row.case_id),
        };
        Self {
            suite: names.number(&row.suite),
            case: names.number(&row.case_id),
            repeat: row.repeat,
            target: row.target.as_deref().map(|target| names.number(target)),
            cluster: names.number(&cluster),
            tags: row.tags.iter().map(|tag| names.number(tag)).collect::<BTreeSet<_>>().into_iter().collect(),
            question: row.case_hash.as_deref().map(|hash| names.number(hash)),
            lines: record.decisions.first().map(|decided| {
                let lines = decided.lines;
                let borderline = lines.borderline().map(|line| format!(", borderline {}", line.get()));
                names.number(&format!("pass {}{}", lines.pass().get(), borderline.unwrap_or_default()))
            }),
            verdict: row.verdict,
            score: row.score,
            low: row.score.or(row.score_low).unwrap_or(0.0),
            high: row.score.or(row.score_high).unwrap_or(1.0),
            graders: row.graders.iter().map(|grader| (names.number(&grader.name), grader.score)).collect(),
            criteria: criteria.into(),
        }
    }

    /// Whether it passed; `None` when it could not be decided.
    pub fn passed(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Pass => Some(true),
            Verdict::Borderline | Verdict::Fail => Some(false),
            Verdict::Incomplete => None,
        }
    }
}

/// Notes on the criteria of a case from its decisions, by (grader, id).
struct Notes<'r>(HashMap<(&'r str, Arc<str>), Note>);

#[derive(Default)]
struct Note {
    wording: u64,
    standing: u64,
    negated: bool,
    judges: BTreeSet<String>,
    prompts: BTreeSet<String>,
    judging: Option<Arc<str>>,
}

impl<'r> Notes<'r> {
    fn of(rows: &'r [CaseDecision]) -> Self {
        let mut notes: HashMap<(&str, Arc<str>), Note> = HashMap::new();
        for row in rows {
            for (id, text) in criterion_texts(row) {
                let note = notes.entry((&*row.grader, id)).or_default();
                if let Some(criterion) = row.criterion() {
                    note.wording = hash(&(
                        &text,
                        format!("{:?} {:?} {}", criterion.scale, criterion.operator, criterion.may_not_apply),
                    ));
                    note.standing = hash(&format!("{} {:?}", criterion.weight.get(), criterion.gate));
                } else {
                    note.wording = hash(&text);
                }
                // Who could not be made to answer says nothing about who judges.
                if row.criterion().is_none() || row.decision.outcome() != Outcome::Ungraded {
                    note.judges.insert(who(&row.decision.judge));
                    note.prompts.extend(how(&row.decision.judge));
                }
                note.negated = row.standing.negate;
                note.judging.clone_from(&row.judging);
            }
        }
        Self(notes)
    }

    fn take(&mut self, grader: &'r str, id: &Arc<str>) -> Note {
        self.0.remove(&(grader, Arc::clone(id))).unwrap_or_default()
    }
}

fn who(judge: &JudgeIdentity) -> String {
    match &judge.model {
        Some(model) if !judge.name.ends_with(&**model) => format!("{} ({model})", judge.name),
        _ => judge.name.to_string(),
    }
}

fn how(judge: &JudgeIdentity) -> Option<String> {
    let version = judge.version.as_deref().map(|version| format!("version {version}"));
    let hash = judge
        .prompt_hash
        .as_deref()
        .map(|hash| format!("prompt {}", hash.chars().take(12).collect::<String>()));
    let said: Vec<String> = [version, hash].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn fact(grader: u32, row: &CriterionRow, note: Note, names: &mut Names) -> CriterionFact {
    let join = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" + ");
    CriterionFact {
        grader,
        id: names.number(&row.id),
        decision: match (row.outcome, row.value) {
            (_, Some(value)) if value.is_finite() => VoteValue::Value(value),
            (OutcomeKind::NotApplicable, _) => VoteValue::NotApplicable,
            _ => VoteValue::Missing,
        },
        // A penalty in a negated grader is good again.
        is_fault: (row.weight < 0.0) != note.negated,
        wording: note.wording,
        standing: note.standing,
        judge: names.number(&join(note.judges)),
        prompt: names.number(&join(note.prompts)),
        judging: names.number(note.judging.as_deref().unwrap_or_default()),
    }
}

/// For telling apart within one process only: the hash is never stored.
pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A run boiled down.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// What the run is called in output.
    pub label: String,
    /// Its cases, sorted by suite, id and repeat.
    pub cases: Vec<CaseFact>,
}

/// A run holds a case more than once, so that it can't be paired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousRun {
    /// The run.
    pub label: String,
    /// The first such case.
    pub case_id: String,
    /// The targets whose answers the run holds; with several, naming one of them helps.
    pub targets: Vec<String>,
}

impl std::error::Error for AmbiguousRun {}

impl fmt::Display for AmbiguousRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, case_id, targets } = self;
        if targets.len() < 2 {
            return write!(f, "`{label}` holds the case `{case_id}` more than once");
        }
        let names: Vec<String> = targets.iter().map(|target| format!("`{label}@{target}`")).collect();
        write!(f, "`{label}` holds answers of several targets; name one of them: {}", names.join(", "))
    }
}

impl RunFacts {
    /// Sorts the cases of a run and checks that each of them is there once.
    pub fn new(label: String, mut cases: Vec<CaseFact>, names: &Names) -> Result<Self, AmbiguousRun> {
        cases.sort_by(|a, b| key(a, names).cmp(&key(b, names)));
        let twice = cases.windows(2).find(|pair| key(&pair[0], names) == key(&pair[1], names));
        if let Some(pair) = twice {
            let case_id = names.text(pair[0].case).to_owned();
            let targets: BTreeSet<&str> =
                cases.iter().filter_map(|case| Some(names.text(case.target?))).collect();
            let targets = targets.into_iter().map(str::to_owned).collect();
            return Err(AmbiguousRun { label, case_id, targets });
        }
        Ok(Self { label, cases })
    }
}

/// What cases are paired by.
pub(crate) fn key<'n>(case: &CaseFact, names: &'n Names) -> (&'n str, &'n str, u32) {
    (names.text(case.suite), names.text(case.case), case.repeat)
}
