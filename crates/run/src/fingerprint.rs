//! Fingerprint of a case's inputs, as one hash: a case with the same hash need not be run again.
//!
//! Design: `docs/design/storage-and-resuming.md`.

use assize_model::CaseHistory;
use assize_rubric::{IdentityWriter, identify_struct};
use assize_targets::{Target, TargetKind};

use crate::grader_identity::GraderWalk;
use crate::material::target_input;
use crate::{CasePrerequisite, EarlierAnswer, EarlierRole, ItemRelations, ItemSource, WorkItem};

/// Version of the hashed content. Raised when the same inputs would lead to other results.
const VERSION: u64 = 7;

/// Initial capacity, enough for the fields of a usual case.
const INITIAL_CAPACITY: usize = 4096;

/// Hash of everything that affects an item's result, in hexadecimal: the case as targets and judges see it, its
/// graders and thresholds, the target's settings, the answer if it was given, and the judges with their
/// settings.
///
/// Positions in files are not part of it: moving a case within its file changes nothing. Neither is the content
/// of programs that commands run, nor any name in this code.
pub fn fingerprint(item: &WorkItem) -> String {
    let mut identity = IdentityWriter::with_capacity(INITIAL_CAPACITY, "case", VERSION);
    add_item(&mut identity, item);
    blake3::hash(identity.as_bytes()).to_hex().to_string()
}

fn add_item(identity: &mut IdentityWriter, item: &WorkItem) {
    let WorkItem {
        suite,
        format,
        suite_folder: _,
        case,
        source: _,
        trial,
        place: _,
        relations,
        thresholds,
        judges: _,
        judge: _,
        judging_override,
        judging,
        panels: _,
        evidence,
        truncate_override,
        truncate,
        programs: _,
        workplace: _,
        hooks,
    } = item;

    identity.field(suite);
    identity.field(format);
    identity.field(trial);
    identity.field(thresholds);
    identity.text(case.id.as_str());
    add_relations(identity, relations);
    add_source(identity, item);

    identity.field(&case.question());
    identity.field(&case.expected_outcome);
    identity.field(&case.reference());
    identity.field(judging);
    identity.field(evidence);
    identity.field(truncate);
    identity.field(judging_override);
    identity.field(truncate_override);

    identity.field(&case.conversation.is_some());

    let mut walk = GraderWalk { identity, item, is_whole: true };
    if let Some(conversation) = &case.conversation {
        walk.conversation(conversation);
    }
    walk.graders(&case.graders);

    if !case.preprocessors.is_empty() {
        identity.text("preprocessors");
        case.preprocessors.iter().for_each(|preprocessor| identity.field(preprocessor));
    }
    if let Some(container) = &case.container {
        identity.text("container");
        identity.field(&**container);
    }

    // What extensions do with the case depends on the test as written.
    if let Some(hooks) = hooks {
        identity.text("extensions");
        hooks.write_identity(identity);
        identity.field(&case.authored.as_ref().map(|test| test.value().clone()));
    }

    // Its question is made when the answers are there. The template, and who gives the answers, say what it will be.
    if let Some(history) = &case.history {
        let CaseHistory { conversation, shows_turns, shows_prompts: _, uses, stores, prompt: _ } = &**history;
        identity.text("history");
        identity.field(&conversation.as_deref());
        identity.field(shows_turns);
        identity.field(&uses.len());
        for name in uses {
            identity.text(name);
        }
        identity.field(&stores.as_deref());
        let test = case.authored.as_ref();
        identity.field(&test.map(|test| test.value().clone()));
        identity.field(&test.and_then(|test| test.prompt()));
    }

    // Rows name the scores that count for each metric.
    if !case.metrics.is_empty() {
        identity.text("metrics");
        identity.field(&case.prompt.as_deref());
        for metric in &case.metrics {
            identity.text(&metric.name);
            identity.field(&metric.grader);
        }
    }

    // Cases without scripts keep the fingerprint that they had before scripts existed.
    if !case.transforms.is_empty() {
        identity.field(&case.transforms.len());
        case.transforms.iter().for_each(|transform| identity.field(transform));
        GraderWalk { identity, item, is_whole: true }.variables();
    }
}

/// A case that runs once and on its own does not depend on its relations to others.
fn add_relations(identity: &mut IdentityWriter, relations: &ItemRelations) {
    // Rivals are hashed with the graders that compare answers.
    let ItemRelations { trials, after, on_failure, earlier, is_awaited: _, rivals: _, stops_at_errors: _ } =
        relations;
    let is_alone = trials.count == 1 && after.is_empty();
    identity.field(&is_alone);

    if !is_alone {
        identity.field(trials);
        identity.field(after);
        identity.field(on_failure);
    }
    write_earlier(identity, earlier);
}

/// Adds the answers that an item takes over. Items that take over none keep their identity.
pub(crate) fn write_earlier(identity: &mut IdentityWriter, earlier: &[EarlierAnswer]) {
    for EarlierAnswer { case_id, target, role } in earlier {
        identity.text("takes over");
        identity.text(case_id);
        identity.field(target);
        match role {
            EarlierRole::Turn => identity.text("turn"),
            EarlierRole::Output(name) => identity.text(name),
        }
    }
}

identify_struct!(CasePrerequisite { case_id, targets });

fn add_source(identity: &mut IdentityWriter, item: &WorkItem) {
    match &item.source {
        ItemSource::Given(answer) => {
            identity.text("given");
            identity.field(answer);
        }
        ItemSource::Missing { kind, message, .. } => {
            identity.text("missing");
            identity.text(kind.name());
            identity.field(message);
        }
        ItemSource::Target(target) => {
            identity.text("target");
            target.write_settings(identity);

            // If the input can't be built, it fails in the same way every time. The error's text is not part of
            // the hash.
            identity.field(&target_input(&item.case, item.trial).map_err(|_| ""));
            if takes_variables(&**target) {
                identity.field(&serde_json::to_string(&item.case.vars).unwrap_or_default());
            }
            identity.field(&item.workplace.is_some());

            if let Some(place) = &item.workplace {
                identity.bytes(place.identity());
            }
        }
    }
}

/// Whether a target, or one of its fallbacks, may receive the variables of the test.
fn takes_variables(target: &dyn Target) -> bool {
    let takes_them =
        |target: &dyn Target| matches!(target.describe().kind, TargetKind::Http | TargetKind::Command);
    takes_them(target) || target.fallbacks().iter().any(|other| takes_them(&**other))
}
