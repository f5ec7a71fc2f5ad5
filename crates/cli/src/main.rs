//! The program `assize`.

use std::process::ExitCode;

/// The allocator of the program, on all platforms.
///
/// A judge call builds many small strings (prompts, JSON values, keys of the cache, rows of the run), mostly on
/// one thread, and frees them on another. The system allocators are slow at that: beyond a small cache for each
/// thread, glibc takes the lock of the arena that a block came from, and musl has one lock for everything.
/// mimalloc frees a block of another thread without a lock.
///
/// With a hosted judge none of this matters, because a call takes a second anyway. It matters with a judge on
/// the same machine, or with hundreds of calls at once: then the CPU time of a call limits the throughput. At
/// 100 µs a call, 500 replies that arrive together keep one core busy for 50 ms.
///
/// The price is memory: mimalloc keeps freed memory for about a second before it returns it to the system
/// (`MIMALLOC_PURGE_DELAY` changes that), which shows in the memory figures of `docs/benchmarks.md`.
/// Transparent huge pages are turned off by the feature `no_thp`, so that small runs don't occupy memory in
/// blocks of 2 MiB.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    assize_cli::main()
}
