//! Resolution of `use_target`.

use assize_diagnostic::{Diagnostic, SpannedValue, did_you_mean};
use assize_document::{DiagnosticCollector, codes};
use assize_model::{TargetSpec, TargetSpecKind};

/// A decoded target, before `use_target` is resolved.
pub(super) struct TargetDraft {
    pub(super) spec: TargetSpec,
    pub(super) name: SpannedValue<String>,
    pub(super) uses: Option<SpannedValue<String>>,
}

/// Replaces every `use_target` with the kind of the target it refers to. The settings of the nearer target win.
/// Missing variables and unsupported parts accumulate. Names must be unique.
pub(super) fn resolve_use_target(
    drafts: Vec<TargetDraft>,
    problems: &mut DiagnosticCollector,
) -> Vec<TargetSpec> {
    let steps: Vec<UseTargetStep> = drafts.iter().map(|draft| find_next(draft, &drafts, problems)).collect();
    report_cycles(&drafts, &steps, problems);
    (0..drafts.len()).map(|index| follow_chain(index, &drafts, &steps)).collect()
}

/// Result of following `use_target` once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UseTargetStep {
    /// There is no reference: the target has its own kind.
    End,
    To(usize),
    /// The target that is referred to does not exist.
    Lost,
}

fn find_next(
    draft: &TargetDraft,
    drafts: &[TargetDraft],
    problems: &mut DiagnosticCollector,
) -> UseTargetStep {
    let Some(wanted) = &draft.uses else { return UseTargetStep::End };
    if let Some(index) = drafts.iter().position(|other| other.name.value == wanted.value) {
        return UseTargetStep::To(index);
    }

    let mut diagnostic =
        Diagnostic::error(codes::UNKNOWN_TARGET, format!("there is no target `{}`", wanted.value))
            .at(wanted.span, "not in this file");

    let names = drafts.iter().map(|other| other.name.value.as_str()).filter(|name| *name != draft.name.value);
    if let Some(near) = did_you_mean(&wanted.value, names.clone()) {
        diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
        diagnostic = diagnostic.with_suggestion("use that target", wanted.span, near);
    } else {
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        diagnostic = diagnostic.with_help(format!("targets of this file: {}", names.join(", ")));
    }

    problems.add(diagnostic);
    UseTargetStep::Lost
}

fn report_cycles(drafts: &[TargetDraft], steps: &[UseTargetStep], problems: &mut DiagnosticCollector) {
    let mut seen = vec![false; steps.len()];
    for start in 0..steps.len() {
        let mut path = Vec::new();
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            path.push(at);

            let UseTargetStep::To(next) = steps[at] else { break };
            if let Some(begin) = path.iter().position(|index| *index == next) {
                let names: Vec<String> = path[begin..]
                    .iter()
                    .chain([&next])
                    .map(|index| format!("`{}`", drafts[*index].name.value))
                    .collect();
                if let Some(uses) = &drafts[next].uses {
                    Diagnostic::error(codes::TARGET_CYCLE, "targets use each other in a cycle")
                        .at(uses.span, "part of the cycle")
                        .with_note(names.join(" uses "))
                        .with_help("give one of them a `provider` of its own")
                        .add_to(problems);
                }

                break;
            }

            at = next;
        }
    }
}

fn follow_chain(start: usize, drafts: &[TargetDraft], steps: &[UseTargetStep]) -> TargetSpec {
    let mut result = drafts[start].spec.clone();
    let mut visited = vec![start];
    let mut at = start;
    loop {
        match steps[at] {
            UseTargetStep::To(next) if !visited.contains(&next) => {
                let other = &drafts[next].spec;
                result.uses.push(other.name.clone());
                result.kind = other.kind.clone();
                result.grader_target = result.grader_target.or_else(|| other.grader_target.clone());
                result.workers = result.workers.or(other.workers);
                result.retry = result.retry.or(&other.retry);
                result.health = result.health.or_else(|| other.health.clone());

                if result.fallbacks.is_empty() {
                    result.fallbacks.clone_from(&other.fallbacks);
                }

                result.variables.extend(other.variables.iter().cloned());
                result.missing_variables.extend(other.missing_variables.iter().cloned());
                result.errors.extend(other.errors.iter().cloned());
                result.unbuilt.extend(other.unbuilt.iter().cloned());
                result.without_effect.extend(other.without_effect.iter().cloned());
                visited.push(next);

                at = next;
            }
            UseTargetStep::End => return result,
            UseTargetStep::To(_) | UseTargetStep::Lost => {
                result.kind = TargetSpecKind::Undetermined;
                return result;
            }
        }
    }
}
