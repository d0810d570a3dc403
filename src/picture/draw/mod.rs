//! Pages, text and lines as SVG, and pixels made of them.

pub(crate) mod canvas;
pub(crate) mod drawing;
pub(crate) mod layout;
pub(crate) mod png;
pub(crate) mod render;
pub(crate) mod text;
