//! Reviews on a full-screen terminal: its screen, its keys, and restoring it.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assize_engine::ExitStatus;
use assize_review::{
    LabelRecorder, ReviewKey, ReviewScreen, ReviewSession, ReviewStep, ScreenLook, render_screen,
};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{execute, queue};

use crate::context::CliContext;
use crate::failure::CommandFailure;

/// How often to check for a request to terminate.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long leaving the screen may take after a stop signal. A read of keys from a closed terminal never returns.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A request to end the review: whether it was made, and whether the screen has been left.
#[derive(Default)]
struct EndRequest {
    asked: AtomicBool,
    left: AtomicBool,
}

/// Shows the session until the reviewer leaves or the process gets a stop signal.
pub(super) fn run(
    session: &mut ReviewSession,
    writer: &mut LabelRecorder,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let failed = |error: io::Error| format!("the terminal can't be used: {error}; try `--plain`");
    let ended = watch_for_the_end();

    // Without this, a panic message would disappear with the alternate screen, and the terminal would stay in
    // raw mode.
    let before = Arc::new(std::panic::take_hook());
    let previous = Arc::clone(&before);
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        previous(panic);
    }));

    let guard = RawTerminal::new().map_err(failed);
    let outcome = guard.and_then(|guard| {
        let outcome = look(session, writer, context, &ended.asked).map_err(failed);
        ended.left.store(true, Ordering::Release);
        drop(guard);
        outcome
    });

    std::panic::set_hook(Box::new(move |panic| before(panic)));
    Ok(outcome?)
}

fn look(
    session: &mut ReviewSession,
    writer: &mut LabelRecorder,
    context: &CliContext,
    ended: &AtomicBool,
) -> io::Result<()> {
    // Wrapping a long text takes longer than the interval between checks, so it is done only after a key or a
    // resize.
    let mut shown: Option<(u16, u16)> = None;
    while !ended.load(Ordering::Acquire) {
        let window = size()?;
        if shown != Some(window) {
            let drawn = render_screen(session, writer.who(), usize::from(window.0), usize::from(window.1));
            draw(&drawn, context.stdout.color)?;
            shown = Some(window);
        }

        if !poll(POLL_INTERVAL)? {
            continue;
        }

        let Event::Key(event) = read()? else { continue };
        let Some(key) = key(event) else { continue };

        shown = None;

        match session.handle_key(key) {
            ReviewStep::Redraw => {}
            ReviewStep::Quit => break,
            // The screen shows the error if the label could not be written.
            ReviewStep::Record(decision) => drop(writer.record(session, &decision)),
        }
    }

    Ok(())
}

fn key(event: KeyEvent) -> Option<ReviewKey> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(event.code, KeyCode::Char('c' | 'd')).then_some(ReviewKey::Interrupt);
    }

    Some(match event.code {
        KeyCode::Char(c) => ReviewKey::Char(c),
        KeyCode::Enter => ReviewKey::Enter,
        KeyCode::Esc => ReviewKey::Escape,
        KeyCode::Backspace => ReviewKey::Backspace,
        KeyCode::Up => ReviewKey::Up,
        KeyCode::Down => ReviewKey::Down,
        KeyCode::PageUp => ReviewKey::PageUp,
        KeyCode::PageDown => ReviewKey::PageDown,
        KeyCode::Home => ReviewKey::Home,
        KeyCode::End => ReviewKey::End,
        _ => return None,
    })
}

/// Redraws all lines. A screen is small, and this also removes what a resize leaves behind.
fn draw(screen: &ReviewScreen, color: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (row, line) in screen.lines.iter().enumerate() {
        queue!(out, MoveTo(0, u16::try_from(row).unwrap_or(u16::MAX)))?;
        queue!(out, crossterm::terminal::Clear(crossterm::terminal::ClearType::CurrentLine))?;

        for (text, look) in &line.spans {
            let attribute = match look {
                ScreenLook::Bar | ScreenLook::Marked => Some(Attribute::Reverse),
                ScreenLook::Heading | ScreenLook::Alert => Some(Attribute::Bold),
                ScreenLook::Faint => Some(Attribute::Dim),
                ScreenLook::Plain => None,
            };
            match attribute.filter(|_| color) {
                Some(attribute) => {
                    queue!(out, SetAttribute(attribute), Print(text), SetAttribute(Attribute::Reset))?;
                }
                None => queue!(out, Print(text))?,
            }
        }
    }

    out.flush()
}

/// The terminal in raw mode; restored when this is dropped.
struct RawTerminal;

impl RawTerminal {
    fn new() -> io::Result<Self> {
        enable_raw_mode()?;
        let taken = Self;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(taken)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore();
    }
}

/// If the terminal itself is gone, there is nothing to restore.
fn restore() {
    let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// Turns a request to terminate into a flag, so that the terminal is restored before the process ends. If the
/// flag is not noticed in time, the process ends here: every decision is in its file already.
fn watch_for_the_end() -> Arc<EndRequest> {
    let ended = Arc::new(EndRequest::default());
    #[cfg(unix)]
    #[expect(
        clippy::exit,
        reason = "the thread that should end the program waits for a terminal that is gone"
    )]
    {
        let flag = Arc::clone(&ended);
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                use tokio::signal::unix::{SignalKind, signal};
                let asked = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()];
                let [Ok(mut terminate), Ok(mut hangup), Ok(mut interrupt)] = asked.map(signal) else {
                    return;
                };
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = hangup.recv() => {}
                    _ = interrupt.recv() => {}
                }
                flag.asked.store(true, Ordering::Release);
                tokio::time::sleep(EXIT_TIMEOUT).await;

                if !flag.left.load(Ordering::Acquire) {
                    restore();
                    std::process::exit(i32::from(ExitStatus::Interrupted.code()));
                }
            });
        });
    }

    ended
}
