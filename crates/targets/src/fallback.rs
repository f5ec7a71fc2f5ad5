//! Falls back to other targets when one gives no answer.

use std::sync::Arc;

use assize_llm::{BoxFuture, ErrorKind};
use assize_rubric::{Cost, IdentityWriter, Tokens};

use crate::{Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput};

/// A target with fallbacks. They are used in order, once each, until one answers. The cost of failed attempts
/// is added to the answer, which names its target.
pub struct FallbackTarget {
    first: Arc<dyn Target>,
    others: Vec<Arc<dyn Target>>,
}

impl FallbackTarget {
    /// Creates a target with its fallbacks.
    pub fn new(first: Arc<dyn Target>, others: Vec<Arc<dyn Target>>) -> Self {
        Self { first, others }
    }

    async fn ask(&self, input: &TargetInput) -> Result<TargetAnswer, TargetError> {
        let mut failures = Vec::new();
        let mut spent = Tokens::default();
        let mut cost = Cost::ZERO;
        let mut attempts = 0u32;
        for (index, target) in std::iter::once(&self.first).chain(&self.others).enumerate() {
            let answered = match target.answer(input).await {
                // With a workspace, the changes made there may be the answer. They are read later.
                Ok(answer) if answer.is_blank() && input.workdir.is_none() => {
                    Err(TargetError::blank_answer(&answer))
                }
                answered => answered,
            };
            match answered {
                Ok(mut answer) => {
                    answer.tokens.add(spent);
                    answer.cost = answer.cost.map(|last| last + cost);
                    answer.attempts = answer.attempts.saturating_add(attempts);

                    if index > 0 {
                        answer.answered_by = Some(target.name().to_owned());
                    }

                    return Ok(answer);
                }
                Err(error) => {
                    if self.others.is_empty() || stops_fallback(error.kind) {
                        return Err(error);
                    }

                    spent.add(error.tokens);

                    if error.attempts > 0 {
                        cost += error.cost;
                    }

                    attempts = attempts.saturating_add(error.attempts);
                    failures.push((target.name().to_owned(), error));
                }
            }
        }

        let all: Vec<String> = failures.iter().map(|(name, error)| format!("`{name}`: {error}")).collect();
        // There always is a first target, and it has failed.
        let kind = failures.first().map_or(TargetErrorKind::Failed, |(_, error)| error.kind);
        let stderr = failures.into_iter().find_map(|(_, error)| error.stderr);
        let message = format!("no target gave an answer. {}", all.join("; "));

        Err(TargetError { attempts, tokens: spent, cost, stderr, ..TargetError::new(kind, message) })
    }
}

/// Whether no other target may be used: the run is ending, or may not spend anything.
fn stops_fallback(kind: TargetErrorKind) -> bool {
    matches!(
        kind,
        TargetErrorKind::Cancelled | TargetErrorKind::Model(ErrorKind::Cancelled | ErrorKind::NotCached)
    )
}

impl Target for FallbackTarget {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(self.ask(input))
    }

    fn describe(&self) -> TargetDescription {
        self.first.describe()
    }

    fn fallbacks(&self) -> &[Arc<dyn Target>] {
        &self.others
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        let Self { first, others } = self;

        identity.begin("fallback target", 1);
        first.write_settings(identity);
        identity.field(&others.len());

        for other in others {
            other.write_settings(identity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InputMessage, TargetKind};

    /// Fails with a given kind, or answers. Either costs 10 tokens.
    struct Fixed(&'static str, Option<TargetErrorKind>);

    impl Target for Fixed {
        fn name(&self) -> &str {
            self.0
        }

        fn answer<'a>(&'a self, _: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
            let tokens = Tokens { input: Some(10), cached: None, output: Some(1) };
            let answer =
                TargetAnswer { tokens, cost: Some(Cost::ZERO), attempts: 1, ..TargetAnswer::default() };
            let result = self.1.map_or_else(
                || Ok(TargetAnswer { text: self.0.to_owned(), ..answer }),
                |kind| Err(TargetError { tokens, cost: Cost::ZERO, ..TargetError::new(kind, "no") }),
            );
            Box::pin(async move { result })
        }

        fn describe(&self) -> TargetDescription {
            TargetDescription::new(self.0, TargetKind::Command)
        }

        fn write_settings(&self, _: &mut IdentityWriter) {}
    }

    async fn ask(targets: &[(&'static str, Option<TargetErrorKind>)]) -> Result<TargetAnswer, TargetError> {
        let mut all = targets.iter().map(|(name, kind)| Arc::new(Fixed(name, *kind)) as Arc<dyn Target>);
        let first = all.next().unwrap();
        let target = FallbackTarget::new(first, all.collect());
        target.answer(&TargetInput::new("c", vec![InputMessage::text(crate::MessageRole::User, "q")])).await
    }

    #[tokio::test]
    async fn what_failed_attempts_cost_is_counted_and_the_answer_says_whose_it_is() {
        let failed = Some(TargetErrorKind::Failed);
        let answer = ask(&[("a", failed), ("b", failed), ("c", None), ("d", None)]).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.answered_by.as_deref()), ("c", Some("c")));
        assert_eq!((answer.tokens.input, answer.attempts), (Some(30), 3));
        let answer = ask(&[("a", None), ("b", None)]).await.unwrap();
        assert_eq!((answer.answered_by, answer.tokens.input), (None, Some(10)));
    }

    #[tokio::test]
    async fn an_empty_answer_is_none_and_the_next_target_is_asked() {
        let answer = ask(&[("", None), ("b", None)]).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.tokens.input), ("b", Some(20)));
        let error = ask(&[("", None), ("", None)]).await.unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::NoAnswer);
    }

    #[tokio::test]
    async fn all_reasons_are_told_and_an_end_of_the_run_ends_it() {
        let error = ask(&[("a", Some(TargetErrorKind::Timeout)), ("b", Some(TargetErrorKind::Failed))])
            .await
            .unwrap_err();
        assert_eq!((error.kind, error.attempts), (TargetErrorKind::Timeout, 2));
        assert!(error.message.contains("`a`: no; `b`: no"), "{}", error.message);
        for kind in [TargetErrorKind::Cancelled, TargetErrorKind::Model(ErrorKind::NotCached)] {
            assert_eq!(ask(&[("a", Some(kind)), ("b", None)]).await.unwrap_err().kind, kind);
        }
    }
}
