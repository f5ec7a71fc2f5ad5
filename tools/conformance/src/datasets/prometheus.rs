//! Prometheus: three ratings of each answer.

use super::dataset_run::{DatasetRun, QUICK};
use super::figures::FigureTable;

pub(super) fn prometheus(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("prometheus: one judge three times");

    for (name, alphas, icc, same, within, means) in [
        (
            "mt_bench",
            [".4874215", ".8145228", ".8509894"],
            ".8512540",
            ".441",
            ".257292",
            &[
                ("chatgpt", "3.816667"),
                ("llama2", "3.479167"),
                ("wizard", "3.391667"),
                ("vicuna", "3.266667"),
            ][..],
        ),
        (
            "vicuna",
            [".5821575", ".7234422", ".8075436"],
            ".8078678",
            ".622",
            ".134375",
            &[
                ("llama-2-chat", "4.320833"),
                ("chat_gpt", "4.283333"),
                ("wizard", "4.129167"),
                ("vicuna", "3.85"),
            ],
        ),
    ] {
        let file = data.file(&format!("prometheus-gpt4-triple/{name}.jsonl"));
        if !file.is_file() {
            table.skip(&format!("{name}.jsonl"));
            continue;
        }

        let columns = "case=idx,system=response_source,label=gpt4_score";
        let found =
            data.run("calibrate agreement", &file, &[&QUICK[..], &["--columns", columns]].concat())?;
        let section = &found["sections"][0];
        for (metric, expected) in ["alpha_nominal", "alpha_ordinal", "alpha_interval"].iter().zip(alphas) {
            table.figure(&format!("{name}: {metric}"), &section["metrics"][metric]["value"], expected);
        }

        table.figure(&format!("{name}: ICC(1,1)"), &section["metrics"]["icc"]["value"], icc);
        table.figure(&format!("{name}: all three equal"), &section["all_same"]["value"], same);
        table.figure(
            &format!("{name}: variance within"),
            &section["metrics"]["within_variance"]["value"],
            within,
        );

        for (system, mean) in means {
            table.figure(&format!("{name}: mean of {system}"), &section["systems"][system]["value"], mean);
        }
    }

    Ok(())
}
