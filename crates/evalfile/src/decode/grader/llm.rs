//! Decoder of `llm-grader`: a judge that gives one score.

use super::panel::{Use, panel};
use super::prompt::{config, prompt};
use super::rubrics::judge;
use super::temperature::temperature;
use crate::decode::{Context, Object};
use crate::model::{Format, GraderKind, LlmGrader};

/// Decodes the keys of `type: llm-grader`.
pub(super) fn llm(cx: &mut Context, object: &mut Object<'_>, format: Format) -> Option<GraderKind> {
    let errors = cx.problems.errors();
    let written = object.entry("prompt").filter(|entry| !entry.value.is_null());
    let prompt = written.and_then(|entry| prompt(cx, entry, format));
    let judge = judge(cx, object);
    let panel = panel(cx, object, Use::Llm { judge: judge.as_deref() });
    let temperature = temperature(cx, object);
    let max_steps = object.integer("max_steps", 1, i64::from(u32::MAX), &mut cx.problems);
    let mut settings = config(cx, object);
    let prompt = prompt.map(|(prompt, config)| {
        settings.extend(config);
        prompt
    });
    (cx.problems.errors() == errors).then(|| {
        GraderKind::Llm(LlmGrader {
            prompt,
            judge,
            panel,
            temperature,
            max_steps: max_steps.and_then(|steps| u32::try_from(steps.value).ok()),
            config: settings,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::grader::testing::{codes, one};

    #[test]
    fn all_settings_are_read() {
        let grader = one("- {type: llm_grader, target: big, temperature: 0, max_steps: 3, config: {a: 1}}\n");
        let GraderKind::Llm(llm) = &grader.kind else { panic!("a judge") };
        assert_eq!((llm.judge.as_deref(), llm.temperature, llm.max_steps), (Some("big"), Some(0.0), Some(3)));
        assert_eq!(llm.config.len(), 1);
        assert_eq!(llm.prompt, None);
    }

    #[test]
    fn wrong_settings_are_refused() {
        for (setting, code) in [
            ("temperature: 3", "E0106"),
            ("max_steps: 0", "E0106"),
            ("max_steps: 1.5", "E0105"),
            ("config: x", "E0105"),
            ("model: x", "E0103"),
        ] {
            assert_eq!(codes(&format!("- {{type: llm-grader, {setting}}}\n")), [code], "{setting}");
        }
    }
}
