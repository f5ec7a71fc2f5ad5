//! What the result of a case rests on, as one hash: a case with the same hash need not be run again.

use assize_spec::{Grader, GraderKind};

use crate::material::target_input;
use crate::{JudgeWish, Source, WorkItem};

/// Version of what is hashed. Raised when the same inputs would lead to other results.
const VERSION: &str = "1";

/// The hash of everything that decides about an item's result, in hexadecimal: the case as targets and judges see it,
/// its graders and lines, the target's settings, the answer if it was given, and who judges how.
///
/// Places in files have no part in it: moving a case within its file changes nothing.
pub fn fingerprint(item: &WorkItem) -> String {
    let mut hash = Fields(blake3::Hasher::new());
    let case = &item.case;
    hash.field(VERSION);
    hash.field(&item.suite);
    hash.field(&format!("{:?} {} {:?}", item.format, item.repeat, item.lines));
    hash.field(case.id.as_str());
    match &item.source {
        Source::Given(answer) => hash.field(&format!("given {answer:?}")),
        Source::Missing { kind, message } => hash.field(&format!("missing {kind} {message}")),
        Source::Target(target) => {
            hash.field("target");
            hash.field(&target.settings());
            // What can't be put together is the same failure every time.
            hash.field(&format!("{:?}", target_input(case, item.repeat)));
        }
    }
    hash.field(&case.question());
    hash.field(&format!("{:?} {:?}", case.expected_outcome, case.reference()));
    hash.field(&format!("{:?} {:?} {:?}", item.judging_override, item.judging, item.evidence));
    for grader in &case.graders {
        hash.field(&of_grader(grader));
        let wish = match &grader.kind {
            GraderKind::Rubric(rubric) => item.judge_wish(rubric),
            _ => JudgeWish { grader: None, target: item.source.target_name(), suite: item.judge.as_deref() },
        };
        hash.field(&item.judges.settings(wish));
    }
    hash.0.finalize().to_hex().to_string()
}

fn of_grader(grader: &Grader) -> String {
    let head = format!("{} {} {:?}", grader.name, grader.type_name, grader.standing);
    match &grader.kind {
        GraderKind::Rubric(rubric) => {
            format!("{head} {:?} {:?} {:?}", rubric.rubric, rubric.judging, rubric.evidence)
        }
        // Holds places too, so that such a case is rather run once too often.
        other => format!("{head} {other:?}"),
    }
}

/// Texts with their lengths before them, so that no two lists of texts look the same.
struct Fields(blake3::Hasher);

impl Fields {
    fn field(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
}
