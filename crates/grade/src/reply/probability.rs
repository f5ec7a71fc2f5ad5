//! Reads a decision from the probabilities of its tokens.
//!
//! Only the tokens at the position where the decision begins are used. A token counts for a decision only if it can't
//! begin any other, so no decision gets a probability that may belong to another.

use assize_llm::{ChatReply, TokenLogprob};
use assize_rubric::{DecisionProbability, FractionalScore, Outcome};
use assize_stats::combine::expected_score;

/// Smallest share of probability on decisions. Below it, the expected decision says little.
const MIN_MASS: f64 = 0.5;

/// Advice for a model that gives no log-probabilities.
pub(crate) const PROBABILITY_ADVICE: &str = "use a model that does, or `scoring: written`";

/// Why the probabilities make no decision.
#[derive(Debug, PartialEq)]
pub(crate) struct ProbabilityError {
    /// Message for the user.
    pub(crate) message: String,
    /// Probabilities that were found anyway, for the record.
    pub(crate) found: Option<DecisionProbability>,
}

impl<T: Into<String>> From<T> for ProbabilityError {
    fn from(message: T) -> Self {
        Self { message: message.into(), found: None }
    }
}

/// The decision that the probabilities make instead of the written one. "Does not apply" is used as written.
pub(crate) fn expected_decision(
    reply: &ChatReply,
    written: Outcome,
) -> Result<(Outcome, Option<DecisionProbability>), ProbabilityError> {
    let member = match written {
        Outcome::Met | Outcome::Unmet => "\"outcome\"",
        Outcome::Scored(_) => "\"score\"",
        Outcome::Averaged(_) | Outcome::NotApplicable | Outcome::Ungraded => return Ok((written, None)),
    };

    let tokens = reply
        .logprobs()
        .ok_or_else(|| format!("the model gave no log-probabilities; {PROBABILITY_ADVICE}"))?;
    let place =
        DecisionToken::find(&tokens, member).ok_or("the log-probabilities do not belong to the reply")?;
    let found = match written {
        Outcome::Scored(raw) => score_probability(&place, raw.get()),
        _ => outcome_probability(&place, written == Outcome::Met),
    }?;
    if found.mass < MIN_MASS {
        let message = format!(
            "only {:.0}% of the probability is on decisions; at least {:.0}% is required",
            found.mass * 100.0,
            MIN_MASS * 100.0
        );
        return Err(ProbabilityError { message, found: Some(found) });
    }

    let outcome = match written {
        Outcome::Scored(_) => FractionalScore::new(found.expected)
            .map(Outcome::from_points)
            .map_err(|error| error.to_string())?,
        // Evenly split: take the written decision.
        _ if found.expected > 0.5 => Outcome::Met,
        _ if found.expected < 0.5 => Outcome::Unmet,
        _ => written,
    };
    Ok((outcome, Some(found)))
}

/// The token with which a decision begins.
struct DecisionToken<'a> {
    token: &'a TokenLogprob,
    /// Part of the token before the decision, such as a space or a quotation mark.
    before: &'a str,
    next: Option<&'a TokenLogprob>,
    /// The reply from the decision on.
    rest: String,
}

impl<'a> DecisionToken<'a> {
    /// The position of the value of the last `member`, a name in quotation marks: the decision comes last in a
    /// reply, and a name within a text has its quotation marks escaped.
    fn find(tokens: &'a [TokenLogprob], member: &str) -> Option<Self> {
        let text: String = tokens.iter().map(|token| token.token.as_str()).collect();
        let after = text.rfind(member)? + member.len();
        let tail = text[after..].trim_start().strip_prefix(':')?.trim_start();
        let start = text.len() - tail.strip_prefix('"').unwrap_or(tail).len();
        let mut begin = 0;
        let at = tokens.iter().position(|token| {
            let here = begin + token.token.len() > start;
            begin += if here { 0 } else { token.token.len() };
            here
        })?;

        Some(Self {
            token: &tokens[at],
            before: tokens[at].token.get(..start - begin)?,
            next: tokens.get(at + 1),
            rest: text[start..].to_owned(),
        })
    }

    /// Possible texts at this position, with their log-probabilities: the token itself, and its alternatives
    /// with the same beginning.
    fn candidates(&self) -> Vec<(&str, f64)> {
        let own = (self.token.token.as_str(), self.token.logprob);
        let others = self.token.alternatives.iter().map(|other| (other.token.as_str(), other.logprob));
        let others = others.filter(|(token, _)| *token != own.0);
        std::iter::once(own)
            .chain(others)
            .filter_map(|(token, logprob)| {
                let rest = token.strip_prefix(self.before)?;
                (!rest.trim().is_empty()).then_some((rest, logprob))
            })
            .collect()
    }
}

