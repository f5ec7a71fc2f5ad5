//! Signals to stop: the first one stops the work in an orderly way, the second one ends the process.

use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use assize_engine::ExitStatus;
use tokio::sync::watch;

use crate::output;

/// Signals within this time count as one: a parent process may forward the interrupt that the terminal sends as
/// well.
const ECHO_WINDOW: Duration = Duration::from_millis(250);

/// Last sentence of the message about a second signal, if it differs from the default one about runs.
static SECOND_NOTE: OnceLock<&str> = OnceLock::new();

/// Sets the last sentence of the message about a second signal.
pub(crate) fn note_for_second(note: &'static str) {
    let _ = SECOND_NOTE.set(note);
}

/// Waits for the next interrupt or request to terminate.
pub(crate) async fn interrupted() {
    static SIGNALS: OnceLock<Option<watch::Receiver<u32>>> = OnceLock::new();

    let Some(mut count) = SIGNALS.get_or_init(watch_signals).clone() else { return };
    let before = *count.borrow_and_update();

    // The sender lives as long as the process.
    let _ = count.wait_for(|count| *count > before).await;
}

/// Starts the thread that counts signals. It has its own runtime, so it works even if all other threads are
/// blocked. Returns `None` if signals can't be watched.
fn watch_signals() -> Option<watch::Receiver<u32>> {
    let (sender, receiver) = watch::channel(0);
    let (ready, begun) = mpsc::channel();

    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else {
                return;
            };
            runtime.block_on(async {
                let Ok(mut signals) = StopSignals::listen() else { return };
                // The receiver may have stopped waiting.
                let _ = ready.send(());

                count_signals(&mut signals, &sender).await;
            });
        })
        .ok()?;

    begun.recv().ok()?;
    Some(receiver)
}

async fn count_signals(signals: &mut StopSignals, sender: &watch::Sender<u32>) {
    let mut last: Option<Instant> = None;
    while signals.next().await {
        if last.is_some_and(|last| last.elapsed() < ECHO_WINDOW) {
            continue;
        }
        if last.is_some() {
            end_process();
        }

        last = Some(Instant::now());
        sender.send_modify(|count| *count += 1);
    }
}

/// Ends the process at once. Recorded results are on disk, and the guard ends commands that are still running.
#[expect(clippy::exit, reason = "threads that don't end can't be waited for")]
fn end_process() -> ! {
    let note = SECOND_NOTE.get().unwrap_or(&"Recorded results are kept; continue with `--resume`");
    output::print_plain_error(&format!("interrupted twice: stopped at once. {note}"));
    std::process::exit(i32::from(ExitStatus::Interrupted.code()));
}

#[cfg(unix)]
struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal. False if there can be no more.
    async fn next(&mut self) -> bool {
        tokio::select! {
            signal = self.interrupt.recv() => signal.is_some(),
            signal = self.terminate.recv() => signal.is_some(),
        }
    }
}

#[cfg(not(unix))]
struct StopSignals;

#[cfg(not(unix))]
impl StopSignals {
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail here")]
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next signal. False if there can be no more.
    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}
