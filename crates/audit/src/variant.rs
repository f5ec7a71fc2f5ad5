//! Variants: modified copies of a case that an audit judges.

use std::sync::Arc;

use assize_model::{Case, Grader, GraderKind};
use assize_run::{ItemSource, WorkItem};
use assize_targets::{Target, TargetAnswer};
use tokio::sync::OnceCell;

use crate::altered_target::{AlteredTarget, SharedAnswer};
use crate::variant_id::{UNCHANGED, variant_id};

/// Modification of an answer.
pub type AlterAnswer = Arc<dyn Fn(TargetAnswer) -> TargetAnswer + Send + Sync>;

/// Modification of the rubrics of a case.
pub type AlterGraders = Arc<dyn Fn(Vec<Arc<Grader>>) -> Vec<Arc<Grader>> + Send + Sync>;

/// One modification of a case.
#[derive(Clone)]
pub struct CaseVariant {
    /// Label in the ids of cases, without `@`.
    pub label: String,
    /// Modification of the answer.
    pub alter: AlterAnswer,
    /// Modification of the rubrics; rubrics that it removes are not judged in this variant.
    pub regrade: AlterGraders,
}

impl CaseVariant {
    /// Creates a variant that only modifies the answer.
    pub fn altering_answer(
        label: String,
        alter: impl Fn(TargetAnswer) -> TargetAnswer + Send + Sync + 'static,
    ) -> Self {
        Self { label, alter: Arc::new(alter), regrade: Arc::new(|graders| graders) }
    }

    /// Creates a variant that only modifies the rubrics.
    pub fn altering_rubrics(
        label: String,
        regrade: impl Fn(Vec<Arc<Grader>>) -> Vec<Arc<Grader>> + Send + Sync + 'static,
    ) -> Self {
        Self { label, alter: Arc::new(|answer| answer), regrade: Arc::new(regrade) }
    }
}

/// Builds the items of an audit from one item of a run: first the unchanged case, then `repeats` copies of
/// it, then each variant.
///
/// Only the rubrics of the case are kept, because only rubrics have decisions on single criteria. Returns
/// `None` if the case has no rubric, or if it is a conversation: a modified answer would affect the later
/// ones.
///
/// The target answers only once, when the first of these items runs.
pub fn build_audit_items(item: &WorkItem, repeats: u32, variants: &[CaseVariant]) -> Option<Vec<WorkItem>> {
    let graders = case_rubrics(&item.case);
    if graders.is_empty() || item.case.conversation.is_some() {
        return None;
    }

    let shared = SharedAnswer::new(OnceCell::new());
    let make = |label: &str, alter: &AlterAnswer, graders: &[Arc<Grader>], trial: u32| WorkItem {
        case: Arc::new(Case {
            id: variant_id(&item.case.id, label),
            graders: graders.to_vec(),
            ..Case::clone(&item.case)
        }),
        source: match &item.source {
            ItemSource::Given(answer) => ItemSource::Given(Arc::new(alter(TargetAnswer::clone(answer)))),
            ItemSource::Target(target) => ItemSource::Target(Arc::new(AlteredTarget {
                inner: Arc::clone(target),
                answer: Arc::clone(&shared),
                label: label.to_owned(),
                is_first: label == UNCHANGED && trial == 1,
                alter: Arc::clone(alter),
            }) as Arc<dyn Target>),
            missing @ ItemSource::Missing { .. } => missing.clone(),
        },
        trial,
        ..item.clone()
    };

    let same: AlterAnswer = Arc::new(|answer| answer);
    let unchanged = (1..=repeats.saturating_add(1)).map(|trial| make(UNCHANGED, &same, &graders, trial));
    let changed = variants.iter().filter_map(|variant| {
        let graders = (variant.regrade)(graders.clone());
        (!graders.is_empty()).then(|| make(&variant.label, &variant.alter, &graders, 1))
    });
    Some(unchanged.chain(changed).collect())
}

/// Returns the rubrics of a case, including those inside composites, each as its own grader.
pub(crate) fn case_rubrics(case: &Case) -> Vec<Arc<Grader>> {
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
