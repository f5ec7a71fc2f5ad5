//! Variants: the cases of an audit, built from a case of a run.

use std::sync::Arc;

use assize_evalfile::{Case, Grader, GraderKind};
use assize_run::{Source, WorkItem};
use assize_targets::{Answer, Target};
use tokio::sync::OnceCell;

use crate::altered::{Altered, Shared};
use crate::name::{UNCHANGED, named};

/// Modification of an answer.
pub type Alter = Arc<dyn Fn(Answer) -> Answer + Send + Sync>;

/// Modification of the rubrics of a case.
pub type Regrade = Arc<dyn Fn(Vec<Arc<Grader>>) -> Vec<Arc<Grader>> + Send + Sync>;

/// One modification of a case.
#[derive(Clone)]
pub struct Variant {
    /// Label in the ids of cases, without `@`.
    pub label: String,
    /// Modification of the answer.
    pub alter: Alter,
    /// Modification of the rubrics; rubrics that it omits are not judged in this variant.
    pub regrade: Regrade,
}

impl Variant {
    /// Creates a variant that only modifies the answer.
    pub fn of_answer(label: String, alter: impl Fn(Answer) -> Answer + Send + Sync + 'static) -> Self {
        Self { label, alter: Arc::new(alter), regrade: Arc::new(|graders| graders) }
    }

    /// Creates a variant that only modifies the rubrics.
    pub fn of_rubrics(
        label: String,
        regrade: impl Fn(Vec<Arc<Grader>>) -> Vec<Arc<Grader>> + Send + Sync + 'static,
    ) -> Self {
        Self { label, alter: Arc::new(|answer| answer), regrade: Arc::new(regrade) }
    }
}

/// Builds the items of an audit from one item of a run: the unchanged case once and `repeats` times more,
/// then each variant. Only the rubrics of the case are kept, since only they have criteria decided one by
/// one. Returns `None` if there are none, or if the case is a conversation: a modified answer would affect
/// the later ones.
///
/// A target is asked for the answer once, by whichever item runs first.
pub fn variants_of(item: &WorkItem, repeats: u32, variants: &[Variant]) -> Option<Vec<WorkItem>> {
    let graders = rubrics(&item.case);
    if graders.is_empty() || item.case.conversation.is_some() {
        return None;
    }
    let shared = Shared::new(OnceCell::new());
    let make = |label: &str, alter: &Alter, graders: &[Arc<Grader>], repeat: u32| WorkItem {
        case: Arc::new(Case {
            id: named(&item.case.id, label),
            graders: graders.to_vec(),
            ..Case::clone(&item.case)
        }),
        source: match &item.source {
            Source::Given(answer) => Source::Given(Arc::new(alter(Answer::clone(answer)))),
            Source::Target(target) => Source::Target(Arc::new(Altered {
                inner: Arc::clone(target),
                answer: Arc::clone(&shared),
                label: label.to_owned(),
                is_first: label == UNCHANGED && repeat == 1,
                alter: Arc::clone(alter),
            }) as Arc<dyn Target>),
            missing @ Source::Missing { .. } => missing.clone(),
        },
        repeat,
        ..item.clone()
    };
    let same: Alter = Arc::new(|answer| answer);
    let unchanged = (1..=repeats.saturating_add(1)).map(|repeat| make(UNCHANGED, &same, &graders, repeat));
    let changed = variants.iter().filter_map(|variant| {
        let graders = (variant.regrade)(graders.clone());
        (!graders.is_empty()).then(|| make(&variant.label, &variant.alter, &graders, 1))
    });
    Some(unchanged.chain(changed).collect())
}

/// Returns the rubrics of a case, including those of composites, each as a grader of its own.
pub(crate) fn rubrics(case: &Case) -> Vec<Arc<Grader>> {
    let mut found = Vec::new();
    for grader in &case.graders {
        add_rubrics(grader, None, &mut found);
    }
    found
}

fn add_rubrics(grader: &Arc<Grader>, within: Option<&str>, found: &mut Vec<Arc<Grader>>) {
    let name = within.map(|outer| format!("{outer}/{}", grader.name));
    match (&grader.kind, &name) {
        (GraderKind::Rubric(_), None) => found.push(Arc::clone(grader)),
        (GraderKind::Rubric(_), Some(name)) => {
            found.push(Arc::new(Grader { name: name.clone(), ..Grader::clone(grader) }));
        }
        (GraderKind::Composite(composite), _) => {
            let outer = name.as_deref().unwrap_or(&grader.name);
            for member in &composite.members {
                add_rubrics(member, Some(outer), found);
            }
        }
        _ => {}
    }
}
