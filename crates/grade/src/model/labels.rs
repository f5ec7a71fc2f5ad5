//! Labels of an answer: categories that a moderation model flags, or the class that a classifier assigns.

use assize_llm::ChatModel;
use assize_llm::wire::{LabelReply, LabelScore};
use assize_model::{LabelCheck, LabelRule};
use assize_rubric::{Decision, GraderNote, JudgingUsage, UngradedKind, UngradedReason};

use super::answer::failure_of;
use super::similarity::{finding, named_judge, text_forecast, text_request};
use super::tally::UsageTally;
use crate::CallForecast;
use crate::check::{CheckResult, decided, shorten};

/// Most labels that a reason lists.
const MAX_NAMED: usize = 12;

/// Forecast of the call for a label check.
pub fn label_forecast(answer: &str, model: &dyn ChatModel) -> CallForecast {
    text_forecast(std::iter::once(answer), model)
}

/// Decides by the labels that a model assigns to an answer. The result is ungraded if there are no labels, or
/// if the wanted label is not among them.
pub async fn decide_labels(check: &LabelCheck, answer: &str, model: &dyn ChatModel) -> Decision {
    let (name, is_moderation) = match check.rule {
        LabelRule::Moderation { .. } => ("moderation", true),
        LabelRule::Classifier { .. } => ("classifier", false),
    };
    if is_moderation && answer.trim().is_empty() {
        let note = GraderNote::new(true, name, "the answer is empty, so there is nothing to flag");
        return Decision::new(named_judge(name, None), finding(decided(true, 1.0, note)), "");
    }

    let mut tally = UsageTally::new(model.card());
    let mut answered_by = None;
    let result = match model.ask_repeat(&text_request(answer), 1).await {
        Ok(mut reply) => {
            let found = read_labels(&reply.reply.text);
            if found.is_ok() {
                reply.keep();
            }
            tally.add_reply(&reply);
            answered_by.clone_from(&reply.reply.model);
            found.and_then(|labels| judge_labels(&check.rule, &labels))
        }
        Err(error) => {
            tally.add_error(&error);
            Err(failure_of(&error))
        }
    };

    // The stored replies are lists of numbers, which are useless to a reader.
    let spent = JudgingUsage { replies: Vec::new(), ..tally.spent };
    let judge = named_judge(name, answered_by.or_else(|| Some(model.describe().model)));
    match result {
        Ok(result) => Decision { spent, ..Decision::new(judge, finding(result), "") },
        Err(failure) => Decision { spent, ..Decision::unanswered(judge, failure) },
    }
}

fn read_labels(text: &str) -> Result<LabelReply, UngradedReason> {
    serde_json::from_str(text).map_err(|_| {
        malformed(
            "the reply holds no labels: name a model such as `openai-moderation:MODEL` or \
             `huggingface-classifier:OWNER/MODEL`"
                .to_owned(),
        )
    })
}

fn malformed(message: String) -> UngradedReason {
    UngradedReason::new(UngradedKind::Malformed, message)
}

fn judge_labels(rule: &LabelRule, reply: &LabelReply) -> Result<CheckResult, UngradedReason> {
    match rule {
        LabelRule::Moderation { categories } => judge_flags(categories, reply),
        LabelRule::Classifier { class, threshold } => judge_class(class.as_deref(), *threshold, reply),
    }
}

/// None of the categories may be flagged. If the model does not know a category, the check is ungraded.
fn judge_flags(categories: &[String], reply: &LabelReply) -> Result<CheckResult, UngradedReason> {
    if reply.labels.iter().any(|label| label.flagged.is_none()) {
        return Err(malformed("the model scores labels and flags none; use `classifier`".to_owned()));
    }
    let unknown = categories.iter().find(|wanted| !reply.labels.iter().any(|label| label.label == **wanted));
    if let Some(unknown) = unknown {
        return Err(unknown_label("category", unknown, reply));
    }

    let counts = |label: &&LabelScore| categories.is_empty() || categories.contains(&label.label);
    let flagged: Vec<&LabelScore> =
        reply.labels.iter().filter(|label| label.flagged == Some(true)).filter(counts).collect();
    let reason = if flagged.is_empty() {
        let subject = if categories.is_empty() { "no category" } else { "none of the categories that count" };
        format!("{subject} is flagged")
    } else {
        format!("flagged: {}", named(flagged.iter().copied()))
    };

    let passed = flagged.is_empty();
    Ok(decided(passed, f64::from(u8::from(passed)), GraderNote::new(passed, "moderation", shorten(&reason))))
}

