//! Pages, text and lines as SVG, and pixels and PDF made of them.

pub(crate) mod canvas;
pub(crate) mod drawing;
pub(crate) mod layout;
pub(crate) mod pdf;
pub(crate) mod png;
pub(crate) mod render;
pub(crate) mod text;
