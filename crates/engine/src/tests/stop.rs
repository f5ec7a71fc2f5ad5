//! On a stop signal, a process ends its run in an orderly way.

use std::sync::{Arc, Mutex};

use crate::{CaseEvent, Engine, EngineEvent, EvalMode, ExitStatus, RunOutcome};

use crate::tests::support::Fixture;

#[tokio::test]
async fn a_stop_signal_interrupts_the_run_and_leaves_a_record() {
    let fixture = Fixture::new();
    let slow = "targets:\n  - name: default\n    provider: mock\n    response: late\n    delay_ms: 600000\n";
    fixture.write(".assize/targets.yaml", slow);
    fixture.write(
        "suite.yaml",
        "name: slow\ntests:\n  - id: a\n    criteria: be right\n    input: hello\n    assertions:\n      - type: contains\n        value: late\n",
    );
    let begun = Arc::new(tokio::sync::Notify::new());
    let (signal, started) = (Arc::clone(&begun), Arc::clone(&begun));
    let process = fixture.process().with_stop_signal(move || {
        let signal = Arc::clone(&signal);
        Box::pin(async move { signal.notified().await })
    });
    let stopping = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&stopping);
    let engine = Engine::new(process, move |event| match event {
        EngineEvent::Run(CaseEvent::CaseStarted { .. }) => started.notify_one(),
        EngineEvent::Run(CaseEvent::Stopping) => *seen.lock().expect("not poisoned") += 1,
        _ => {}
    });

    let outcome = engine.evaluate(EvalMode::default(), &fixture.options()).await.expect("a run");

    let RunOutcome::Finished(run) = outcome else { panic!("it was only planned") };
    assert_eq!((run.exit, *stopping.lock().expect("not poisoned")), (ExitStatus::Interrupted, 1));
    let summary = run.folder.info().expect("a record").summary.expect("a summary");
    assert_eq!((summary.exit_code, summary.not_run), (130, 1));
}
