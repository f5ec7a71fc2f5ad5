//! Plans a request: finds, decodes and prepares its rubric, so that its samples are ready to be graded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use assize_engine::{EngineError, EngineErrorKind, PreparedRubric, SamplePlace};
use assize_model::Scorecard;
use axum::http::StatusCode;
use serde_json::Value;

use crate::api::{GradeRequest, GradeSample, NamedRubric, RubricSource, ScorecardSource};
use crate::decode::{ProblemList, child};
use crate::group::{count_pairs, difference, differences};
use crate::inline_rubric::{InlineRubric, check_repeats, inline_rubric};
use crate::inline_scorecard::InlineScorecard;
use crate::job::{JobPlan, JobSample};
use crate::problem::{ApiError, RequestProblem, WEIGHTS};
use crate::request::to_grading_sample;
use crate::rubric_library::{LibraryContent, RubricMissing, RubricTemplate, RubricVersion};
use crate::service::Service;
use crate::telemetry::TraceParent;
use crate::tenant::Tenant;

/// Error for a judge whose cost is unknown.
const UNPRICED: &str = "the price of a judge of this rubric is unknown, so a budget in dollars can't be enforced; use another \
     judge, or have the operator add the price to `.assize/prices.yaml`";

/// Rubric of a request, before the variables of a sample are filled in.
enum RequestRubric {
    Prepared(Arc<PreparedRubric>),
    /// A rubric in the request with variables; each sample supplies the values.
    Template(InlineRubric),
    /// A loaded rubric with such variables.
    NamedTemplate {
        template: Arc<RubricTemplate>,
        key: blake3::Hash,
        place: &'static str,
    },
}

impl Service {
    /// Problems of a rubric on its own, for a request that has other problems. Unknown variables are not
    /// reported.
    pub(crate) fn rubric_problems(&self, tenant: &Arc<Tenant>, rubric: RubricSource) -> Vec<RequestProblem> {
        let found = self.request_rubric(tenant, rubric, None);
        found.err().map(|error| error.body.problems).unwrap_or_default()
    }

    /// Bytes of a rubric with variables, which is decoded for each sample of a request; 0 for other rubrics.
    pub(crate) fn template_bytes(&self, request: &GradeRequest) -> usize {
        let count = request.samples.len();
        let bytes = match &request.rubric {
            None => 0,
            Some(_) if count < 2 => 0,
            Some(RubricSource::Named(named)) => match self.rubrics.find(&named.name, named.hash.as_deref()) {
                Ok(RubricVersion { content: LibraryContent::Template(template), .. }) => template.bytes(),
                _ => 0,
            },
            Some(given) => {
                let inline = inline_rubric(given.clone()).filter(InlineRubric::has_templates);
                inline.map_or(0, |inline| inline.bytes())
            }
        };

        bytes.saturating_mul(count)
    }

    /// Prepares the samples of a request.
    ///
    /// # Errors
    /// With everything in the request that can't be used.
    pub(crate) fn plan(
        &self,
        tenant: &Arc<Tenant>,
        request: GradeRequest,
        trace: Option<TraceParent>,
    ) -> Result<JobPlan, ApiError> {
        let GradeRequest {
            rubric,
            scorecard,
            weights,
            samples,
            reward,
            on_ungraded,
            deadline_ms,
            compare,
            mut unusable,
        } = request;
        let weights = weights.as_deref();
        if compare.is_some() {
            self.check_groups(&samples)?;
        }

        let rubric = match (rubric, scorecard) {
            (Some(rubric), _) => self.request_rubric(tenant, rubric, weights)?,
            (None, Some(scorecard)) => self.request_scorecard(tenant, scorecard, weights)?,
            (None, None) => return Err(ApiError::invalid_at("/rubric", "missing")),
        };
        if compare.is_some()
            && matches!(&rubric, RequestRubric::Prepared(prepared) if prepared.is_scorecard())
        {
            return Err(ApiError::invalid_at(
                "/compare",
                "answers are compared by a rubric, not by a scorecard",
            ));
        }

        match &rubric {
            RequestRubric::Prepared(_) => {}
            RequestRubric::Template(inline) => check_repeats(inline.bytes(), samples.len())?,
            RequestRubric::NamedTemplate { template, .. } => check_repeats(template.bytes(), samples.len())?,
        }

        let mut problems = ProblemList::default();
        let mut prepared = Vec::with_capacity(samples.len());
        for (index, sample) in samples.into_iter().enumerate() {
            let ready = match &rubric {
                RequestRubric::Prepared(prepared) => Ok(Arc::clone(prepared)),
                RequestRubric::Template(inline) => self.prepare_inline(tenant, inline, sample.vars.as_ref()),
                RequestRubric::NamedTemplate { template, key, place } => {
                    self.prepare_template(tenant, template, *key, place, sample.vars.as_ref())
                }
            };
            let place = SamplePlace {
                index,
                id: sample.id.clone().unwrap_or_else(|| index.to_string()),
                group: sample.group.clone(),
            };
            let graded = to_grading_sample(sample, index, &mut problems);
            match (ready, graded) {
                (Ok(rubric), Some(sample)) => {
                    let sample = match unusable.remove(&index) {
                        Some(problem) => sample.with_problem(problem),
                        None => sample,
                    };
                    prepared.push(JobSample { place, trace: trace.clone(), sample, rubric });
                }
                (Err(error), _) if error.body.problems.is_empty() => return Err(error),
                (Err(error), _) => {
                    let found = error.body.problems.into_iter();
                    problems.extend(found.map(|problem| of_sample(problem, index)));
                }
                (Ok(_), None) => {}
            }
        }
        if compare.is_some() {
            problems.extend(differences(&prepared));
        }
        problems.check()?;

        Ok(JobPlan {
            samples: prepared,
            reward,
            on_ungraded,
            deadline: deadline_ms.map(Duration::from_millis),
            compare,
        })
    }

