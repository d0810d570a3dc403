//! Dialogs, messages and hints over the window.

pub mod drop_hint;
pub mod first_key;
pub mod keys;
pub mod lessons;
pub mod open;
pub mod palette;
pub mod save;
pub mod toasts;
pub mod welcome;
