//! Programs on a pseudo-terminal: reads their output, sends keys.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Maximum time for a program to print something, or to end.
const OUTPUT_TIMEOUT: Duration = Duration::from_mins(1);

/// A program that runs on a pseudo-terminal.
#[derive(Debug)]
pub struct PtyProgram {
    child: Child,
    keys: File,
    drawn: Receiver<Vec<u8>>,
    /// All output so far.
    all: Vec<u8>,
    /// Length of the output when the last keys were sent.
    before: usize,
}

impl PtyProgram {
    /// Starts a command on a new terminal of this size.
    ///
    /// # Panics
    /// If no terminal can be opened, or the command can't be started.
    pub fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal that can be opened");

        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a terminal with a size");

        let name = ptsname(&master, Vec::new()).expect("a terminal with a name");
        let name = name.into_string().expect("a name in ASCII");
        let open = || OpenOptions::new().read(true).write(true).open(&name).expect("the other end");
        command.stdin(open()).stdout(open()).stderr(open()).env("TERM", "xterm-256color");

        let child = command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        // The command also holds the other end, which is only closed when the command is dropped.
        drop(command);

        let keys = File::from(master);
        let mut source = keys.try_clone().expect("a second handle");
        let (sender, drawn) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails once the other end is closed everywhere.
            while let Ok(read @ 1..) = source.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });

        Self { child, keys, drawn, all: Vec::new(), before: 0 }
    }

    /// Sends keys. [`PtyProgram::wait_for`] then ignores earlier output.
    ///
    /// # Panics
    /// If the program has ended.
    pub fn press(&mut self, keys: &str) {
        while let Ok(bytes) = self.drawn.try_recv() {
            self.all.extend(bytes);
        }
        self.before = self.all.len();
        self.keys.write_all(keys.as_bytes()).expect("a program that reads keys");
    }

    /// Waits until this text has been printed since the last keys, and returns all output since then.
    ///
    /// # Panics
    /// If it is not printed in time, or the program ends without it.
    pub fn wait_for(&mut self, text: &str) -> String {
        let until = Instant::now() + OUTPUT_TIMEOUT;
        loop {
            let since = String::from_utf8_lossy(&self.all[self.before..]).into_owned();
            if since.contains(text) {
                return since;
            }

            match self.drawn.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.all.extend(bytes),
                Err(why) => panic!("`{text}` was not drawn ({why}):\n{since}"),
            }
        }
    }

    /// Waits for the end of the program. Returns all its output and its exit code.
    ///
    /// # Panics
    /// If it does not end in time.
    pub fn end(mut self) -> (String, Option<i32>) {
        let until = Instant::now() + OUTPUT_TIMEOUT;
        while let Ok(bytes) = self.drawn.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.all.extend(bytes);
        }

        if Instant::now() >= until {
            let _ = self.child.kill();
        }

        let status = self.child.wait().expect("a started process can be waited for");
        (String::from_utf8_lossy(&self.all).into_owned(), status.code())
    }
}