    fn check_groups(&self, samples: &[GradeSample]) -> Result<(), ApiError> {
        let groups = || samples.iter().map(|sample| sample.group.as_deref());
        if let Some(index) = groups().position(|group| group.is_none()) {
            let path = child("/samples", &index.to_string());
            return Err(ApiError::invalid_at(
                child(&path, "group"),
                "missing: `compare` needs the group of each sample",
            ));
        }

        let mut problems = ProblemList::default();
        let mut first_of: BTreeMap<_, usize> = BTreeMap::new();
        for (index, group) in groups().enumerate() {
            let first = *first_of.entry(group).or_insert(index);
            if samples[first].vars != samples[index].vars {
                problems.extend([difference(index, "vars", first)]);
            }
        }
        problems.check()?;

        let (pairs, limit) = (count_pairs(groups()), self.options.limits.samples);
        if pairs > limit {
            let message = format!("{pairs} pairs within groups; at most {limit} are compared");
            return Err(ApiError::invalid_at("/samples", message));
        }

        Ok(())
    }

    fn request_rubric(
        &self,
        tenant: &Arc<Tenant>,
        rubric: RubricSource,
        weights: Option<&str>,
    ) -> Result<RequestRubric, ApiError> {
        if let RubricSource::Named(named) = &rubric {
            return self.named_rubric(tenant, named, "/rubric", weights);
        }
        if weights.is_some() {
            return Err(ApiError::no_weight_sets());
        }

        let missing = || ApiError::invalid_at("/rubric", "missing");
        let inline = inline_rubric(rubric).ok_or_else(missing)?;
        if inline.has_templates() {
            self.refuse_inline(&inline)?;
            return Ok(RequestRubric::Template(inline));
        }

        self.prepare_inline(tenant, &inline, None).map(RequestRubric::Prepared)
    }

