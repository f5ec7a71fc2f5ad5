//! Decoder of `llm-grader`: a judge that gives one score.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, codes};
use assize_model::{GraderKind, LlmGrader};

use super::panel::{PanelUse, decode_panel};
use super::prompt::{decode_program_config, decode_prompt};
use super::rubrics::decode_judge;
use super::temperature::temperature;
use crate::decode::DecodeContext;
use crate::decode::common::refuse_foreign_keys;
use crate::decode::preprocessors::decode_preprocessors;

/// Keys of other tools, with the equivalent in this format.
const FOREIGN_KEYS: &[(&str, &str)] = &[
    ("model", "the model that judges is named as `target`"),
    ("reference_answer", "the reference answer is the case's `expected_output`"),
];

/// Decodes the keys of `type: llm-grader`.
pub(super) fn decode_llm_grader(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let written = object.entry("prompt").filter(|entry| !entry.value.is_null());
    let prompt = written.and_then(|entry| decode_prompt(cx, entry));
    let judge = decode_judge(cx, object);
    let panel = decode_panel(cx, object, PanelUse::Llm { judge: judge.as_deref() });
    let temperature = temperature(cx, object);
    let max_steps = object.integer("max_steps", 1, i64::from(u32::MAX), &mut cx.problems);
    if let Some(steps) = &max_steps {
        Diagnostic::warning(codes::NO_EFFECT, "`max_steps` has no effect")
            .at(steps.span, "not used here")
            .with_help("judges are called once and use no tools; remove the key")
            .add_to(&mut cx.problems);
    }
    let preprocessors = decode_preprocessors(cx, object).to_vec();
    let mut settings = decode_program_config(cx, object);
    let prompt = prompt.map(|(prompt, config)| {
        settings.extend(config);
        prompt
    });

    refuse_foreign_keys(cx, object, FOREIGN_KEYS);

    (cx.problems.error_count() == errors).then(|| {
        GraderKind::Llm(LlmGrader {
            prompt,
            judge,
            panel,
            temperature,
            max_steps: max_steps.and_then(|steps| u32::try_from(steps.value).ok()),
            config: settings,
            preprocessors,
            given: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, one};

    #[test]
    fn all_settings_are_read() {
        let grader = one("- {type: llm_grader, target: big, temperature: 0, config: {a: 1}}\n");
        let GraderKind::Llm(llm) = &grader.kind else { panic!("a judge") };
        assert_eq!((llm.judge.as_deref(), llm.temperature), (Some("big"), Some(0.0)));
        assert_eq!(llm.config.len(), 1);
        assert_eq!(llm.prompt, None);
    }

    #[test]
    fn wrong_settings_are_refused() {
        for (setting, code) in [
            ("temperature: 3", "E0106"),
            ("max_steps: 3", "W0403"),
            ("max_steps: 0", "E0106"),
            ("max_steps: 1.5", "E0105"),
            ("config: x", "E0105"),
            ("model: x", "E0414"),
            ("modle: x", "E0103"),
        ] {
            assert_eq!(codes(&format!("- {{type: llm-grader, {setting}}}\n")), [code], "{setting}");
        }
    }
}