fn score_probability(place: &DecisionToken<'_>, written: u8) -> Result<DecisionProbability, String> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    if digits(&place.rest) != written.to_string() {
        return Err("the log-probabilities do not belong to the score that was read".to_owned());
    }

    let candidates = place.candidates();
    // If ten is one token, "1" means one; if ten is two tokens, "1" may begin either.
    let ten_is_one_token = candidates.iter().any(|(text, _)| text.trim().starts_with("10"));
    let own = place.token.token.strip_prefix(place.before).unwrap_or_default();
    let mut scores: Vec<(f64, Option<f64>)> = Vec::new();
    for (text, logprob) in candidates {
        let number = digits(text.trim_start());
        let ends = text.trim_start().len() > number.len();
        match number.parse::<u8>() {
            Ok(1) if !ends && !ten_is_one_token => {
                // Only the written token is followed by a token that resolves this.
                if text == own
                    && let Some(next) = place.next
                {
                    let zero = probability_of_zero(next);
                    scores.push((1.0, Some(logprob + (1.0 - zero).ln())));
                    scores.push((10.0, Some(logprob + zero.ln())));
                }
            }
            Ok(value) if value <= 10 => scores.push((f64::from(value), Some(logprob))),
            _ => {}
        }
    }

    let found = expected_score(&scores).map_err(|_| "no likely token is a score".to_owned())?;
    Ok(DecisionProbability {
        expected: found.score.clamp(0.0, 10.0),
        mass: found.mass.min(1.0),
        written: Some(written),
    })
}

/// The share of probability on a zero among the known alternatives of a token.
fn probability_of_zero(token: &TokenLogprob) -> f64 {
    let is_zero = |text: &str| text.starts_with('0');
    let own = (token.token.as_str(), token.logprob);
    let others = token.alternatives.iter().map(|other| (other.token.as_str(), other.logprob));
    let known: Vec<(&str, f64)> =
        std::iter::once(own).chain(others.filter(|(text, _)| *text != own.0)).collect();
    let all: f64 = known.iter().map(|(_, logprob)| logprob.exp()).sum();
    let zeros: f64 = known.iter().filter(|(text, _)| is_zero(text)).map(|(_, logprob)| logprob.exp()).sum();

    if all > 0.0 { zeros / all } else { f64::from(u8::from(is_zero(own.0))) }
}

fn outcome_probability(place: &DecisionToken<'_>, met: bool) -> Result<DecisionProbability, String> {
    let written = if met { "met" } else { "unmet" };
    if !place.rest.starts_with(written) {
        return Err("the log-probabilities do not belong to the outcome that was read".to_owned());
    }

    // No two of the words begin with the same letter.
    let begins = |text: &str, word: &str| word.starts_with(text) || text.starts_with(word);
    let mut values: Vec<(f64, Option<f64>)> = Vec::new();
    let mut elsewhere = 0.0;
    for (text, logprob) in place.candidates() {
        if begins(text, "met") {
            values.push((1.0, Some(logprob)));
        } else if begins(text, "unmet") {
            values.push((0.0, Some(logprob)));
        } else if begins(text, "not_applicable") {
            elsewhere += logprob.exp();
        }
    }

    let found = expected_score(&values).map_err(|_| "no likely token is a decision".to_owned())?;
    Ok(DecisionProbability {
        expected: found.score.clamp(0.0, 1.0),
        mass: (found.mass + elsewhere).min(1.0),
        written: None,
    })
}

#[cfg(test)]
mod tests {
    use assize_llm::FinishReason;
    use assize_rubric::RawScore;
    use serde_json::json;

    use super::*;

