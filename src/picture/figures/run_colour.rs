//! The colours of runs in a figure.

use crate::picture::view::spec::ViewSpec;

/// The colour of the `index`th run of a figure.
pub(crate) fn run_colour(view: &ViewSpec, index: usize) -> [u8; 3] {
    let theme = view.figure.theme;
    match index.checked_sub(1) {
        None => theme.curve(0),
        Some(beside) => theme.beside(view.colour(beside)),
    }
}
