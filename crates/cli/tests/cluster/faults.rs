//! Random faults of machines, processes, servers and networks, from a seed. `ASSIZE_FAULTS=200` injects that
//! many faults; `ASSIZE_FAULT_SEED` sets the seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;
use assize_testkit::nats::{NatsServers, pause_process};

use crate::machines::{
    EVAL, Running, assert_same_rows, coordinator, judge_server, machine, servers, worker, worker_on_full_disk,
};

const CASES: usize = 120;
const CALLS: usize = CASES * 2;
/// Most faults in one run.
const FAULTS_OF_A_RUN: usize = 12;
/// Calls in flight of a worker: four cases at a time, two calls each.
const IN_FLIGHT: usize = 8;
/// Arguments of each run.
const MORE: [&str; 5] = ["--unit-size", "10", "--lease", "2s", "--resume"];

/// Random numbers from a seed (SplitMix64).
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is less than a usize")
    }

    fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.next() % (to - from))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    KillWorker,
    PauseWorker,
    KillCoordinator,
    PauseCoordinator,
    KillServer,
    PauseServer,
    CutNetwork,
    SlowNetwork,
    DuplicateUnit,
    FullDisk,
}

impl Fault {
    /// Number of workers whose calls in flight may be lost. While servers elect a new leader, no lease can be
    /// extended.
    fn workers(self) -> usize {
        match self {
            Self::KillServer | Self::PauseServer | Self::CutNetwork | Self::SlowNetwork => 3,
            _ => 1,
        }
    }
}

const FAULTS: [Fault; 10] = [
    Fault::KillWorker,
    Fault::PauseWorker,
    Fault::KillCoordinator,
    Fault::PauseCoordinator,
    Fault::KillServer,
    Fault::PauseServer,
    Fault::CutNetwork,
    Fault::SlowNetwork,
    Fault::DuplicateUnit,
    Fault::FullDisk,
];

#[expect(clippy::disallowed_methods, reason = "the campaign is as long as somebody wants it")]
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A run, and the faults that are injected into it.
struct Scene<'a> {
    servers: &'a mut NatsServers,
    judge: &'a MockServer,
    boss: CliTest,
    machines: Vec<CliTest>,
    workers: Vec<Running>,
    coordinators: Vec<Running>,
    random: &'a mut Seeded,
}

impl<'a> Scene<'a> {
    fn new(servers: &'a mut NatsServers, judge: &'a MockServer, random: &'a mut Seeded) -> Self {
        let boss = machine(judge, CASES);
        let machines: Vec<_> = (0..3).map(|_| machine(judge, CASES)).collect();
        let address = servers.address();
        let workers = machines.iter().map(|machine| worker(machine, &address)).collect();
        let coordinators = vec![coordinator(&boss, &address, &MORE)];

        Self { servers, judge, boss, machines, workers, coordinators, random }
    }

    fn inject(&mut self, fault: Fault) {
        let address = self.servers.address();
        let at = self.random.below(3);
        let pause = self.random.millis(500, 3_500);
        match fault {
            Fault::KillWorker => {
                self.workers[at].kill();
                self.workers[at] = worker(&self.machines[at], &address);
            }
            Fault::PauseWorker => {
                let id = self.workers[at].0.id();
                pause_process(id, true);
                std::thread::sleep(pause);
                pause_process(id, false);
            }
            Fault::KillCoordinator => {
                self.coordinators.iter_mut().for_each(Running::kill);
                self.coordinators = vec![coordinator(&self.boss, &address, &MORE)];
            }
            Fault::PauseCoordinator => {
                // Another coordinator takes over, and the first one notices.
                let id = self.coordinators.last().expect("there is one").0.id();
                pause_process(id, true);
                self.coordinators.push(coordinator(&self.boss, &address, &MORE));
                std::thread::sleep(pause + Duration::from_secs(6));
                pause_process(id, false);
            }
            Fault::KillServer => {
                self.servers.kill(at);
                std::thread::sleep(pause);
                self.servers.restart(at);
                self.servers.wait_for(at);
            }
            Fault::PauseServer => {
                self.servers.pause(at, true);
                std::thread::sleep(pause);
                self.servers.pause(at, false);
            }
            Fault::CutNetwork => {
                self.servers.link(at).cut();
                std::thread::sleep(pause);
                self.servers.link(at).open(Duration::ZERO);
            }
            Fault::SlowNetwork => {
                let delay = self.random.millis(20, 200);
                (0..3).for_each(|at| self.servers.link(at).open(delay));
                std::thread::sleep(pause);
                (0..3).for_each(|at| self.servers.link(at).open(Duration::ZERO));
            }
            Fault::DuplicateUnit => self.duplicate_units(),
            Fault::FullDisk => self.fill_disk(at),
        }
    }

