//! The real program, end to end: files in, exit code, stdout and run folder out.

mod agents;
mod answers;
mod bench;
mod calibrate;
mod convert;
mod doctor;
mod eval;
mod explain;
mod faults;
mod generate;
mod isolation;
mod judge;
mod judges;
mod judging;
mod lines;
mod panel;
mod prefix;
mod pressure;
mod rows;
mod score;
mod secrets;
mod select;
mod shells;
mod signals;
mod targets;
mod validate;