    /// A token with its alternatives, each with its probability.
    type Token<'a> = (&'a str, f64, &'a [(&'a str, f64)]);

    fn reply(tokens: &[Token<'_>]) -> ChatReply {
        let content: Vec<_> = tokens
            .iter()
            .map(|(token, p, others)| {
                let top: Vec<_> =
                    others.iter().map(|(token, p)| json!({"token": token, "logprob": p.ln()})).collect();
                json!({"token": token, "logprob": p.ln(), "top_logprobs": top})
            })
            .collect();
        let text: String = tokens.iter().map(|(token, ..)| *token).collect();
        let raw = json!({"choices": [{"logprobs": {"content": content}}]}).to_string();
        ChatReply { raw, ..ChatReply::new(text, FinishReason::Stop) }
    }

    fn scored(raw: u8) -> Outcome {
        Outcome::Scored(RawScore::new(raw).unwrap())
    }

    fn probability(tokens: &[Token<'_>], written: Outcome) -> Result<(f64, f64), String> {
        expected_decision(&reply(tokens), written).map_err(|undecided| undecided.message).map(|(_, found)| {
            let found = found.unwrap();
            ((found.expected * 1e6).round() / 1e6, (found.mass * 1e6).round() / 1e6)
        })
    }

    const HEAD: Token<'static> = ("{\"reason\":\"a \\\"score\\\": 3\",\"score\":", 1.0, &[]);

    #[test]
    fn a_score_is_the_mean_of_what_could_have_been_written() {
        let tokens: [Token<'_>; 3] =
            [HEAD, (" 7", 0.5, &[(" 7", 0.5), (" 8", 0.25), (" 6", 0.125), (" x", 0.125)]), ("}", 1.0, &[])];
        assert_eq!(
            probability(&tokens, scored(7)),
            Ok(((3.5 + 2.0 + 0.75) / 0.875, 0.875))
                .map(|(e, m): (f64, f64)| { ((e * 1e6).round() / 1e6, m) })
        );
        let (outcome, _) = expected_decision(&reply(&tokens), scored(7)).unwrap();
        assert!(matches!(outcome, Outcome::Averaged(_)));
    }

    #[test]
    fn ten_in_one_token_and_in_two() {
        let one: [Token<'_>; 3] = [HEAD, ("10", 0.75, &[("1", 0.25)]), ("}", 1.0, &[])];
        assert_eq!(probability(&one, scored(10)), Ok((7.75, 1.0)));
        let two: [Token<'_>; 4] =
            [HEAD, ("1", 0.8, &[("9", 0.2)]), ("0", 0.75, &[("}", 0.25)]), ("}", 1.0, &[])];
        assert_eq!(probability(&two, scored(10)), Ok((0.8 * 7.75 + 1.8, 1.0)));
        // A "1" that was not written may mean one or ten, so it counts for neither.
        let unsure: [Token<'_>; 3] = [HEAD, ("9", 0.7, &[("1", 0.3)]), ("}", 1.0, &[])];
        assert_eq!(probability(&unsure, scored(9)), Ok((9.0, 0.7)));
    }

    #[test]
    fn met_and_unmet_are_told_by_their_beginnings() {
        let head: Token<'_> = ("{\"outcome\":", 1.0, &[]);
        let tokens: [Token<'_>; 4] =
            [head, (" \"", 1.0, &[]), ("un", 0.6, &[("met", 0.2), ("not", 0.1)]), ("met\"}", 1.0, &[])];
        assert_eq!(probability(&tokens, Outcome::Unmet), Ok((0.25, 0.9)));
        let tokens: [Token<'_>; 3] =
            [head, ("\"met", 0.4, &[("\"met", 0.4), ("\"un", 0.6)]), ("\"}", 1.0, &[])];
        assert_eq!(probability(&tokens, Outcome::Met), Ok((0.4, 1.0)));
        assert_eq!(
            expected_decision(&reply(&tokens), Outcome::Met).unwrap().0,
            Outcome::Unmet,
            "the likelier one counts"
        );
    }

    #[test]
    fn what_can_not_be_relied_on_is_refused() {
        let few: [Token<'_>; 3] = [HEAD, ("7", 0.3, &[("great", 0.6), ("8", 0.1)]), ("}", 1.0, &[])];
        assert!(probability(&few, scored(7)).unwrap_err().contains("only 40%"));
        let on_record = expected_decision(&reply(&few), scored(7)).unwrap_err().found.unwrap();
        assert!((on_record.mass - 0.4).abs() < 1e-9, "{on_record:?}");
        let other: [Token<'_>; 3] = [HEAD, ("7", 1.0, &[]), ("}", 1.0, &[])];
        assert!(probability(&other, scored(8)).unwrap_err().contains("do not belong"));
        let mut none = reply(&other);
        none.raw = "{}".into();
        assert!(expected_decision(&none, scored(7)).unwrap_err().message.contains("no log-probabilities"));
        assert_eq!(expected_decision(&none, Outcome::NotApplicable), Ok((Outcome::NotApplicable, None)));
    }
}
