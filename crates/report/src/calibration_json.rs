//! Calibration report of a judge as JSON.

use assize_analysis::calibrate::{
    CalibrationGateResult, CalibrationReport, CalibrationSection, GateBasis, GatedPassRates, PassRate,
    SelectionBound, TargetPassRates,
};
use assize_stats::UndefinedReason;
use assize_stats::correction::{CorrectedMean, PredictionPowered, RoganGladen};
use serde_json::{Value, json};

use crate::metrics::{clustered_json, metrics_json, share_json, value_json};

/// Converts a calibration and its gate results to JSON.
pub fn calibration_json(
    calibration: &CalibrationReport,
    gates: &[CalibrationGateResult],
    on: GateBasis,
) -> Value {
    let gate = |gate: &CalibrationGateResult| {
        let few = gate.few.map(|few| few.to_string());
        json!({
            "figure": gate.request.figure, "least": gate.request.least, "on": on,
            "value": gate.value.ok(), "undefined": few.or_else(|| gate.value.err().map(|reason| reason.to_string())),
            "passed": gate.passed, "incomplete": gate.undecided,
        })
    };

    json!({
        "judge": calibration.judge,
        "items": calibration.items,
        "clusters": calibration.clusters,
        "excluded": calibration.left_out,
        "sections": calibration.sections.iter().map(section).collect::<Vec<_>>(),
        "rates": calibration.rates.iter().map(rates).collect::<Vec<_>>(),
        "gates": gates.iter().map(gate).collect::<Vec<_>>(),
        "captured_mass": calibration.captured_mass.map(|mass| json!({
            "decisions": mass.decisions,
            "refused": mass.refused,
            "median": mass.median,
            "lowest": mass.lowest,
        })),
        "notes": calibration.notes,
    })
}

fn section(section: &CalibrationSection) -> Value {
    let biases: serde_json::Map<String, Value> = section
        .biases
        .iter()
        .map(|bias| {
            let found = match &bias.measured {
                Ok(figure) => {
                    let mut object = value_json(figure.value, figure.interval, figure.n);
                    object["name"] = figure.name.into();
                    object["says"] = figure.says.into();
                    object
                }
                Err(reason) => json!({ "unmeasured": reason }),
            };
            (bias.kind.id().to_owned(), found)
        })
        .collect();
    json!({
        "by": section.by,
        "title": section.title,
        "kind": if section.scores { "scores" } else { "verdicts" },
        "counts": section.cells,
        "confusion": section.confusion.map(|table| json!({
            "both_met": table.true_pass, "only_judge_met": table.false_pass,
            "only_people_met": table.false_fail, "both_unmet": table.true_fail,
        })),
        "reliability": section.reliability.iter().map(|bin| {
            let mut object = value_json(Ok(bin.observed), bin.interval, bin.n);
            object["predicted"] = bin.predicted.into();
            object
        }).collect::<Vec<_>>(),
        "metrics": metrics_json(&section.figures),
        "people": metrics_json(&section.people),
        "biases": biases,
        "replacement": section.replacement,
    })
}

fn rate(rate: &PassRate) -> Value {
    let mut object = clustered_json(&rate.mean);
    if let Some(counted) = &rate.counted {
        object["independent"] = share_json(counted);
    }
    object
}

fn estimate(found: CorrectedMean, n: usize) -> Value {
    // If all residuals are equal, the interval has no width, which would look like certainty.
    let has_width = found.interval.width() > 1e-12;
    let interval = if has_width { Ok(found.interval) } else { Err(UndefinedReason::NoSpread) };
    let mut object = value_json(Ok(found.mean), interval, n as u64);
    object["se"] = found.se.into();
    object
}

fn powered(found: &PredictionPowered) -> Value {
    json!({
        "labelled": found.labelled, "unlabelled": found.unlabelled,
        "people_only": estimate(found.human, found.labelled),
        "ppi": estimate(found.plain, found.labelled),
        "ppi_plus_plus": estimate(found.tuned, found.labelled),
        "weight": found.weight, "gain": found.gain.ok(), "few_labels": found.few_labels(),
    })
}

fn rogan_gladen(found: &RoganGladen) -> Value {
    json!({
        "raw": found.raw, "value": found.clipped, "se": found.se.ok(),
        "low": found.interval.ok().map(|interval| interval.low),
        "high": found.interval.ok().map(|interval| interval.high),
        "no_interval": found.interval.err().map(|reason| reason.to_string()),
    })
}

fn gated(found: &GatedPassRates) -> Value {
    json!({
        "direct": rate(&found.direct), "recursive": rate(&found.recursive),
        "circular": found.circular,
    })
}

fn rates(rates: &TargetPassRates) -> Value {
    let corrected = match &rates.powered {
        Ok(found) => powered(found),
        Err(reason) => json!({ "refused": reason }),
    };
    let selection = rates.selection.as_ref().map(|found| {
        let bound = |bound: &SelectionBound| {
            json!({
                // JSON has no infinity; null means that nothing is assumed about the selection.
                "factor": bound.factor.is_finite().then_some(bound.factor),
                "low": bound.bounds.0, "high": bound.bounds.1,
                "low_with_error": bound.with_error.0, "high_with_error": bound.with_error.1,
            })
        };
        json!({
            "labelled": found.labelled, "unlabelled": found.unlabelled,
            "bounds": found.bounds.iter().map(bound).collect::<Vec<_>>(),
            "judge": found.judge.0,
            "factor_for_judge": found.judge.1.ok().filter(|factor| factor.is_finite()),
        })
    });
    let given = rates.rogan_gladen.as_ref().map(|found| match found {
        Ok(found) => rogan_gladen(found),
        Err(reason) => json!({ "undefined": reason.to_string() }),
    });
    json!({
        "of": rates.of,
        "kind": if rates.scores { "scores" } else { "verdicts" },
        "people": rates.people.as_ref().map(rate),
        "judge": rates.judge.as_ref().map(rate),
        "corrected": corrected,
        "selection": selection,
        "rogan_gladen": given,
        "with_prerequisites": {
            "people": rates.people_gated.as_ref().map(gated),
            "judge": rates.judge_gated.as_ref().map(gated),
        },
    })
}

#[cfg(test)]
mod tests {
    use assize_stats::{ConfidenceLevel, correction::prediction_powered};

    use super::*;

    #[test]
    fn an_estimate_whose_interval_has_no_width_has_none() {
        // The judge is right on every label, and finds all others met.
        let labels = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
        let found = prediction_powered(&labels, &labels, &[1.0; 50], ConfidenceLevel::P95).expect("labels");
        let object = powered(&found);
        assert_eq!(object["ppi"]["value"], 1.0);
        assert!(object["ppi"]["low"].is_null() && object["ppi"]["high"].is_null(), "{object}");
        assert!(object["people_only"]["low"].is_number(), "{object}");
    }
}