    /// Publishes units that are in the queue or done already.
    fn duplicate_units(&mut self) {
        let folder = self.boss.path(".assize/cluster");
        let jobs = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let address = self.servers.address();
        let server = address.split(',').next().expect("an address").trim_start_matches("nats://");
        let mut text = "CONNECT {\"verbose\":false}\r\n".to_owned();
        for job in jobs {
            for _ in 0..3 {
                let name = self.random.below(CASES / 10) + 1;
                let unit = format!("{{\"name\":\"{name}\"}}");
                let subject = format!("assize.{}.work.{name}", job.file_name().to_string_lossy());
                write!(text, "PUB {subject} {}\r\n{unit}\r\n", unit.len())
                    .expect("a string takes everything");
            }
        }
        if let Ok(mut stream) = TcpStream::connect(server) {
            let _ = stream.write_all(text.as_bytes());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// A worker whose files can't grow beyond a few kilobytes, as on a full disk.
    fn fill_disk(&mut self, at: usize) {
        self.workers[at].kill();
        let mut command = worker_on_full_disk(&self.machines[at], self.judge, &self.servers.address(), 8);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut full = Running(child.expect("there is a shell"));
        std::thread::sleep(self.random.millis(1_000, 3_000));
        full.kill();
        self.workers[at] = worker(&self.machines[at], &self.servers.address());
    }

    /// Waits for the run to end, through any of the coordinators.
    fn finish(mut self) -> CliTest {
        // A worker that failed to run units has stopped, and is started again as a supervisor would do.
        let address = self.servers.address();
        for (worker_now, machine) in self.workers.iter_mut().zip(&self.machines) {
            if worker_now.has_ended() {
                *worker_now = worker(machine, &address);
            }
        }
        let last = self.coordinators.pop().expect("there is one");
        let (code, _, err) = last.finish();
        // Another coordinator may have been faster, and been killed right after that.
        let was_late = err.contains("another coordinator has") || err.contains("holds another run");
        if was_late {
            let earlier = self.coordinators.pop().map(Running::finish);
            assert!(earlier.is_none_or(|(code, _, _)| code == Some(1)), "{err}");
        } else {
            assert_eq!(code, Some(1), "{err}");
        }

        self.boss
    }
}

#[test]
fn random_faults_lose_nothing_and_double_nothing() {
    let Some(mut servers) = servers("random_faults_lose_nothing") else { return };
    let (wanted, seed) = (number("ASSIZE_FAULTS", 6), number("ASSIZE_FAULT_SEED", 1));
    let wanted = usize::try_from(wanted).expect("a number of faults");
    let mut random = Seeded(seed);
    let judge = judge_server(Duration::from_millis(40));
    let local = machine(&judge, CASES);
    local.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).expect_code(1);

    let mut injected: BTreeMap<Fault, usize> = BTreeMap::new();
    let (mut total, mut runs, mut extra) = (0, 0, 0);
    let mut known: BTreeSet<String> = judge.batches().paid().into_keys().collect();
    while total < wanted {
        let before = judge.count();
        let mut scene = Scene::new(&mut servers, &judge, &mut random);
        let (mut of_run, mut exposed) = (0, 0);
        // Until there is a job, another coordinator would start its own.
        while judge.count() == before {
            assert!(
                !scene.coordinators[0].has_ended(),
                "the coordinator ended before any call: {:?}",
                scene.coordinators.remove(0).finish()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        while of_run < FAULTS_OF_A_RUN && total < wanted {
            let wait = scene.random.millis(100, 900);
            std::thread::sleep(wait);
            if scene.coordinators.last_mut().expect("there is one").has_ended() {
                break;
            }
            // Every kind of fault once, in random order, before any repeats.
            let least =
                FAULTS.iter().map(|fault| injected.get(fault).copied().unwrap_or(0)).min().unwrap_or(0);
            let rare: Vec<Fault> = FAULTS
                .into_iter()
                .filter(|fault| injected.get(fault).copied().unwrap_or(0) == least)
                .collect();
            let fault = rare[scene.random.below(rare.len())];
            eprintln!("fault {}: {fault:?}", total + 1);
            scene.inject(fault);
            *injected.entry(fault).or_default() += 1;
            exposed += fault.workers() * IN_FLIGHT;
            (of_run, total) = (of_run + 1, total + 1);
        }

        let boss = scene.finish();
        // Each fault may cause a call to be paid for a second time, at most once.
        let most = judge.batches().paid().into_iter().filter(|(body, _)| !known.contains(body));
        let most = most.map(|(_, (_, times))| times).max().unwrap_or_default();
        assert!(most as usize <= 1 + of_run, "a call was paid {most} times after {of_run} faults");
        known.extend(judge.batches().paid().into_keys());
        assert_same_rows((&local, "local"), (&boss, "merged"));
        let paid = judge.count() - before;
        assert!(paid >= CALLS, "{paid} calls can't have judged all cases");
        assert!(paid <= CALLS + exposed, "{paid} calls after {of_run} faults");
        runs += 1;
        extra += paid - CALLS;
        eprintln!("run {runs}: {of_run} faults, {} calls more than {CALLS}", paid - CALLS);
    }
    eprintln!("{total} faults in {runs} runs, seed {seed}: {extra} calls paid again; {injected:?}");
}
