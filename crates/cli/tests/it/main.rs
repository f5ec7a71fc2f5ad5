//! The program as people use it: real files and processes, given answers, and judges that are mocks in the test's own process.

mod chaos;
mod docs;
mod e2e;
mod golden;
mod graders;
mod lint;
mod mcp;
mod runs;
mod scorecard;