    fn refuse_inline(&self, inline: &InlineRubric) -> Result<(), ApiError> {
        let problems = inline.refuse(&self.options.limits);
        if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(problems)) }
    }

    /// The rubric with these values filled in. It is decoded only if its text is new.
    fn prepare_inline(
        &self,
        tenant: &Arc<Tenant>,
        inline: &InlineRubric,
        vars: Option<&BTreeMap<String, Value>>,
    ) -> Result<Arc<PreparedRubric>, ApiError> {
        tenant.prepared(inline.hash(vars), || {
            if !inline.has_templates() {
                self.refuse_inline(inline)?;
            }

            let none = BTreeMap::new();
            let decoded = inline.decode(vars.unwrap_or(&none), &self.options.limits, self.judges());
            let loaded = decoded.map_err(ApiError::invalid)?;
            tenant.grader.prepare(&loaded).map_err(|error| unusable("/rubric", error))
        })
    }

    fn request_scorecard(
        &self,
        tenant: &Arc<Tenant>,
        scorecard: ScorecardSource,
        weights: Option<&str>,
    ) -> Result<RequestRubric, ApiError> {
        let inline = match scorecard {
            ScorecardSource::Named(named) => return self.named_rubric(tenant, &named, "/scorecard", weights),
            ScorecardSource::Content(content) => {
                InlineScorecard::new(content, &self.options.limits).map_err(ApiError::invalid)?
            }
        };

        let prepared = tenant.prepared(with_weights(inline.hash(), weights), || {
            let scorecard = inline.decode(&self.options.limits).map_err(ApiError::invalid)?;
            prepared_scorecard(tenant, scorecard, "/scorecard", weights)
        });
        prepared.map(RequestRubric::Prepared)
    }

    /// A loaded rubric with these values filled in; `key` is the hash of the rubric without them.
    fn prepare_template(
        &self,
        tenant: &Arc<Tenant>,
        template: &RubricTemplate,
        key: blake3::Hash,
        place: &str,
        vars: Option<&BTreeMap<String, Value>>,
    ) -> Result<Arc<PreparedRubric>, ApiError> {
        let none = BTreeMap::new();
        let vars = vars.unwrap_or(&none);
        let values = serde_json::to_vec(vars).unwrap_or_default();
        tenant.prepared(blake3::keyed_hash(key.as_bytes(), &values), || {
            let loaded = self.rubrics.fill(template, vars, place).map_err(ApiError::invalid)?;
            tenant.grader.prepare(&loaded).map_err(|error| unusable(place, error))
        })
    }

    /// A loaded rubric or scorecard; `place` is where the request names it.
    fn named_rubric(
        &self,
        tenant: &Arc<Tenant>,
        named: &NamedRubric,
        place: &'static str,
        weights: Option<&str>,
    ) -> Result<RequestRubric, ApiError> {
        let found =
            self.rubrics.find(&named.name, named.hash.as_deref()).map_err(|missing| match missing {
                RubricMissing::Name => {
                    let loaded = self.rubrics.loaded_names();
                    let message = format!(
                        "no rubric or scorecard of this name is loaded{loaded}; GET /v1/rubrics lists them"
                    );
                    ApiError::invalid_at(child(place, "name"), message)
                }
                RubricMissing::Hash(newest) => {
                    let newest = newest.map_or_else(
                        || "its file was removed".to_owned(),
                        |newest| format!("the newest is {newest}"),
                    );
                    let message = format!("no version with this hash is remembered; {newest}");
                    let error = ApiError::invalid_at(child(place, "hash"), message).kind("rubric_changed");
                    ApiError { status: StatusCode::CONFLICT, ..error }
                }
            })?;

        // The name is part of the key, since messages call a rubric by its name.
        let mut key = blake3::Hasher::new();
        key.update(b"named").update(found.hash.as_bytes()).update(named.name.as_bytes());
        let key = with_weights(key.finalize(), weights);
        let prepared = match &found.content {
            LibraryContent::Rubric(_) | LibraryContent::Template(_) if weights.is_some() => {
                return Err(ApiError::no_weight_sets());
            }
            LibraryContent::Rubric(rubric) => {
                tenant.prepared(key, || tenant.grader.prepare(rubric).map_err(|error| unusable(place, error)))
            }
            LibraryContent::Template(template) => {
                return Ok(RequestRubric::NamedTemplate { template: Arc::clone(template), key, place });
            }
            LibraryContent::Scorecard(scorecard) => {
                tenant.prepared(key, || prepared_scorecard(tenant, Arc::clone(scorecard), place, weights))
            }
        };
        prepared.map(RequestRubric::Prepared)
    }
}

/// A scorecard with another weight set than its index names, if the request names one.
fn prepared_scorecard(
    tenant: &Tenant,
    scorecard: Arc<Scorecard>,
    place: &str,
    weights: Option<&str>,
) -> Result<PreparedRubric, ApiError> {
    let known = weights.map(|name| scorecard.weight_set(name)).transpose();
    known.map_err(|error| ApiError::invalid_at(WEIGHTS, error.to_string()))?;

    let prepared = tenant.grader.prepare_scorecard(scorecard, weights);
    prepared.map_err(|error| unusable(place, error))
}

/// Error of a request whose rubric can't be judged. It must not show addresses of judges or files, which belong
/// to the operator.
fn unusable(place: &str, error: EngineError) -> ApiError {
    let message = match error.kind {
        EngineErrorKind::Budget => UNPRICED.to_owned(),
        _ => error.message,
    };
    ApiError::invalid_at(place, message)
}

/// Hash of a scorecard with one of its weight sets.
fn with_weights(hash: blake3::Hash, weights: Option<&str>) -> blake3::Hash {
    weights.map_or(hash, |name| blake3::keyed_hash(hash.as_bytes(), name.as_bytes()))
}

fn of_sample(problem: RequestProblem, index: usize) -> RequestProblem {
    RequestProblem { message: format!("{} (with the vars of sample {index})", problem.message), ..problem }
}
