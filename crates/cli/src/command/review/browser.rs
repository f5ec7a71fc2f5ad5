//! The review in a browser: one address for each reviewer.

use assize_report::escape_unsafe;
use assize_review::{
    LabelRecorder, OngoingReview, ReviewMaterial, ReviewOptions, ReviewQueue, ReviewerLabelFile,
    label_file_path,
};
use assize_view::{OfferedReview, ViewServer};
use std::path::Path;

use crate::args::ReviewArgs;
use crate::command::page_server::{serve_pages, server_options};
use crate::context::CliContext;
use crate::failure::CommandFailure;

/// Serves the reviews until Ctrl-C. Returns false if no reviewer has an item to decide.
pub(super) fn serve_reviews(
    args: &ReviewArgs,
    options: &ReviewOptions,
    reviewers: &[String],
    material: ReviewMaterial,
    labels: &Path,
    context: &CliContext,
) -> Result<bool, CommandFailure> {
    // Labels are written relative to the folder in which the command was started.
    let labels = context.process.working_folder.join(labels);
    let mut reviews = Vec::new();
    for who in reviewers {
        let given = options.label_metadata(who);
        let labels = ReviewerLabelFile::open(label_file_path(&labels, who))
            .map_err(|error| escape_unsafe(&error.to_string()))?;
        let queue = ReviewQueue::new(material.clone(), options, &given, &labels)?;
        let recorder = LabelRecorder::new(context.process.clone(), labels, given);
        reviews.push(OfferedReview {
            title: args.what.clone(),
            subject: args.what.clone(),
            review: OngoingReview::new(queue, options, recorder),
        });
    }

    drop(material);
    if reviews.iter().all(|offered| offered.review.progress().all == 0) {
        return Ok(false);
    }

    let server =
        ViewServer::bind_reviews(server_options(&args.server, context)?, context.process.clone(), reviews);
    serve_pages(&args.server, context, server)?;
    Ok(true)
}
