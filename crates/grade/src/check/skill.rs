//! `skill-trigger`: whether a skill was used.

use assize_model::SkillTrigger;
use assize_rubric::{GraderNote, ToolCall};
use serde_json::Value;

use super::result::CheckResult;

/// 1 if the skill was used, or not used, as expected.
///
/// A skill is used when the tool `Skill` is called with its name, when a file under `skills/NAME/` is read,
/// when a command names its `SKILL.md`, or when the output of a tool names one of its files. Names are compared
/// whole: `deploy` is not `deploy-rollback`.
pub(super) fn check_skill(check: &SkillTrigger, calls: Option<&[ToolCall]>) -> Result<CheckResult, String> {
    let calls = calls.ok_or("the target does not report tool calls, so the skills used are unknown")?;
    let used = calls.iter().find_map(|call| describe_rule(call, &check.skill));
    let text = if check.should_trigger {
        format!("uses the skill `{}`", check.skill)
    } else {
        format!("does not use the skill `{}`", check.skill)
    };

    let reason = used.clone().unwrap_or_else(|| "no call uses it".to_owned());
    Ok(CheckResult::all_or_nothing(vec![GraderNote::new(
        used.is_some() == check.should_trigger,
        text,
        reason,
    )]))
}

fn describe_rule(call: &ToolCall, skill: &str) -> Option<String> {
    let is = |names: &[&str]| names.iter().any(|name| call.name.eq_ignore_ascii_case(name));
    if is(&["skill", "activate_skill"]) {
        let named = ["skill", "name", "command"].iter().filter_map(|key| call.input.get(key)?.as_str());
        let direct = call.input.as_str();
        if named.chain(direct).any(|name| is_named(name, skill)) {
            return Some(format!("the tool {} was called with it", call.name));
        }
    }

    if is(&["read", "read_file", "view"])
        && collect_texts(&call.input).iter().any(|text| contains_skill_path(text, skill))
    {
        return Some(format!("{} was called on a file of it", call.name));
    }

    // Agents without a skill tool read the file with a command.
    let names_it = |text: &&str| contains_skill_path(text, skill) && text.contains("SKILL.md");
    if is(&["bash", "shell", "exec_command", "command_execution", "run_shell_command"])
        && collect_texts(&call.input).iter().any(names_it)
    {
        return Some(format!("{} was called on its SKILL.md", call.name));
    }

    let output = call
        .output
        .as_ref()
        .is_some_and(|output| collect_texts(output).iter().any(|text| contains_skill_path(text, skill)));
    output.then(|| format!("the output of {} names a file of it", call.name))
}

/// `deploy`, `/deploy`, or `plugin:deploy` for the skill `deploy`; arguments may follow after a blank.
fn is_named(written: &str, skill: &str) -> bool {
    let name = written.split_whitespace().next().unwrap_or_default().trim_start_matches('/');
    name == skill || name.rsplit_once(':').is_some_and(|(_, name)| name == skill)
}

/// Returns true if a text contains `skills/NAME/` with the whole name.
fn contains_skill_path(text: &str, skill: &str) -> bool {
    let text = text.replace('\\', "/");
    let wanted = format!("skills/{skill}/");
    let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(&wanted).any(|(at, _)| !text[..at].ends_with(part_of_name))
}

/// All texts within a value.
fn collect_texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(collect_texts).collect(),
        Value::Object(map) => map.values().flat_map(collect_texts).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(name: &str, input: Value, output: Option<Value>) -> ToolCall {
        ToolCall { name: name.into(), input, output, duration: None, failed: None }
    }

    fn used(skill: &str, call: ToolCall) -> bool {
        let check = check_skill(&SkillTrigger { skill: skill.into(), should_trigger: true }, Some(&[call]));
        check.unwrap().score.unwrap().get() == 1.0
    }

    #[test]
    fn a_skill_name_is_compared_whole_and_not_as_a_substring() {
        assert!(used("deploy", call("Skill", json!({"skill": "deploy"}), None)));
        assert!(used("deploy", call("Skill", json!({"skill": "acme:deploy"}), None)));
        assert!(!used("deploy", call("Skill", json!({"skill": "deploy-rollback"}), None)));
        assert!(!used("deploy", call("Skill", json!({"skill": "redeploy"}), None)));
        assert!(used("deploy", call("Read", json!({"file_path": "/a/skills/deploy/SKILL.md"}), None)));
        assert!(!used(
            "deploy",
            call("Read", json!({"file_path": "/a/skills/deploy-rollback/SKILL.md"}), None)
        ));
        assert!(!used("deploy", call("Read", json!({"file_path": "/a/my-skills/deploy/SKILL.md"}), None)));
        assert!(used(
            "deploy",
            call("Bash", json!({"command": "cat x"}), Some(json!("see skills/deploy/a.sh")))
        ));
        assert!(!used("deploy", call("Bash", json!({"command": "echo deploy"}), Some(json!("deploy")))));
        assert!(used(
            "deploy",
            call("shell", json!({"command": ["cat", ".agents/skills/deploy/SKILL.md"]}), None)
        ));
        assert!(!used("deploy", call("shell", json!({"command": ["ls", "skills/deploy/"]}), None)));
        assert!(used("deploy", call("activate_skill", json!({"name": "deploy"}), None)));
    }

    #[test]
    fn leaving_it_alone_can_be_asked_for_and_silence_is_an_error() {
        let alone = SkillTrigger { skill: "deploy".into(), should_trigger: false };
        assert_eq!(check_skill(&alone, Some(&[])).unwrap().score.unwrap().get(), 1.0);
        assert!(check_skill(&alone, None).is_err());
    }
}
