//! The server over real connections: every page, who may see it, and what hostile texts become.

mod access;
mod conversation;
mod live;
mod pages;
mod review;
mod support;