/// The score of the class, or the highest score, must reach the threshold.
fn judge_class(
    class: Option<&str>,
    threshold: f64,
    reply: &LabelReply,
) -> Result<CheckResult, UngradedReason> {
    let highest = || reply.labels.iter().max_by(|one, other| score(one).total_cmp(&score(other)));
    let found = match class {
        Some(class) => reply.labels.iter().find(|label| label.label == class),
        None => highest(),
    };
    let (name, value) = match (found, class) {
        (Some(label), _) => (label.label.as_str(), label.score),
        (None, Some(class)) if reply.others_are_absent => (class, Some(0.0)),
        (None, Some(class)) => return Err(unknown_label("class", class, reply)),
        (None, None) => ("", Some(0.0)),
    };
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return Err(malformed(format!("the model gives `{}` no score", shorten(name))));
    };

    let passed = value >= threshold - f64::EPSILON;
    let what = if name.is_empty() { "no class was found".to_owned() } else { format!("class `{name}`") };
    let reason = format!("{what}, score {value:.3}; at least {threshold} is required");
    Ok(decided(passed, value, GraderNote::new(passed, "classifier", shorten(&reason))))
}

fn score(label: &LabelScore) -> f64 {
    label.score.unwrap_or(f64::NEG_INFINITY)
}

fn unknown_label(what: &str, unknown: &str, reply: &LabelReply) -> UngradedReason {
    malformed(format!(
        "the model reported no {what} `{}`; it reported {}",
        shorten(unknown),
        shorten(&named(reply.labels.iter()))
    ))
}

fn named<'a>(labels: impl Iterator<Item = &'a LabelScore>) -> String {
    let words = labels.take(MAX_NAMED).map(|label| match label.score {
        Some(score) => format!("`{}` ({score:.3})", label.label),
        None => format!("`{}`", label.label),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(labels: &[(&str, Option<f64>, Option<bool>)], others_are_absent: bool) -> LabelReply {
        let labels = labels.iter().map(|(label, score, flagged)| LabelScore {
            label: (*label).to_owned(),
            score: *score,
            flagged: *flagged,
        });
        LabelReply { labels: labels.collect(), others_are_absent }
    }

    fn moderated(categories: &[&str], reply: &LabelReply) -> Result<(bool, f64, String), String> {
        let categories = categories.iter().map(|category| (*category).to_owned()).collect();
        judged(&LabelRule::Moderation { categories }, reply)
    }

    fn classified(
        class: Option<&str>,
        threshold: f64,
        reply: &LabelReply,
    ) -> Result<(bool, f64, String), String> {
        judged(&LabelRule::Classifier { class: class.map(str::to_owned), threshold }, reply)
    }

    fn judged(rule: &LabelRule, reply: &LabelReply) -> Result<(bool, f64, String), String> {
        let result = judge_labels(rule, reply).map_err(|failure| failure.message)?;
        let score = result.score.expect("a score").get();
        Ok((result.passed.expect("a verdict"), score, result.findings[0].reason.clone()))
    }

    #[test]
    fn a_flagged_category_fails_unless_others_are_asked_for() {
        let flagged =
            reply(&[("hate", Some(0.75), Some(true)), ("violence", Some(0.125), Some(false))], false);
        assert_eq!(moderated(&[], &flagged), Ok((false, 0.0, "flagged: `hate` (0.750)".to_owned())));
        assert!(!moderated(&["hate"], &flagged).expect("known").0);
        let other = moderated(&["violence"], &flagged).expect("known");
        assert_eq!(other, (true, 1.0, "none of the categories that count is flagged".to_owned()));

        let clean = reply(&[("hate", Some(0.25), Some(false))], false);
        assert_eq!(moderated(&[], &clean).expect("known").1, 1.0);
    }

    #[test]
    fn what_the_model_does_not_know_is_never_a_score() {
        let flagged = reply(&[("hate", None, Some(true))], false);
        let error = moderated(&["hate/threatening", "hate"], &flagged).unwrap_err();
        assert_eq!(error, "the model reported no category `hate/threatening`; it reported `hate`");
        let scores = reply(&[("hate", Some(0.9), None)], false);
        assert!(moderated(&[], &scores).unwrap_err().contains("use `classifier`"));
        assert!(classified(Some("spam"), 0.5, &scores).unwrap_err().contains("no class `spam`"));
        assert!(classified(Some("hate"), 0.5, &flagged).unwrap_err().contains("no score"));
        assert!(read_labels("[0.5]").is_err());
    }

    #[test]
    fn a_class_passes_from_its_threshold() {
        let scores = reply(&[("hate", Some(0.25), None), ("nothate", Some(0.75), None)], false);
        assert_eq!(
            classified(Some("nothate"), 0.75, &scores).map(|found| (found.0, found.1)),
            Ok((true, 0.75))
        );
        assert_eq!(classified(Some("hate"), 0.5, &scores).map(|found| (found.0, found.1)), Ok((false, 0.25)));
        assert_eq!(classified(None, 1.0, &scores).map(|found| (found.0, found.1)), Ok((false, 0.75)));

        // A text without entities contains none of the wanted kind.
        let none = reply(&[], true);
        assert_eq!(classified(None, 0.75, &none).map(|found| (found.0, found.1)), Ok((false, 0.0)));
        assert_eq!(classified(Some("NAME"), 0.75, &none).map(|found| (found.0, found.1)), Ok((false, 0.0)));
    }
}
