//! The server over real connections: every page, who may see it, and how hostile texts are shown.

mod access;
mod conversation;
mod live;
mod marks;
mod pages;
mod review;
mod support;
