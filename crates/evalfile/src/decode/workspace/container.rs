//! Decoder of `docker`: the container in which program graders run.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, TreeNode, codes};
use assize_model::{ContainerSpec, UnsupportedFeature};

use crate::decode::DecodeContext;
use crate::decode::common::unsupported_feature;
use crate::decode::grader::decode_duration;

/// Decodes `docker` of a workspace. Returns `None` after adding a diagnostic, and for a container that the
/// target would work in, which is not supported and noted in `missing`.
pub(super) fn decode_container(
    cx: &mut DecodeContext,
    node: &TreeNode,
    missing: &mut Vec<UnsupportedFeature>,
) -> Option<ContainerSpec> {
    // AgentV's newest format describes the agents' folder like this.
    if node.get("type").is_some() {
        missing.push(unsupported_feature(
            cx,
            "a container that the target works in (`environment: {type: docker}`)",
            node.use_span(),
        ));
        return None;
    }

    let mut object = MapReader::new(node, "`docker`", &mut cx.problems)?;
    let head = object.head();
    let image = object.text("image", &mut cx.problems);
    let timeout = decode_duration(&mut object, "timeout", 1.0, &mut cx.problems);
    let memory = object.text("memory", &mut cx.problems);
    let cpus = object.number("cpus", &mut cx.problems);
    if !object.has("image") {
        Diagnostic::error(codes::MISSING_SETTING, "a container has no `image`")
            .at(head, "no `image` here")
            .with_help("add `image: NAME`, such as `python:3.12-slim`")
            .add_to(&mut cx.problems);
    }
    if let Some(cpus) = cpus.as_ref().filter(|cpus| !cpus.value.is_finite() || cpus.value < 0.1) {
        Diagnostic::error(codes::OUT_OF_RANGE, "`cpus` is out of range")
            .at(cpus.span, "at least 0.1")
            .with_help("write a number of processors, such as `1` or `0.5`")
            .add_to(&mut cx.problems);
    }
    // These become arguments of `docker`, where a word that begins with a hyphen would be an option.
    for text in image.iter().chain(&memory) {
        if text.value.starts_with('-') || text.value.contains(char::is_whitespace) {
            return Diagnostic::error(
                codes::WRONG_TYPE,
                format!("`{}` is neither an image name nor a size", text.value),
            )
            .at(text.span, "not usable")
            .with_help("write an image such as `python:3.12-slim`, and a size such as `2g`")
            .reject_in(&mut cx.problems);
        }
    }

    object.finish(&mut cx.problems);
    Some(ContainerSpec {
        image: image?.value,
        timeout,
        memory: memory.map(|text| text.value),
        cpus: cpus.map(|number| number.value),
        place: cx.position(head),
    })
}
