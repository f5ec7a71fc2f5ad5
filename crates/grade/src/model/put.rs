//! Putting one question to a model until its reply can be used, or it is known that none will.

use assize_llm::{ChatRequest, ModelCard};
use assize_rubric::{JudgeIdentity, UngradedKind};

use super::ModelJudge;
use super::answer::{Failure, usable};
use super::tally::Tally;
use super::window;
use crate::Judged;
use crate::prompt::repair_part;

/// What became of a question.
pub(super) struct Put<T> {
    /// What the reply says, or why there is none to use.
    read: Result<T, Failure>,
    /// What the calls cost.
    tally: Tally,
    /// The model that replied, as its server names it.
    model: Option<String>,
}

impl<T> Put<T> {
    /// The judgement of this judge; `made` says what the reply decides, for what reason and on what evidence.
    pub(super) fn judged<D>(
        self,
        judge: JudgeIdentity,
        made: impl FnOnce(T, JudgeIdentity) -> Judged<D>,
    ) -> Judged<D> {
        let judge = JudgeIdentity { model: self.model.map(Into::into), ..judge };
        let judged = match self.read {
            Ok(read) => made(read, judge),
            Err(failure) => Judged::ungraded(judge, failure.kind, failure.message),
        };
        Judged { spent: self.tally.spent, ..judged }
    }
}

impl ModelJudge {
    /// Asks, and asks again with what was wrong with the reply, as often as there are repairs. `request` takes such a
    /// repair, `read` says what a reply means; `draw` is the number under which replies are remembered.
    pub(super) async fn put<T>(
        &self,
        card: ModelCard,
        draw: u32,
        request: impl Fn(Option<String>) -> ChatRequest,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Put<T> {
        let mut tally = Tally::new(card);
        let (mut model, mut repair) = (None, None);
        let mut last = Failure::new(UngradedKind::NotJudged, "the judge was not asked about it");
        for round in 0..=self.options.repairs {
            let answered = {
                let Ok(_permit) = self.in_flight.acquire().await else {
                    last = Failure::new(UngradedKind::Cancelled, "the run ended before the judge was asked");
                    break;
                };
                let request = request(repair.take());
                if let Err(failure) = window::check(card, None, &request) {
                    last = failure;
                    break;
                }
                self.ask.ask_repeat(&request, draw).await
            };
            let mut answered = match answered {
                Ok(answered) => answered,
                Err(error) => {
                    tally.error(&error);
                    let failure = Failure::of_error(&error);
                    let before =
                        if round > 0 { format!("; before that: {}", last.message) } else { String::new() };
                    last = Failure::new(failure.kind, format!("{}{before}", failure.message));
                    break;
                }
            };
            tally.reply(&answered);
            model.clone_from(&answered.reply.model);
            let said = usable(&answered.reply).and_then(|text| {
                read(text).map_err(|message| Failure::new(UngradedKind::Malformed, message))
            });
            match said {
                Ok(said) => {
                    answered.keep();
                    return Put { read: Ok(said), tally, model };
                }
                Err(failure) => {
                    let hopeless = failure.kind == UngradedKind::Refusal;
                    repair = Some(repair_part(&*self.fences, &failure.message, &answered.reply.text));
                    last = failure;
                    if hopeless {
                        break;
                    }
                }
            }
        }
        Put { read: Err(last), tally, model }
    }
}
