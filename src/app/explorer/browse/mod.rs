//! Files that the user chooses: in a dialog of the system or of the browser, or by dropping them on the window.

#[cfg(not(target_arch = "wasm32"))]
mod desktop;
#[cfg(target_arch = "wasm32")]
mod page;

#[cfg(not(target_arch = "wasm32"))]
pub use desktop::{browse, dropped, has_system_dialog};
#[cfg(target_arch = "wasm32")]
pub use page::{browse, dropped, has_system_dialog};
