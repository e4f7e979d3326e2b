//! What is wrong with the text of a filter, and where.

use std::ops::Range;

/// A text that is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FilterError {
    /// The bytes of the text that are wrong; at its end where something is missing. Both ends lie between characters.
    pub span: Range<usize>,
    /// What was expected there. It repeats what was typed: show it through `text::Safe`.
    pub message: String,
}

impl FilterError {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}
